// Measures a device's rates, each by single operations: what a virtual device is made of.
//
// Every figure comes from events of the device, the median of a few rounds after one that warms
// up. A fixed cost is distinguished from a rate by doing the same amount of work in one large operation
// and in many small ones. Small operations are issued behind a large one, so that they wait in
// the queue and the host's pace does not count.

import { kernel } from '../../kernel/kernel.ts';
import type { Device, DeviceArray, PinnedArray, Stream } from '../device.ts';
import { KernelBench, type KernelFields } from './calibrate-kernels.ts';
import type { EngineModel } from './engines.ts';
import { IssueMeter, type IssueTimes, median } from './issue-times.ts';
import { knownModel } from './known.ts';
import { ScopedStreams } from './scoped-streams.ts';
import { type Issue, leastTime, Stopwatch } from './stopwatch.ts';

/** How much a calibration moves and computes. */
export interface CalibrationSize {
  /** Bytes of a large copy; a small one is a 64th. Default 256 MiB. */
  readonly bytes?: number;
  readonly rounds?: number;
}

const plusOne = kernel({ y: 'f32[]', x: 'readonly f32[]' }, ({ y, x }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  y[i] = x[i]! + 1;
});

const block = 256;

/** Milliseconds that the host issues to be warm, and to be measured, for each round. */
const warmUpTime = 200;
const measuringTime = 400;

/** Measures the device's rates. Engines and rules are those of its properties. */
export async function calibrate(
  device: Device,
  { bytes = 256 * 2 ** 20, rounds = 5 }: CalibrationSize = {},
): Promise<EngineModel> {
  using bench = new Bench(device, bytes, rounds);
  const { properties } = device;
  const into = await bench.copies('in');
  const out = await bench.copies('out');
  // What the host's memory gives differs from second to second where others use it too: so it is measured at three times.
  const ofHost = async () => ({
    ...(await bench.bothWays(into, out)),
    pageableHostToDevice: await bench.pageable('in', into),
    pageableDeviceToHost: await bench.pageable('out', out),
    hostCacheRate: await bench.hostCacheRate(),
  });
  const first = await ofHost();
  const kernels = await bench.kernels();
  const second = await ofHost();
  const issuing = await issueTimesOf(device, rounds);
  const host = middleOf([first, second, await ofHost()]);
  const overheads = { hostToDeviceOverhead: into.overhead, deviceToHostOverhead: out.overhead };
  const switchTime = ((await bench.switchTime('in')) + (await bench.switchTime('out'))) / 2;
  const isGpu = properties.kind === 'cuda';
  const elsewhere = isGpu ? ofOtherPlaces : 1;
  return {
    name: properties.name,
    computeCapability: properties.computeCapability,
    copyEngines: properties.asyncEngineCount,
    kernelsAtOnce: properties.concurrentKernels ? 128 : 1,
    hardwareQueues: 8,
    copyQueues: 4,
    delayedSignal: false,
    ...host,
    besideKernels: isGpu ? besideKernels : 1,
    bothWaysOverhead: await bench.bothWaysOverhead(into, out, { ...host, switchTime }),
    hostToDevice: into.rate * elsewhere,
    deviceToHost: out.rate * elsewhere,
    hostCacheBytes: isGpu ? hostCacheBytes : 0,
    ...overheads,
    ...kernels,
    switchTime,
    signalTime: await bench.signalTime({
      ...overheads,
      kernelOverhead: kernels.kernelOverhead + kernels.blockTime + kernels.cacheLatency,
      memoryRate: kernels.memoryRate,
      hostToDevice: into.rate,
      deviceToHost: out.rate,
    }),
    ...issuing,
    threadsAtOnce: properties.multiProcessorCount * 2048,
    multiProcessors: properties.multiProcessorCount,
    memory: properties.totalGlobalMemory,
  };
}

/** Of several measurements of the same figures, the middle one of each. */
function middleOf<T extends Readonly<Record<string, number>>>(measured: readonly T[]): T {
  const of = (name: string) => median(measured.map((figures) => figures[name]!));
  return Object.fromEntries(Object.keys(measured[0]!).map((name) => [name, of(name)])) as T;
}

/** What issuing costs the host; of a virtual device, whose host lives in its time, what it was made of. */
async function issueTimesOf(device: Device, rounds: number): Promise<IssueTimes> {
  const model = device.properties.kind === 'model' ? knownModel(device) : undefined;
  if (model !== undefined) {
    const { issueTime, launchTime, eventTime, issueAfterWait } = model;
    return { issueTime, launchTime, eventTime, issueAfterWait };
  }
  await using meter = new IssueMeter(device);
  await meter.warmUp(warmUpTime * rounds);
  await meter.run(measuringTime * rounds);
  return meter.times;
}

/** Small operations to a large one. */
const small = 64;

/** Elements of a copy that is small wherever both directions run: 64 KiB. */
const smallPart = 16 * 1024;

/** Streams that take turns where it counts that each operation is in another than the one before. */
const streamsInTurn = 8;
type Direction = 'in' | 'out';

/** Elements of pageable memory that a cache holds: 1 MiB. */
const cachedPart = 256 * 1024;

/** Copies of pageable memory that follow each other: as many as there is page-locked memory for. */
const pageableParts = 16;

/** Kernels slow copies down by what they move at the same time: by 2 to 10 % on an H200. */
const besideKernels = 1.03;

/** What copies of ever other places achieve of the rate of one that is repeated, on an H200. */
const ofOtherPlaces = 0.982;

/** Bytes of the host's that count as held by its processor's cache, of which this process has a part. */
const hostCacheBytes = 28e6;

/** A factor that a device file takes, whatever the clock said. */
function factorOf(measured: number): number {
  return Math.min(Math.max(1, measured), 100);
}

/** Copies of a direction: bytes a millisecond, and what each takes beside. */
interface Copies {
  readonly rate: number;
  readonly overhead: number;
}

class Bench implements Disposable {
  readonly #device: Device;
  readonly #watch: Stopwatch;
  readonly #bytes: number;
  readonly #data: DeviceArray<'f32'>;
  readonly #other: DeviceArray<'f32'>;
  readonly #host: PinnedArray<'f32'>;
  readonly #back: PinnedArray<'f32'>;
  readonly #streams: readonly [Stream, Stream];

  constructor(device: Device, bytes: number, rounds: number) {
    const unit = 4 * small * block;
    this.#bytes = Math.max(unit, bytes - (bytes % unit));
    this.#device = device;
    this.#watch = new Stopwatch(device, rounds);
    const elements = this.#bytes / 4;
    this.#data = device.alloc('f32', elements);
    this.#other = device.alloc('f32', elements);
    this.#host = device.allocPinned('f32', elements);
    this.#back = device.allocPinned('f32', elements);
    this.#streams = [device.createStream(), device.createStream()];
    this.#host.array.fill(1);
  }

  [Symbol.dispose](): void {
    for (const array of [this.#data, this.#other, this.#host, this.#back]) array.free();
    for (const stream of this.#streams) void stream.destroy();
  }

  #time(issue: Issue, before?: Issue, stream = this.#streams[0]): Promise<number> {
    return this.#watch.time(stream, issue, before);
  }

  #copy(direction: Direction, stream: Stream, begin: number, end: number): void {
    if (direction === 'in')
      stream.memcpyAsync(this.#data.subarray(begin, end), this.#host.subarray(begin, end));
    else stream.memcpyAsync(this.#back.subarray(begin, end), this.#other.subarray(begin, end));
  }

  async copies(direction: Direction): Promise<Copies> {
    const elements = this.#data.length;
    const whole = (stream: Stream) => this.#copy(direction, stream, 0, elements);
    const large = await this.#time(whole, whole);
    const part = elements / small;
    const many = await this.#time((stream) => {
      for (let i = 0; i < small; ++i) this.#copy(direction, stream, i * part, (i + 1) * part);
    }, whole);
    const overhead = Math.max(0, (many - large) / (small - 1));
    return { rate: this.#bytes / Math.max(large - overhead, large / 2), overhead };
  }

  /**
   * What a copy engine takes to go over from one stream to another: small copies, each in another stream than
   * the one before, beside as many in one.
   */
  async switchTime(direction: Direction): Promise<number> {
    const own = await this.#timeOfParts(direction, 1);
    const others = await this.#timeOfParts(direction, streamsInTurn);
    return Math.max(0, (others - own) / small);
  }

  /** Milliseconds of small copies that wait behind a large one, in so many streams in turn. */
  async #timeOfParts(direction: Direction, count: number): Promise<number> {
    await using streams = new ScopedStreams(this.#device, count);
    const elements = this.#data.length;
    const part = elements / small;
    return await this.#time(
      () => {
        for (let i = 0; i < small; ++i)
          this.#copy(direction, streams.all[i % count]!, i * part, (i + 1) * part);
        streams.join();
      },
      (first) => this.#copy(direction, first, 0, elements),
      streams.all[0],
    );
  }

  /**
   * What it takes until another engine has heard of an end: a copy in, a kernel and a copy out in turn, in one
   * stream, and so small that they have nothing to do but to begin and to end. Other streams wait meanwhile, as
   * those of a schedule do.
   */
  async signalTime(
    known: Pick<
      EngineModel,
      | 'hostToDeviceOverhead'
      | 'deviceToHostOverhead'
      | 'kernelOverhead'
      | 'hostToDevice'
      | 'deviceToHost'
      | 'memoryRate'
    >,
  ): Promise<number> {
    await using streams = new ScopedStreams(this.#device, streamsInTurn);
    const [chain, ...waiting] = streams.all as [Stream, ...Stream[]];
    using ended = this.#device.createEvent();
    const elements = this.#data.length;
    const data = this.#data.subarray(0, block);
    const back = this.#back.subarray(0, block);
    const time = await this.#time(
      () => {
        for (let i = 0; i < small; ++i) {
          this.#copy('in', chain, 0, block);
          chain.launch(plusOne, { grid: 1, block }, { y: data, x: data });
          chain.memcpyAsync(back, data);
        }
        chain.record(ended);
        for (const [i, stream] of waiting.entries()) {
          const own = this.#other.subarray(i * block, (i + 1) * block);
          stream.waitEvent(ended);
          stream.launch(plusOne, { grid: 1, block }, { y: own, x: own });
        }
      },
      (stream) => this.#copy('in', stream, 0, elements),
      chain,
    );
    await this.#device.synchronize();
    const bytes = 4 * block;
    const work = bytes / known.hostToDevice + bytes / known.deviceToHost + (2 * bytes) / known.memoryRate;
    const overheads = known.hostToDeviceOverhead + known.deviceToHostOverhead + known.kernelOverhead;
    return Math.max(0, (time / small - overheads - work) / 3);
  }

  /**
   * How many times slower each direction is while both run. As much is copied in as out, from and to other places in
   * each turn, and the direction that ends first has had the other beside it all the time.
   */
  async bothWays(into: Copies, out: Copies): Promise<Pick<EngineModel, 'bothWays' | 'bothWaysOut'>> {
    const [stream, other] = this.#streams;
    using begun = this.#device.createEvent();
    const elements = this.#data.length;
    const turns = 8;
    const [first, second] = await this.#watch.times(stream, (_, mark) => {
      stream.record(begun);
      other.waitEvent(begun);
      for (let turn = 0; turn < turns; ++turn) {
        const begin = (turn * elements) / turns;
        this.#copy('in', stream, 0, elements);
        this.#copy('out', other, begin, elements);
        if (begin > 0) this.#copy('out', other, 0, begin);
      }
      mark();
      mark(other);
    });
    const [aloneIn, aloneOut] = [into, out].map(({ rate }) => (turns * this.#bytes) / rate);
    const [inTime, outTime] = [first!, second!];
    // What the longer one did while both ran is what it did not do alone afterwards.
    const slower = (short: number, long: number, alone: number) =>
      short / Math.max(alone - (long - short), alone / 2);
    const bothWays = inTime <= outTime ? inTime / aloneIn! : slower(outTime, inTime, aloneIn!);
    const bothWaysOut = inTime <= outTime ? slower(inTime, outTime, aloneOut!) : outTime / aloneOut!;
    return { bothWays: factorOf(bothWays), bothWaysOut: factorOf(bothWaysOut) };
  }

  /**
   * What a copy takes more, beside being slowed down, while both directions run: small copies of both that wait behind
   * a large one, each in another stream than the one before.
   */
  async bothWaysOverhead(
    into: Copies,
    out: Copies,
    known: Pick<EngineModel, 'bothWays' | 'bothWaysOut' | 'switchTime'>,
  ): Promise<number> {
    await using ins = new ScopedStreams(this.#device, streamsInTurn);
    await using outs = new ScopedStreams(this.#device, streamsInTurn);
    using begun = this.#device.createEvent();
    const elements = this.#data.length;
    const part = Math.min(elements / small, smallPart);
    const count = 2 * small;
    const [inTime, outTime] = await this.#watch.times(
      ins.all[0]!,
      (first, mark) => {
        first.record(begun);
        for (const stream of [...ins.all.slice(1), ...outs.all]) stream.waitEvent(begun);
        for (let i = 0; i < count; ++i) {
          const [begin, stream] = [(i % small) * part, i % streamsInTurn];
          this.#copy('in', ins.all[stream]!, begin, begin + part);
          this.#copy('out', outs.all[stream]!, begin, begin + part);
        }
        ins.join();
        mark();
        outs.join();
        mark(outs.all[0]);
      },
      (first) => this.#copy('in', first, 0, elements),
    );
    // The direction that ends first has had the other beside it all the time.
    const [time, { rate, overhead }, slower] =
      inTime! <= outTime! ? [inTime!, into, known.bothWays] : [outTime!, out, known.bothWaysOut];
    return Math.max(0, time / count / slower - ((4 * part) / rate + overhead + known.switchTime));
  }

  /**
   * The rate of a copy of pageable memory, alone: of several that follow each other, of which the host's part is
   * measured, on the device's clock, by events of a stream that has nothing to do.
   */
  async pageable(direction: Direction, { rate }: Copies): Promise<number> {
    const memory = new Float32Array(this.#data.length).fill(1);
    const part = memory.length / pageableParts;
    const [stream, idle] = this.#streams;
    const times: number[] = [];
    for (let round = -1; round < this.#watch.rounds; ++round) {
      using start = this.#device.createEvent();
      using stop = this.#device.createEvent();
      idle.record(start);
      for (let begin = 0; begin < memory.length; begin += part) {
        const host = memory.subarray(begin, begin + part);
        const data = this.#data.subarray(begin, begin + part);
        if (direction === 'in') stream.memcpyAsync(data, host);
        else stream.memcpyAsync(host, data);
      }
      // What comes in is with the device when the host has copied it; what goes out is not before it is waited for.
      if (direction === 'out') await stream.synchronize();
      idle.record(stop);
      await idle.synchronize();
      await stream.synchronize();
      if (round >= 0) times.push(stop.elapsedTime(start));
    }
    const host = Math.max(median(times), leastTime);
    const first = direction === 'out' ? this.#bytes / pageableParts / rate : 0;
    return this.#bytes / (Math.max(host - first, leastTime) + this.#bytes / rate);
  }

  /** The rate of the host's copies in its processor's cache: one small copy, again and again. */
  async hostCacheRate(): Promise<number> {
    const memory = new Float32Array(Math.min(this.#data.length, cachedPart)).fill(1);
    const data = this.#data.subarray(0, memory.length);
    const [stream, idle] = this.#streams;
    const several = async (count: number) => {
      using start = this.#device.createEvent();
      using stop = this.#device.createEvent();
      idle.record(start);
      for (let i = 0; i < count; ++i) stream.memcpyAsync(data, memory);
      idle.record(stop);
      await idle.synchronize();
      await stream.synchronize();
      return stop.elapsedTime(start);
    };
    const times: number[] = [];
    for (let round = -1; round < this.#watch.rounds; ++round) {
      const time = (await several(5)) - (await several(1));
      if (round >= 0) times.push(time / 4);
    }
    // The shortest is the one for which the cache held all of it.
    return memory.byteLength / Math.max(Math.min(...times), leastTime);
  }

  kernels(): Promise<KernelFields> {
    return new KernelBench(
      this.#device,
      this.#watch.rounds,
      [this.#data, this.#other],
      this.#streams[0],
    ).measure();
  }
}
