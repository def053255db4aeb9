// node scripts/test-summary.mjs RESULTS...: what failed, with the first line of its message, and then the one
// line that says how the tests went, from reports of vitest's JSON reporter. Who sees only the end of a long
// output still sees what failed.

import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

const reports = process.argv.slice(2).map((name) => JSON.parse(readFileSync(name, 'utf8')));
const sum = (count) => reports.map(count).reduce((a, b) => a + b, 0);
const failedFiles = ({ testResults }) =>
  testResults.filter(({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0);
const firstLine = (text) => (text ?? '').split('\n')[0].slice(0, 300);
const skipped = sum((report) => report.numPendingTests + report.numTodoTests);
const failed = sum((report) => report.numFailedTests + failedFiles(report).length);
for (const { name, status, message, assertionResults } of reports.flatMap(({ testResults }) => testResults)) {
  const file = relative(process.cwd(), name);
  if (status === 'failed' && assertionResults.length === 0)
    console.log(`failed: ${file}: ${firstLine(message)}`);
  for (const { status, fullName, failureMessages } of assertionResults)
    if (status === 'failed') console.log(`failed: ${file} > ${fullName}: ${firstLine(failureMessages[0])}`);
}
console.log(
  `${sum((report) => report.numPassedTests)} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`,
);
