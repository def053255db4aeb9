// node scripts/fuzz.mjs [--minutes N]: tries parsers with random and damaged bytes, from another seed each time, for N
// minutes (60), and writes how many of each parser to bench/results/fuzz.json. What is found stops it, with the seed and
// the smallest bytes; keep those in test/fuzz/cases.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '60' } } });
const folder = mkdtempSync(join(tmpdir(), 'fuzz-'));
const report = join(folder, 'tries.json');
const began = performance.now();
const end = began + 60_000 * Number(values.minutes);
const tries = {};
let rounds = 0;
while (performance.now() < end) {
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', 'test/fuzz', 'test/formats/parquet.test.ts'];
  const { status } = spawnSync(process.execPath, [...vitest, '--maxWorkers=1', '--reporter=dot'], {
    stdio: 'inherit',
    env: {
      ...process.env,
      WARPSTAGE_LENGTH: 'all',
      WARPSTAGE_RANDOM_MORE: '20',
      WARPSTAGE_RANDOM_SEED: String(Date.now() % 2 ** 31),
      WARPSTAGE_FUZZ_TRIES: report,
    },
  });
  const failed = status !== 0;
  process.exitCode = failed ? 1 : 0;
  if (failed) break;
  rounds++;
  for (const [parser, count] of Object.entries(JSON.parse(readFileSync(report, 'utf8')))) {
    tries[parser] = (tries[parser] ?? 0) + count;
  }
  // After each round: what was tried counts, whenever this is stopped.
  const total = Object.values(tries).reduce((sum, count) => sum + count, 0);
  const minutes = Math.round((performance.now() - began) / 6000) / 10;
  const result = { node: process.version, minutes, rounds, found: 0, total, tries };
  writeFileSync('bench/results/fuzz.json', `${JSON.stringify(result, null, 2)}\n`);
}
rmSync(folder, { recursive: true });
console.log(`${rounds} rounds`);
