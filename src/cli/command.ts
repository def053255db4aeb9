// What the commands have in common: what they are given, and how their help shows examples.

import type { Terminal } from './terminal.ts';

/** What a command is given beside its arguments. */
export interface CommandContext {
  readonly terminal: Terminal;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
}

/** The part of a help text that shows how a command is used. */
export function examplesText(lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}\n`).join('')}`;
}
