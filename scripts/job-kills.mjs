// node scripts/job-kills.mjs [--outputs npy|others] [--kills N] [--minutes N] [--mebibytes N] [--jobs N] [--seed N] [--steps N] [--only TEXT] [--folder F] [--save]:
// runs that are killed (SIGKILL) at random moments, N times (300), each as often as it is dealt, and then started until they come
// to their end. After each kill the output that was there before is there whole, or the new one; in the end they have the bytes of
// a run that nobody killed, and nothing lies beside them, nor in a store of objects. Of each work and each size of chunks.
// --outputs npy: large files, which are gone on with (--resume); others: small ones of every other kind, with their clock ahead a
// second whenever they look at it, so that journals are written with every chunk. --only picks works by a part of their name.
// --steps says how much is computed of each row, --folder where the files lie; --save writes bench/results/job-kills.json. Build first.

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { commandsOf, large, others, prepare, randomOf } from './kill-works.mjs';

const program = join(import.meta.dirname, '../dist/cli/main.js');
const { values } = parseArgs({
  options: {
    ...{ kills: { type: 'string', default: '300' }, mebibytes: { type: 'string', default: '1024' } },
    ...{ jobs: { type: 'string', default: '1' }, seed: { type: 'string', default: '1' } },
    ...{ folder: { type: 'string', default: tmpdir() }, steps: { type: 'string', default: '100' } },
    ...{ outputs: { type: 'string', default: 'npy' }, only: { type: 'string', default: '' } },
    ...{ minutes: { type: 'string', default: 'Infinity' }, save: { type: 'boolean', default: false } },
  },
});
const isLarge = values.outputs === 'npy';
const works = (isLarge ? large : others).filter(({ name }) => name.includes(values.only));
const [kills, steps, minutes] = [Number(values.kills), Number(values.steps), Number(values.minutes)];

const folder = mkdtempSync(join(values.folder, 'job-kills-'));
prepare(folder, { bytes: Number(values.mebibytes) * 2 ** 20, steps, seed: Number(values.seed), isLarge });
const hurry = join(folder, 'hurry.mjs');
writeFileSync(
  hurry,
  `import { isMainThread } from 'node:worker_threads';
const now = performance.now.bind(performance);
let ahead = 0;
if (isMainThread) performance.now = () => now() + (ahead += 1000);
`,
);

/** A store of objects of its own for each lane, which outlives what is killed. */
async function openStore() {
  if (isLarge) return undefined;
  const { register } = await import('tsx/esm/api');
  register();
  const { ObjectStore } = await import('../test/overlap/object-store.ts');
  const store = new ObjectStore();
  await store.listen();
  return store;
}

/** The digest of a file, of all files of a folder, or of an object; 'none' where there is none. */
async function digestOf(path, store) {
  const hash = createHash('sha256');
  if (path.startsWith('s3:')) {
    const key = path.slice('s3://data/'.length);
    const keys = [...store.objects.keys()].filter((one) => one === key || one.startsWith(`${key}/`)).sort();
    for (const one of keys) hash.update(`${one}\n`).update(store.objects.get(one).bytes);
    return keys.length === 0 ? 'none' : hash.digest('hex');
  }
  if (!existsSync(path)) return 'none';
  const isFolder = statSync(path).isDirectory();
  for (const name of isFolder ? readdirSync(path).sort() : ['']) {
    hash.update(`${name}\n`);
    for await (const part of createReadStream(join(path, name), { highWaterMark: 2 ** 22 }))
      hash.update(part);
  }
  return hash.digest('hex');
}

/** Starts a command; gives how it ended and what it printed. `onChange`: names in its folder changed, or it asked the store. */
function start(args, own, store, onChange = () => {}) {
  const hurried = isLarge ? {} : { NODE_OPTIONS: `--import ${pathToFileURL(hurry)}` };
  const env = { ...process.env, ...store?.environment, ...hurried };
  const child = spawn(process.execPath, [program, ...args], {
    cwd: own,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [text, told] = ['', ''];
  child.stdout.on('data', (part) => {
    text += part;
  });
  child.stderr.on('data', (part) => {
    told += part;
  });
  const watcher = watch(own, onChange);
  if (store !== undefined) {
    store.asked = [];
    store.fault = () => void onChange();
  }
  const ended = new Promise((resolve) =>
    child.on('close', (code) => {
      watcher.close();
      resolve({ code, text, told });
    }),
  );
  return { child, ended };
}

/** Runs a command to its end, which must be a good one; says how long it took, and when its outputs began to change. */
async function complete(args, own, store) {
  const from = performance.now();
  let [changes, first] = [0, undefined];
  const onChange = () => {
    changes++;
    first ??= performance.now() - from;
  };
  const end = await start(args, own, store, onChange).ended;
  if (end.code !== 0) throw new Error(`${args.join(' ')} ended with ${end.code}: ${end.told}`);
  const took = performance.now() - from;
  return { ...end, took, first: first ?? took / 2, changes };
}

/** What is looked at of a work: its outputs, and their checksums where they have some. */
const sumsOf = ({ outputs, more }) =>
  more.includes('--checksum') ? outputs.map((name) => `${name}.sums`) : [];
const placeOf = (own, name) => (name.startsWith('s3:') ? name : join(own, name));
async function digestsOf(work, own, store) {
  const names = [...work.outputs, ...sumsOf(work)];
  const digests = await Promise.all(names.map((name) => digestOf(placeOf(own, name), store)));
  return new Map(names.map((name, i) => [name, digests[i]]));
}

/** The value that a run printed, if its work has no output. */
const printedBy = ({ outputs }, text) =>
  outputs.length > 0 ? undefined : JSON.stringify(JSON.parse(text).value);

/** What a work gives that nobody kills, and what it gave of fewer rows, which is there before. */
async function learn(work, store) {
  const own = mkdtempSync(join(folder, 'whole-'));
  store?.forget();
  const isReplaced = !isLarge && work.outputs.length > 0 && !isObjects(work);
  for (const args of isReplaced ? commandsOf(work, folder, own, true) : []) await complete(args, own, store);
  const old = await digestsOf(work, own, store);
  const objects = [...(store?.objects ?? [])];
  store?.forget();
  const before = mkdtempSync(join(folder, 'before-'));
  rmSync(join(own, 't.json'), { force: true });
  cpSync(own, before, { recursive: true });
  rmSync(own, { recursive: true });
  mkdirSync(own);
  const times = [];
  const pieces = new Map();
  let value;
  for (const args of commandsOf(work, folder, own, false)) {
    const ended = await complete(args, own, store);
    times.push(ended);
    value = args[0] === 'merge' ? undefined : printedBy(work, ended.text);
    for (const name of piecesIn(own)) pieces.set(name, await digestOf(join(own, name)));
  }
  const whole = await digestsOf(work, own, store);
  rmSync(own, { recursive: true });
  store?.forget();
  const putBefore = (into, other) => {
    cpSync(before, into, { recursive: true });
    for (const [key, { bytes }] of objects) other.put(key, bytes);
  };
  return { old, whole, pieces, times, value, putBefore };
}

/** Objects cannot be replaced all at once. */
const isObjects = ({ outputs: [first] }) => /^s3:.*\.zarr$/.test(first ?? '');
const piecesIn = (own) => readdirSync(own).filter((name) => /\.\d+-of-\d+$/.test(name));

const began = performance.now();
const isOver = () => killed >= kills || performance.now() - began > 60_000 * minutes;
const rows = new Map();
const problems = [];
let killed = 0;

/** Kills a command at a random moment: some time after its start, or when so many things have changed. Whether it did. */
async function strike(args, own, store, { took, first, changes }, deal) {
  const isAtChange = !isLarge && deal() < 0.5;
  let left = 1 + Math.floor(deal() * changes);
  let child;
  const kill = () => void child.kill('SIGKILL');
  const run = start(args, own, store, () => {
    if (isAtChange && --left === 0) kill();
  });
  ({ child } = run);
  // Before the first change nothing can be lost: most are later.
  const from = isLarge || deal() < 0.1 ? 0 : first;
  if (!isAtChange) await Promise.race([sleep(from + (took - from) * deal()), run.ended]);
  if (!isAtChange && child.exitCode === null) kill();
  const end = await run.ended;
  return { ...end, isKilled: child.signalCode === 'SIGKILL' };
}

/** What is wrong with what a killed run left; a folder may be whole under another name for a moment. */
async function wrongWith(work, own, store, { old, whole, pieces }, row) {
  const now = await digestsOf(work, own, store);
  const wrong = [];
  for (const name of work.outputs) {
    const [found, before, after] = [now.get(name), old.get(name), whole.get(name)];
    if (found === after) row.new++;
    else if (found === before) row.old++;
    else if (found === 'none' && [before, after].includes(await replacedOf(own, name))) row.between++;
    // Until the one that says what they are is there, objects are none.
    else if (!(isObjects(work) && !store.objects.has(`${name.slice(10)}/zarr.json`))) wrong.push(name);
    const sums = now.get(`${name}.sums`) ?? 'none';
    const one = found === after ? whole : old;
    if (sums !== 'none' && sums !== one.get(`${name}.sums`)) wrong.push(`${name}.sums`);
  }
  for (const name of piecesIn(own))
    if ((await digestOf(join(own, name))) !== pieces.get(name)) wrong.push(name);
  return wrong;
}

async function replacedOf(own, name) {
  const replaced = readdirSync(own).find((one) => one.startsWith(`.${name}.`) && one.endsWith('.replaced'));
  return replaced === undefined ? 'none' : digestOf(join(own, replaced));
}

/** Removes the objects of an output that was complete when its run was killed. */
function removeWhole(name, store) {
  const folder = `${name.slice('s3://data/'.length)}/`;
  if (!store.objects.has(`${folder}zarr.json`)) return;
  for (const key of [...store.objects.keys()]) if (key.startsWith(folder)) store.objects.delete(key);
}

/** A work is killed some times before it may end. */
async function storm(work, store, deal) {
  const known = await knownOf(work, store);
  const row = rows.get(work.name) ?? { runs: 0, kills: 0, resumed: 0, equal: 0, old: 0, new: 0, between: 0 };
  rows.set(work.name, row);
  const own = mkdtempSync(join(folder, 'run-'));
  known.putBefore(own, store);
  const commands = commandsOf(work, folder, own, false);
  let left = 1 + Math.floor(deal() * (isLarge ? 4 : 10));
  let last;
  for (let step = 0; step < commands.length; ) {
    const args = commands[step];
    if (left > 0 && !isOver()) {
      last = await strike(args, own, store, known.times[step], deal);
      if (last.isKilled) {
        [left, killed, row.kills] = [left - 1, killed + 1, row.kills + 1];
        const wrong = await wrongWith(work, own, store, known, row);
        if (wrong.length > 0)
          problems.push(`${work.name} killed: ${wrong} is neither what was there nor the new one`);
        // What is there of these already is refused, and not replaced.
        if (isObjects(work)) for (const name of work.outputs) removeWhole(name, store);
        // Some pieces may be gone.
        if (args[0] === 'merge') step = 0;
        continue;
      }
    } else last = await start(args, own, store).ended;
    if (last.code !== 0) {
      problems.push(`${work.name}: ${args.join(' ')} ended with ${last.code}: ${last.told}`);
      break;
    }
    step++;
  }
  row.runs++;
  if (last.code === 0 && last.text.startsWith('{') && JSON.parse(last.text).report.resumed?.chunks > 0)
    row.resumed++;
  const found = await digestsOf(work, own, store);
  const differs = [...found]
    .filter(([name, digest]) => digest !== known.whole.get(name))
    .map(([name]) => name);
  if (last.code === 0 && known.value !== undefined && known.value !== printedBy(work, last.text))
    differs.push('the value');
  if (differs.length === 0) row.equal++;
  else problems.push(`${work.name}: ${differs} is another than of a run that nobody killed`);
  const expected = [...work.outputs, ...sumsOf(work), 't.json'];
  const beside = readdirSync(own).filter((name) => !expected.includes(name));
  if (beside.length > 0) problems.push(`${work.name} left ${beside}`);
  // One without parts was asked for by a process that was killed before it knew of it.
  const open = [...(store?.uploads.values() ?? [])].filter(({ parts }) => parts.size > 0).length;
  if (open > 0) problems.push(`${work.name} left ${open} uploads open`);
  rmSync(own, { recursive: true });
  store?.forget();
  save();
}

/** What works give, by their names: of each it is found once. */
const knownWorks = new Map();
function knownOf(work, store) {
  if (!knownWorks.has(work.name)) knownWorks.set(work.name, learn(work, store));
  return knownWorks.get(work.name);
}

/** One work after the other, until all kills are dealt. */
async function lane(number, count) {
  const deal = randomOf(Number(values.seed) + 1000 * (number + 1));
  const store = await openStore();
  for (let turn = number; !isOver(); turn += count) await storm(works[turn % works.length], store, deal);
  store?.close();
}

/** What came of it so far: it counts whenever this is stopped. */
function save() {
  const seconds = Math.round((performance.now() - began) / 1000);
  const about = {
    ...(isLarge && { mebibytes: Number(values.mebibytes) }),
    steps,
    kills: killed,
    seconds,
    problems,
  };
  const machine = { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, node: process.version };
  const result = { machine, ...about, rows: Object.fromEntries(rows) };
  if (values.save) {
    const path = 'bench/results/job-kills.json';
    mkdirSync('bench/results', { recursive: true });
    const before = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
    writeFileSync(path, `${JSON.stringify({ ...before, [values.outputs]: result }, null, 2)}\n`);
  }
  return result;
}

try {
  const count = Number(values.jobs);
  await Promise.all(Array.from({ length: count }, (_, number) => lane(number, count)));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(JSON.stringify(save(), null, 2));
process.exitCode = problems.length === 0 ? 0 : 1;
