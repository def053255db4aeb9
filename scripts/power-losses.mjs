// node scripts/power-losses.mjs [--losses N]: simulates N losses of power and deaths of the process (1000), in all kinds of
// runs, and writes which promise each kept to bench/results/power-losses.json. `npm test` simulates some of them.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { losses: { type: 'string', default: '1000' } } });
/** Kinds of runs, each with losses of power and of the process. */
const kinds = 12;
const folder = mkdtempSync(join(tmpdir(), 'power-losses-'));
const report = join(folder, 'table.json');
const vitest = ['node_modules/vitest/vitest.mjs', 'run', 'test/overlap/power-loss.test.ts', '--maxWorkers=1'];
const { status } = spawnSync(process.execPath, vitest, {
  stdio: 'inherit',
  env: {
    WARPSTAGE_LENGTH: 'all',
    WARPSTAGE_RANDOM_SEED: '20261123',
    ...process.env,
    WARPSTAGE_RANDOM_RUNS: String(Math.ceil(Number(values.losses) / kinds)),
    WARPSTAGE_POWER_LOSSES: report,
  },
});
const rows = JSON.parse(readFileSync(report, 'utf8'));
rmSync(folder, { recursive: true });
console.table(rows);
const failed = rows.length < kinds || status !== 0;
if (!failed) {
  const result = { node: process.version, losses: rows.reduce((sum, row) => sum + row.losses, 0), rows };
  writeFileSync('bench/results/power-losses.json', `${JSON.stringify(result, null, 2)}\n`);
}
process.exitCode = failed ? 1 : 0;
