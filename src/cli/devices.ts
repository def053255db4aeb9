// `warpstage devices`: what is here to run kernels on, with its properties; and what is not, and why.

import type { Command } from 'commander';
import { WarpstageError } from '../diagnostics/error.ts';
import type { DeviceProperties } from '../runtime/device.ts';
import { formatBytes } from '../timeline/quantities.ts';
import { type CommandContext, examplesText, newCommand } from './command.ts';
import { openDevice } from './open-device.ts';

/** A device by the name that `--device` takes. */
type Listed =
  | ({ readonly device: string } & DeviceProperties)
  | { readonly device: string; readonly unavailable: string; readonly hint?: string };

/** The command `devices`. */
export function devicesCommand(context: CommandContext): Command {
  return newCommand('devices', context)
    .summary('show the devices that are here')
    .description('Shows the devices that kernels can run on, with what cudaDeviceProp says of each.')
    .option('--json', 'print the properties as JSON')
    .addHelpText('after', examplesText(['warpstage devices', 'warpstage devices --json']))
    .action(async ({ json }: { readonly json?: boolean }) => {
      const devices = [await cpu(), ...(await gpus())];
      const text = json ? `${JSON.stringify(devices)}\n` : devices.map(describe).join('\n');
      context.terminal.output.write(text);
    });
}

async function cpu(): Promise<Listed> {
  await using device = await openDevice('cpu');
  return { device: 'cpu', ...device.properties };
}

async function gpus(): Promise<Listed[]> {
  const { gpuCount, openGpu } = await import('../runtime/cuda/gpu.ts');
  try {
    return Array.from({ length: gpuCount() }, (_, ordinal) => {
      const { properties, context } = openGpu(ordinal);
      context.close();
      return { device: `cuda:${ordinal}`, ...properties };
    });
  } catch (error) {
    if (!(error instanceof WarpstageError)) throw error;
    const { message, hint } = error.issues[0]!;
    return [{ device: 'cuda', unavailable: message, ...(hint === undefined ? {} : { hint }) }];
  }
}

function describe(listed: Listed): string {
  if ('unavailable' in listed) return `${listed.device}: not available, ${listed.unavailable}\n`;
  const { device, ...properties } = listed;
  const engines = properties.asyncEngineCount;
  const rows: [string, string][] = [
    ['kind', properties.kind],
    ['compute capability', properties.computeCapability],
    ['multiprocessors', String(properties.multiProcessorCount)],
    ['warp size', String(properties.warpSize)],
    [
      'threads of a block',
      `up to ${properties.maxThreadsPerBlock}, in ${properties.maxBlockDim.join(' x ')}`,
    ],
    ['blocks of a grid', `up to ${properties.maxGridDim.join(' x ')}`],
    ['shared memory', `${formatBytes(properties.sharedMemoryPerBlock)} a block`],
    ['memory', formatBytes(properties.totalGlobalMemory)],
    ['copy engines', `${engines}${properties.deviceOverlap ? ', which run beside kernels' : ''}`],
    ['concurrent kernels', properties.concurrentKernels ? 'yes' : 'no'],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}\n`);
  return `${device}: ${properties.name}\n${lines.join('')}`;
}
