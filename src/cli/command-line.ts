// The command line as a function: arguments in, exit code out.
//
// Each command has a file of its own, which declares its arguments and help; what it needs to
// do its work is imported when it is run, so that `--help` and small jobs start quickly.

import { type Command, CommanderError } from 'commander';
import type { WarpstageError } from '../diagnostics/error.ts';
import { packageVersion } from '../diagnostics/package-version.ts';
import { calibrateCommand } from './calibrate.ts';
import { checkCommand } from './check.ts';
import { type CommandContext, examplesText, newCommand } from './command.ts';
import { completionCommand } from './completion.ts';
import { devicesCommand } from './devices.ts';
import { emitCommand } from './emit.ts';
import { exitCodesText } from './exit-codes.ts';
import { reportFailure, usageError } from './failure.ts';
import { helpCommand } from './help.ts';
import { initCommand } from './init.ts';
import { headCommand, infoCommand } from './inspect.ts';
import { exitCodeOf, Interrupt } from './interrupt.ts';
import { mergeCommand } from './merge.ts';
import { overlapCommand } from './overlap.ts';
import { planCommand } from './plan.ts';
import { runCommand } from './run.ts';
import type { Terminal } from './terminal.ts';
import { traceCommand } from './trace.ts';
import { verifyCommand } from './verify.ts';
import { workerCommand } from './worker.ts';

export { processTerminal, type Terminal } from './terminal.ts';

/** Carries out one command line and returns the process's exit code. Never throws. */
export async function runCommandLine(argv: readonly string[], terminal: Terminal): Promise<number> {
  using interrupt = new Interrupt(terminal);
  const exit = { code: 0 };
  const program = buildProgram({ terminal, interrupt, exit });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return interrupt.canceller === null ? exit.code : exitCodeOf(interrupt.canceller);
  } catch (error) {
    if (interrupt.canceller === 'SIGPIPE') return exitCodeOf('SIGPIPE');
    // Help was shown: asked for, or because no command was given.
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    if (error instanceof CommanderError && error.code === 'commander.help') return 2;
    const json = argv.includes('--json');
    const help = program.commands.some((each) => each.name() === argv[0])
      ? `try \`warpstage help ${argv[0]}\``
      : 'try `warpstage help`, or `warpstage help` and the name of a command';
    const ours = error instanceof CommanderError ? inOurWords(error, help) : error;
    const code = reportFailure(ours, json, terminal);
    return interrupt.canceller === null ? code : exitCodeOf(interrupt.canceller);
  }
}

function buildProgram(context: CommandContext): Command {
  const program = newCommand('warpstage', context)
    .description(
      'Streams data through kernels written in TypeScript, with copies and compute overlapped. ' +
        'Runs on any CPU through WebAssembly; nothing to compile, nothing to install beside it.',
    )
    .version(packageVersion(), '-V, --version', 'show the version')
    .hook('preAction', (_, command) => refuseOptionsAsValues(command))
    .addHelpText(
      'after',
      [
        examplesText(['warpstage run affine.ts x.npy y.npy --set a=2 --set b=1', 'warpstage help run']),
        exitCodesText(),
      ].join('\n'),
    )
    .addCommand(initCommand(context))
    .addCommand(runCommand(context))
    .addCommand(checkCommand(context))
    .addCommand(emitCommand(context))
    .addCommand(traceCommand(context))
    .addCommand(planCommand(context))
    .addCommand(overlapCommand(context))
    .addCommand(calibrateCommand(context))
    .addCommand(infoCommand(context))
    .addCommand(headCommand(context))
    .addCommand(mergeCommand(context))
    .addCommand(workerCommand(context))
    .addCommand(verifyCommand(context))
    .addCommand(devicesCommand(context));
  return program.addCommand(completionCommand(context, program)).addCommand(helpCommand(context, program));
}

/** The name of an option where another expects its value is no value: `--trace --quiet`. */
function refuseOptionsAsValues(command: Command): void {
  const flags = new Set(command.options.flatMap(({ short, long }) => [short, long]));
  for (const option of command.options) {
    const value: unknown = command.getOptionValue(option.attributeName());
    const swallowed = [value].flat().find((one) => typeof one === 'string' && flags.has(one));
    if (swallowed === undefined) continue;
    throw usageError(`option '${option.flags}' has no value: ${swallowed} behind it is an option itself`);
  }
}

/** Commander's errors of usage, in the form that all errors have; `help` is the hint of those that have none. */
function inOurWords({ message }: CommanderError, help: string): WarpstageError {
  const [sentence, ...rest] = message.replace(/^error: /, '').split('\n');
  const suggestion = rest.join(' ').replace(/^\(Did(.*)\)$/, 'did$1');
  const [, file] = /^unknown command '(.+\.[cm]?[jt]s)'$/.exec(sentence!) ?? [];
  return usageError(
    sentence!,
    (file !== undefined && `did you mean \`warpstage run ${file}\`, with the inputs and outputs after it?`) ||
      suggestion ||
      help,
  );
}
