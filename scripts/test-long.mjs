// npm run test:long: what `npm test` leaves out. Test files that take long; those that look at a part in `npm test`, whole, the
// devices among them: `cpu-native` is one at length; and the tests of random programs, with four times as many programs and
// from another seed.
//
// WARPSTAGE_RANDOM_MORE and WARPSTAGE_RANDOM_SEED choose other numbers; WARPSTAGE_LENGTH=rest leaves out what `npm test` has
// looked at, =every meets each moment of a sweep and each way of a case that take turns. Further arguments go to vitest. Test files among them are run instead of all. --list prints all.

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { delayedAtLength } from '../test/support/delays/files.mjs';
import { longFiles } from '../test/support/long/files.mjs';

const environment = {
  WARPSTAGE_LENGTH: 'all',
  WARPSTAGE_RANDOM_MORE: '2',
  WARPSTAGE_RANDOM_SEED: '20261122',
  ...process.env,
};
/** Beyond those of `npm test`. */
const hasMorePrograms =
  environment.WARPSTAGE_LENGTH !== 'rest' || environment.WARPSTAGE_RANDOM_MORE !== '0.5';

const files = readdirSync('test', { recursive: true })
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => `test/${name}`)
  .filter((name) => {
    const text = readFileSync(name, 'utf8');
    return (
      delayedAtLength.includes(name) ||
      longFiles.includes(name) ||
      (hasMorePrograms && text.includes('randomRuns(')) ||
      /\b(testCompiling\(|atLength|isFirst|someOf\(|partOf\(|everyOf\(|nativeTargets|support\/(devices|everywhere)\.ts)/.test(
        text,
      )
    );
  });
if (files.length === 0) throw new Error('no test runs at length');

const args = process.argv.slice(2);
if (args[0] === '--list') {
  console.log(files.join('\n'));
  process.exit();
}
const named = args.some((arg) => arg.endsWith('.test.ts'));
const vitest = ['node_modules/vitest/vitest.mjs', 'run', ...(named ? [] : files), ...args];
const { status } = spawnSync(process.execPath, vitest, {
  stdio: 'inherit',
  env: environment,
});
process.exitCode = status ?? 1;
