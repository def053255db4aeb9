// Measures a device's rates, each by single operations: what a virtual device is made of.
//
// Every figure comes from events of the device, the median of a few rounds after one that warms
// up. A fixed cost is distinguished from a rate by doing the same amount of work in one large operation
// and in many small ones. Small operations are issued behind a large one, so that they wait in
// the queue and the host's pace does not count.

import { kernel } from '../../kernel/kernel.ts';
import type { Device, DeviceArray, PinnedArray, Stream } from '../device.ts';
import type { EngineModel } from './engines.ts';
import { IssueMeter, type IssueTimes, median } from './issue-times.ts';
import { knownModel } from './known.ts';
import { ScopedStreams } from './scoped-streams.ts';

/** How much a calibration moves and computes. */
export interface CalibrationSize {
  /** Bytes of a large copy; a small one is a 64th. Default 256 MiB. */
  readonly bytes?: number;
  readonly rounds?: number;
}

const copyKernel = kernel({ y: 'f32[]', x: 'readonly f32[]' }, ({ y, x }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  y[i] = x[i]! + 1;
});

/** Rounds of each thread of `arithmetic`, and the operations of one as a kernel's text is taken: two, and two of the loop. */
const pairs = 2048;
const operationsOfPair = 4;

const arithmetic = kernel({ y: 'f32[]', pairs: 'index' }, ({ y, pairs }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  let a = y[i]!;
  for (let k = 0; k < pairs; ++k) a = a * 0.999 + 0.001;
  y[i] = a;
});

const block = 256;

/** Milliseconds that something takes at least: a clock that is too coarse may say that it took no time, or less. */
const leastTime = 1e-6;

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
  const kernels = await bench.kernels();
  const overheads = { hostToDeviceOverhead: into.overhead, deviceToHostOverhead: out.overhead };
  const switchTime = ((await bench.switchTime('in')) + (await bench.switchTime('out'))) / 2;
  const rate = Math.min(into.rate, out.rate);
  const bothWays = await bench.bothWays(rate);
  return {
    name: properties.name,
    computeCapability: properties.computeCapability,
    copyEngines: properties.asyncEngineCount,
    kernelsAtOnce: properties.concurrentKernels ? 128 : 1,
    hardwareQueues: 8,
    copyQueues: 4,
    delayedSignal: false,
    bothWays,
    bothWaysOverhead: await bench.bothWaysOverhead(into, out, { bothWays, switchTime }),
    hostToDevice: into.rate,
    deviceToHost: out.rate,
    pageableHostToDevice: await bench.pageable('in'),
    pageableDeviceToHost: await bench.pageable('out'),
    memoryRate: kernels.memoryRate,
    operationRate: kernels.operationRate,
    ...overheads,
    kernelOverhead: kernels.overhead,
    switchTime,
    signalTime: await bench.signalTime({
      ...overheads,
      kernelOverhead: kernels.overhead,
      memoryRate: kernels.memoryRate,
      hostToDevice: into.rate,
      deviceToHost: out.rate,
    }),
    ...(await issueTimesOf(device, rounds)),
    threadsAtOnce: properties.multiProcessorCount * 2048,
    multiProcessors: properties.multiProcessorCount,
    memory: properties.totalGlobalMemory,
  };
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

/** Streams that take turns where it counts that each operation is in another than the one before. */
const streamsInTurn = 8;
type Direction = 'in' | 'out';

/** Copies of a direction: bytes a millisecond, and what each takes beside. */
interface Copies {
  readonly rate: number;
  readonly overhead: number;
}

class Bench implements Disposable {
  readonly #device: Device;
  readonly #rounds: number;
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
    this.#rounds = rounds;
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

  /** Median milliseconds that what `issue` issues takes on the device; `before` is issued first, and not timed. */
  async #time(
    issue: (stream: Stream) => void,
    before?: (stream: Stream) => void,
    stream = this.#streams[0],
  ): Promise<number> {
    const times: number[] = [];
    for (let round = -1; round < this.#rounds; ++round) {
      using start = this.#device.createEvent();
      using stop = this.#device.createEvent();
      before?.(stream);
      stream.record(start);
      issue(stream);
      stream.record(stop);
      await stop.synchronize();
      if (round >= 0) times.push(stop.elapsedTime(start));
    }
    return Math.max(median(times), leastTime);
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
          chain.launch(copyKernel, { grid: 1, block }, { y: data, x: data });
          chain.memcpyAsync(back, data);
        }
        chain.record(ended);
        for (const [i, stream] of waiting.entries()) {
          const own = this.#other.subarray(i * block, (i + 1) * block);
          stream.waitEvent(ended);
          stream.launch(copyKernel, { grid: 1, block }, { y: own, x: own });
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
   * How many times slower the directions are together than the slower of them alone, whose rate is given. What is
   * copied out begins elsewhere in each turn: which part of the host's memory is read while which is written makes a
   * difference.
   */
  async bothWays(rate: number): Promise<number> {
    const [, other] = this.#streams;
    const elements = this.#data.length;
    using begun = this.#device.createEvent();
    using ended = this.#device.createEvent();
    const turns = 8;
    const together = await this.#time((stream) => {
      stream.record(begun);
      other.waitEvent(begun);
      for (let turn = 0; turn < turns; ++turn) {
        const begin = (turn * elements) / turns;
        this.#copy('in', stream, 0, elements);
        this.#copy('out', other, begin, elements);
        if (begin > 0) this.#copy('out', other, 0, begin);
      }
      other.record(ended);
      stream.waitEvent(ended);
    });
    return Math.max(1, together / turns / (this.#bytes / rate));
  }

  /**
   * What a copy takes more, beside being slowed down, while both directions run: small copies of both that wait behind
   * a large one, each in another stream than the one before.
   */
  async bothWaysOverhead(
    into: Copies,
    out: Copies,
    known: Pick<EngineModel, 'bothWays' | 'switchTime'>,
  ): Promise<number> {
    await using streams = new ScopedStreams(this.#device, 2 * streamsInTurn);
    using begun = this.#device.createEvent();
    const elements = this.#data.length;
    const part = elements / small;
    const turns = 2;
    const together = await this.#time(
      (first) => {
        first.record(begun);
        for (const stream of streams.all.slice(1)) stream.waitEvent(begun);
        for (let i = 0; i < turns * small; ++i) {
          const [begin, stream] = [(i % small) * part, i % streamsInTurn];
          this.#copy('in', streams.all[stream]!, begin, begin + part);
          this.#copy('out', streams.all[streamsInTurn + stream]!, begin, begin + part);
        }
        streams.join();
      },
      (first) => this.#copy('in', first, 0, elements),
      streams.all[0],
    );
    const alone = ({ rate, overhead }: Copies) => this.#bytes / small / rate + overhead + known.switchTime;
    const slower = Math.max(alone(into), alone(out));
    return Math.max(0, together / (turns * small) / known.bothWays - slower);
  }

  async pageable(direction: Direction): Promise<number> {
    const memory = new Float32Array(this.#data.length / 4).fill(1);
    const part = this.#data.subarray(0, memory.length);
    const [stream, idle] = this.#streams;
    const times: number[] = [];
    // The host's time, on the device's clock: events of a stream that has nothing to do.
    for (let round = -1; round < this.#rounds; ++round) {
      using start = this.#device.createEvent();
      using stop = this.#device.createEvent();
      idle.record(start);
      if (direction === 'in') stream.memcpyAsync(part, memory);
      else stream.memcpyAsync(memory, part);
      await stream.synchronize();
      idle.record(stop);
      await idle.synchronize();
      if (round >= 0) times.push(stop.elapsedTime(start));
    }
    return memory.byteLength / Math.max(median(times), leastTime);
  }

  async kernels(): Promise<
    Pick<EngineModel, 'memoryRate' | 'operationRate'> & { readonly overhead: number }
  > {
    const [y, x] = [this.#data, this.#other];
    const grid = y.length / block;
    const copy = (stream: Stream) => stream.launch(copyKernel, { grid, block }, { y, x });
    const large = await this.#time(copy, copy);
    const part = y.length / small;
    const many = await this.#time(
      (stream) => {
        for (let i = 0; i < small; ++i) {
          const views = { y: y.subarray(i * part, (i + 1) * part), x: x.subarray(i * part, (i + 1) * part) };
          stream.launch(copyKernel, { grid: grid / small, block }, views);
        }
      },
      (stream) => {
        for (let i = 0; i < 32; ++i) copy(stream);
      },
    );
    const threads = Math.min(y.length, this.#device.properties.multiProcessorCount * 2048 * 4);
    const few = y.subarray(0, threads - (threads % block));
    const computing = await this.#time((stream) =>
      stream.launch(arithmetic, { grid: few.length / block, block }, { y: few, pairs }),
    );
    const overhead = Math.max(0, (many - large) / (small - 1));
    return {
      memoryRate: (2 * this.#bytes) / Math.max(large - overhead, large / 2),
      operationRate: (few.length * pairs * operationsOfPair) / computing,
      overhead,
    };
  }
}
