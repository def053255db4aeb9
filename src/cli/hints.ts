// Hints of the library in the words of the command line: what a program passes as an option, a person
// types as one.

import { type Issue, WarpstageError } from '../diagnostics/error.ts';

/** What the library says, and what the command line says in its place. A method `open` is of another language. */
const phrases: readonly (readonly [library: RegExp, command: string])[] = [
  [
    /(?<![.\w])open\((['"])([\w:*.-]+)\1, \{ checked: true \}\)(, or `warpstage run --checked`)?/g,
    '--device $2 --checked',
  ],
  [/(?<![.\w])open\((['"])([\w:*.-]+)\1\)/g, '--device $2'],
  [/^open one of /, 'name one of them with --device: '],
  [/\bsettings: \{ ([\w$]+): ([^ }]+) \}, or give/g, '--set $1=$2, or give'],
  [/\b(with|without) resume\b/g, '$1 --resume'],
  [/\bin the job: inputs: \{ …: \{ nulls: 0 \} \}/, 'with --nulls 0'],
  [/, or open the device with a larger `memory`/, ''],
  [/\bthe checker with traceStages\(\)/, 'the checker with warpstage check --stages'],
];

/** An error whose hints a person at a command line can follow. */
export function inCommandWords(error: WarpstageError): WarpstageError {
  const issues = error.issues.map(issueInCommandWords);
  if (issues.every((issue, i) => issue === error.issues[i])) return error;
  return new WarpstageError(issues, 'cause' in error ? { cause: error.cause } : {});
}

function issueInCommandWords(issue: Issue): Issue {
  if (issue.hint === undefined) return issue;
  const hint = phrases.reduce((text, [library, command]) => text.replace(library, command), issue.hint);
  return hint === issue.hint ? issue : { ...issue, hint };
}
