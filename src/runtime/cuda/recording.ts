// What a GPU's device records, and whose times it has: those of events, or CUPTI's.

import type { Span } from '../../timeline/span.ts';
import type { Command, Work } from '../command.ts';
import { checkStages, type RecordedTimes, type RecordingOptions, stagesElsewhere } from '../recording.ts';
import { spanOf } from '../spans.ts';
import { ActivitySpans, type ToldActivity } from './cupti/activity.ts';
import { type CuptiSession, cuptiSession } from './cupti/session.ts';

type Recorder = ((span: Span) => void) | null;

export class GpuRecording {
  readonly #context: number;
  #recorder: Recorder = null;
  #options: RecordingOptions = {};
  #session: CuptiSession | null = null;
  #activity: ActivitySpans | null = null;
  /** Why CUPTI is not used although it was wanted. */
  #refusal: string | null = null;
  #unrecorded = 0;

  /** `context` is that of the driver in which the device works. */
  constructor(context: number) {
    this.#context = context;
  }

  get recorder(): Recorder {
    return this.#recorder;
  }

  set recorder(recorder: Recorder) {
    // Whoever listened so far hears of what was done so far.
    this.resolve();
    this.#recorder = recorder;
    this.#choose();
  }

  get options(): RecordingOptions {
    return this.#options;
  }

  set options(options: RecordingOptions) {
    if (checkStages(options) !== null) throw stagesElsewhere('a GPU');
    this.resolve();
    this.#options = options;
    if (options.times === 'cupti') {
      // What it takes to start is not to be part of what is recorded.
      const session = cuptiSession();
      if (typeof session === 'string') this.#refusal = session;
      else this.#session = session;
    }
    this.#choose();
  }

  get times(): RecordedTimes {
    if (this.#options.times !== 'cupti') return { source: 'events', note: null };
    if (this.#refusal !== null) return { source: 'events', note: this.#refusal };
    const missing = this.#unrecorded;
    const without =
      missing === 0
        ? null
        : `${missing} operations have no record: their times are when they were issued and seen to be done`;
    return { source: 'cupti', note: without };
  }

  /** Begins or ends to use CUPTI's records. */
  #choose(): void {
    const wanted = this.#recorder !== null && this.#options.times === 'cupti' && this.#refusal === null;
    if (wanted === (this.#activity !== null)) return;
    if (!wanted) {
      this.#activity?.close();
      this.#activity = null;
      this.#session?.end();
    } else if (this.#session!.begin()) {
      this.#activity = new ActivitySpans(this.#session!, this.#context, (...told) => this.#tell(...told));
    } else this.#refusal = 'CUPTI refused to record';
  }

  #tell(command: Command, work: Work, activity: ToldActivity): void {
    if (activity === null) this.#unrecorded += 1;
    this.#recorder?.({ ...spanOf(command, work, engineOf(work)), ...activity });
  }

  /** Whether events are to be recorded around the next command. */
  get wantsEvents(): boolean {
    return this.#recorder !== null;
  }

  /** Where CUPTI is to tell of the next command; null where events do. */
  get activity(): ActivitySpans | null {
    return this.#activity;
  }

  /** A command with events around it is complete. */
  finished(command: Command, work: Work): void {
    this.#recorder?.(spanOf(command, work, engineOf(work)));
  }

  /** Tells what is complete and was not told yet. */
  resolve(): void {
    this.#activity?.resolve();
  }

  close(): void {
    this.recorder = null;
  }
}

/** The engine that a command keeps busy, as a timeline names it. */
function engineOf(work: Work): string {
  if (work.kind === 'copy') return work.direction === 'device to host' ? 'copy out' : 'copy in';
  return work.kind === 'host' ? 'host' : 'compute';
}
