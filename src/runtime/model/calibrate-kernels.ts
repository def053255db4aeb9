// Measures what a device's kernels are made of, by single kernels.
//
// Each figure is the one with which the model gives the time that was measured (`fitted`), one after the other: the
// clock by a chain of sums, the latency of memory by loads of which each waits for a store, the time of a block by waves of
// blocks that do nothing, and so on. So what is measured is what the model means by it.

import type { LaunchArguments, Schema } from '../../kernel/kernel.ts';
import { type LaunchWorkload, workOfLaunch } from '../../targets/analysis/work.ts';
import type { Device, DeviceArray, Stream } from '../device.ts';
import {
  type Any,
  again,
  arithmetic,
  nameOf,
  nothing,
  plusOne,
  programOf,
  type Shape,
  wander,
} from './calibration-launches.ts';
import type { EngineModel } from './engines.ts';
import { workBehindFirstCache } from './first-cache.ts';
import { fitted, lastHeld } from './fitting.ts';
import { clockOf, type KernelWork, plainKernels, timeOfKernel } from './kernel-times.ts';
import { ScopedStreams } from './scoped-streams.ts';
import { type Issue, leastTime, Stopwatch } from './stopwatch.ts';

/** The fields of a device that are measured here. */
export type KernelFields = Pick<
  EngineModel,
  | 'memoryRate'
  | 'operationRate'
  | 'clockRate'
  | 'memoryLatency'
  | 'cacheBytes'
  | 'cacheRate'
  | 'cacheLatency'
  | 'firstCacheBytes'
  | 'firstCacheLatency'
  | 'blockTime'
  | 'blockRate'
  | 'copyRate'
  | 'setRate'
  | 'kernelOverhead'
  | 'startTime'
  | 'timingTime'
>;

/** What is known of the device before. */
type Properties = Pick<EngineModel, 'multiProcessors' | 'threadsAtOnce'>;

/** Bytes of arrays of which it is tried whether the cache holds them. */
const cacheSizes = [4, 8, 16, 24, 32, 40, 48, 64, 96].map((mib) => mib * 2 ** 20);

/** The same of a processor's own cache, and how often a thread reads. */
const firstCacheSizes = [32, 64, 96, 128, 160, 192, 224, 256, 384].map((kib) => kib * 1024);
const readings = 4096;

/** Small kernels in a row, and the streams that they are in. */
const inRow = 8;
const streamsInTurn = 8;
const block = 256;

/** Cycles a millisecond that no processor has: chains take no time then. Milliseconds that nothing small takes. */
const fastestClock = 1e8;
const longest = 1;

/** A cache moves no more than so many times what a copy beyond it does. */
const mostOfCopy = 2;

/** A cache in front of another saves this part of its time at least. */
const leastGain = 1.3;

/** Bytes of an array that no cache holds. */
const leastUncached = 128 * 2 ** 20;

export class KernelBench {
  readonly #watch: Stopwatch;
  readonly #stream: Stream;
  readonly #y: DeviceArray<'f32'>;
  readonly #x: DeviceArray<'f32'>;
  #model: KernelFields & Properties;
  /** Milliseconds that were measured, by what of. */
  readonly #times = new Map<string, number>();
  /** What launches have to do, by what they depend on and the cycles that memory takes. */
  readonly #works = new Map<string, LaunchWorkload>();

  /** The arrays are as long as each other. */
  constructor(
    device: Device,
    rounds: number,
    arrays: readonly [DeviceArray<'f32'>, DeviceArray<'f32'>],
    stream: Stream,
  ) {
    this.#watch = new Stopwatch(device, rounds);
    this.#stream = stream;
    [this.#y, this.#x] = arrays;
    const { multiProcessorCount } = device.properties;
    this.#model = {
      ...plainKernels,
      memoryRate: Number.POSITIVE_INFINITY,
      copyRate: Number.POSITIVE_INFINITY,
      setRate: Number.POSITIVE_INFINITY,
      operationRate: Number.POSITIVE_INFINITY,
      kernelOverhead: 0,
      multiProcessors: multiProcessorCount,
      threadsAtOnce: multiProcessorCount * 2048,
    };
  }

  async measure(): Promise<KernelFields> {
    const { kind } = this.#watch.device.properties;
    // On a processor of the host, chains are not what a GPU's are.
    const clockRate = kind === 'cpu' ? null : await this.#chain();
    if (clockRate !== null) this.#set('clockRate', clockRate);
    // Each figure is fitted with those of the others: the second time, with good ones.
    for (let time = 0; time < 2; ++time) {
      if (clockRate !== null) {
        await this.#latencies();
        await this.#firstCache();
        await this.#blocks();
      }
      await this.#operations();
      await this.#starts();
      await this.#moves();
    }
    const { multiProcessors, threadsAtOnce, ...fields } = this.#model;
    return fields;
  }

  /** Sets a field to the value with which the model gives a time. */
  #fit(field: keyof KernelFields, low: number, high: number, measured: number, time: () => number): void {
    const before = this.#model;
    const at = (value: number) => {
      this.#model = { ...before, [field]: value };
      return time();
    };
    const value = fitted(measured, at, low, high);
    this.#model = { ...before, [field]: value };
  }

  // Steps

  /** Cycles a millisecond, by sums of which each waits for the one before; null if they take no time. */
  async #chain(): Promise<number | null> {
    const shapes = [2000, 12_000].map((pairs) => this.#shape(arithmetic, 1, 32, { y: this.#y, pairs }));
    const [few, many] = await this.#each(shapes);
    const cycles = this.#workOf(shapes[1]!).cycles - this.#workOf(shapes[0]!).cycles;
    const rate = cycles / Math.max(many! - few!, leastTime);
    return rate > fastestClock ? null : rate;
  }

  async #latencies(): Promise<void> {
    // In the cache, by one warp; a small array, again and again.
    const most = Math.min(1024, Math.floor(this.#y.length / 32));
    const [few, many] = [Math.ceil(most / 4), most].map((rounds) => this.#wandering(1, 32, 32 * rounds));
    const [short, long] = await this.#each([few!, many!]);
    this.#set('cacheLatency', 0);
    this.#set('memoryLatency', 0);
    const cycles = this.#workOf(many!).cycles - this.#workOf(few!).cycles;
    const each = (long! - short! - cycles / this.#model.clockRate) / Math.max(1, most - Math.ceil(most / 4));
    const cacheLatency = Math.min(Math.max(0, each), longest);
    this.#set('cacheLatency', cacheLatency);
    this.#set('memoryLatency', cacheLatency);
    // Beyond it, by so few warps that the memory has little to do.
    if (4 * this.#y.length < leastUncached) return;
    const whole = this.#wandering(this.#model.multiProcessors, block, this.#y.length);
    const [measured] = await this.#each([whole]);
    this.#fit('memoryLatency', cacheLatency, longest, measured!, () => this.#timeOf(whole, false));
  }

  /** How much the cache holds, by the latency of memory, and its rate. */
  async #cache(): Promise<void> {
    const sizes = cacheSizes.filter((bytes) => bytes <= 4 * this.#y.length);
    const shapes = sizes.map((bytes) => this.#wandering(this.#model.multiProcessors, block, bytes / 4));
    const times = await this.#each(shapes);
    const last = lastHeld(times.map((time, i) => time / sizes[i]!));
    this.#set('cacheBytes', sizes[last] ?? 0);
    const near = this.#moving(Math.floor((sizes[last] ?? 0) / 12));
    if (last < 0) return;
    const [time] = await this.#each([near]);
    this.#fit('cacheRate', 1, 1e15, time!, () => this.#timeOf(near, true));
  }

  /** How much a processor's own cache holds, and how long that takes, by one block that reads an array again and again. */
  async #firstCache(): Promise<void> {
    const sizes = firstCacheSizes.filter((bytes) => bytes <= 4 * this.#x.length);
    const shapes = sizes.map((bytes) =>
      this.#shape(again, 1, block, {
        y: this.#y.subarray(0, block),
        x: this.#x.subarray(0, bytes / 4),
        n: bytes / 4,
        rounds: readings,
      }),
    );
    const times = await this.#each(shapes);
    this.#set('firstCacheBytes', 0);
    this.#set('firstCacheLatency', 0);
    if (shapes.length === 0 || this.#timeOf(shapes[0]!, true) <= times[0]! * leastGain) return;
    this.#set('firstCacheBytes', sizes[lastHeld(times)]!);
    this.#fit('firstCacheLatency', 0, this.#model.cacheLatency, times[0]!, () =>
      this.#timeOf(shapes[0]!, true),
    );
  }

  #wandering(blocks: number, threads: number, elements: number): Shape {
    return this.#shape(wander, blocks, threads, { y: this.#y.subarray(0, elements) });
  }

  async #operations(): Promise<void> {
    const pairs = 2048;
    const blocks = this.#model.multiProcessors * 8 * 4;
    const shape = this.#shape(arithmetic, blocks, block, { y: this.#y, pairs });
    const [measured] = await this.#each([shape]);
    this.#fit('operationRate', 1, 1e15, measured!, () => this.#timeOf(shape));
  }

  /** What blocks take that have nothing to do. */
  async #blocks(): Promise<void> {
    // Waves of blocks that wait for one load: what a wave takes beyond that.
    const waves = [4, 12].flatMap((count) => {
      const blocks = 2 * count * this.#model.multiProcessors;
      return 1024 * blocks <= this.#y.length ? [this.#moving(1024 * blocks, 1024)] : [];
    });
    const [few, many] = await this.#each(waves);
    if (many !== undefined)
      this.#fit(
        'blockTime',
        0,
        longest,
        many - few!,
        () => this.#timeOf(waves[1]!, true) - this.#timeOf(waves[0]!, true),
      );
    const shapes = [8192, 65_536].map((blocks) =>
      this.#shape(nothing, blocks, 32, { y: this.#y.subarray(0, 1) }),
    );
    const [some, more] = await this.#each(shapes);
    this.#fit('blockRate', 1, 1e12, more! - some!, () => this.#timeOf(shapes[1]!) - this.#timeOf(shapes[0]!));
  }

  /** What kernels, copies and sets move. */
  async #moves(): Promise<void> {
    const whole = this.#moving(this.#y.length);
    if (Number.isFinite(this.#model.clockRate)) {
      await this.#cache();
    }
    const [measured] = await this.#each([whole]);
    this.#fit('memoryRate', 1, 1e15, measured!, () => this.#timeOf(whole, false));
    const bytes = 4 * this.#y.length;
    const beside = (time: number) => Math.max(time - this.#model.kernelOverhead, leastTime);
    const copied = await this.#once('copied', () =>
      this.#row((stream) => stream.memcpyAsync(this.#y, this.#x)),
    );
    this.#set('copyRate', (2 * bytes) / beside(copied));
    const set = await this.#once('set', () => this.#row((stream) => stream.memsetAsync(this.#y, 0)));
    this.#set('setRate', bytes / beside(set));
    // Where other limits hide it, what is measured has no bound.
    if (Number.isFinite(this.#model.clockRate))
      this.#set('cacheRate', Math.min(this.#model.cacheRate, mostOfCopy * this.#model.copyRate));
  }

  /** What a kernel takes beside its work, alone, in a row, and among those of other streams. */
  async #starts(): Promise<void> {
    const tiny = this.#shape(nothing, 1, 32, { y: this.#y.subarray(0, 1) });
    const [each] = await this.#each([tiny]);
    this.#set('kernelOverhead', 0);
    this.#set('kernelOverhead', Math.max(0, each! - this.#timeOf(tiny)));
    const launch = (stream: Stream) => this.#launch(tiny, stream);
    const alone = await this.#once('alone', () => this.#watch.time(this.#stream, launch, this.#busy));
    this.#set('timingTime', Math.min(longest, Math.max(0, alone - this.#timeOf(tiny))));
    const several = await this.#once('several', async () => {
      const [few, many] = [await this.#inTurn(tiny, 1), await this.#inTurn(tiny, 4)];
      return (many - few) / (3 * streamsInTurn);
    });
    this.#set('startTime', Math.min(each!, Math.max(0, several)));
  }

  /** Milliseconds of launches in several streams in turn, so many in each. */
  async #inTurn(shape: Shape, rounds: number): Promise<number> {
    await using streams = new ScopedStreams(this.#watch.device, streamsInTurn);
    return await this.#watch.time(
      streams.all[0]!,
      () => {
        for (let i = 0; i < rounds * streamsInTurn; ++i) this.#launch(shape, streams.all[i % streamsInTurn]!);
        streams.join();
      },
      (first) => {
        for (let i = 0; i < 3; ++i) this.#busy(first);
        streams.fork();
      },
    );
  }

  #set(field: keyof KernelFields, value: number): void {
    this.#model = { ...this.#model, [field]: value };
  }

  // Launches

  #shape(of: unknown, blocks: number, threads: number, args: Shape['args']): Shape {
    return { kernel: of as Any, blocks, threads, args };
  }

  /** A kernel that moves so many elements from one array to the other. */
  #moving(elements: number, threads = block): Shape {
    const args = { y: this.#y.subarray(0, elements), x: this.#x.subarray(0, elements) };
    return this.#shape(plusOne, Math.ceil(elements / threads), threads, args);
  }

  #launch({ kernel: of, blocks, threads, args }: Shape, stream = this.#stream): void {
    stream.launch(of, { grid: blocks, block: threads }, args as LaunchArguments<Schema>);
  }

  /** Keeps the device busy while the host issues. */
  readonly #busy = (stream: Stream): void => {
    const pairs = 40_000;
    this.#launch(this.#shape(arithmetic, 1, 32, { y: this.#y, pairs }), stream);
  };

  /** Milliseconds of each of these launches among its like. */
  async #each(shapes: readonly Shape[]): Promise<number[]> {
    const times: number[] = [];
    for (const shape of shapes) {
      times.push(await this.#once(nameOf(shape), () => this.#row((stream) => this.#launch(shape, stream))));
    }
    return times;
  }

  /** What is measured once, though it is asked for again. */
  async #once(name: string, measure: () => Promise<number>): Promise<number> {
    const time = this.#times.get(name) ?? (await measure());
    this.#times.set(name, time);
    return time;
  }

  /** Milliseconds that one of several takes that follow each other. */
  async #row(issue: Issue): Promise<number> {
    const several = (count: number) =>
      this.#watch.time(
        this.#stream,
        (stream) => {
          for (let i = 0; i < count; ++i) issue(stream);
        },
        this.#busy,
      );
    return Math.max(leastTime, ((await several(1 + inRow)) - (await several(1))) / inRow);
  }

  // The model

  get #all(): EngineModel {
    return this.#model as unknown as EngineModel;
  }

  #timeOf(shape: Shape, cached?: boolean): number {
    return timeOfKernel(this.#all, this.#workOf(shape, cached)).duration;
  }

  #workOf(shape: Shape, cached?: boolean): KernelWork {
    const { blocks } = shape;
    const readable = Object.entries(shape.args).reduce((sum, [name, value]) => {
      const isRead = String(shape.kernel.schema[name]).startsWith('readonly');
      return isRead && typeof value !== 'number' ? sum + 4 * value.length : sum;
    }, 0);
    const follow = (latency: number, readLatency: number) => this.#followed(shape, latency, readLatency);
    const worked = (latency: number) =>
      workBehindFirstCache(this.#model, { blocks, readable, follow }, latency);
    const near = worked(this.#model.cacheLatency);
    const lengths = Object.values(shape.args).map((value) => (typeof value === 'number' ? 0 : value.length));
    const reach = 4 * lengths.reduce((sum, length) => sum + length, 0);
    const held = cached ?? Math.min(near.bytes, reach) <= this.#model.cacheBytes;
    const work = held ? near : worked(this.#model.memoryLatency);
    return { blocks: shape.blocks, threads: shape.threads, ...work, cached: held };
  }

  #followed(shape: Shape, latency: number, readLatency: number): LaunchWorkload {
    const { kernel: of, blocks, threads, args } = shape;
    const [cycles, readCycles] = [latency, readLatency].map((time) => time * clockOf(this.#all));
    const known = `${nameOf(shape)},${cycles},${readCycles}`;
    let work = this.#works.get(known);
    if (work === undefined) {
      const values = Object.keys(of.schema).map((name) => args[name]!);
      const program = programOf(of, threads);
      const lengths = values.map((value) => (typeof value === 'number' ? 0 : value.length));
      const scalars = values.map((value) => (typeof value === 'number' ? value : undefined));
      work = workOfLaunch(program, [blocks, 1, 1], scalars, lengths, cycles, readCycles);
      this.#works.set(known, work);
    }
    return work;
  }
}
