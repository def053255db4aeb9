// The report of a job: a small table of its stages, and a sentence that says which one bound it.
//
// Plain ASCII without boxes, so that it reads the same in every terminal, log and issue. Where
// the width is short, the columns that say least are left out.

import { type Busy, type OverlapFigures, overlapOf } from './overlap.ts';
import { formatBytes, formatCount, formatDuration, formatRate, formatShare } from './quantities.ts';
import { type Column, tableLines } from './table.ts';
import { boundOf, verdict } from './verdict.ts';

/** What a report is made of. */
export interface ReportData {
  /** The first line: what ran on what, for example `affine on cpu (2 threads)`. */
  readonly title: string;
  /** In the order in which data passes through them. */
  readonly stages: readonly Busy[];
  /** Milliseconds. */
  readonly wall: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** What a former run had written. */
  readonly resumed?: { readonly chunks: number; readonly bytes: number };
  /** What each device did; shown where there are several. */
  readonly devices?: readonly DeviceFigures[];
  /** How the rows were cut, from which row on and why; reported where nobody asked for it. */
  readonly chosen?: {
    readonly auto: { readonly chunk: boolean; readonly depth: boolean };
    readonly steps: readonly CutFigures[];
  };
}

/** Chunks from some row on. */
export interface CutFigures {
  readonly row: number;
  readonly chunkBytes: number;
  readonly depth: number;
  readonly why: string;
}

/** What one of several devices did. */
export interface DeviceFigures {
  readonly name: string;
  readonly chunks: number;
  readonly rows: number;
  readonly stages: readonly Busy[];
}

/**
 * The text of a report, in lines of at most `width` characters.
 *
 * @example
 * const { report } = await run(affine, { input: 'x.npy', output: 'y.npy' });
 * console.log(reportText({ ...report, title: report.job }));
 */
export function reportText(data: ReportData, width = 80): string {
  const figures = overlapOf(data.stages, data.wall);
  const out = data.bytesOut > 0 ? `, ${formatBytes(data.bytesOut)} out` : '';
  const speed = `${formatDuration(data.wall)}, ${formatRate(data.bytesIn, data.wall)}`;
  const amounts = `${formatBytes(data.bytesIn)} in${out}, ${speed}`;
  const taken = data.resumed === undefined ? [] : wrap(resumption(data.resumed), width);
  const head = [...wrap(data.title, width), ...wrap(amounts, width), ...taken];
  const { devices = [] } = data;
  const shares = devices.length > 1 ? ['', ...deviceTable(devices, data.wall, width)] : [];
  const isVirtual = data.stages.some(({ virtual }) => virtual);
  const cut = choice(data, isVirtual ? undefined : boundOf(figures)?.name);
  const reported = [
    ...wrap(isVirtual ? twoClocks : verdict(figures), width),
    ...(cut === undefined ? [] : wrap(cut, width)),
  ];
  return [...head, '', ...stageTable(figures, width), ...shares, '', ...reported].join('\n');
}

const twoClocks =
  "The device is virtual: its stages took this long on its own clock, and the others on this machine's. What bound the run " +
  'cannot be said from that; `warpstage plan` predicts the whole on such a device.';

function resumption({ chunks, bytes }: NonNullable<ReportData['resumed']>): string {
  if (chunks === 0) return 'resumed: nothing; there was no former run to go on from';
  return `resumed: behind ${formatCount(chunks)} chunks (${formatBytes(bytes)} out) of a former run`;
}

/** What was chosen by itself, and why: `auto: chunks of 16 MiB, 4 in flight: bound by write`. What was given is left out. */
function choice({ chosen }: ReportData, bound: string | undefined): string | undefined {
  if (chosen === undefined) return undefined;
  const { auto } = chosen;
  if (!auto.chunk && !auto.depth) return undefined;
  const steps = chosen.steps.map(({ row, chunkBytes, depth, why }) => {
    const from = row === 0 ? '' : `from row ${formatCount(row)} `;
    const what = [
      ...(auto.chunk ? [`chunks of ${formatBytes(chunkBytes)}`] : []),
      ...(auto.depth ? [`${formatCount(depth)} in flight`] : []),
    ];
    return `${from}${what.join(', ')} (${why})`;
  });
  return `auto: ${steps.join('; ')}${bound === undefined ? '' : `: bound by ${bound}`}`;
}

function stageTable(figures: OverlapFigures, width: number): string[] {
  const columns: Column<Busy>[] = [
    { heading: 'stage', align: 'left', cell: (stage) => stage.name },
    { heading: 'busy', cell: (stage) => formatDuration(stage.busy) },
    { heading: 'of wall', cell: (stage) => shareOf(stage, figures.wall) },
    { heading: 'rate', cell: (stage) => (stage.bytes > 0 ? formatRate(stage.bytes, stage.busy) : '-') },
    { heading: 'bytes', cell: (stage) => (stage.bytes > 0 ? formatBytes(stage.bytes) : '-') },
    { heading: 'steps', cell: (stage) => formatCount(stage.operations) },
  ];
  const worked = figures.engines.filter((stage) => stage.operations > 0);
  return tableLines(columns, worked, width, 3);
}

/** What each device had of the rows, and the share of the time that each of its stages worked. */
function deviceTable(devices: readonly DeviceFigures[], wall: number, width: number): string[] {
  const all = devices.reduce((sum, { rows }) => sum + rows, 0);
  const tasks = devices[0]!.stages.map(({ name }) => name);
  const columns: Column<DeviceFigures>[] = [
    { heading: 'device', align: 'left', cell: ({ name }) => name },
    { heading: 'chunks', cell: ({ chunks }) => formatCount(chunks) },
    { heading: 'of rows', cell: ({ rows }) => formatShare(all > 0 ? rows / all : 0) },
    ...tasks.map((task, i) => ({
      heading: task,
      cell: ({ stages }: DeviceFigures) => shareOf(stages[i]!, wall),
    })),
  ];
  return tableLines(columns, devices, width, 3);
}

/** Virtual time is no share of this machine's. */
function shareOf({ busy, virtual }: Busy, wall: number): string {
  return virtual ? '-' : formatShare(wall > 0 ? busy / wall : 0);
}

/** Breaks a line between words. */
function wrap(line: string, width: number): string[] {
  const lines: string[] = [];
  let current = '';
  for (const word of line.split(' ')) {
    if (current !== '' && current.length + 1 + word.length > width) {
      lines.push(current);
      current = word;
    } else {
      current = current === '' ? word : `${current} ${word}`;
    }
  }
  return current === '' ? lines : [...lines, current];
}
