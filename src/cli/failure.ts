// What a command says when it fails, and the exit code that says whose fault it was.
//
// Errors go to standard error, as text with code frames or, under `--json`, as one JSON object.

import { WarpstageError } from '../diagnostics/error.ts';
import { formatIssues } from '../diagnostics/render.ts';
import { exitCodeOfError } from './exit-codes.ts';
import { inCommandWords } from './hints.ts';
import { showsColour, type Terminal } from './terminal.ts';

/** An error in the words of the command line: wrong usage, with the command whose help tells more. */
export function usageError(message: string, hint?: string): WarpstageError {
  return new WarpstageError({ code: 'WS6001', message, ...(hint === undefined ? {} : { hint }) });
}

/** Reports an error and returns the exit code for it. */
export function reportFailure(error: unknown, json: boolean, terminal: Terminal): number {
  if (!(error instanceof WarpstageError)) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const line = json
      ? JSON.stringify({ name: 'Error', message: text })
      : `This is an error in warpstage itself; please report it.\n${text}`;
    terminal.errors.write(`${line}\n`);
    return 1;
  }
  const options = { colour: showsColour(terminal.errors), folder: process.cwd() };
  const reported = inCommandWords(error);
  terminal.errors.write(`${json ? JSON.stringify(reported) : formatIssues(reported.issues, options)}\n`);
  return exitCodeOfError(error.code);
}

/** A list of names as a sentence has it. */
export function listNames(names: Iterable<string>): string {
  return [...names].map((name) => `\`${name}\``).join(', ');
}
