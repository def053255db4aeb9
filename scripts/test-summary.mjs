// node scripts/test-summary.mjs FIRST=AGAIN...: how the tests went, from reports of vitest's JSON reporter.
//
// FIRST is the report of a run, AGAIN that of the files which did not pass in it and were run once more, alone;
// there may be none. A test counts as it went the last time. Prints what failed, with the first line of its
// message, what passed the second time only, and at last the line that counts.

import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';

const firstLine = (text) => (text ?? '').split('\n')[0].slice(0, 300);

/** The results of a report's files, by the file's name. */
function filesOf(report) {
  if (!existsSync(report) || readFileSync(report, 'utf8') === '') return new Map();
  const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
  const files = new Map();
  for (const file of testResults) {
    const name = relative(process.cwd(), file.name);
    files.set(name, [...(files.get(name) ?? []), file]);
  }
  return files;
}

/** A test without a result: its worker died. */
const isLost = ({ status }) => status === 'pending';

/** What failed of a file: its tests, or the file as a whole where it has none. */
function failuresOf(name, results) {
  return results.flatMap(({ status, message, assertionResults }) =>
    status === 'failed' && assertionResults.length === 0
      ? [`${name}: ${firstLine(message)}`]
      : assertionResults
          .filter((test) => test.status === 'failed' || isLost(test))
          .map(
            (test) =>
              `${name} > ${test.fullName}: ${isLost(test) ? 'no result' : firstLine(test.failureMessages[0])}`,
          ),
  );
}

const counts = { passed: 0, failed: 0, skipped: 0 };
for (const [first, again] of process.argv.slice(2).map((pair) => pair.split('='))) {
  const [before, after] = [filesOf(first), filesOf(again ?? '')];
  for (const [name, results] of after) {
    const failures = failuresOf(name, before.get(name) ?? []);
    if (failuresOf(name, results).length === 0)
      for (const failure of failures) console.log(`passed only when it was run once more: ${failure}`);
  }
  for (const [name, results] of new Map([...before, ...after])) {
    const failures = failuresOf(name, results);
    for (const failure of failures) console.log(`failed: ${failure}`);
    counts.failed += failures.length;
    for (const { status } of results.flatMap(({ assertionResults }) => assertionResults)) {
      if (status === 'passed') counts.passed++;
      else if (status !== 'failed' && status !== 'pending') counts.skipped++;
    }
  }
}
const { passed, failed, skipped } = counts;
console.log(`${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`);
