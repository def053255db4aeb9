// The commands of a device whose times are CUPTI's: each waits for its records, and is then told.
//
// Records come when CUPTI is asked for them, which takes a fraction of a millisecond; so it is asked
// when the device is at rest and somebody wants to know, or many commands wait. A stream's commands are told
// when all that was issued to it is settled, since only then all records of it are there.

import type { Command, Work } from '../../command.ts';
import type { CopyWork } from '../../copies.ts';
import { type Activity, type Expected, StreamMatching } from './matching.ts';
import { activityKinds } from './records.ts';
import type { CuptiSession } from './session.ts';

/** When a command ran, and through which channel; null where CUPTI has no record of it. */
export type ToldActivity = {
  readonly started: number;
  readonly ended: number;
  readonly channel?: string;
} | null;

/** So many commands that wait are told when the device is at rest, whether or not anybody asks. */
const mostWaiting = 2048;
/** Full buffers are looked for each time so many commands were issued. */
const lookEvery = 256;

interface Traced {
  readonly command: Command;
  readonly work: Work;
  state: 'underway' | 'settled' | 'lost';
}

interface TracedStream {
  readonly matching: StreamMatching<Traced>;
  readonly stopListening: () => void;
  underway: number;
}

export class ActivitySpans {
  readonly #session: CuptiSession;
  readonly #context: number;
  readonly #tell: (command: Command, work: Work, activity: ToldActivity) => void;
  readonly #streams = new Map<number, TracedStream>();
  /** Streams that were closed before all of their records were there; the driver's stream may be used again. */
  readonly #former = new Map<number, TracedStream>();
  readonly #traced = new Map<Command, { readonly traced: Traced; readonly stream: TracedStream }>();
  #waiting = 0;
  #issued = 0;

  constructor(
    session: CuptiSession,
    context: number,
    tell: (command: Command, work: Work, activity: ToldActivity) => void,
  ) {
    this.#session = session;
    this.#context = context;
    this.#tell = tell;
  }

  /**
   * A command was given to a stream, after so many calls that prepared it. False if CUPTI does not know the
   * stream: nothing will be told then.
   */
  issued(handle: number, command: Command, work: Work, preparations: number): boolean {
    const stream = this.#streams.get(handle) ?? this.#open(handle);
    if (stream === null) return false;
    const traced: Traced = { command, work, state: 'underway' };
    stream.matching.expect({ command: traced, preparations, ...signatureOf(work) });
    stream.underway += 1;
    this.#waiting += 1;
    this.#traced.set(command, { traced, stream });
    if (++this.#issued % lookEvery === 0) this.#session.read();
    return true;
  }

  #open(handle: number): TracedStream | null {
    // Records of what the driver's stream did before may still come: they are told apart by their order.
    const former = this.#former.get(handle);
    const matching = former?.matching ?? new StreamMatching<Traced>();
    const stop = this.#session.listen(this.#context, handle, (record) => matching.add(record));
    if (stop === null) return null;
    this.#former.delete(handle);
    const stopListening = () => {
      former?.stopListening();
      stop();
    };
    const stream = { matching, stopListening, underway: 0 };
    this.#streams.set(handle, stream);
    return stream;
  }

  /** It is complete, or was given up (`lost`) and is not told. */
  settled(command: Command, state: 'settled' | 'lost' = 'settled'): void {
    const found = this.#traced.get(command);
    if (found === undefined) return;
    this.#traced.delete(command);
    found.traced.state = state;
    found.stream.underway -= 1;
    if (this.#waiting >= mostWaiting && this.#traced.size === 0) this.resolve();
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
    const atRest = this.#traced.size === 0;
    let streams = this.#settledStreams();
    if (atRest && streams.some(({ matching }) => !matching.isComplete)) this.#session.force();
    // While others run, a stream whose records are not all there has time.
    if (!atRest) streams = streams.filter(({ matching }) => matching.isComplete);
    const matched = streams.flatMap(({ matching }) => matching.take());
    this.#waiting -= matched.length;
    matched.sort((a, b) => a.command.command.id - b.command.command.id);
    for (const { command: traced, activity } of matched) {
      if (traced.state === 'settled') this.#tell(traced.command, traced.work, this.#toHostTime(activity));
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

  #toHostTime(activity: Activity | null): ToldActivity {
    if (activity === null) return null;
    const { start, end, channel } = activity;
    const times = { started: this.#session.hostTime(start), ended: this.#session.hostTime(end) };
    return channel === '' ? times : { ...times, channel };
  }

  /** Nothing more is told. */
  close(): void {
    for (const { stopListening } of [...this.#streams.values(), ...this.#former.values()]) stopListening();
    this.#streams.clear();
    this.#former.clear();
    this.#traced.clear();
    this.#waiting = 0;
  }
}

/** What the records of some work look like. */
function signatureOf(work: Work): Omit<Expected<never>, 'command' | 'preparations'> {
  const copies = [activityKinds.memcpy, activityKinds.peerMemcpy];
  switch (work.kind) {
    case 'copy':
      return { calls: callsOf(work), kinds: copies, bytes: isPlain(work) ? work.box.width : null };
    case 'set':
      return { calls: 1, kinds: [activityKinds.memset], bytes: work.bytes };
    case 'launch':
      return { calls: 1, kinds: [activityKinds.kernel], bytes: null };
    case 'graph':
    case 'host':
      throw new TypeError(`a ${work.kind} is left to events`);
  }
}

function isPlain({ box, peer }: CopyWork): boolean {
  return peer === true || (box.height === 1 && box.depth === 1);
}

/** Rows between GPUs are copied one by one. */
function callsOf({ box, peer }: CopyWork): number {
  return peer === true ? box.height * box.depth : 1;
}
