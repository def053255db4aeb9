// What a command says when it fails, and the exit code that says whose fault it was.
//
// 1: the job or its module. 2: the usage. 3: the data that it reads. Errors go to standard error, as text with
// code frames or, under `--json`, as one JSON object.

import type { Code } from '../diagnostics/codes.ts';
import { WarpstageError } from '../diagnostics/error.ts';
import { formatIssues } from '../diagnostics/render.ts';
import { showsColour, type Terminal } from './terminal.ts';

/** An error in the words of the command line: wrong usage, with the command whose help tells more. */
export function usageError(message: string, hint?: string): WarpstageError {
  return new WarpstageError({ code: 'WS6001', message, ...(hint === undefined ? {} : { hint }) });
}

/** Reports an error and returns the exit code for it. */
export function reportFailure(error: unknown, json: boolean, terminal: Terminal): number {
  if (!(error instanceof WarpstageError)) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const told = json
      ? JSON.stringify({ name: 'Error', message: text })
      : `This is an error in warpstage itself; please report it.\n${text}`;
    terminal.errors.write(`${told}\n`);
    return 1;
  }
  const options = { colour: showsColour(terminal.errors), folder: process.cwd() };
  terminal.errors.write(`${json ? JSON.stringify(error) : formatIssues(error.issues, options)}\n`);
  return exitCodes.get(error.code) ?? 1;
}

/** The exit codes of errors whose fault is another's than the job's. */
const exitCodes: ReadonlyMap<Code, number> = new Map([
  // What whoever typed the command got wrong: usage, a setting, a device's name, an output's.
  ['WS6001', 2],
  ['WS5008', 2],
  ['WS4003', 2],
  ['WS5012', 2],
  // The input: it cannot be read, is in another format, or does not fit.
  ['WS5003', 3],
  ['WS5004', 3],
  ['WS5005', 3],
]);

/** A list of names as a sentence has it. */
export function listNames(names: Iterable<string>): string {
  return [...names].map((name) => `\`${name}\``).join(', ');
}
