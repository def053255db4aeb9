// `warpstage plan`: what a job will take on a device, what binds it, and how it is best cut, before it runs.

import type { Command } from 'commander';
import type { Conversion, Dtype } from '../formats/dtype.ts';
import type { JobPlan } from '../overlap/plan-job.ts';
import { formatBytes, formatCount, formatDuration, formatRate, formatShare } from '../timeline/quantities.ts';
import { assignFiles } from './assign-files.ts';
import { type CommandContext, examplesText, fileOptions, newCommand } from './command.ts';
import { findJob } from './find-exports.ts';
import { loadModule } from './load-module.ts';
import { openDevice, printAside } from './open-device.ts';
import { addSetting, type Settings } from './values.ts';

interface PlanCommandOptions {
  readonly set?: Settings;
  readonly device: string;
  readonly job?: string;
  readonly raw?: boolean;
  readonly format?: string;
  readonly rate?: number;
  readonly dtype?: Dtype;
  readonly convert?: Conversion;
  readonly json?: boolean;
}

/** The command `plan`. */
export function planCommand(context: CommandContext): Command {
  return newCommand('plan', context)
    .summary('predict what a job will take')
    .description(
      'Sends the beginning of the input through a job, and predicts from it what the whole will take, what ' +
        'binds it, and the best chunk and depth. On a virtual device, reading and writing take what they ' +
        'take here, copies and kernels what they would take there.',
    )
    .argument('<module>', 'the TypeScript or JavaScript file that exports the job')
    .argument('<files...>', 'the inputs, then the output if the job has one; the output is not written')
    .option('-s, --set <name=value>', 'change a setting of the job (repeatable)', addSetting)
    .option('--job <name>', 'which job, where the module exports several')
    .option('--device <names>', 'devices, separated by commas', 'cpu')
    .addOption(fileOptions.raw())
    .addOption(fileOptions.format())
    .addOption(fileOptions.rate())
    .addOption(fileOptions.dtype())
    .addOption(fileOptions.convert())
    .option('--json', 'print the plans as JSON')
    .addHelpText(
      'after',
      examplesText([
        'warpstage plan affine.ts x.npy y.npy',
        'warpstage plan affine.ts x.npy y.npy --device cpu,model:h200',
      ]),
    )
    .action(async (modulePath: string, files: string[], options: PlanCommandOptions) => {
      const { output } = context.terminal;
      const named = findJob(await loadModule(modulePath), options.job);
      const { inputs, destinations } = assignFiles(named, files, { ...options, json: false });
      const { plan } = await import('../overlap/plan-job.ts');
      const planOn = async (name: string) => {
        // A virtual device need not compute: it only times.
        await using device = await openDevice(name, { execute: false });
        printAside(device, context.terminal);
        return await plan(named.work, {
          input: inputs,
          output: destinations,
          device,
          signal: context.interrupt.listen(),
          ...(options.set === undefined ? {} : { settings: options.set }),
          ...(options.convert === undefined ? {} : { convert: options.convert }),
        });
      };
      const plans: (JobPlan & { readonly on: string })[] = [];
      for (const device of options.device.split(',').map((name) => name.trim())) {
        plans.push({ on: device, ...(await planOn(device)) });
      }
      if (options.json) output.write(`${JSON.stringify(plans)}\n`);
      else output.write(plans.map(describe).join('\n'));
    });
}

function describe({ on, ...plan }: JobPlan & { readonly on: string }): string {
  const { wall, stages, bound, usual, best } = plan;
  const cut = ({ chunkRows, chunkBytes, depth }: typeof usual) =>
    `${formatCount(chunkRows)} rows (${formatBytes(chunkBytes)} of inputs and outputs), depth ${depth}`;
  const [least, most] = plan.range;
  // A range is reported where parts of the sample differ by more than a tenth.
  const isWide = most - least > 0.1 * wall;
  const spread = isWide ? ` (${formatDuration(least)} to ${formatDuration(most)})` : '';
  const lines = [
    `${plan.job} on ${on} (${plan.device}): ${formatDuration(wall)}${spread} for ${formatCount(plan.rows)} rows, ` +
      `${formatBytes(plan.bytesIn)} in, ${formatBytes(plan.bytesOut)} out`,
    `  bound by ${bound}: ${Object.entries(stages)
      .filter(([, time]) => time > 0)
      .map(([stage, time]) => `${stage} ${formatShare(time / wall)}`)
      .join(', ')}`,
    `  ${formatRate(plan.bytesIn + plan.bytesOut, wall)} of inputs and outputs`,
    `  run would choose ${cut(usual)}`,
    `  best is ${cut(best)}: ${formatDuration(best.wall)}`,
    `  from the first ${formatCount(plan.sampleRows)} rows, in ${formatDuration(plan.sampleTime)}`,
  ];
  return `${lines.join('\n')}\n`;
}
