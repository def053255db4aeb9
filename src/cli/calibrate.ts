// `warpstage calibrate`: measures a device, and writes what was measured as a device file, from
// which a virtual device of the same rates can be opened anywhere.

import type { Command } from 'commander';
import type { Device } from '../runtime/device.ts';
import type { EngineModel } from '../runtime/model/engines.ts';
import { formatDuration, formatRate } from '../timeline/quantities.ts';
import { type CommandContext, examplesText, newCommand } from './command.ts';
import { openDevice } from './open-device.ts';
import { parseCount } from './values.ts';
import { checkWritable, writeWhole } from './write-whole.ts';

interface CalibrateOptions {
  readonly device: string;
  readonly output?: string;
  readonly size: number;
  readonly json?: boolean;
}

const MiB = 2 ** 20;

/** The command `calibrate`. */
export function calibrateCommand(context: CommandContext): Command {
  return newCommand('calibrate', context)
    .summary("measure a device's rates for a virtual device")
    .description(
      'Measures copies in each direction alone and together, from pinned and pageable memory, kernels bound by ' +
        'memory and by arithmetic, and what issuing costs; each by single operations. The device file that ' +
        'it writes opens as a virtual device: --device model:<file>. What was measured of a GPU is kept in the ' +
        'cache folder as well, and runs on it choose their chunks by it.',
    )
    .option('--device <name>', 'the device to measure', 'cpu')
    .option('-o, --output <file>', 'write the device file')
    .option('--size <MiB>', 'MiB of a large copy', parseCount, 256)
    .option('--json', 'print the device file itself')
    .addHelpText(
      'after',
      examplesText([
        'warpstage calibrate --device cuda -o my-gpu.json',
        'warpstage overlap --device cuda,model:my-gpu.json',
      ]),
    )
    .action(async ({ device: name, output, size, json }: CalibrateOptions) => {
      const [{ calibrate }, { modelText }, { keepModel }] = await Promise.all([
        import('../runtime/model/calibrate.ts'),
        import('../runtime/model/device-file.ts'),
        import('../runtime/model/known.ts'),
      ]);
      if (output !== undefined) await checkWritable(output, '-o', { reads: [name.replace(/^model:/, '')] });
      const { model, kind } = await openAndMeasure(name, (device) =>
        calibrate(device, { bytes: size * MiB }),
      );
      if (output !== undefined) await writeWhole(output, modelText(model));
      // Nobody looks for that of a processor, and a virtual device bears the name of a real one.
      const kept = kind === 'cuda' ? keepModel(model, modelText(model)) : undefined;
      const { output: out } = context.terminal;
      out.write(json ? modelText(model) : describe(model));
      if (!json && kept !== undefined) out.write(`  kept for runs on this device in ${kept}\n`);
    });
}

async function openAndMeasure(
  name: string,
  measure: (device: Device) => Promise<EngineModel>,
): Promise<{ readonly model: EngineModel; readonly kind: Device['properties']['kind'] }> {
  // A virtual device takes its times from its file: carrying out what it is given would change none.
  await using device = await openDevice(name, { execute: false });
  return { model: await measure(device), kind: device.properties.kind };
}

function describe(model: EngineModel): string {
  const rate = (bytes: number) => formatRate(bytes, 1);
  // A tenth of a microsecond tells one machine from another here.
  const time = (milliseconds: number) =>
    milliseconds < 0.01 ? `${(1000 * milliseconds).toFixed(1)} µs` : formatDuration(milliseconds);
  const operations = (billions: number) =>
    billions < 1000 ? `${billions.toPrecision(3)} G` : `${(billions / 1000).toPrecision(3)} T`;
  const rows = [
    ['copies to the device', `${rate(model.hostToDevice)}, pageable ${rate(model.pageableHostToDevice)}`],
    ['copies from the device', `${rate(model.deviceToHost)}, pageable ${rate(model.pageableDeviceToHost)}`],
    [
      'both directions at once',
      `each ${model.bothWays.toFixed(2)} times slower, and ${time(model.bothWaysOverhead)} more a copy`,
    ],
    ['kernels, bound by memory', rate(model.memoryRate)],
    ['kernels, bound by arithmetic', `${operations(model.operationRate / 1e6)} operations/s`],
    [
      'an operation takes beside its work',
      `copy in ${time(model.hostToDeviceOverhead)}, out ${time(model.deviceToHostOverhead)}, kernel ${time(model.kernelOverhead)}`,
    ],
    ['another engine hears of it after', time(model.signalTime)],
    [
      'issuing takes the host',
      `copy ${time(model.issueTime)}, launch ${time(model.launchTime)}, event ${time(model.eventTime)}`,
    ],
    ['after it has waited, that is', `${model.issueAfterWait.toFixed(2)} times as long`],
  ] as const;
  const width = Math.max(...rows.map(([name]) => name.length));
  return `${model.name}\n${rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}\n`).join('')}`;
}
