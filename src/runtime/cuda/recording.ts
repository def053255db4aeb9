// What a GPU's device records, and whose times it has: those of events, or CUPTI's.

import type { Span } from '../../timeline/span.ts';
import type { Command, Work } from '../command.ts';
import {
  checkEvery,
  checkStages,
  type RecordedTimes,
  type RecordingOptions,
  stagesElsewhere,
} from '../recording.ts';
import { spanOf } from '../spans.ts';
import { ActivitySpans, type ReportedTimes } from './cupti/activity.ts';
import { type CuptiSession, cuptiSession } from './cupti/session.ts';

type Recorder = ((span: Span) => void) | null;

export class GpuRecording {
  readonly #context: number;
  #recorder: Recorder = null;
  #options: RecordingOptions = {};
  #session: CuptiSession | null = null;
  #activity: ActivitySpans | null = null;
  /** Whether new commands are timed by CUPTI's records, if those are recorded. */
  #goesOn = false;
  /** Why CUPTI is not used although it was wanted. */
  #refusal: string | null = null;
  #unrecorded = 0;
  /** How many operations each engine was given since `every` was set. */
  readonly #positions = new Map<string, number>();

  /** `context` is that of the driver in which the device works. */
  constructor(context: number) {
    this.#context = context;
  }

  get recorder(): Recorder {
    return this.#recorder;
  }

  set recorder(recorder: Recorder) {
    // A recorder that listened so far hears of what was done so far.
    this.resolve();
    this.#recorder = recorder;
    this.#choose();
  }

  get options(): RecordingOptions {
    return this.#options;
  }

  set options(options: RecordingOptions) {
    if (checkStages(options) !== null) throw stagesElsewhere('a GPU');
    checkEvery(options);
    this.resolve();
    this.#options = options;
    this.#positions.clear();
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
    const notes = [
      ...(missing === 0
        ? []
        : [
            `${missing} operations have no record: their times are when they were issued and seen to be done`,
          ]),
      ...(this.#activity === null || this.#goesOn
        ? []
        : ['from the first graph on, times are those of events']),
    ];
    return { source: 'cupti', note: notes.length === 0 ? null : notes.join('; ') };
  }

  /** Begins or ends to use CUPTI's records. */
  #choose(): void {
    const wanted = this.#recorder !== null && this.#options.times === 'cupti' && this.#refusal === null;
    if (wanted && this.#goesOn) return;
    this.#leave();
    this.#activity?.close();
    this.#activity = null;
    if (!wanted) return;
    if (this.#session!.begin()) {
      this.#activity = new ActivitySpans(this.#session!, this.#context, (...reported) =>
        this.#tell(...reported),
      );
      this.#goesOn = true;
    } else this.#refusal = 'CUPTI refused to record';
  }

  /** No more records: those of what was issued so far still come. */
  #leave(): void {
    if (!this.#goesOn) return;
    this.#goesOn = false;
    this.#session!.end();
  }

  #tell(command: Command, work: Work, activity: ReportedTimes): void {
    if (activity === null) this.#unrecorded += 1;
    this.#recorder?.(spanOf(command, work, engineOf(work), activity ?? command, activity));
  }

  /** Whether commands are recorded, all or some. */
  get isOn(): boolean {
    return this.#recorder !== null;
  }

  /** Whether a command that comes next is to be recorded. */
  takes(work: Work): boolean {
    if (this.#recorder === null) return false;
    const { every = 1 } = this.#options;
    if (every === 1) return true;
    const engine = engineOf(work);
    const position = this.#positions.get(engine) ?? 0;
    this.#positions.set(engine, position + 1);
    return position % every === 0;
  }

  /**
   * Where CUPTI is to tell of a command that comes next and is recorded; null where events do. Graphs are left to
   * events, and so is what comes after them: with CUPTI's records switched on they were not seen to work.
   */
  activityOf(work: Work): ActivitySpans | null {
    if (work.kind === 'graph') this.#leave();
    return this.#goesOn ? this.#activity : null;
  }

  /** A stream is about to be closed. */
  forget(stream: number): void {
    this.#activity?.forget(stream);
  }

  /** A command with events around it is complete. */
  finished(command: Command, work: Work): void {
    this.#recorder?.(spanOf(command, work, engineOf(work)));
  }

  /** Reports what is complete and was not reported yet. */
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
