// node scripts/lost-test-files.mjs RESULTS: the test files that a run of vitest lost.
//
// RESULTS is what its JSON reporter wrote. A worker process that dies takes the file that it was running
// with it: the file has no result at all. Prints these, a line each; nothing where a test has failed.

import { readdirSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';

const { numFailedTests, testResults } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const seen = new Set(testResults.map(({ name }) => relative(process.cwd(), name)));
const files = readdirSync('test', { recursive: true }).filter((name) => name.endsWith('.test.ts'));
const failed = numFailedTests > 0 || testResults.some(({ status }) => status === 'failed');
if (!failed) for (const name of files) if (!seen.has(`test/${name}`)) console.log(`test/${name}`);
