// The text of an error, made of its issues.
//
//   WS1002: `factor` is captured from outside the kernel
//     /home/me/scale.ts:12:10
//       11 |   const i = cuda.thisGrid().threadRank();
//     > 12 |   y[i] = factor * y[i];
//          |          ^^^^^^
//     thread (3, 0, 0) of block (1, 0, 0)
//     hint: pass it in: add `factor: 'constant f32'` to the schema

import type { Issue, Location } from './error.ts';
import { codeFrame } from './frame.ts';
import { coloured, type Paint, plain } from './paint.ts';

export interface FormatOptions {
  /** For a terminal. Default false. */
  readonly colour?: boolean;
  /** Paths below this folder are shown relative to it. By default they are shown whole. */
  readonly folder?: string;
}

/** The text of issues, each with its code frame and hint, a blank line between them. */
export function formatIssues(issues: readonly Issue[], options: FormatOptions = {}): string {
  const paint = options.colour ? coloured : plain;
  return issues.map((issue) => formatIssue(issue, paint, options.folder)).join('\n\n');
}

function formatIssue(issue: Issue, paint: Paint, folder: string | undefined): string {
  const lines = [`${paint.error(issue.code)}: ${issue.message}`];
  if (issue.location) lines.push(...formatPlace(issue.location, 1, paint, folder));
  for (const { label, location } of issue.related ?? []) {
    lines.push(`${label}:`, ...formatPlace(location, 0, paint, folder));
  }
  const running = [
    issue.thread && `thread (${issue.thread.join(', ')})`,
    issue.block && `block (${issue.block.join(', ')})`,
  ].filter((part) => part !== undefined);
  if (issue.details !== undefined) lines.push(...issue.details);
  else if (running.length > 0) lines.push(running.join(' of '));
  if (issue.hint !== undefined) lines.push(`${paint.hint('hint')}: ${issue.hint}`);
  return lines.join('\n').replaceAll('\n', '\n  ');
}

function formatPlace(location: Location, around: number, paint: Paint, folder: string | undefined): string[] {
  const { file, line, column } = location;
  const name =
    file === undefined
      ? `line ${line}, column ${column} of the function`
      : `${shorten(file, folder)}:${line}:${column}`;
  return [paint.place(name), ...codeFrame(location, around, paint)];
}

function shorten(file: string, folder: string | undefined): string {
  if (folder === undefined || !file.startsWith(folder)) return file;
  const rest = file.slice(folder.length);
  return /^[\\/]/.test(rest) ? rest.slice(1) : file;
}
