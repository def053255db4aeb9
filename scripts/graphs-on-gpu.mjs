// node scripts/graphs-on-gpu.mjs [--device cuda] [--seeds 1-300] [--rounds 7] [--sweeps] [--only PATTERN] [--against FILE]
// [--out FILE] [--dist DIR]: random graphs of work (random-graphs.mjs), and with --sweeps graphs of one kind of work each
// (sweeps.mjs), on a device.
//
// On a device that executes, each random graph is first compared with what it leaves in one stream; then it takes its rounds,
// two of which warm up. A virtual device (`--device model:FILE`) predicts each once. Writes the milliseconds of each graph;
// `--against` compares them with what such a file says of another device, and prints the errors, of what is predicted against what was
// measured. Ends with 1 if a result is wrong. Needs the built package, and for a GPU koffi and acorn.

import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { GraphRunner, graphOf } from './random-graphs.mjs';
import { sweeps } from './sweeps.mjs';

const self = fileURLToPath(import.meta.url);
const { values: flags } = parseArgs({
  options: {
    device: { type: 'string', default: 'cuda' },
    seeds: { type: 'string', default: '1-300' },
    rounds: { type: 'string', default: '7' },
    sweeps: { type: 'boolean', default: false },
    only: { type: 'string' },
    against: { type: 'string' },
    out: { type: 'string' },
    dist: { type: 'string', default: join(self, '..', '..', 'dist') },
  },
});
const warmUps = 2;

/** `1-3,8` is 1, 2, 3 and 8. */
function seedsOf(text) {
  return text
    .split(',')
    .filter((part) => part !== '')
    .flatMap((part) => {
      const [first, last = first] = part.split('-').map(Number);
      return Array.from({ length: last - first + 1 }, (_, i) => first + i);
    });
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1];
}

/** Has each graph take its rounds; what each took. */
async function measure(device, kernel, graphs) {
  const isVirtual = device.properties.kind === 'model';
  const runner = new GraphRunner(device, kernel, graphs);
  if (!isVirtual) runner.fill();
  const rows = [];
  for (const graph of graphs) {
    const prepared = runner.prepare(graph);
    const { name, set = 'random' } = graph;
    const row = { name, set, milliseconds: 0 };
    if (!isVirtual && set === 'random') {
      const own = await runner.left(graph, prepared);
      const serial = runner.prepare(graph, true);
      const expected = await runner.left(graph, serial);
      await serial.end();
      row.right = own.every((digest, i) => digest === expected[i]);
    }
    const times = [];
    for (let round = isVirtual ? 0 : -warmUps; round < (isVirtual ? 1 : Number(flags.rounds)); ++round) {
      const { elapsed } = await runner.time(prepared);
      if (round >= 0) times.push(elapsed);
    }
    row.milliseconds = Math.round(median(times) * 1e6) / 1e6;
    rows.push(row);
    await prepared.end();
  }
  return rows;
}

/** The errors of what is predicted, by sets. */
function compare(predicted, measured) {
  const times = new Map(measured.map(({ set, name, milliseconds }) => [`${set} ${name}`, milliseconds]));
  const known = predicted.filter(({ set, name }) => times.has(`${set} ${name}`));
  for (const set of new Set(known.map((row) => row.set))) {
    const rows = known.filter((row) => row.set === set);
    const of = rows.map((row) => row.milliseconds / times.get(`${set} ${row.name}`) - 1);
    const sizes = of.map(Math.abs).sort((a, b) => a - b);
    const percent = (share) => `${(100 * share).toFixed(1)} %`;
    console.log(
      `${set}: ${sizes.length}, median error ${percent(median(sizes))}, 90th percentile ` +
        `${percent(sizes[Math.floor(0.9 * sizes.length)])}, worst ${percent(sizes.at(-1))}; ` +
        `middle ${percent(median(of))}`,
    );
  }
}

const { kernel, open } = await import(pathToFileURL(resolve(flags.dist, 'index.js')).href);
const swept = Object.entries(sweeps).flatMap(([set, make]) => make().map((graph) => ({ ...graph, set })));
const wanted = flags.only === undefined ? null : new RegExp(flags.only);
const graphs = [...(flags.sweeps ? swept : []), ...seedsOf(flags.seeds).map(graphOf)].filter(
  ({ name }) => wanted === null || wanted.test(name),
);
const device = await open(flags.device, flags.device.startsWith('model:') ? { execute: false } : {});
const rows = await measure(device, kernel, graphs);
const wrong = rows.filter(({ right }) => right === false);
console.log(`${rows.length} graphs on ${device.properties.name}, ${wrong.length} of them wrong`);
for (const { name } of wrong) console.log(`wrong: ${name}`);
await device.close();
if (flags.out !== undefined)
  writeFileSync(flags.out, `[\n${rows.map((row) => JSON.stringify(row)).join(',\n')}\n]\n`);
if (flags.against !== undefined) {
  const other = JSON.parse(readFileSync(flags.against, 'utf8'));
  if (flags.device.startsWith('model:')) compare(rows, other);
  else compare(other, rows);
}
process.exitCode = wrong.length > 0 ? 1 : 0;
