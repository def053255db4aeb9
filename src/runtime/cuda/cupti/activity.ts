// The commands of a device whose times are CUPTI's: each waits for its records, and is then reported.
//
// Records come when CUPTI is asked for them, which takes a fraction of a millisecond; so it is asked
// when the device is at rest and somebody wants to know, or many commands wait. A stream's commands are reported
// when all that was issued to it is settled, since only then all records of it are there.

import type { Command, Work } from '../../command.ts';
import type { CopyWork } from '../../copies.ts';
import { type Activity, type Expected, StreamMatching } from './matching.ts';
import { activityKinds } from './records.ts';
import type { CuptiSession } from './session.ts';

/** When a command ran, and through which channel; null where CUPTI has no record of it. */
export type ReportedTimes = {
  readonly started: number;
  readonly ended: number;
  readonly channel?: string;
} | null;

/** So many commands that wait are reported when the device is at rest, whether or not anybody asks. */
const mostWaiting = 2048;
/** Full buffers are looked for each time so many commands were issued. */
const lookEvery = 256;

/** A command whose records are to come, as its stream expects them. */
export class Traced implements Expected {
  readonly command: Command;
  readonly work: Work;
  readonly preparations: number;
  readonly calls: number;
  readonly kinds: readonly number[];
  readonly bytes: number | null;
  readonly #stream: TracedStream;
  #state: 'underway' | 'settled' | 'lost' = 'underway';

  constructor(command: Command, work: Work, preparations: number, stream: TracedStream) {
    this.command = command;
    this.work = work;
    this.preparations = preparations;
    this.calls = callsOf(work);
    this.kinds = kindsOf(work);
    this.bytes = bytesOf(work);
    this.#stream = stream;
  }

  /** It is complete, or was given up (`lost`) and is not reported. */
  settled(state: 'settled' | 'lost' = 'settled'): void {
    if (this.#state !== 'underway') return;
    this.#state = state;
    this.#stream.underway -= 1;
    this.#stream.owner.ended();
  }

  get isLost(): boolean {
    return this.#state === 'lost';
  }
}

interface TracedStream {
  readonly owner: ActivitySpans;
  readonly matching: StreamMatching<Traced>;
  readonly stopListening: () => void;
  underway: number;
}

export class ActivitySpans {
  readonly #session: CuptiSession;
  readonly #context: number;
  readonly #tell: (command: Command, work: Work, activity: ReportedTimes) => void;
  readonly #streams = new Map<number, TracedStream>();
  /** Streams that were closed before all of their records were there; the driver's stream may be used again. */
  readonly #former = new Map<number, TracedStream>();
  /** Commands that are not settled; those that wait for their records, these included; all so far. */
  #underway = 0;
  #waiting = 0;
  #issued = 0;

  constructor(
    session: CuptiSession,
    context: number,
    tell: (command: Command, work: Work, activity: ReportedTimes) => void,
  ) {
    this.#session = session;
    this.#context = context;
    this.#tell = tell;
  }

  /**
   * A command was given to a stream, after so many calls that prepared it. To be reported when it is settled; null if
   * CUPTI does not know the stream: nothing will be reported then.
   */
  issued(handle: number, command: Command, work: Work, preparations: number): Traced | null {
    const stream = this.#streams.get(handle) ?? this.#open(handle);
    if (stream === null) return null;
    const traced = new Traced(command, work, preparations, stream);
    stream.matching.expect(traced);
    stream.underway += 1;
    this.#underway += 1;
    this.#waiting += 1;
    if (++this.#issued % lookEvery === 0) this.#session.read();
    return traced;
  }

  #open(handle: number): TracedStream | null {
    // Records of what the driver's stream did before may still come: they are distinguished by their order.
    const former = this.#former.get(handle);
    const matching = former?.matching ?? new StreamMatching<Traced>();
    const stop = this.#session.listen(this.#context, handle, (record) => matching.add(record));
    if (stop === null) return null;
    this.#former.delete(handle);
    const stopListening = () => {
      former?.stopListening();
      stop();
    };
    const stream = { owner: this, matching, stopListening, underway: 0 };
    this.#streams.set(handle, stream);
    return stream;
  }

  /** One of the commands is no longer under way. */
  ended(): void {
    this.#underway -= 1;
    if (this.#waiting >= mostWaiting && this.#underway === 0) this.resolve();
  }

  /** A stream is about to be closed. */
  forget(handle: number): void {
    const stream = this.#streams.get(handle);
    if (stream === undefined) return;
    this.#streams.delete(handle);
    this.#former.set(handle, stream);
    this.resolve();
  }

  /** Tells all commands of streams where nothing is under way. */
  resolve(): void {
    if (this.#waiting === 0) {
      this.#letGo();
      return;
    }
    this.#session.flush();
    const atRest = this.#underway === 0;
    let streams = this.#settledStreams();
    if (atRest && streams.some(({ matching }) => !matching.isComplete)) this.#session.force();
    // While others run, a stream whose records are not all there has time.
    if (!atRest) streams = streams.filter(({ matching }) => matching.isComplete);
    const matched = streams.flatMap(({ matching }) => matching.take());
    this.#waiting -= matched.length;
    if (streams.length > 1) matched.sort((a, b) => a.expected.command.id - b.expected.command.id);
    for (const { expected: traced, activity } of matched) {
      if (!traced.isLost) this.#tell(traced.command, traced.work, this.#toHostTime(activity));
    }
    this.#letGo();
  }

  #settledStreams(): readonly TracedStream[] {
    return [...this.#streams.values(), ...this.#former.values()].filter(
      ({ underway, matching }) => underway === 0 && matching.waiting > 0,
    );
  }

  #letGo(): void {
    for (const [handle, { matching, stopListening }] of this.#former) {
      if (matching.waiting > 0) continue;
      stopListening();
      this.#former.delete(handle);
    }
  }

  #toHostTime(activity: Activity | null): ReportedTimes {
    if (activity === null) return null;
    const { start, end, channel } = activity;
    const started = this.#session.hostTime(start);
    const ended = this.#session.hostTime(end);
    return channel === '' ? { started, ended } : { started, ended, channel };
  }

  /** Nothing more is reported. */
  close(): void {
    for (const { stopListening } of [...this.#streams.values(), ...this.#former.values()]) stopListening();
    this.#streams.clear();
    this.#former.clear();
    this.#underway = 0;
    this.#waiting = 0;
  }
}

const copyKinds = [activityKinds.memcpy, activityKinds.peerMemcpy];
const setKinds = [activityKinds.memset];
const launchKinds = [activityKinds.kernel];

/** Kinds that the records of some work may have. */
function kindsOf(work: Work): readonly number[] {
  switch (work.kind) {
    case 'copy':
      return copyKinds;
    case 'set':
      return setKinds;
    case 'launch':
      return launchKinds;
    case 'graph':
    case 'host':
    case 'wait':
      throw new TypeError(`a ${work.kind} is left to events`);
  }
}

/** Calls of the driver: rows between GPUs are copied one by one. */
function callsOf(work: Work): number {
  return work.kind === 'copy' && work.peer ? work.box.height * work.box.depth : 1;
}

function bytesOf(work: Work): number | null {
  if (work.kind === 'set') return work.bytes;
  return work.kind === 'copy' && isPlain(work) ? work.box.width : null;
}

function isPlain({ box, peer }: CopyWork): boolean {
  return peer === true || (box.height === 1 && box.depth === 1);
}
