// node scripts/ordering-on-gpu.mjs CASES [--out DIR] [--dist DIR] [--only RESULTS]: whether the GPU gives what the
// interpreter gave, in every launch.
//
// CASES is what ordering-cases.ts wrote. Each kernel is launched 20 times, with another warp late each time,
// and compared to the bit. Then all run under compute-sanitizer's memcheck, and the hand-written ones and 40
// random ones under its racecheck, if it is there. Prints a summary, writes DIR/ordering.json and what the
// tools said, and ends with 1 if a result is wrong, a launch hangs, or memcheck reports anything.
// `--only results` leaves the tools out. `--dist` is another build of the package, `--device` another device.
// Needs a GPU, the built package and koffi, nothing else.

import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { reportsIn } from './sanitizer-reports.mjs';

const self = fileURLToPath(import.meta.url);
const options = {
  out: { type: 'string', default: '.' },
  dist: { type: 'string', default: join(self, '..', '..', 'dist') },
  only: { type: 'string' },
  worker: { type: 'string' },
  device: { type: 'string', default: 'cuda' },
  launches: { type: 'string', default: '20' },
};
const { values: flags, positionals } = parseArgs({ options, allowPositionals: true });
const [file] = positionals;
if (file === undefined) throw new Error('usage: node scripts/ordering-on-gpu.mjs CASES [--out DIR]');
const all = JSON.parse(readFileSync(file, 'utf8'));
const processes = 8;
const patience = 150_000;
const named = /\bordering_\d+/g;

if (flags.worker === undefined) await main();
else await work(flags.worker.split(',').map(Number), Number(flags.launches));

/** What launch number `n` of a kernel is given: a warp that is late, and by how many nanoseconds. */
function delayOf({ arguments: given, block }, n) {
  const late = [20_000, 2000, 100_000][n % 3];
  if ('who' in given) return n === 0 ? {} : { who: n % (block / 32), late };
  return { late: n === 0 ? 0 : late };
}

/** Launches these cases, and says of each what was wrong, a line of JSON each. */
async function work(numbers, launches) {
  const { kernel, open } = await import(pathToFileURL(resolve(flags.dist, 'index.js')).href);
  const device = await open(flags.device);
  const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
  for (const number of numbers) {
    const one = all[number];
    say({ begins: one.name });
    const made = kernel(one.schema, new Function(`return ${one.text}`)(), { name: one.name });
    const wrong = [];
    let ranOn = '';
    for (let n = 0; n < launches; ++n) {
      const given = { ...one.arguments, ...delayOf(one, n) };
      const stream = device.createStream();
      const entries = Object.entries(given).map(([name, value]) => {
        if (typeof value === 'number') return [name, value];
        const memory = device.alloc('i32', value.length);
        stream.memcpyAsync(memory, arrayOf(value));
        return [name, memory];
      });
      const onDevice = Object.fromEntries(entries);
      ranOn = stream.launch(made, { grid: 1, block: one.block }, onDevice)?.ranOn ?? '';
      const results = Object.entries(one.expected).map(([name, bytes]) => {
        const result = new Int32Array(onDevice[name].length);
        stream.memcpyAsync(result, onDevice[name]);
        return {
          name,
          result,
          expected: new Int32Array(new Uint8Array(Buffer.from(bytes, 'base64')).buffer),
        };
      });
      await stream.synchronize();
      for (const { name, result, expected } of results) {
        const places = [...expected.keys()].filter((i) => result[i] !== expected[i]);
        if (places.length === 0) continue;
        const [first] = places;
        wrong.push({
          launch: n,
          array: name,
          elements: places.length,
          first,
          is: result[first],
          not: expected[first],
        });
      }
      for (const [, value] of entries) if (typeof value !== 'number') value.free();
      stream.destroy?.();
    }
    say({ name: one.name, what: one.what, ranOn, wrong });
  }
  await device.close();
}

function arrayOf({ length, times, plus }) {
  return Int32Array.from({ length }, (_, i) => (i * times + plus) | 0);
}

/** Runs cases in several processes, under a tool or alone: what each said of its cases, and what the tool said. */
async function runAll(numbers, launches, tool) {
  const shares = Array.from({ length: processes }, (_, p) => numbers.filter((_, i) => i % processes === p));
  const runs = shares.filter((share) => share.length > 0).map((share) => run(share, launches, tool));
  const done = await Promise.all(runs);
  return { cases: done.flatMap(({ cases }) => cases), said: done.map(({ said }) => said).join('\n') };
}

function run(share, launches, tool) {
  const own = [
    self,
    file,
    '--worker',
    share.join(','),
    '--launches',
    String(launches),
    '--dist',
    flags.dist,
    '--device',
    flags.device,
  ];
  const [command, ...words] =
    tool === undefined
      ? [process.execPath, ...own]
      : ['compute-sanitizer', '--tool', tool, '--launch-timeout', '0', process.execPath, ...own];
  // Reports name lines of the kernel's text.
  const env = tool === undefined ? process.env : { ...process.env, WARPSTAGE_LINE_INFO: '1' };
  const child = spawn(command, words, { stdio: ['ignore', 'pipe', 'pipe'], env });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      said += text;
    });
  }
  const timer = setTimeout(() => child.kill('SIGKILL'), patience);
  return new Promise((done, failed) => {
    child.on('error', failed);
    child.on('close', (status) => {
      clearTimeout(timer);
      const lines = said.split('\n').filter((line) => line.startsWith('{'));
      const reported = lines.map((line) => JSON.parse(line));
      const cases = reported.filter(({ name }) => name !== undefined);
      const last = reported.at(-1)?.begins;
      if (last !== undefined)
        cases.push({ name: last, unfinished: true, status, said: said.slice(-1500), wrong: [] });
      else if (status !== 0 && tool === undefined)
        cases.push({ name: `cases ${share}`, unfinished: true, status, said: said.slice(-1500), wrong: [] });
      done({ cases, said });
    });
  });
}

async function main() {
  mkdirSync(flags.out, { recursive: true });
  const begin = performance.now();
  const seconds = () => `${((performance.now() - begin) / 1000).toFixed(0)} s`;
  const numbers = all.map((_, i) => i);
  const { cases } = await runAll(numbers, Number(flags.launches));
  const whatOf = new Map(all.map(({ name, what }) => [name, what]));
  const bad = cases.filter(({ wrong, unfinished }) => unfinished || wrong.length > 0);
  console.log(
    `${cases.length} of ${all.length} kernels, ${flags.launches} launches each: ${bad.length} wrong (${seconds()})`,
  );
  for (const { name, wrong, unfinished, status, said } of bad) {
    const launches = new Set(wrong.map(({ launch }) => launch)).size;
    const how = unfinished
      ? `not finished, status ${status}\n${said}`
      : `${launches} launches wrong, ${wrong[0].elements} elements of ${wrong[0].array} in the first`;
    console.log(`  ${name} (${whatOf.get(name)}): ${how}`);
  }
  const lowerings = {};
  for (const { ranOn = '' } of cases) lowerings[ranOn] = (lowerings[ranOn] ?? 0) + 1;
  for (const [ranOn, times] of Object.entries(lowerings))
    console.log(`  ${String(times).padStart(4)}  ${ranOn}`);

  const tools = {};
  const has = flags.only === undefined && spawnSync('compute-sanitizer', ['--version']).status === 0;
  const handWritten = numbers.filter((i) => !all[i].what.startsWith('random'));
  const some = [...handWritten, ...numbers.filter((i) => !handWritten.includes(i)).slice(0, 40)];
  for (const [tool, those] of has
    ? [
        ['memcheck', numbers],
        ['racecheck', some],
      ]
    : []) {
    const { cases: ran, said } = await runAll(those, 2, tool);
    const reported = reportsIn(said, named);
    writeFileSync(join(flags.out, `${tool}.txt`), said);
    const wrong = ran.filter((one) => one.unfinished || one.wrong.length > 0);
    tools[tool] = { kernels: ran.length, reported: Object.fromEntries(reported), wrong };
    console.log(
      `${tool}: ${ran.length} of ${those.length} kernels, reports on ${reported.size}, ${wrong.length} wrong (${seconds()})`,
    );
    for (const [name, reports] of reported)
      console.log(`  ${name} (${whatOf.get(name)}): ${reports.join('; ')}`);
    const summaries = said.match(/^=+ (?:ERROR|RACECHECK) SUMMARY: .*$/gm) ?? [];
    for (const summary of new Set(summaries)) console.log(`  ${summary}`);
  }
  if (!has && flags.only === undefined) console.log('compute-sanitizer is not there');
  writeFileSync(join(flags.out, 'ordering.json'), JSON.stringify({ cases, lowerings, tools }, null, 1));
  process.exitCode = bad.length > 0 || Object.keys(tools.memcheck?.reported ?? {}).length > 0 ? 1 : 0;
}
