// node scripts/test-summary.mjs RESULTS...: the one line that says how the tests went, from reports of vitest's
// JSON reporter.

import { readFileSync } from 'node:fs';

const reports = process.argv.slice(2).map((name) => JSON.parse(readFileSync(name, 'utf8')));
const sum = (count) => reports.map(count).reduce((a, b) => a + b, 0);
const failedFiles = ({ testResults }) =>
  testResults.filter(({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0);
const skipped = sum((report) => report.numPendingTests + report.numTodoTests);
const failed = sum((report) => report.numFailedTests + failedFiles(report).length);
console.log(
  `${sum((report) => report.numPassedTests)} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`,
);
