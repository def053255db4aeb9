// `warpstage overlap`: the program of the post "How to Overlap Data Transfers in CUDA C/C++" on real
// and virtual devices, as the post's table.
//
// Where the post published a time for a device, the predicted one stands beside it with its error:
// of the three, the sequential time is what the virtual device was made from.

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { unwritable } from '../diagnostics/problem.ts';
import type { Device } from '../runtime/device.ts';
import { published } from '../runtime/model/presets.ts';
import type { Span } from '../timeline/span.ts';
import { type Column, tableLines } from '../timeline/table.ts';
import { type CommandContext, examplesText, newCommand } from './command.ts';
import { loadModule } from './load-module.ts';
import { openDevice } from './open-device.ts';

interface OverlapOptions {
  readonly device: string;
  readonly trace?: string;
  readonly json?: boolean;
}

type ScheduleName = 'sequential' | 'V1' | 'V2';

interface Measurement {
  readonly schedule: ScheduleName;
  readonly milliseconds: number;
  readonly maxError: number;
}

/** What the example's program exports. */
interface Program {
  measure(device: Device, n?: number, begin?: (schedule: ScheduleName) => void): Promise<Measurement[]>;
}

/** A schedule's time on a device. */
interface Row extends Measurement {
  readonly device: string;
  readonly name: string;
  /** How many times as fast as the sequential schedule. */
  readonly speedup: number;
  /** The post's milliseconds, for a device that it measured. */
  readonly published?: number;
  /** By which share the time differs from the published one. */
  readonly error?: number;
}

/** Of what sqrt(sin² + cos²) may differ from 1: the rounding of 32 bits, on any device. */
const tolerance = 1e-5;

const usual = 'model:c1060,model:c2050,model:k20c,cpu';
const program = fileURLToPath(new URL('../../examples/overlap/program.ts', import.meta.url));

/** The command `overlap`. */
export function overlapCommand(context: CommandContext): Command {
  return newCommand('overlap', context)
    .summary('compare schedules of copies and kernels on several devices')
    .description(
      'Runs the program of "How to Overlap Data Transfers in CUDA C/C++" (sequential, V1 and V2 with four ' +
        'streams) on each device. On virtual devices the times are predicted, and stand beside the ' +
        'published ones.',
    )
    .option('--device <names>', 'devices, separated by commas', usual)
    .option('--trace <folder>', 'write a page of timelines for each device into a folder, and their JSON')
    .option('--json', 'print the times as JSON')
    .addHelpText(
      'after',
      examplesText(['warpstage overlap', 'warpstage overlap --device model:h200,cuda --trace timelines']),
    )
    .action(async (options: OverlapOptions) => {
      const { output, errors } = context.terminal;
      if (options.trace !== undefined) await makeFolder(options.trace);
      const rows: Row[] = [];
      for (const name of options.device.split(',')) rows.push(...(await runOn(name.trim(), options.trace)));
      output.write(options.json ? `${JSON.stringify(rows)}\n` : `${tableLines(columns, rows).join('\n')}\n`);
      // A time says nothing where the work was not done. Of no number, NaN, this is to be true too.
      const wrong = rows.filter(({ maxError }) => !(maxError <= tolerance));
      for (const { device, schedule, maxError } of wrong) {
        errors.write(
          `${schedule} on ${device}: results differ by up to ${maxError} from 1, which all must be\n`,
        );
      }
      if (wrong.length > 0) context.exit.code = 4;
    });
}

async function runOn(name: string, folder: string | undefined): Promise<Row[]> {
  const { exports } = await loadModule(program);
  const { measure } = exports as unknown as Program;
  await using device = await openDevice(name);
  const spans = new Map<ScheduleName, Span[]>();
  const begin = (schedule: ScheduleName) => {
    const recorded: Span[] = [];
    spans.set(schedule, recorded);
    if (folder !== undefined) device.recorder = (span) => recorded.push(span);
  };
  const measurements = await measure(device, undefined, begin);
  if (folder !== undefined) await writeTraces(folder, name, spans);
  const sequential = measurements.find(({ schedule }) => schedule === 'sequential')!;
  return measurements.map((measurement) => {
    const times = published[name.replace(/^model:/, '')];
    const row = {
      device: name,
      name: device.properties.name,
      ...measurement,
      speedup: sequential.milliseconds / measurement.milliseconds,
    };
    if (times === undefined) return row;
    const time = times[measurement.schedule];
    return { ...row, published: time, error: measurement.milliseconds / time - 1 };
  });
}

/** Before the first measurement, so that none is made for nothing. */
async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true }).catch((error: unknown) => {
    throw unwritable(`the folder ${folder}`, error, 'name another folder for the traces');
  });
}

async function writeTraces(
  folder: string,
  device: string,
  spans: ReadonlyMap<ScheduleName, readonly Span[]>,
): Promise<void> {
  const { writeTrace, writeTracePage } = await import('./write-trace.ts');
  const name = join(folder, device.replace(/[^\w.-]+/g, '-'));
  const traces = [...spans].map(([schedule, recorded]) => ({
    title: `${schedule} on ${device}`,
    facts: {},
    spans: recorded,
  }));
  for (const [i, schedule] of [...spans.keys()].entries()) {
    await writeTrace(`${name}-${schedule}.json`, traces[i]!.spans, traces[i]!);
  }
  await writeTracePage(`${name}.html`, traces);
}

const columns: readonly Column<Row>[] = [
  { heading: 'device', align: 'left', cell: ({ device }) => device },
  { heading: 'schedule', align: 'left', cell: ({ schedule }) => schedule },
  { heading: 'ms', cell: ({ milliseconds }) => milliseconds.toFixed(4) },
  { heading: 'speed-up', cell: ({ speedup }) => speedup.toFixed(2) },
  { heading: 'published ms', cell: ({ published: time }) => time?.toFixed(4) ?? '' },
  { heading: 'error', cell: ({ error }) => (error === undefined ? '' : `${signed(error * 100)} %`) },
];

function signed(percent: number): string {
  return `${percent < 0 ? '-' : '+'}${Math.abs(percent).toFixed(1)}`;
}
