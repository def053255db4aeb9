// node scripts/launch-examples.mjs WHAT: launches kernels on the GPU, and compares what comes out.
//
// The process that sanitize.mjs starts under a tool. WHAT is `guide` (its pipelines, for several blocks, stages
// and numbers of batches), `barriers`, `warps`, or `planted`: a write far outside its array, which
// memcheck must find. Needs a GPU and the built package.

import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadModule } from '#warpstage/cli/load-module.js';
import { kernel, open } from '../dist/index.js';

const examples = join(fileURLToPath(import.meta.url), '..', '..', 'examples');
const typeOf = new Map([
  [Int32Array, 'i32'],
  [Float32Array, 'f32'],
]);

async function exampleKernel(path) {
  const { exports } = await loadModule(join(examples, `${path}.ts`));
  return Object.values(exports).find(({ kind }) => kind === 'kernel');
}

/** Launches with typed arrays as they are now; gives what the kernel leaves in the named one. */
async function resultOf(device, launched, shape, data, name) {
  const stream = device.createStream();
  const entries = Object.entries(data).map(([key, value]) => {
    if (!ArrayBuffer.isView(value)) return [key, value];
    const memory = device.alloc(typeOf.get(value.constructor), value.length);
    stream.memcpyAsync(memory, value);
    return [key, memory];
  });
  const onDevice = Object.fromEntries(entries);
  stream.launch(launched, shape, onDevice);
  const result = data[name].slice();
  stream.memcpyAsync(result, onDevice[name]);
  await stream.synchronize();
  for (const [key] of entries) if (ArrayBuffer.isView(data[key])) onDevice[key].free();
  return result;
}

function expectSame(what, result, expected) {
  const wrong = expected.findIndex((value, i) => result[i] !== value);
  if (wrong >= 0) throw new Error(`${what}: element ${wrong} is ${result[wrong]}, not ${expected[wrong]}`);
}

const pipelines = {
  'single-stage': {},
  staging: {},
  'staging-unified': { stages: true },
  'specialized-staging': { stages: true, elements: (block) => block / 2 },
  'staging-scope-thread': { stages: true },
  'two-arrays': { arrays: true },
};
const barriers = {
  'barrier-split-arrive': {},
  'barrier-producer-consumer': { stages: true, elements: (block) => block - 32 },
};

async function launchGuide(device, files) {
  for (const [file, how] of Object.entries(files)) {
    const { stages = false, arrays = false, elements = (block) => block } = how;
    const launched = await exampleKernel(`guide/${file}`);
    for (const block of [64, 256]) {
      for (const stagesCount of stages ? [1, 2, 3, 4, 8] : [0]) {
        for (const batches of [0, 1, 5, 37]) {
          const grid = arrays ? 1 : 3;
          const count = elements(block) * grid * batches;
          const input = Int32Array.from({ length: Math.max(count, 1) }, (_, i) => i * 5 - 7);
          const output = new Int32Array(input.length);
          const data = arrays
            ? { globalOut: output, global0: input, global1: input, subsetCount: batches }
            : { globalOut: output, globalIn: input, batchCount: batches, ...(stages ? { stagesCount } : {}) };
          const result = await resultOf(device, launched, { grid, block }, data, 'globalOut');
          const expected = input.slice(0, count).map((x) => (arrays ? 3 * x : 3 * x + 1));
          expectSame(`${file}, block ${block}, ${stagesCount} stages, ${batches} batches`, result, expected);
        }
      }
    }
  }
}

async function launchWarps(device) {
  // Small integers: their sums are exact, in whichever order.
  const x = Float32Array.from({ length: 10_000 }, (_, i) => ((i * 37) % 101) - 40);
  const sums = (size) =>
    Float32Array.from({ length: Math.ceil(x.length / size) }, (_, i) =>
      x.slice(i * size, (i + 1) * size).reduce((a, b) => a + b, 0),
    );
  for (const block of [64, 96, 256]) {
    const grid = Math.ceil(x.length / block);
    for (const [file, size] of [
      ['warp-reduction', 32],
      ['block-reduction', block],
    ]) {
      const expected = sums(size);
      const data = { x, sums: new Float32Array(expected.length) };
      const launched = await exampleKernel(`warps/${file}`);
      const result = await resultOf(device, launched, { grid, block }, data, 'sums');
      expectSame(`${file}, block ${block}`, result, expected);
    }
    const shape = { grid: 7, block, cooperative: true };
    const data = { x, total: new Float32Array(1), partial: new Float32Array(7) };
    const launched = await exampleKernel('warps/grid-reduction');
    const result = await resultOf(device, launched, shape, data, 'total');
    expectSame(`grid-reduction, block ${block}`, result, sums(x.length));
  }
}

async function launchPlanted(device) {
  const beyond = kernel({ y: 'i32[]' }, ({ y }, cuda) => {
    y[cuda.thisGrid().threadRank() + 268435456] = 1;
  });
  device.defaultStream.launch(beyond, { grid: 1, block: 32 }, { y: device.alloc('i32', 32) });
  await device.synchronize();
}

const launches = {
  guide: (device) => launchGuide(device, pipelines),
  barriers: (device) => launchGuide(device, barriers),
  warps: launchWarps,
  planted: launchPlanted,
};
const device = await open('cuda');
await launches[process.argv[2]](device);
await device.close();
