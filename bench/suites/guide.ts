// The guide's five kernels, written in TypeScript and launched from Node, against nvcc and libcu++ of the
// same kernels (bench/cuda/guide.cu), and against the device-to-device copy; and a heavy kernel of
// 256 fused multiply-adds an element against what one would write by hand. nvcc builds the C++ side
// first, for the GPU that is here; its runs and ours take turns.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Device, deviceFunction, type Kernel, kernel, open } from 'warpstage';
import { specialise } from '#warpstage/compiler/specialise.js';
import { openNvrtc } from '#warpstage/runtime/cuda/nvrtc.js';
import { cudaText, nvrtcOptions } from '#warpstage/targets/cuda/compile.js';
import { withSingleStage } from '../../examples/guide/single-stage.ts';
import { withSpecializedStaging } from '../../examples/guide/specialized-staging.ts';
import { withStaging } from '../../examples/guide/staging.ts';
import { withStagingScopeThread } from '../../examples/guide/staging-scope-thread.ts';
import { withStagingUnified } from '../../examples/guide/staging-unified.ts';
import type { Suite } from '../main.ts';
import { median, type Row } from '../measure.ts';

export const elements = 2 ** 28;
const rounds = 11;
const turns = 3;
const [block, grid] = [256, 132 * 8];

/** One FMA is light; 256 in a row take longer than the memory. */
const heavy = deviceFunction({ x: 'f32' }, ({ x }) => {
  let value = x;
  for (let i = 0; i < 256; ++i) value = value * 1.0000001 + 0.5;
  return value;
});

export const heavyUnified = kernel(
  {
    globalOut: 'f32[]',
    globalIn: 'readonly f32[]',
    batchCount: 'index',
    stagesCount: 'constant index = 4',
    heavy,
  },
  ({ globalOut, globalIn, batchCount, stagesCount, heavy }, cuda) => {
    const grid = cuda.thisGrid();
    const block = cuda.thisThreadBlock();
    const shared = cuda.sharedArray('f32', stagesCount * block.size());
    const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', stagesCount));
    const begin = (batch: number) => block.groupIndex().x * block.size() + grid.size() * batch;
    for (let used = 0, fetched = 0; used < batchCount; ++used) {
      for (; fetched < batchCount && fetched < used + stagesCount; ++fetched) {
        pipeline.producerAcquire();
        const stage = shared.subarray((fetched % stagesCount) * block.size());
        cuda.memcpyAsync(block, stage, globalIn.subarray(begin(fetched)), block.size(), pipeline);
        pipeline.producerCommit();
      }
      pipeline.consumerWait();
      const x = shared[(used % stagesCount) * block.size() + block.threadRank()]!;
      pipeline.consumerRelease();
      globalOut[begin(used) + block.threadRank()] = heavy({ x });
    }
  },
  { name: 'heavyUnified', fma: true },
);

interface Work {
  readonly kernel: Kernel;
  readonly element: 'i32' | 'f32';
  /** Elements that a block takes in one batch. */
  readonly batch: number;
  readonly constants?: Readonly<Record<string, number>>;
}

const light = (kernel: Kernel, stagesCount?: number, batch: number = block): Work => ({
  kernel,
  element: 'i32',
  batch,
  ...(stagesCount === undefined ? {} : { constants: { stagesCount } }),
});

/** By the names that the C++ side has for them. */
export const works: Readonly<Record<string, Work>> = {
  'single-stage': light(withSingleStage as Kernel),
  staging: light(withStaging as Kernel),
  'staging-unified, 2 stages': light(withStagingUnified as Kernel, 2),
  'staging-unified, 4 stages': light(withStagingUnified as Kernel, 4),
  'specialized-staging, 2 stages': light(withSpecializedStaging as Kernel, 2, block / 2),
  'specialized-staging, 4 stages': light(withSpecializedStaging as Kernel, 4, block / 2),
  'staging-scope-thread, 2 stages': light(withStagingScopeThread as Kernel, 2),
  'staging-scope-thread, 4 stages': light(withStagingScopeThread as Kernel, 4),
  'heavy: staging-unified, 4 stages': { kernel: heavyUnified as Kernel, element: 'f32', batch: block },
};

export type Milliseconds = Record<string, number[]>;

function add(times: Milliseconds, name: string, ...milliseconds: number[]): void {
  times[name] ??= [];
  times[name].push(...milliseconds);
}

/** Builds the C++ side, or takes the one that WARPSTAGE_BENCH_GUIDE names. */
function buildCounterpart(folder: string, computeCapability: string): string {
  const built = process.env.WARPSTAGE_BENCH_GUIDE;
  if (built !== undefined) return built;
  const program = join(folder, 'guide');
  const number = computeCapability.replace('.', '');
  const architecture = number === '90' ? '90a' : number;
  const source = [join('bench', 'cuda', 'guide.cu'), join('..', 'bench', 'cuda', 'guide.cu')].find(
    existsSync,
  );
  if (source === undefined) throw new Error('run the suite in the folder of the project');
  execFileSync('nvcc', [
    '-O3',
    '-std=c++17',
    `-gencode=arch=compute_${architecture},code=sm_${architecture}`,
    '-o',
    program,
    source,
  ]);
  return program;
}

/** Milliseconds of each work in TypeScript, and of the copy, once round. */
export async function measureOurs(device: Device, times: Milliseconds): Promise<void> {
  const stream = device.createStream();
  const [start, stop] = [device.createEvent(), device.createEvent()];
  const timed = async (name: string, issue: () => void) => {
    for (let round = -2; round < rounds; ++round) {
      // Once before, so that the device does not wait for the host.
      issue();
      stream.record(start);
      issue();
      stream.record(stop);
      await stream.synchronize();
      if (round >= 0) add(times, name, stop.elapsedTime(start));
    }
  };
  for (const element of ['i32', 'f32'] as const) {
    const [source, target] = [device.alloc(element, elements), device.alloc(element, elements)];
    const numbers = Array.from({ length: 2 ** 20 }, (_, index) => index % 1000);
    const sample = element === 'i32' ? Int32Array.from(numbers) : Float32Array.from(numbers);
    for (let at = 0; at < elements; at += sample.length)
      stream.memcpyAsync(source.subarray(at, at + sample.length), sample);
    if (element === 'i32') await timed('copy', () => stream.memcpyAsync(target, source));
    for (const [name, { kernel, element: own, batch, constants }] of Object.entries(works)) {
      if (own !== element) continue;
      const batchCount = Math.floor(elements / (batch * grid));
      stream.memsetAsync(target, 0xff);
      const launch = () =>
        stream.launch(
          kernel,
          { grid, block },
          { globalOut: target, globalIn: source, batchCount, ...constants },
        );
      await timed(name, () => void launch());
      const covered = batchCount * batch * grid;
      const result = element === 'i32' ? new Int32Array(4096) : new Float32Array(4096);
      for (const at of [0, 2 ** 20 * 77, covered - result.length]) {
        stream.memcpyAsync(result, target.subarray(at, at + result.length));
        await stream.synchronize();
        check(name, element, result, (i) => ((at + i) % 2 ** 20) % 1000);
      }
    }
    source.free();
    target.free();
  }
}

function check(
  name: string,
  element: 'i32' | 'f32',
  result: ArrayLike<number>,
  input: (i: number) => number,
) {
  for (let i = 0; i < result.length; i += 17) {
    let expected = input(i);
    if (element === 'i32') expected = 3 * expected + 1;
    else
      for (let step = 0; step < 256; ++step) expected = Math.fround(expected * Math.fround(1.0000001) + 0.5);
    if (!(Math.abs(result[i]! - expected) <= 1e-5 * Math.abs(expected)))
      throw new Error(`${name}: element ${i} is ${result[i]}, not ${expected}`);
  }
}

async function guide(): Promise<Row[]> {
  await using device = await open('cuda');
  const folder = mkdtempSync(join(tmpdir(), 'warpstage-bench-'));
  const [ours, theirs]: Milliseconds[] = [{}, {}];
  try {
    const program = buildCounterpart(folder, device.properties.computeCapability);
    for (let turn = 0; turn < turns; ++turn) {
      const line = execFileSync(program, [String(Math.log2(elements)), String(rounds)], { encoding: 'utf8' });
      for (const [name, time] of Object.entries(JSON.parse(line) as Record<string, number>))
        add(theirs!, name, time);
      await measureOurs(device, ours!);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  const [our, their] = [ours!, theirs!].map((times) => (name: string) => median(times[name]!) / 1000) as [
    (name: string) => number,
    (name: string) => number,
  ];
  const copy = our('copy');
  const row = (variant: string, seconds: number, against: string, other: number): Row => ({
    suite: 'guide',
    work: variant.startsWith('heavy') ? 'heavy' : 'light',
    bytes: 8 * elements,
    variant,
    against,
    ratio: other / seconds,
    seconds,
  });
  return [
    ...Object.keys(works).flatMap((name) => [
      row(name, our(name), 'nvcc and libcu++', their(name)),
      ...(name.startsWith('heavy') ? [] : [row(name, our(name), 'device-to-device copy', copy)]),
    ]),
    ...['heavy: plain loads', 'heavy: cp.async by hand, 4 stages'].map((other) =>
      row('heavy: staging-unified, 4 stages', our('heavy: staging-unified, 4 stages'), other, their(other)),
    ),
    row('plain loads in C++', their('plain loads'), 'device-to-device copy', their('copy')),
    row(
      'cp.async by hand in C++, 4 stages',
      their('cp.async by hand, 4 stages'),
      'device-to-device copy',
      their('copy'),
    ),
    row('device-to-device copy', copy, 'the same from C++', their('copy')),
  ];
}

/** Seconds of NVRTC for the CUDA C++ of each kernel, the compiler being warm but the text new to it: it keeps a cache. */
async function compile(): Promise<Row[]> {
  await using device = await open('cuda');
  const architecture = Number(device.properties.computeCapability.replace('.', ''));
  const nvrtc = openNvrtc();
  let count = 0;
  return Object.entries(works).map(([name, { kernel, constants = {} }]): Row => {
    const { program } = specialise(kernel, {
      block: [block, 1, 1],
      indexType: 'i32',
      constants,
      functions: {},
    });
    const options = nvrtcOptions(architecture, program);
    const text = cudaText(program, architecture);
    const times = Array.from({ length: rounds }, () => {
      const begin = performance.now();
      nvrtc.compile(`__device__ int bench_${process.pid}_${++count};\n${text}`, `${name}.cu`, options);
      return (performance.now() - begin) / 1000;
    });
    const seconds = median(times);
    const row = { suite: 'guide', work: 'compile', bytes: 0, variant: name, against: '12 ms' };
    return { ...row, ratio: 0.012 / seconds, seconds };
  });
}

export const suite: Suite = { guide, compile };
