// node scripts/job-kills.mjs [--kills N] [--mebibytes N] [--jobs N] [--seed N] [--steps N] [--folder F] [--save]: runs with --resume that
// are killed (SIGKILL) at random moments, N times (300), each as often as it is dealt, and then go on to their end. What they
// leave must have the bytes of a run that nobody killed, and nothing may lie beside it. Of each work and each size of chunks.
// --steps says how much is computed of each row, --folder where the files lie; --save writes bench/results/job-kills.json. Build first.

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  createReadStream,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

const program = join(import.meta.dirname, '../dist/cli/main.js');
const library = join(import.meta.dirname, '../dist/index.js');
const { values } = parseArgs({
  options: {
    ...{ kills: { type: 'string', default: '300' }, mebibytes: { type: 'string', default: '1024' } },
    ...{ jobs: { type: 'string', default: '1' }, seed: { type: 'string', default: '1' } },
    ...{ folder: { type: 'string', default: tmpdir() }, steps: { type: 'string', default: '100' } },
    save: { type: 'boolean', default: false },
  },
});
const kills = Number(values.kills);
const steps = Number(values.steps);
const bytes = Number(values.mebibytes) * 2 ** 20;

/** Work enough that a run takes some seconds: a journal is written about once in one. */
const module = `import { job, kernel, map, reduce } from ${JSON.stringify(library)};
const mixed = kernel({ y: 'i32[]', x: 'readonly i32[]' }, ({ y, x }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i >= y.length) return;
  let v = x[i]!;
  for (let k = 0; k < ${steps}; k++) v = v * 1664525 + 1013904223;
  y[i] = v;
});
export const mix = job({ kernel: mixed, inputs: { x: {} }, outputs: { y: {} } });
export const odd = map({ y: 'i32', kept: 'u8', x: 'i32' }, ({ x }) => {
  let v = x;
  for (let k = 0; k < ${steps}; k++) v = v * 1664525 + 1013904223;
  return { y: v, kept: v % 3 === 0 };
}, { keep: 'kept' });
export const total = reduce({ sum: 'f64', x: 'i32' }, ({ x }) => {
  let v = x;
  for (let k = 0; k < ${steps}; k++) v = v * 1664525 + 1013904223;
  return v / 7;
});
`;

/** Each with the sizes of chunks that it is run with: rows. */
const works = [
  { name: 'mix', output: 'i32' },
  { name: 'mix', output: 'npy' },
  { name: 'odd', output: 'npy' },
  { name: 'total', output: null },
].flatMap((work) => [2 ** 16, 2 ** 20, 2 ** 23].map((chunk) => ({ ...work, chunk })));

/** Numbers from 0 to 1, the same for a seed. */
function randomOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

async function digestOf(file) {
  const hash = createHash('sha256');
  for await (const part of createReadStream(file, { highWaterMark: 2 ** 22 })) hash.update(part);
  return hash.digest('hex');
}

const folder = mkdtempSync(join(values.folder, 'job-kills-'));
const input = join(folder, 'x.i32');
const modulePath = join(folder, 'works.ts');
writeFileSync(modulePath, module);
const random = randomOf(Number(values.seed));
const file = openSync(input, 'w');
for (let at = 0; at < bytes; at += 2 ** 22)
  writeSync(file, new Uint8Array(Int32Array.from({ length: 2 ** 20 }, () => random() * 2 ** 32).buffer));

/** Starts a run; gives how it ended, and what it printed. */
function start(work, own, resumes) {
  const output = work.output === null ? [] : [join(own, `y.${work.output}`)];
  const journal = resumes ? (work.output === null ? ['--journal', join(own, 'sums')] : ['--resume']) : [];
  const args = [
    'run',
    modulePath,
    '--job',
    work.name,
    input,
    ...output,
    '--chunk',
    `${work.chunk}`,
    ...journal,
    '--json',
  ];
  const child = spawn(process.execPath, [program, ...args, '--quiet', '--threads', '2'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [text, told] = ['', ''];
  child.stdout.on('data', (part) => {
    text += part;
  });
  child.stderr.on('data', (part) => {
    told += part;
  });
  const ended = new Promise((resolve) => child.on('close', (code) => resolve({ code, text, told })));
  return { child, ended };
}

/** What a run has given: the digest of its output, or the value of a reduction. */
async function resultOf(work, own, { code, text, told }) {
  if (code !== 0) throw new Error(`${work.name} ended with ${code}: ${told}`);
  return work.output === null
    ? JSON.stringify(JSON.parse(text).value)
    : digestOf(join(own, `y.${work.output}`));
}

const began = performance.now();
const rows = new Map();
const problems = [];
let killed = 0;

/** One work after the other, each killed some times before it may end, until all kills are dealt. */
async function kill(lane) {
  const deal = randomOf(Number(values.seed) + 1000 * (lane + 1));
  for (let turn = lane; killed < kills; turn++) {
    const work = works[turn % works.length];
    const name = `${work.name} to ${work.output ?? 'a value'} in chunks of ${work.chunk}`;
    const own = mkdtempSync(join(folder, 'run-'));
    const { result, seconds } = await wholeOf(work, name);
    const row = rows.get(name) ?? { runs: 0, kills: 0, resumed: 0, equal: 0 };
    rows.set(name, row);
    for (let left = 1 + Math.floor(deal() * 4); left > 0 && killed < kills; left--) {
      const { child, ended } = start(work, own, true);
      await Promise.race([sleep(1000 * seconds * deal()), ended]);
      if (child.exitCode !== null) break;
      child.kill('SIGKILL');
      await ended;
      killed++;
      row.kills++;
    }
    const end = await start(work, own, true).ended;
    const found = await resultOf(work, own, end);
    row.runs++;
    if (end.code === 0 && JSON.parse(end.text).report.resumed?.chunks > 0) row.resumed++;
    if (found === result) row.equal++;
    else problems.push(`${name}: ${found} is not ${result}`);
    const beside = readdirSync(own).filter((one) => one !== `y.${work.output}`);
    if (beside.length > 0) problems.push(`${name} left ${beside}`);
    rmSync(own, { recursive: true });
    save();
  }
}

/** What each work gives that nobody kills, and how long it takes. */
const wholes = new Map();
function wholeOf(work, name) {
  if (!wholes.has(name)) {
    wholes.set(
      name,
      (async () => {
        const own = mkdtempSync(join(folder, 'whole-'));
        const from = performance.now();
        const result = await resultOf(work, own, await start(work, own, false).ended);
        rmSync(own, { recursive: true });
        return { result, seconds: (performance.now() - from) / 1000 };
      })(),
    );
  }
  return wholes.get(name);
}

/** What came of it so far: it counts whenever this is stopped. */
function save() {
  const seconds = Math.round((performance.now() - began) / 1000);
  const { mebibytes, steps } = values;
  const found = { mebibytes: Number(mebibytes), steps: Number(steps), kills: killed, seconds, problems };
  const machine = { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, node: process.version };
  const result = { machine, ...found, rows: Object.fromEntries(rows) };
  if (values.save) {
    mkdirSync('bench/results', { recursive: true });
    writeFileSync('bench/results/job-kills.json', `${JSON.stringify(result, null, 2)}\n`);
  }
  return result;
}

try {
  await Promise.all(Array.from({ length: Number(values.jobs) }, (_, lane) => kill(lane)));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(JSON.stringify(save(), null, 2));
process.exitCode = problems.length === 0 ? 0 : 1;
