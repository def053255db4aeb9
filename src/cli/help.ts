// `warpstage help`: the same as --help after a command.

import type { Command } from 'commander';
import { nearestName } from '../compiler/nearest.ts';
import { type CommandContext, newCommand } from './command.ts';
import { listNames, usageError } from './failure.ts';

/** The command `help`, of a program. */
export function helpCommand(context: CommandContext, program: Command): Command {
  return newCommand('help', context)
    .summary('show help of a command')
    .description('Shows the help of a command, as --help after it does; without a command that of warpstage.')
    .argument('[command]', 'the command')
    .action((name: string | undefined) => {
      if (name === undefined) return program.outputHelp();
      const names = program.commands.map((command) => command.name());
      const command = program.commands.find((one) => one.name() === name);
      if (command !== undefined) return command.outputHelp();
      const nearest = nearestName(name, names);
      throw usageError(
        `unknown command '${name}'`,
        nearest === null ? `the commands are ${listNames(names)}` : `did you mean ${nearest}?`,
      );
    });
}
