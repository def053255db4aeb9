// Progress of a job on standard error: a bar on a terminal, one line a second elsewhere.
//
// The job says how far it is as often as it likes; a timer draws. A job that is over before the
// first tick shows nothing, and loads nothing.

import { formatBytes, formatDuration, formatRate, formatShare } from '../timeline/quantities.ts';
import { moves, type Terminal } from './terminal.ts';

/** How far a job is. */
export interface Advance {
  /** What is being done, for example the job's name. */
  readonly title: string;
  /** Bytes read so far. */
  readonly done: number;
  /** Of these, the bytes that a former run read, which say nothing of the rate. */
  readonly before?: number;
  /** Bytes to read in all, if that is known. */
  readonly total?: number;
}

/** Milliseconds between two drawings. */
const ticks = { terminal: 100, elsewhere: 1000 } as const;

/** Shows the progress of one job until it is disposed of. */
export class Progress implements Disposable {
  readonly #terminal: Terminal;
  readonly #timer: NodeJS.Timeout;
  readonly #meter = new Meter(performance.now());
  #advance: Advance;
  #bar: Bar | null = null;
  #stopped = false;

  constructor(title: string, terminal: Terminal) {
    this.#advance = { title, done: 0 };
    this.#terminal = terminal;
    const onTerminal = moves(terminal.errors);
    const tick = onTerminal ? () => this.#drawBar() : () => this.#writeLine();
    this.#timer = setInterval(tick, onTerminal ? ticks.terminal : ticks.elsewhere).unref();
  }

  /** What the job calls. */
  update(advance: Advance): void {
    this.#advance = advance;
  }

  [Symbol.dispose](): void {
    this.#stopped = true;
    clearInterval(this.#timer);
    this.#bar?.stop();
  }

  #text(): string {
    const { done, before = 0, total } = this.#advance;
    const rate = this.#meter.rate(done - before, performance.now());
    const parts = [total === undefined ? formatBytes(done) : `${formatBytes(done)} of ${formatBytes(total)}`];
    parts.push(formatRate(rate, 1000));
    if (total !== undefined && done < total && rate > 0)
      parts.push(`${formatDuration(((total - done) / rate) * 1000)} left`);
    return parts.join(', ');
  }

  #writeLine(): void {
    const { title, done, total } = this.#advance;
    const share = total ? `${formatShare(done / total)}, ` : '';
    this.#terminal.errors.write(`${title}: ${share}${this.#text()}\n`);
  }

  #drawBar(): void {
    if (this.#bar === null) {
      this.#bar = { update: () => {}, stop: () => {} };
      void this.#openBar();
    }
    this.#bar.update(this.#advance, this.#text());
  }

  async #openBar(): Promise<void> {
    const bar = await openBar(this.#terminal);
    if (this.#stopped) bar.stop();
    else this.#bar = bar;
  }
}

/** Something that draws in one line of a terminal. */
interface Bar {
  update(advance: Advance, text: string): void;
  stop(): void;
}

interface Payload {
  readonly title: string;
  readonly text: string;
  /** Whether the total is known, so that there is a share to draw. */
  readonly known: boolean;
}

async function openBar(terminal: Terminal): Promise<Bar> {
  const { default: progress } = await import('cli-progress');
  const bar = new progress.SingleBar({
    stream: terminal.errors,
    format: (options, { progress: share }, { title, text, known }: Payload) => {
      const size = options.barsize ?? 24;
      const full = Math.round(share * size);
      const drawn = known ? `[${'#'.repeat(full)}${'-'.repeat(size - full)}] ${formatShare(share)}  ` : '';
      return `${title}  ${drawn}${text}`;
    },
    barsize: 24,
    hideCursor: true,
    clearOnComplete: true,
    // Ctrl-C is ours to handle.
    gracefulExit: false,
  });
  bar.start(1, 0, { title: '', text: '', known: false } satisfies Payload);
  return {
    update: ({ title, done, total }, text) => {
      bar.setTotal(total ?? 1);
      bar.update(total === undefined ? 0 : done, {
        title,
        text,
        known: total !== undefined,
      } satisfies Payload);
    },
    stop: () => bar.stop(),
  };
}

/** The rate of the last seconds, from samples of how much is done. */
export class Meter {
  readonly #samples: { done: number; time: number }[];

  constructor(now: number) {
    this.#samples = [{ done: 0, time: now }];
  }

  /** Takes a sample and returns bytes a second over the last five seconds. Times are milliseconds. */
  rate(done: number, time: number): number {
    this.#samples.push({ done, time });
    while (this.#samples.length > 2 && time - this.#samples[0]!.time > 5000) this.#samples.shift();
    const { done: before, time: then } = this.#samples[0]!;
    return time > then ? ((done - before) / (time - then)) * 1000 : 0;
  }
}
