// npm run soak -- [--seeds N] [--runs N] [--save]: what threads do together, with delays at every step of Atomics,
// for N seeds (20) and so many random programs each (40). --save also writes bench/results/soak.json.
//
// `npm run test:long` runs the same tests (vitest's project `delayed`) with one seed, `npm test` some of them. A seed decides the delays of each
// thread and not which thread comes first: one that has failed may pass the next time.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '20' },
    runs: { type: 'string', default: '40' },
    save: { type: 'boolean', default: false },
  },
});
const folder = mkdtempSync(join(tmpdir(), 'soak-'));
const report = join(folder, 'report.json');
const rows = [];
for (let seed = 1; seed <= Number(values.seeds); ++seed) {
  const began = performance.now();
  const args = [
    'run',
    '--project',
    'delayed',
    '--reporter=default',
    '--reporter=json',
    `--outputFile=${report}`,
  ];
  const { status } = spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', ...args], {
    env: {
      ...process.env,
      WARPSTAGE_LENGTH: 'all',
      WARPSTAGE_DELAY_SEED: String(seed),
      WARPSTAGE_RANDOM_RUNS: values.runs,
    },
    stdio: 'inherit',
  });
  const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(report, 'utf8'));
  const seconds = Math.round((performance.now() - began) / 1000);
  rows.push({ seed, status, passed: numPassedTests, failed: numFailedTests, seconds });
}
rmSync(folder, { recursive: true });
console.table(rows);
if (values.save) {
  const machine = { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, node: process.version };
  mkdirSync('bench/results', { recursive: true });
  const result = { machine, runs: Number(values.runs), rows };
  writeFileSync('bench/results/soak.json', `${JSON.stringify(result, null, 2)}\n`);
}
process.exitCode = rows.some(({ status }) => status !== 0) ? 1 : 0;
