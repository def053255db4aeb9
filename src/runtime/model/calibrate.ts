// Measures a device's rates, each by single operations: what a virtual device is made of.
//
// Every figure comes from events of the device, the median of a few rounds after one that warms
// up. A fixed cost is told from a rate by doing the same amount of work in one large operation
// and in many small ones. Small operations are issued behind a large one, so that they wait in
// the queue and the host's pace does not count.

import { kernel } from '../../kernel/kernel.ts';
import type { Device, DeviceArray, PinnedArray, Stream } from '../device.ts';
import type { EngineModel, Operation } from './engines.ts';
import { simulate } from './simulation.ts';

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

const offsetKernel = kernel({ y: 'f32[]', offset: 'index' }, ({ y, offset }, cuda) => {
  const i = offset + cuda.thisGrid().threadRank();
  y[i] = y[i]! + 1;
});

/** Multiplications and additions of each thread of `arithmetic`. */
const operationsOfThread = 4096;

const arithmetic = kernel({ y: 'f32[]', pairs: 'index' }, ({ y, pairs }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  let a = y[i]!;
  for (let k = 0; k < pairs; ++k) a = a * 0.999 + 0.001;
  y[i] = a;
});

const block = 256;

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
  const model: EngineModel = {
    name: properties.name,
    computeCapability: properties.computeCapability,
    copyEngines: properties.asyncEngineCount,
    kernelsAtOnce: properties.concurrentKernels ? 128 : 1,
    hardwareQueues: 32,
    delayedSignal: false,
    bothWays: await bench.bothWays(into.rate, out.rate),
    hostToDevice: into.rate,
    deviceToHost: out.rate,
    pageableHostToDevice: await bench.pageable('in'),
    pageableDeviceToHost: await bench.pageable('out'),
    memoryRate: kernels.memoryRate,
    operationRate: kernels.operationRate,
    copyOverhead: Math.max(0, Math.min(into.overhead, out.overhead)),
    kernelOverhead: kernels.overhead,
    switchTime: 0,
    issueTime: await bench.issueTime(({ data, host }, stream, begin, end) =>
      stream.memcpyAsync(data.subarray(begin, end), host.subarray(begin, end)),
    ),
    launchTime: await bench.issueTime(({ data }, stream, begin) =>
      stream.launch(offsetKernel, { grid: 1, block }, { y: data, offset: begin }),
    ),
    threadsAtOnce: properties.multiProcessorCount * 2048,
    multiProcessors: properties.multiProcessorCount,
    memory: properties.totalGlobalMemory,
  };
  return { ...model, switchTime: await bench.switchTime({ ...model, issueTime: 0 }) };
}

/** Milliseconds of copies of so many bytes, in and out again with a kernel in between, on the model. */
function timeOfRoundTrips(model: EngineModel, bytes: number): number {
  const steps = [
    ['host to device', model.copyOverhead + bytes / model.hostToDevice],
    ['kernel', model.kernelOverhead + (2 * bytes) / model.memoryRate],
    ['device to host', model.copyOverhead + bytes / model.deviceToHost],
  ] as const;
  const operations = Array.from({ length: roundTrips }, (_, i) =>
    steps.map(([kind, duration], step): Operation => {
      const before = step > 0 ? 3 * i + step - 1 : 3 * (i - model.hardwareQueues) + 2;
      const dependencies = before >= 0 ? [before] : [];
      return { id: 3 * i + step, kind, stream: i % model.hardwareQueues, duration, dependencies };
    }),
  ).flat();
  return Math.max(...simulate(model, operations).map(({ ended }) => ended));
}

/** How many round trips tell the switching time. */
const roundTrips = 32;

/** Small operations to a large one. */
const small = 64;

type Direction = 'in' | 'out';

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
    return median(times);
  }

  #copy(direction: Direction, stream: Stream, begin: number, end: number): void {
    if (direction === 'in')
      stream.memcpyAsync(this.#data.subarray(begin, end), this.#host.subarray(begin, end));
    else stream.memcpyAsync(this.#back.subarray(begin, end), this.#other.subarray(begin, end));
  }

  async copies(direction: Direction): Promise<{ readonly rate: number; readonly overhead: number }> {
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
   * What a copy engine takes to go over from one stream to another that has more to do: small rounds of a
   * copy in, a kernel and a copy out, over as many streams as there are hardware queues, against the model
   * without it.
   */
  async switchTime(model: EngineModel): Promise<number> {
    const streams = Array.from({ length: model.hardwareQueues }, () => this.#device.createStream());
    const [first] = streams as [Stream, ...Stream[]];
    const begun = this.#device.createEvent();
    const ended = streams.map(() => this.#device.createEvent());
    const part = this.#data.length / roundTrips;
    const turns = Array.from({ length: roundTrips }, (_, i) => ({
      stream: streams[i % streams.length]!,
      begin: i * part,
      end: (i + 1) * part,
    }));
    try {
      const measured = await this.#time(
        () => {
          first.record(begun);
          for (const stream of streams) stream.waitEvent(begun);
          for (const { stream, begin, end } of turns) {
            const data = this.#data.subarray(begin, end);
            this.#copy('in', stream, begin, end);
            stream.launch(copyKernel, { grid: part / block, block }, { y: data, x: data });
            stream.memcpyAsync(this.#back.subarray(begin, end), this.#data.subarray(begin, end));
          }
          for (const [i, stream] of streams.entries()) {
            stream.record(ended[i]!);
            first.waitEvent(ended[i]!);
          }
        },
        undefined,
        first,
      );
      return Math.max(0, (measured - timeOfRoundTrips(model, this.#bytes / roundTrips)) / roundTrips);
    } finally {
      for (const event of [begun, ...ended]) event.destroy();
      for (const stream of streams) await stream.destroy();
    }
  }

  /** How many times slower the directions are together than the slower of them alone. */
  async bothWays(into: number, out: number): Promise<number> {
    const [, other] = this.#streams;
    const elements = this.#data.length;
    using begun = this.#device.createEvent();
    using ended = this.#device.createEvent();
    const turns = 4;
    const together = await this.#time((stream) => {
      stream.record(begun);
      other.waitEvent(begun);
      for (let turn = 0; turn < turns; ++turn) {
        this.#copy('in', stream, 0, elements);
        this.#copy('out', other, 0, elements);
      }
      other.record(ended);
      stream.waitEvent(ended);
    });
    return Math.max(1, together / turns / (this.#bytes / Math.min(into, out)));
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
    const time = median(times);
    return memory.byteLength / time;
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
      stream.launch(
        arithmetic,
        { grid: few.length / block, block },
        { y: few, pairs: operationsOfThread / 2 },
      ),
    );
    const overhead = Math.max(0, (many - large) / (small - 1));
    return {
      memoryRate: (2 * this.#bytes) / Math.max(large - overhead, large / 2),
      operationRate: (few.length * operationsOfThread) / computing,
      overhead,
    };
  }

  /**
   * Milliseconds of the host that issuing one operation takes, as schedules issue them: each on a part of its
   * own, the next to another stream.
   */
  async issueTime(
    issue: (
      operands: { readonly host: PinnedArray<'f32'>; readonly data: DeviceArray<'f32'> },
      stream: Stream,
      begin: number,
      end: number,
    ) => void,
  ): Promise<number> {
    const operands = { data: this.#data, host: this.#host };
    const count = 192;
    const times: number[] = [];
    for (let round = -8; round < this.#rounds; ++round) {
      const begin = performance.now();
      for (let i = 0; i < count; ++i) {
        const at = (i % small) * block;
        issue(operands, this.#streams[i % this.#streams.length]!, at, at + block);
      }
      const time = (performance.now() - begin) / count;
      await this.#device.synchronize();
      if (round >= 0) times.push(time);
    }
    return median(times);
  }
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1]!;
}
