// node scripts/sanitize.mjs: runs the example kernels on the GPU under compute-sanitizer.
//
// memcheck, racecheck and synccheck each watch a run of every kernel of the guide, for several
// blocks, stages and numbers of batches, and of two jobs. The kernels' results are checked too.
// First memcheck must find a write that is planted far outside its array: so it is known to watch.
// Needs a GPU, compute-sanitizer and the built package. Ends with 1 if a tool finds anything else.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(import.meta.url);
const root = join(here, '..', '..');
const cli = join(root, 'dist', 'cli', 'main.js');
const guide = {
  'single-stage': {},
  staging: {},
  'staging-unified': { stages: true },
  'specialized-staging': { stages: true, elements: (block) => block / 2 },
  'staging-scope-thread': { stages: true },
  'two-arrays': { arrays: true },
};

/** What a run under a tool does. */
async function launchGuide() {
  const { open } = await import('../dist/index.js');
  const { loadModule } = await import('../dist/cli/load-module.js');
  await using device = await open('cuda');
  const stream = device.createStream();
  for (const [file, { stages = false, arrays = false, elements = (block) => block }] of Object.entries(
    guide,
  )) {
    const { exports } = await loadModule(join(root, 'examples', 'guide', `${file}.ts`));
    const kernel = Object.values(exports).find(({ kind }) => kind === 'kernel');
    for (const block of [64, 256]) {
      for (const stagesCount of stages ? [1, 2, 3, 4, 8] : [0]) {
        for (const batches of [0, 1, 5, 37]) {
          const grid = arrays ? 1 : 3;
          const count = elements(block) * grid * batches;
          const input = Int32Array.from({ length: Math.max(count, 1) }, (_, i) => i * 5 - 7);
          const [x, y] = [device.alloc('i32', input.length), device.alloc('i32', input.length)];
          stream.memcpyAsync(x, input);
          const constants = stages ? { stagesCount } : {};
          const data = arrays
            ? { globalOut: y, global0: x, global1: x, subsetCount: batches }
            : { globalOut: y, globalIn: x, batchCount: batches, ...constants };
          stream.launch(kernel, { grid, block }, data);
          const output = new Int32Array(input.length);
          stream.memcpyAsync(output, y);
          await stream.synchronize();
          for (let i = 0; i < count; ++i) {
            const expected = arrays ? 3 * input[i] : 3 * input[i] + 1;
            if (output[i] !== expected)
              throw new Error(`${file}: element ${i} is ${output[i]}, not ${expected}`);
          }
          x.free();
          y.free();
        }
      }
    }
  }
}

/** A kernel that writes a gibibyte behind its array. */
async function launchPlanted() {
  const { kernel, open } = await import('../dist/index.js');
  await using device = await open('cuda');
  const beyond = kernel({ y: 'i32[]' }, ({ y }, cuda) => {
    y[cuda.thisGrid().threadRank() + 268435456] = 1;
  });
  device.defaultStream.launch(beyond, { grid: 1, block: 32 }, { y: device.alloc('i32', 32) });
  await device.synchronize();
}

/** An .npy file of so many f32. */
function writeNumbers(path, count) {
  const header = `${`{'descr': '<f4', 'fortran_order': False, 'shape': (${count},), }`.padEnd(117)}\n`;
  const head = Buffer.concat([
    Buffer.from([0x93, ...Buffer.from('NUMPY'), 1, 0, 118, 0]),
    Buffer.from(header),
  ]);
  const numbers = Float32Array.from({ length: count }, (_, i) => Math.sin(i));
  writeFileSync(path, Buffer.concat([head, Buffer.from(numbers.buffer)]));
}

function watch(tool, argv) {
  const options = ['--tool', tool, '--error-exitcode', '9', '--launch-timeout', '0'];
  const { status, stdout, stderr } = spawnSync('compute-sanitizer', [...options, process.execPath, ...argv], {
    encoding: 'utf8',
    cwd: root,
    env: { ...process.env, WARPSTAGE_LINE_INFO: '1' },
  });
  const summary = /^=+ (?:ERROR|RACECHECK) SUMMARY:.*$/m.exec(stdout ?? '')?.[0] ?? '(no summary)';
  console.log(`${tool.padEnd(10)} ${argv.slice(1, 3).join(' ').padEnd(28)} exit ${status}  ${summary}`);
  if (status !== 0) console.log(`${stdout}\n${stderr}`.split('\n').slice(0, 40).join('\n'));
  return status === 0;
}

function findsPlanted() {
  const argv = ['--tool', 'memcheck', '--error-exitcode', '9', process.execPath, here, 'planted'];
  const { stdout } = spawnSync('compute-sanitizer', argv, { encoding: 'utf8', cwd: root });
  const found = /Invalid __global__ write of size 4 bytes/.test(stdout ?? '');
  console.log(`memcheck   planted write                ${found ? 'found' : `not found:\n${stdout}`}`);
  return found;
}

if (process.argv[2] === 'guide') await launchGuide();
else if (process.argv[2] === 'planted') await launchPlanted();
else {
  const folder = mkdtempSync(join(tmpdir(), 'warpstage-sanitize-'));
  const input = join(folder, 'in.npy');
  writeNumbers(input, 100_003);
  let clean = findsPlanted();
  for (const tool of ['memcheck', 'racecheck', 'synccheck']) {
    clean = watch(tool, [here, 'guide']) && clean;
    for (const job of ['affine', 'fir']) {
      const output = join(folder, `${tool}-${job}.npy`);
      clean = watch(tool, [cli, 'run', `examples/${job}.ts`, input, output, '--device', 'cuda']) && clean;
    }
  }
  rmSync(folder, { recursive: true });
  process.exit(clean ? 0 : 1);
}
