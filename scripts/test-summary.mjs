// Prints the one line that says how the tests went, from vitest's JSON report.
import { readFileSync } from 'node:fs';

const report = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const skipped = report.numPendingTests + report.numTodoTests;
const failedFiles = report.testResults.filter(
  (file) => file.status === 'failed' && file.assertionResults.length === 0,
);
console.log(
  `${report.numPassedTests} passed, ${report.numFailedTests + failedFiles.length} failed${skipped ? `, ${skipped} skipped` : ''}`,
);
