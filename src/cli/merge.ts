// `warpstage merge`: outputs from the pieces that runs with `--shard` have written.

import type { Command } from 'commander';
import { formatBytes, formatCount } from '../timeline/quantities.ts';
import { asGiven } from './assign-files.ts';
import { type CommandContext, examplesText, fileOptions, newCommand } from './command.ts';
import { loadModule } from './load-module.ts';

interface MergeCommandOptions {
  readonly fsync?: boolean;
  readonly clobber: boolean;
  readonly checksum?: boolean;
  readonly remove?: boolean;
  readonly ignoreInputs?: boolean;
  readonly raw?: boolean;
  readonly format?: string;
  readonly rate?: number;
  readonly import?: string;
}

/** The command `merge`. */
export function mergeCommand(context: CommandContext): Command {
  return newCommand('merge', context)
    .summary('put the pieces of an output together')
    .description(
      'Puts together the pieces (y.npy.1-of-10, …) that runs with --shard have written beside an output, a file or an object of S3. Exit code ' +
        '75 says that some are missing, 4 that they do not belong together or are damaged.',
    )
    .argument('<outputs...>', 'the outputs, as they were named for the runs')
    .option('--remove', 'remove the pieces once the output is there')
    .option('--ignore-inputs', 'take the pieces though their input files were touched or replaced')
    .option('--fsync', 'flush the output to the disk before it appears')
    .option('--no-clobber', 'fail if the output is there already')
    .option('--checksum', 'write checksums beside the output, for `warpstage verify`')
    .addOption(fileOptions.raw())
    .addOption(fileOptions.format())
    .addOption(fileOptions.rate())
    .option('--import <module>', 'load a module first, which registers formats')
    .addHelpText(
      'after',
      examplesText([
        'for i in 1 2 3; do warpstage run affine.ts x.npy y.npy --shard $i/3; done',
        'warpstage merge y.npy --remove',
      ]),
    )
    .action(async (outputs: string[], options: MergeCommandOptions) => {
      if (options.import !== undefined) await loadModule(options.import);
      const { merge } = await import('../overlap/shards/merge.ts');
      const signal = context.interrupt.listen();
      const { fsync, clobber: overwrite, checksum, remove, ignoreInputs, rate } = options;
      for (const output of outputs) {
        const how = { fsync, overwrite, checksum, remove, ignoreInputs, signal };
        const { pieces, bytes } = await merge({ ...asGiven(output, options), ...(rate && { rate }) }, how);
        context.terminal.output.write(`${output}: ${formatCount(pieces)} pieces, ${formatBytes(bytes)}\n`);
      }
    });
}
