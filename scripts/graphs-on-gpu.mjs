// node scripts/graphs-on-gpu.mjs [--device cuda] [--seeds 1-300] [--rounds 7] [--out DIR] [--dist DIR] [--sweeps] [--spans]

import { mkdirSync, writeFileSync } from 'node:fs';
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
    warm: { type: 'string', default: '2' },
    out: { type: 'string', default: '.' },
    dist: { type: 'string', default: join(self, '..', '..', 'dist') },
    sweeps: { type: 'boolean', default: false },
    spans: { type: 'boolean', default: false },
    unchecked: { type: 'boolean', default: false },
    only: { type: 'string' },
    limit: { type: 'string', default: '1000' },
  },
});

function seedsOf(text) {
  return text.split(',').flatMap((part) => {
    const [first, last = first] = part.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
}
const round6 = (value) => Math.round(value * 1e6) / 1e6;
const begun = performance.now();
const left = () => Number(flags.limit) - (performance.now() - begun) / 1000;
const { kernel, open } = await import(pathToFileURL(resolve(flags.dist, 'index.js')).href);
const graphs = flags.seeds === '' ? [] : seedsOf(flags.seeds).map(graphOf);
const chosen = flags.sweeps
  ? Object.entries(sweeps).flatMap(([set, make]) => make().map((graph) => ({ ...graph, set })))
  : [];
const all = [...chosen, ...graphs].filter(
  ({ name }) => flags.only === undefined || new RegExp(flags.only).test(name),
);
const virtual = flags.device.startsWith('model:');
const device = await open(flags.device, virtual ? { execute: false } : {});
console.log(`${all.length} graphs on ${device.properties.name}`);
const runner = new GraphRunner(device, kernel, all);
if (!virtual) runner.fill();
console.log(`filled after ${performance.now() - begun} ms`);
mkdirSync(flags.out, { recursive: true });
const results = [];
const save = () => {
  const rows = results.map((row) => JSON.stringify(row)).join(',\n');
  writeFileSync(join(flags.out, `graphs-${flags.device.replace(/\W+/g, '-')}.json`), `[\n${rows}\n]\n`);
};
let wrong = 0;
for (const graph of all) {
  if (left() < 0) break;
  const row = { name: graph.name, set: graph.set ?? 'random', elapsed: [], issued: [], waited: [] };
  results.push(row);
  const isRandom = graph.set === undefined;
  const prepared = runner.prepare(graph);
  if (isRandom && !virtual && !flags.unchecked) {
    const one = await runner.left(graph, prepared);
    const serial = runner.prepare(graph, true);
    const other = await runner.left(graph, serial);
    await serial.end();
    row.right = one.every((digest, i) => digest === other[i]);
    if (!row.right) wrong += 1;
  }
  const warm = virtual ? 0 : isRandom ? Number(flags.warm) : 1;
  const rounds = virtual ? 1 : isRandom ? Number(flags.rounds) : 5;
  for (let round = -warm; round < rounds; ++round) {
    const { elapsed, issued, waited } = await runner.time(prepared);
    if (round < 0) continue;
    row.elapsed.push(round6(elapsed));
    row.issued.push(round6(issued));
    row.waited.push(round6(waited));
  }
  if (flags.spans && (isRandom || graph.set === 'overlaps' || graph.set === 'copies')) {
    const spans = [];
    device.recording = { times: 'cupti' };
    device.recorder = (span) => spans.push(span);
    try {
      await runner.time(prepared);
    } finally {
      device.recorder = null;
    }
    row.source = device.times.source;
    const origin = Math.min(...spans.map(({ started }) => started));
    row.spans = spans
      .sort((a, b) => a.queued - b.queued || a.started - b.started)
      .map(({ engine, stream, started, ended, queued }) => [
        engine,
        stream,
        round6(queued - origin),
        round6(started - origin),
        round6(ended - origin),
      ]);
  }
  await prepared.end();
  if (results.length % 200 === 0) {
    console.log(`${results.length} after ${Math.round(performance.now() - begun)} ms, ${wrong} wrong`);
    save();
  }
}
save();
console.log(`${results.length} done, ${wrong} wrong, ${Math.round(performance.now() - begun)} ms`);
await device.close();
process.exitCode = wrong > 0 ? 1 : 0;
