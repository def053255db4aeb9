// node scripts/time-builds.mjs --before DIST --after DIST [--out DIR] [--rounds 15]: the guide's kernels by two
// builds of this package, on one GPU, in turn.
//
// Each build has a process of its own, which compiles the kernels and compares what they leave; then both are
// asked for one measurement after the other, so that a clock that drifts slows both alike. Prints for each kernel
// the median times and the median of the ratios of neighbours: above 1 the second build is faster.
// Writes DIR/builds.json. Needs a GPU, both builds, examples/ and koffi, and a Node that reads TypeScript (22.18 and
// later do; else `npx tsx`). Ends with 1 if a result is wrong.

import { fork } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

const self = fileURLToPath(import.meta.url);
const options = {
  before: { type: 'string' },
  after: { type: 'string', default: join(self, '..', '..', 'dist') },
  out: { type: 'string', default: '.' },
  rounds: { type: 'string', default: '15' },
  elements: { type: 'string', default: String(2 ** 27) },
  device: { type: 'string', default: 'cuda' },
  worker: { type: 'string' },
};
const { values: flags } = parseArgs({ options });
const elements = Number(flags.elements);
const [grid, block] = [132 * 8, 256];
/** Launches of one measurement. */
const turns = 5;

/** The guide's kernels: their file, what numbers of stages they are made for, and elements of a block's batch. */
const guide = [
  ['single-stage', [], block],
  ['staging', [], block],
  ['staging-unified', [1, 2, 4, 8], block],
  ['specialized-staging', [1, 2, 4, 8], block / 2],
  ['staging-scope-thread', [1, 2, 4, 8], block],
  ['barrier-split-arrive', [], block],
  ['barrier-producer-consumer', [1, 2, 4, 8], block - 32],
];

/** The same kernels, made by the functions of another build: their texts are all that they share. */
async function kernelsBy({ kernel, deviceFunction }) {
  const works = [];
  for (const [file, stages, width] of guide) {
    const module = await import(new URL(`../examples/guide/${file}.ts`, import.meta.url).href);
    const { schema, body } = Object.values(module).find(({ kind }) => kind === 'kernel');
    const entries = Object.entries(schema).map(([name, type]) => [
      name,
      type.kind === 'deviceFunction' ? deviceFunction(type.schema, type.body) : type,
    ]);
    const made = kernel(Object.fromEntries(entries), body, { name: 'timed' });
    if (stages.length === 0) works.push([file, made, {}, width]);
    for (const stagesCount of stages) works.push([`${file}, ${stagesCount}`, made, { stagesCount }, width]);
  }
  return works;
}

/** Compares what each kernel leaves, and then measures as it is asked. */
async function work(dist) {
  const build = await import(pathToFileURL(resolve(dist, 'index.js')).href);
  const device = await build.open(flags.device);
  const stream = device.createStream();
  const [start, stop] = [device.createEvent(), device.createEvent()];
  const [input, output] = [device.alloc('i32', elements), device.alloc('i32', elements)];
  const numbers = Int32Array.from({ length: elements }, (_, i) => Math.imul(i, 2_654_435_761));
  stream.memcpyAsync(input, numbers);
  const works = new Map();
  const launch = ({ made, constants, batchCount }) =>
    stream.launch(made, { grid, block }, { globalOut: output, globalIn: input, batchCount, ...constants });
  const result = new Int32Array(elements);
  for (const [name, made, constants, width] of await kernelsBy(build)) {
    const batchCount = Math.floor(elements / (grid * width));
    const one = { made, constants, batchCount };
    works.set(name, one);
    stream.memsetAsync(output, 0);
    const { ranOn } = launch(one);
    stream.memcpyAsync(result, output);
    await stream.synchronize();
    const used = grid * width * batchCount;
    let wrong = -1;
    for (let i = 0; i < used && wrong < 0; ++i)
      if (result[i] !== ((Math.imul(numbers[i], 3) + 1) | 0)) wrong = i;
    process.send({ name, ranOn, bytes: 8 * used, wrong });
  }
  process.send({ ready: true });
  for await (const name of asked()) {
    stream.record(start);
    for (let i = 0; i < turns; ++i) launch(works.get(name));
    stream.record(stop);
    await stream.synchronize();
    process.send({ seconds: stop.elapsedTime(start) / 1000 / turns });
  }
  await device.close();
  process.exit(0);
}

/** The names that the parent process sends, until it sends null. */
async function* asked() {
  const waiting = [];
  let wake = () => {};
  process.on('message', (message) => {
    waiting.push(message);
    wake();
  });
  for (;;) {
    while (waiting.length === 0) {
      await new Promise((resolve) => {
        wake = resolve;
      });
    }
    const next = waiting.shift();
    if (next.ask === null) return;
    yield next.ask;
  }
}

function child(dist) {
  const words = ['--worker', resolve(dist), '--elements', flags.elements, '--device', flags.device];
  const process_ = fork(self, words);
  const said = [];
  let wake = () => {};
  let status = null;
  process_.on('message', (message) => {
    said.push(message);
    wake();
  });
  process_.on('exit', (code) => {
    status = code ?? 1;
    wake();
  });
  return {
    async next() {
      while (said.length === 0) {
        if (status !== null) throw new Error(`${dist}: its process ended with ${status}`);
        await new Promise((resolve) => {
          wake = resolve;
        });
      }
      return said.shift();
    },
    ask: (name) => process_.send({ ask: name }),
  };
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
}

async function main() {
  const builds = [child(flags.before), child(flags.after)];
  const works = [];
  for (const build of builds) {
    const list = [];
    for (let line = await build.next(); !line.ready; line = await build.next()) list.push(line);
    works.push(list);
  }
  const wrong = works.flat().filter((one) => one.wrong >= 0);
  for (const { name, ranOn, wrong: at } of wrong) console.log(`wrong: ${name} (${ranOn}) from element ${at}`);
  const rows = [];
  for (const [n, { name, ranOn, bytes }] of works[1].entries()) {
    const times = [[], []];
    for (let round = -1; round < Number(flags.rounds); ++round) {
      // The other one first every second time.
      for (const which of round % 2 === 0 ? [0, 1] : [1, 0]) {
        builds[which].ask(name);
        const { seconds } = await builds[which].next();
        if (round >= 0) times[which].push(seconds);
      }
    }
    const [before, after] = times.map(median);
    const ratio = median(times[0].map((time, i) => time / times[1][i]));
    rows.push({ name, before, after, ratio, bytes, ranOn: [works[0][n].ranOn, ranOn] });
    const rate = (seconds) => `${(bytes / seconds / 1e9).toFixed(0).padStart(6)} GB/s`;
    console.log(`${name.padEnd(36)} ${rate(before)} ${rate(after)}  ${ratio.toFixed(3)}  ${ranOn}`);
  }
  for (const build of builds) build.ask(null);
  mkdirSync(flags.out, { recursive: true });
  writeFileSync(join(flags.out, 'builds.json'), JSON.stringify(rows, null, 1));
  const least = Math.min(...rows.map(({ ratio }) => ratio));
  console.log(`${wrong.length} wrong; least ratio ${least.toFixed(3)}`);
  process.exitCode = wrong.length > 0 ? 1 : 0;
}

if (flags.worker !== undefined) await work(flags.worker);
else if (flags.before === undefined)
  throw new Error('usage: node scripts/time-builds.mjs --before DIST --after DIST');
else await main();
