// node scripts/fuzz.mjs [--minutes N]: tries parsers with random and damaged bytes, from another seed each time, for N
// minutes (60). What is found stops it, with the seed and the smallest bytes; keep those in test/fuzz/cases.

import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '60' } } });
const end = performance.now() + 60_000 * Number(values.minutes);
let rounds = 0;
for (let failed = false; !failed && performance.now() < end; rounds++) {
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', 'test/fuzz', 'test/formats/parquet.test.ts'];
  const { status } = spawnSync(process.execPath, [...vitest, '--maxWorkers=1', '--reporter=dot'], {
    stdio: 'inherit',
    env: { ...process.env, WARPSTAGE_RANDOM_MORE: '20', WARPSTAGE_RANDOM_SEED: String(Date.now() % 2 ** 31) },
  });
  failed = status !== 0;
  process.exitCode = failed ? 1 : 0;
}
console.log(`${rounds} rounds`);
