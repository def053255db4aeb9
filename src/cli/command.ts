// What the commands have in common: what they are given, where they print, how help shows examples.

import { Command, Option } from 'commander';
import { conversions, dtypeBytes } from '../formats/dtype.ts';
import type { Interrupt } from './interrupt.ts';
import type { Terminal } from './terminal.ts';
import { parseCount } from './values.ts';

/** What a command is given beside its arguments. */
export interface CommandContext {
  readonly terminal: Terminal;
  /** What Ctrl-C aborts; a command that can be cancelled listens to it. */
  readonly interrupt: Interrupt;
  /** What the command has to say by its exit code, without having failed. */
  readonly exit: { code: number };
}

/** A command that prints to the terminal it is given and throws instead of ending the process. */
export function newCommand(name: string, { terminal }: CommandContext): Command {
  return new Command(name)
    .helpOption('-h, --help', 'show help')
    .helpCommand(false)
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.output.write(text),
      writeErr: (text) => terminal.errors.write(text),
      // Errors are reported once, by reportFailure.
      outputError: () => {},
    });
}

/** The part of a help text that shows how a command is used. */
export function examplesText(lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}`;
}

/** The options that say how files are read, with the values that they take. */
export const fileOptions = {
  raw: () => new Option('--raw', 'read and write bare elements where a name tells no format'),
  format: () =>
    new Option(
      '--format <name>',
      'format of files whose names tell none, such as csv (default: as they begin)',
    ).conflicts('raw'),
  rate: () =>
    new Option(
      '--rate <count>',
      'rows a second, of outputs that are sound (default: as the inputs have)',
    ).argParser(parseCount),
  dtype: () =>
    new Option('--dtype <type>', "element type of raw input (default: the name's, or the kernel's)").choices(
      Object.keys(dtypeBytes),
    ),
  convert: () =>
    new Option(
      '--convert <how>',
      "how another element type becomes the kernel's: exact, or rounded to the nearest (default: as the job says)",
    ).choices(conversions),
} as const;
