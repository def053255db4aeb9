// Chooses the chunks that are still to come by what those before took.
//
// A run begins with the cut that was planned. When its first chunks are through, the next ones are timed,
// stage by stage; then a few of half the length, which tells what a chunk costs beside its bytes. With that
// the rest of the job is predicted for other cuts. Where one promises enough, it is tried, and kept if the
// rows really go faster. A GPU's engine that hardly rests by then leaves nothing to try. Predictions know
// nothing of what stages take from each other (processors, caches, a disk), so a trial decides and not they.
// A user's own chunk or depth stays. Chunks of a job with accumulators keep their length, since which rows a
// block adds up must not depend on how fast a machine is.
//
// Chunks never become longer than planned, so that the memory of a chunk that was taken stays of use.

import { type StageName, stageNames } from './options.ts';
import { costOf, predictWall, type StageCost, type StageCosts } from './predict.ts';

/** How chunks are cut from some row on, and why. */
export interface CutStep {
  /** Rows before it. */
  readonly row: number;
  readonly chunkRows: number;
  /** Bytes of a full chunk's inputs and outputs. */
  readonly chunkBytes: number;
  /** Chunks in flight. */
  readonly depth: number;
  readonly why: string;
}

/** What may be changed, and how far. */
export interface Freedom {
  /** Whether chunks may become shorter, by what their rows must be a multiple of; null if they may not. */
  readonly granularity: number | null;
  /** Chunks in flight at most; null if their number stays. */
  readonly greatestDepth: number | null;
  /** Rows of the whole; undefined if only the end tells. */
  readonly rows: number | undefined;
  /** Whether copies and kernels have engines of their own, which no other cut makes faster: those of a GPU. */
  readonly engines: boolean;
}

/** Milliseconds that each stage has worked since a run began. */
export type Busy = Readonly<Record<StageName, number>>;

/** How much faster a cut must be predicted to be tried, and be measured to be kept. */
const worthTrying = 1.05;
const worthKeeping = 1.02;
/** What a GPU's engines do. */
const engineStages = ['copy in', 'compute', 'copy out'] as const;
/** A chunk has at least so many bytes of inputs and outputs. */
const leastBytes = 2 ** 20;
/** Of chunks in flight that many must be left for a change to pay. */
const leastRounds = 8;

/**
 * `settling`, `shrinking` and `changing` let chunks through that were cut before; the others count, from one
 * chunk that is through to another, with as much in flight at both.
 */
type Phase = 'settling' | 'timing' | 'shrinking' | 'halves' | 'changing' | 'trial' | 'settled';

/** What got through in a phase. */
interface Passage {
  readonly chunks: number;
  readonly rows: number;
  readonly milliseconds: number;
  readonly busy: Busy;
}

export class Tuner {
  readonly #freedom: Freedom;
  readonly #steps: CutStep[];
  #phase: Phase = 'settling';
  /** Chunks of the phase, and those of them that are not through yet. */
  #chunks: number;
  #left: number;
  /** How it was when the phase began. */
  #rowsBefore: number;
  #busyBefore: Busy | undefined;
  #began = 0;
  #full: Passage | undefined;
  #halves: Passage | undefined;
  #halvesToGive = 0;
  /** Rows that were given out, and that are through; with those before the first cut. */
  #given: number;
  #through: number;

  constructor(first: CutStep, freedom: Freedom) {
    this.#freedom = freedom;
    this.#steps = [first];
    this.#given = first.row;
    this.#through = first.row;
    this.#rowsBefore = first.row;
    this.#chunks = 2 * first.depth;
    this.#left = this.#chunks;
    if (freedom.granularity === null && freedom.greatestDepth === null) this.#phase = 'settled';
  }

  /** The cuts so far, the one in force last. */
  get steps(): readonly CutStep[] {
    return this.#steps;
  }

  get #cut(): CutStep {
    return this.#steps.at(-1)!;
  }

  /** Whether the stages' times are of no use any more. */
  get isSettled(): boolean {
    return this.#phase === 'settled';
  }

  get depth(): number {
    return this.#cut.depth;
  }

  /** Rows of the chunk that is read next. */
  nextRows(): number {
    const { chunkRows } = this.#cut;
    if (this.#halvesToGive === 0) return chunkRows;
    this.#halvesToGive--;
    return this.#multiple(chunkRows / 2);
  }

  /** So many rows were read. */
  read(rows: number): void {
    this.#given += rows;
  }

  /**
   * A chunk is through; they get through in their order.
   *
   * @param at milliseconds, of any clock
   */
  complete(rows: number, at: number, busy: () => Busy): void {
    this.#through += rows;
    if (this.#phase === 'settled' || --this.#left > 0) return;
    const now = busy();
    const before = this.#busyBefore ?? now;
    const spent = stageNames.map((stage) => [stage, now[stage] - before[stage]]);
    this.#end({
      chunks: this.#chunks,
      rows: this.#through - this.#rowsBefore,
      milliseconds: at - this.#began,
      busy: Object.fromEntries(spent) as Busy,
    });
    this.#rowsBefore = this.#through;
    this.#busyBefore = now;
    this.#began = at;
  }

  #end(passage: Passage): void {
    const { depth } = this;
    const counted = Math.max(6, 3 * depth);
    switch (this.#phase) {
      case 'settling':
        if (this.#isLongEnough()) this.#enter('timing', counted);
        else this.#settle();
        break;
      case 'timing':
        this.#full = passage;
        if (this.#isAtLimit(passage)) this.#settle();
        else if (this.#freedom.granularity === null) this.#decide();
        else {
          this.#halvesToGive = 2 * depth + 4;
          this.#enter('shrinking', depth + 1);
        }
        break;
      case 'shrinking':
        this.#enter('halves', depth + 3);
        break;
      case 'halves':
        this.#halves = passage;
        this.#decide();
        break;
      case 'changing':
        this.#enter('trial', counted);
        break;
      case 'trial':
        this.#judge(rateOf(passage) / rateOf(this.#full!));
        break;
      case 'settled':
    }
  }

  #judge(gain: number): void {
    if (gain < worthKeeping) this.#change({ ...this.#steps.at(-2)!, why: `measured ${times(gain)}: back` });
    else this.#steps.push({ ...this.#steps.pop()!, why: `measured ${times(gain)}` });
    this.#settle();
  }

  #enter(phase: Phase, chunks: number): void {
    this.#phase = phase;
    this.#chunks = chunks;
    this.#left = chunks;
  }

  #settle(): void {
    this.#phase = 'settled';
  }

  #change(step: Omit<CutStep, 'row'>): void {
    this.#steps.push({ ...step, row: this.#given });
  }

  #isLongEnough(): boolean {
    const { rows } = this.#freedom;
    return rows === undefined || rows - this.#given >= leastRounds * this.depth * this.#cut.chunkRows;
  }

  /** Whether an engine worked for so much of the time that no other cut can be worth trying. */
  #isAtLimit({ busy, milliseconds }: Passage): boolean {
    const longest = Math.max(...engineStages.map((stage) => busy[stage]));
    return this.#freedom.engines && longest * worthTrying > milliseconds;
  }

  /** Tries the cut that promises most, if it promises enough. */
  #decide(): void {
    const cut = this.#cut;
    const costs = this.#costs();
    const { rows } = this.#freedom;
    const bytesOfRow = cut.chunkBytes / cut.chunkRows;
    const left =
      rows === undefined ? 4 * leastRounds * cut.depth * cut.chunkBytes : (rows - this.#through) * bytesOfRow;
    const now = predictWall(costs, left, cut);
    const [best] = this.#candidates()
      .map((candidate) => ({ ...candidate, gain: now / predictWall(costs, left, candidate) }))
      .sort((a, b) => b.gain - a.gain);
    if (best === undefined || best.gain < worthTrying) {
      this.#settle();
      return;
    }
    const { gain, ...next } = best;
    this.#change({ ...next, why: `predicted ${times(gain)}` });
    // Halves that were given out are among those in flight.
    this.#enter('changing', 2 * (cut.depth + next.depth));
  }

  #candidates(): Omit<CutStep, 'row' | 'why'>[] {
    const { depth, chunkRows, chunkBytes } = this.#cut;
    const { granularity, greatestDepth } = this.#freedom;
    const depths = greatestDepth === null ? [depth] : [depth - 1, depth, depth + 1, depth + 2, 2 * depth];
    const parts = granularity === null ? [1] : [1, 2, 4];
    return depths
      .filter((wanted) => wanted >= 1 && (greatestDepth === null || wanted <= greatestDepth))
      .flatMap((wanted) =>
        parts.map((part) => {
          const rows = part === 1 ? chunkRows : this.#multiple(chunkRows / part);
          return { depth: wanted, chunkRows: rows, chunkBytes: (chunkBytes * rows) / chunkRows };
        }),
      )
      .filter((cut) => cut.chunkRows === chunkRows || cut.chunkBytes >= leastBytes)
      .filter((cut) => cut.depth !== depth || cut.chunkRows !== chunkRows);
  }

  #costs(): StageCosts {
    const bytesOfRow = this.#cut.chunkBytes / this.#cut.chunkRows;
    const ofChunk = ({ chunks, rows, busy }: Passage, stage: StageName) => ({
      bytes: (rows * bytesOfRow) / chunks,
      time: busy[stage] / chunks,
    });
    const cost = (stage: StageName): StageCost => {
      const full = ofChunk(this.#full!, stage);
      if (this.#halves === undefined) return { fixed: 0, perByte: full.time / full.bytes };
      return costOf(ofChunk(this.#halves, stage), full);
    };
    return Object.fromEntries(stageNames.map((stage) => [stage, cost(stage)])) as StageCosts;
  }

  #multiple(rows: number): number {
    const granularity = this.#freedom.granularity ?? 1;
    return Math.max(1, Math.floor(rows / granularity)) * granularity;
  }
}

function times(gain: number): string {
  return `${gain.toFixed(2)} times as fast`;
}

/** Rows a millisecond. */
function rateOf({ rows, milliseconds }: Passage): number {
  return rows / milliseconds;
}
