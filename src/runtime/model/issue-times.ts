// What issuing costs the host, as schedules issue: streams that have work, each operation on a part of its own, and
// a program whose code has been run often.
//
// A clock that is asked between operations would count as one. So whole rounds are timed: what an operation takes
// is what rounds with one more of it take more, in proportion to a round. Where the host has waited for some
// milliseconds before, its caches are cold, and a round takes longer. Besides, a host is slower by half for a tenth of
// a second or a whole one, whatever runs on it: turns that are spread over some time tell what it mostly is. An operation
// counts as issued when the driver has it, be it from a thread that issues.

import { kernel } from '../../kernel/kernel.ts';
import { awaitIssued } from '../await-issued.ts';
import type { Device, DeviceArray, Event, PinnedArray, Stream } from '../device.ts';
import type { EngineModel } from './engines.ts';

/** Milliseconds of the host. */
export type IssueTimes = Pick<EngineModel, 'issueTime' | 'launchTime' | 'eventTime' | 'issueAfterWait'>;

const addOne = kernel({ y: 'f32[]', offset: 'index' }, ({ y, offset }, cuda) => {
  const i = offset + cuda.thisGrid().threadRank();
  y[i] = y[i]! + 1;
});

const streamCount = 32;
const block = 256;
/** Elements of a part: 64 KiB. */
const part = 64 * block;
/** How often all parts are copied to have the host wait: a millisecond or more of any bus. */
const copiesOfWait = 64;
/** Every so many turns, a round after a wait is timed. */
const waitEvery = 4;

type Kind = 'plain' | 'in' | 'launch' | 'out';

export class IssueMeter implements AsyncDisposable {
  readonly #device: Device;
  readonly #streams: readonly Stream[];
  readonly #done: Event;
  readonly #data: DeviceArray<'f32'>;
  readonly #host: PinnedArray<'f32'>;
  readonly #back: PinnedArray<'f32'>;
  readonly #rounds: Record<Kind, number[]> = { plain: [], in: [], launch: [], out: [] };
  readonly #joins: number[] = [];
  readonly #afterWait: number[] = [];
  #turns = 0;

  constructor(device: Device) {
    this.#device = device;
    this.#streams = Array.from({ length: streamCount }, () => device.createStream());
    this.#done = device.createEvent();
    this.#data = device.alloc('f32', streamCount * part);
    this.#host = device.allocPinned('f32', streamCount * part);
    this.#back = device.allocPinned('f32', streamCount * part);
    this.#host.array.fill(1);
  }

  /** Has turns for so many milliseconds, and forgets what it measured: the code of the program is compiled then. */
  async warmUp(milliseconds: number): Promise<void> {
    await this.run(milliseconds);
    for (const list of [...Object.values(this.#rounds), this.#joins, this.#afterWait]) list.length = 0;
    // The next turn is the first again, and times a round after a wait, though it be the only one.
    this.#turns = 0;
  }

  /** Has turns for so many milliseconds, and at least one. */
  async run(milliseconds: number): Promise<void> {
    const begun = performance.now();
    do await this.turn();
    while (performance.now() - begun < milliseconds);
  }

  /** Times a round of each kind. */
  async turn(): Promise<void> {
    if (this.#turns++ % waitEvery === 0) {
      const [stream] = this.#streams;
      for (let copy = 0; copy < copiesOfWait; ++copy) stream!.memcpyAsync(this.#data, this.#host);
      await stream!.synchronize();
      this.#afterWait.push(this.#round(1, 1, 1));
      await this.#join();
    }
    // Whatever was before: from here on the caches are warm.
    this.#round(1, 1, 1);
    await this.#join();
    await this.#time('plain', 1, 1, 1);
    await this.#time('in', 2, 1, 1);
    await this.#time('launch', 1, 2, 1);
    await this.#time('out', 1, 1, 2);
  }

  async #time(kind: Kind, ins: number, launches: number, outs: number): Promise<void> {
    this.#rounds[kind].push(this.#round(ins, launches, outs));
    this.#joins.push(await this.#join());
  }

  /** Milliseconds that issuing a round takes: so many operations of each kind in every stream. */
  #round(ins: number, launches: number, outs: number): number {
    const [data, host, back] = [this.#data, this.#host, this.#back];
    const start = performance.now();
    for (const [i, stream] of this.#streams.entries()) {
      const begin = i * part;
      const end = begin + part;
      for (let time = 0; time < ins; ++time)
        stream.memcpyAsync(data.subarray(begin, end), host.subarray(begin, end));
      for (let time = 0; time < launches; ++time)
        stream.launch(addOne, { grid: part / block, block }, { y: data, offset: begin });
      for (let time = 0; time < outs; ++time)
        stream.memcpyAsync(back.subarray(begin, end), data.subarray(begin, end));
    }
    awaitIssued(this.#device);
    return performance.now() - start;
  }

  /** Waits for all streams; milliseconds that the host needs to say so. */
  async #join(): Promise<number> {
    const start = performance.now();
    // The default stream waits for all of them: for each, an event is recorded and waited for.
    this.#device.defaultStream.record(this.#done);
    awaitIssued(this.#device);
    const time = performance.now() - start;
    await this.#done.synchronize();
    return time;
  }

  /** What was measured since the warm-up. */
  get times(): IssueTimes {
    const plain = median(this.#rounds.plain);
    const more = (kind: Kind) => Math.max(0, median(this.#rounds[kind]) - plain);
    const [copy, launch] = [(more('in') + more('out')) / 2, more('launch')];
    const all = 2 * copy + launch;
    const ofRound = all === 0 ? 0 : plain / streamCount / all;
    return {
      issueTime: copy * ofRound,
      launchTime: launch * ofRound,
      eventTime: median(this.#joins) / streamCount / 2,
      issueAfterWait: plain === 0 ? 1 : Math.max(1, median(this.#afterWait) / plain),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const stream of this.#streams) await stream.destroy();
    this.#done.destroy();
    for (const array of [this.#data, this.#host, this.#back]) array.free();
  }
}

/** The middle one of some measured times, of which there must be some. */
export function median(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError('the median of no times');
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1]!;
}
