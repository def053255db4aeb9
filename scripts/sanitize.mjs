// node scripts/sanitize.mjs: runs the example kernels on the GPU under compute-sanitizer.
//
// memcheck, racecheck, synccheck and initcheck each watch the kernels of the guide and of examples/warps
// (launch-examples.mjs, which compares the results too) and every example job. First memcheck must
// find a write that is planted far outside its array: so it is known to watch. The tools take
// long to start, so several processes run at a time. Needs a GPU, compute-sanitizer and the built package.
// Prints a row for each; ends with 1 if a tool finds anything else, or a result is wrong.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parquetWriteFile } from 'hyparquet-writer';

const root = join(fileURLToPath(import.meta.url), '..', '..');
const cli = join(root, 'dist', 'cli', 'main.js');
const launchExamples = join(root, 'scripts', 'launch-examples.mjs');
const tools = ['memcheck', 'racecheck', 'synccheck', 'initcheck'];

/** An .npy file of f32. */
function writeNumbers(path, ...shape) {
  const size = shape.join(', ') + (shape.length === 1 ? ',' : '');
  const header = `${`{'descr': '<f4', 'fortran_order': False, 'shape': (${size}), }`.padEnd(117)}\n`;
  const head = Buffer.concat([
    Buffer.from([0x93, ...Buffer.from('NUMPY'), 1, 0, 118, 0]),
    Buffer.from(header),
  ]);
  const length = shape.reduce((a, b) => a * b);
  const numbers = Float32Array.from({ length }, (_, i) => Math.sin(i));
  writeFileSync(path, Buffer.concat([head, Buffer.from(numbers.buffer)]));
  return path;
}

function writeFlights(filename) {
  const column = (name, of) => ({
    name,
    data: Int32Array.from({ length: 20_000 }, (_, i) => of(i)),
    type: 'INT32',
  });
  parquetWriteFile({
    filename,
    columnData: [column('delay', (i) => ((i * 31) % 300) - 60), column('distance', (i) => (i * 53) % 3000)],
  });
  return filename;
}

/** What runs under each tool, by name: the arguments of Node. */
function worksIn(folder) {
  const x = writeNumbers(join(folder, 'x.npy'), 100_003);
  const rows = writeNumbers(join(folder, 'rows.npy'), 2000, 24);
  const queries = writeNumbers(join(folder, 'queries.npy'), 3, 24);
  const flights = writeFlights(join(folder, 'flights.parquet'));
  const job = (name, inputs, output) => (tool) => [
    ...[cli, 'run', `examples/${name}.ts`, ...inputs],
    ...(output ? [join(folder, `${tool}-${name}.npy`)] : []),
    ...['--device', 'cuda', '--chunk', '64K'],
  ];
  return {
    guide: () => [launchExamples, 'guide'],
    barriers: () => [launchExamples, 'barriers'],
    warps: () => [launchExamples, 'warps'],
    affine: job('affine', [x], true),
    fir: job('fir', [x], true),
    zscore: job('zscore', [x], true),
    'vector-search': job('vector-search', [rows, queries], false),
    flights: job('flights', [flights], false),
  };
}

/** Runs Node under a tool; the whole of what both say, and the exit status. */
function watch(tool, argv) {
  const options = ['--tool', tool, '--error-exitcode', '9', '--launch-timeout', '0'];
  const child = spawn('compute-sanitizer', [...options, process.execPath, ...argv], {
    cwd: root,
    env: { ...process.env, WARPSTAGE_LINE_INFO: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      said += text;
    });
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (status) => resolve({ status, said }));
  });
}

async function isClean(tool, name, argv) {
  const { status, said } = await watch(tool, argv);
  const summary = /^=+ (?:ERROR|RACECHECK) SUMMARY: (.*)$/m.exec(said)?.[1] ?? '(no summary)';
  console.log(`${tool.padEnd(10)} ${name.padEnd(14)} exit ${status}  ${summary}`);
  if (status !== 0) console.log(said.split('\n').slice(0, 40).join('\n'));
  return status === 0 && /^0 (errors|hazards)/.test(summary);
}

async function findsPlanted() {
  const { said } = await watch('memcheck', [launchExamples, 'planted']);
  const found = /Invalid __global__ write of size 4 bytes/.test(said);
  console.log(`memcheck   planted write  ${found ? 'found' : `not found:\n${said}`}`);
  return found;
}

const folder = mkdtempSync(join(tmpdir(), 'warpstage-sanitize-'));
const works = Object.entries(worksIn(folder));
const rest = works.flatMap(([name, argv]) => tools.map((tool) => () => isClean(tool, name, argv(tool))));
rest.unshift(findsPlanted);
let clean = true;
const worker = async () => {
  for (let next = rest.shift(); next !== undefined; next = rest.shift()) clean = (await next()) && clean;
};
await Promise.all(Array.from({ length: availableParallelism() }, worker));
rmSync(folder, { recursive: true });
process.exit(clean ? 0 : 1);
