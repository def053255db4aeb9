// npm run bench -- <suite> [<work> ...] [--json] [--save] [--fastest]
//
// Prints a table of ratios measured side by side in one run. --json prints the rows alone;
// --save also writes them, with the machine, to bench/results/<suite>.json. --fastest quotes the fastest runs, not the median.

import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { quoting, type Row } from './measure.ts';

/** A suite gives its works by name; each measures itself when called. */
export type Suite = Readonly<Record<string, () => Promise<readonly Row[]>>>;

const suites: Readonly<Record<string, () => Promise<Suite>>> = {
  job: async () => (await import('./suites/job.ts')).suite,
  copying: async () => (await import('./suites/copying.ts')).suite,
  queue: async () => (await import('./suites/queue.ts')).suite,
  formats: async () => (await import('./suites/formats.ts')).suite,
  files: async () => (await import('./suites/files.ts')).suite,
  cpu: async () => (await import('./suites/cpu.ts')).suite,
  shapes: async () => (await import('./suites/shapes.ts')).suite,
  structs: async () => (await import('./suites/structs.ts')).suite,
  gpu: async () => (await import('./suites/gpu.ts')).suite,
  multi: async () => (await import('./suites/multi.ts')).suite,
  schedules: async () => (await import('./suites/schedules.ts')).suite,
  guide: async () => (await import('./suites/guide.ts')).suite,
  checks: async () => (await import('./suites/checks.ts')).suite,
  bounds: async () => (await import('./suites/bounds.ts')).suite,
  cold: async () => (await import('./suites/cold.ts')).suite,
  first: async () => (await import('./suites/first.ts')).suite,
  wide: async () => (await import('./suites/wide.ts')).suite,
  checker: async () => (await import('./suites/checker.ts')).suite,
  model: async () => (await import('./suites/model.ts')).suite,
  'timeline-gpu': async () => (await import('./suites/timeline-gpu.ts')).suite,
  timeline: async () => (await import('./suites/timeline.ts')).suite,
  plan: async () => (await import('./suites/plan.ts')).suite,
  browser: async () => (await import('./suites/browser.ts')).suite,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean' },
    save: { type: 'boolean' },
    fastest: { type: 'boolean' },
    only: { type: 'string' },
  },
});

quoting.fastest = values.fastest === true;
const [name, ...chosen] = positionals;
if (values.only !== undefined) chosen.push(values.only);
const load = name === undefined ? undefined : suites[name];
if (name === undefined || load === undefined) {
  console.error(
    `usage: npm run bench -- <${Object.keys(suites).join(' | ')}> [<work> ...] [--json] [--save] [--fastest]`,
  );
  process.exit(2);
}
const all = await load();
const missing = chosen.filter((work) => !Object.hasOwn(all, work));
if (missing.length > 0) {
  console.error(`suite ${name} has no ${missing.join(', ')}; it has ${Object.keys(all).join(', ')}`);
  process.exit(2);
}
const works = Object.entries(all).filter(([work]) => chosen.length === 0 || chosen.includes(work));

const rows: Row[] = [];
for (const [work, measure] of works) {
  if (!values.json) console.error(`${name}: ${work} …`);
  rows.push(...(await measure()));
}

if (values.json) console.log(JSON.stringify(rows));
else {
  console.table(
    rows.map(({ work, variant, against, ratio, seconds, bytes }) => ({
      work,
      variant,
      against,
      ratio: ratio.toFixed(2),
      seconds: seconds.toPrecision(3),
      MiB: (bytes / 2 ** 20).toFixed(0),
    })),
  );
}
if (values.save) {
  const machine = {
    ...gpus(),
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    ...(quoting.fastest ? { quoted: 'the fastest runs' } : {}),
  };
  mkdirSync('bench/results', { recursive: true });
  writeFileSync(`bench/results/${name}.json`, `${JSON.stringify({ machine, rows }, null, 2)}\n`);
}

/** The GPUs and their driver, as it names them itself. */
function gpus(): { readonly gpu?: string } {
  try {
    const lines = execFileSync('nvidia-smi', ['--query-gpu=name,driver_version', '--format=csv,noheader'], {
      encoding: 'utf8',
    })
      .trim()
      .split('\n');
    return { gpu: `${lines.length} ${lines[0]!.replace(', ', ', driver ')}` };
  } catch {
    return {};
  }
}
