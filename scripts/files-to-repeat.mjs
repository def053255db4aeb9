// node scripts/files-to-repeat.mjs REPORT FILE...: the test files that are to run once more, a line each.
//
// REPORT is what vitest's JSON reporter wrote of a run of the FILEs (none: of those of `npm test`). A worker process that dies
// takes the file that it was at with it: that file has no result at all. A test that waits for the system may
// fail beside others on a busy machine. Both have a second chance, alone, as long as they are few: more than two
// files that did not pass say something of the change, and none is printed.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { longFiles } from '../test/support/long/files.mjs';

const [report, ...given] = process.argv.slice(2);
const { testResults } =
  existsSync(report) && readFileSync(report, 'utf8') !== ''
    ? JSON.parse(readFileSync(report, 'utf8'))
    : { testResults: [] };
const all = readdirSync('test', { recursive: true })
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => `test/${name}`)
  .filter((name) => !longFiles.includes(name));
const passed = new Set(testResults.map(({ name }) => relative(process.cwd(), name)));
// A file whose worker died passed by its own status, with tests that have no result.
for (const { name, status, assertionResults } of testResults)
  if (status === 'failed' || assertionResults.some((test) => test.status === 'pending'))
    passed.delete(relative(process.cwd(), name));
const left = (given.length > 0 ? given : all).filter((name) => !passed.has(name));
if (left.length <= 2) for (const name of left) console.log(name);
