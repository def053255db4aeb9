// `warpstage verify`: whether outputs are still what was written, by the checksums that `--checksum` left beside them.

import type { Command } from 'commander';
import { WarpstageError } from '../diagnostics/error.ts';
import type { Difference, Subset, Verified } from '../overlap/verify.ts';
import { formatBytes, formatCount } from '../timeline/quantities.ts';
import { type CommandContext, examplesText, newCommand } from './command.ts';
import { parseShare } from './values.ts';

interface VerifyCommandOptions {
  readonly subset?: Subset;
  readonly inputs?: boolean;
  readonly json?: boolean;
}

/** The command `verify`. */
export function verifyCommand(context: CommandContext): Command {
  return newCommand('verify', context)
    .summary('compare outputs with the checksums they were written with')
    .description(
      'Reads outputs and compares them with the checksums beside them (y.npy.sums for y.npy), which a run with ' +
        '--checksum writes. Exit code 4 says that something differs.',
    )
    .argument('<outputs...>', 'the outputs')
    .option(
      '--subset <n/t>',
      'read only each t-th part, from the n-th on: 1/30 to 30/30 read all, in thirty runs',
      parseShare,
    )
    .option('--inputs', 'read the inputs too: are they what the output was computed from?')
    .option('--json', 'print what was found as JSON')
    .addHelpText('after', examplesText(['warpstage verify y.npy', 'warpstage verify y.npy --subset 3/30']))
    .action(async (outputs: string[], { subset, inputs, json }: VerifyCommandOptions) => {
      const { verify } = await import('../overlap/verify.ts');
      const signal = context.interrupt.listen();
      const found: Verified[] = [];
      for (const output of outputs) found.push(await verify(output, { subset, inputs, signal }));
      const { output } = context.terminal;
      output.write(json ? `${JSON.stringify(found)}\n` : found.map((one) => `${describe(one)}\n`).join(''));
      const differences = found.flatMap((one) => one.differences);
      if (differences.length > 0) throw new WarpstageError(differences.map(issueOf));
    });
}

function describe({ output, parts, read, bytesRead, differences }: Verified): string {
  const what =
    read === parts ? `${formatCount(parts)} parts` : `${formatCount(read)} of ${formatCount(parts)} parts`;
  const result = differences.length === 0 ? 'as it was written' : 'not as it was written';
  return `${output}: ${what} read (${formatBytes(bytesRead)}), ${result}`;
}

const kinds: Readonly<Record<Difference['kind'], string>> = {
  changed: 'are not what they were',
  missing: 'are missing',
  added: 'were added',
};

function issueOf({ path, begin, end, kind }: Difference) {
  return {
    code: 'WS5014' as const,
    message: `bytes ${formatCount(begin)} to ${formatCount(end)} of ${path} ${kinds[kind]}`,
    hint: 'run the job again, or take it from a copy',
  };
}
