// plan(): what a job will take, what binds it and how it is best cut, before it runs.
//
// The beginning of the input goes through the job in small and in large chunks, on the device that is
// meant; from what the stages took the whole is predicted, for many ways to cut it. On a virtual device
// reading and writing take what they take here, and copies and kernels what they would take there.

import { mkdtemp, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Device } from '../runtime/device.ts';
import { open } from '../runtime/open.ts';
import type { Span } from '../timeline/span.ts';
import type { Job, OutputArrays } from './job.ts';
import type { JobReport, JobResult, OutputData, RunOptions } from './options.ts';
import { type StageName, stageNames } from './options.ts';
import {
  bestCut,
  type Cut,
  costOf,
  type Measured,
  predictWall,
  type StageCosts,
  stageTimes,
} from './predict.ts';
import { problem } from './problem.ts';
import { run } from './run.ts';
import { jobsOf, type Sequence } from './sequence.ts';

/** What a run takes, as far as planning needs it. */
export interface PlanOptions extends Pick<RunOptions, 'input' | 'output' | 'settings' | 'signal'> {
  /** One device, or the name of one. Default `'cpu'`. */
  readonly device?: Device | string;
}

/** A prediction of a run. */
export interface JobPlan {
  readonly job: string;
  readonly device: string;
  readonly rows: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Milliseconds with the chunk and depth that `run` would choose by itself. */
  readonly wall: number;
  /** Milliseconds that each stage works, and the one that binds. */
  readonly stages: Readonly<Record<StageName, number>>;
  readonly bound: StageName;
  /** How `run` would cut it, and what is best. */
  readonly usual: Cut & { readonly chunkRows: number };
  readonly best: Cut & { readonly chunkRows: number; readonly wall: number };
  /** Rows that were tried, and milliseconds that this took. */
  readonly sampleRows: number;
  readonly sampleTime: number;
}

const MiB = 2 ** 20;
/** The ways to cut a job that are compared; they differ little in memory from what `run` takes by itself. */
const cuts: readonly Cut[] = [1, 2, 3, 4, 6, 8].flatMap((depth) =>
  [1, 2, 4, 8, 16, 32, 64]
    .filter((size) => size * depth <= 256)
    .map((size) => ({ chunkBytes: size * MiB, depth })),
);
/** Chunks of each size that go through, after two that warm up. */
const sampled = 10;
const warmUp = 2;

/** What `plan` of start.ts loads. */
export async function plan<V, O extends OutputArrays>(
  work: Job<V, O> | Sequence<V, O>,
  options: PlanOptions,
): Promise<JobPlan> {
  if (jobsOf(work).length > 1) {
    throw problem('WS5007', 'a sequence of jobs cannot be planned as a whole', 'plan its jobs one by one');
  }
  const began = performance.now();
  const { device, close } = await openFor(options.device);
  const folder = await mkdtemp(sampleFolder(options.output));
  try {
    const sample = (settings: Pick<RunOptions, 'rows' | 'chunk' | 'depth'>) =>
      run(work, {
        ...options,
        ...settings,
        output: sampleOutputs(work as Job<unknown, OutputArrays>, folder, options.output),
        device,
        trace: true,
      });
    const first = await sample({ rows: 1 });
    const { totalRows } = first.report;
    if (totalRows === undefined) {
      throw problem('WS5005', 'how long the input is shows only at its end', 'plan with a file');
    }
    const rowBytes = bytesOfRow(first.report);
    // As `run` itself would cut the whole.
    const large = await sample({ rows: Math.min(totalRows, usualRows(rowBytes) * (warmUp + sampled)) });
    const usualRowsOfChunk = Math.min(large.report.chunkRows, usualRows(rowBytes));
    const smallRows = Math.max(1, Math.floor(usualRowsOfChunk / 4));
    const small = await sample({
      rows: Math.min(totalRows, smallRows * (warmUp + sampled)),
      chunk: smallRows,
    });
    const costs = costsOf(small, large);
    return summarise(large.report, costs, rowBytes, first.report.wall, {
      rows: totalRows,
      sampleRows: large.report.rows + small.report.rows + 1,
      sampleTime: performance.now() - began,
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
    await close();
  }
}

function bytesOfRow({ bytesIn, bytesOut, rows }: JobReport): number {
  return (bytesIn + bytesOut) / Math.max(1, rows);
}

/** Rows of a chunk of the usual size: 8 MiB of inputs, about. */
function usualRows(rowBytes: number): number {
  return Math.max(1, Math.floor((16 * MiB) / rowBytes));
}

/** What each stage took for a chunk, from runs with chunks of two sizes. */
function costsOf(small: JobResult<unknown>, large: JobResult<unknown>): StageCosts {
  const costs = stageNames.map((stage) => {
    const [a, b] = [small, large].map((result) => measured(result, stage)) as [Measured, Measured];
    const cost =
      a.bytes < b.bytes * 0.75 ? costOf(a, b) : { fixed: 0, perByte: b.time / Math.max(1, b.bytes) };
    return [stage, cost] as const;
  });
  return Object.fromEntries(costs) as StageCosts;
}

/** The mean of a stage for a full chunk, those at the beginning left out where there are enough. */
function measured({ spans, report }: JobResult<unknown>, stage: StageName): Measured {
  const ours = spans.filter(({ engine }) => engine === stage);
  const perChunk = Math.max(1, Math.round(ours.length / Math.max(1, report.chunks)));
  const kept = ours.length > (warmUp + 2) * perChunk ? ours.slice(warmUp * perChunk) : ours;
  const time = kept.reduce((sum, span: Span) => sum + span.ended - span.started, 0);
  const bytesOfChunk = bytesOfRow(report) * Math.min(report.chunkRows, report.rows);
  return { bytes: bytesOfChunk, time: (time / Math.max(1, kept.length)) * perChunk };
}

function summarise(
  report: JobReport,
  costs: StageCosts,
  rowBytes: number,
  startUp: number,
  about: Pick<JobPlan, 'rows' | 'sampleRows' | 'sampleTime'>,
): JobPlan {
  const bytes = rowBytes * about.rows;
  const withRows = <C extends Cut>(cut: C) => ({
    ...cut,
    chunkRows: Math.max(1, Math.round(cut.chunkBytes / rowBytes)),
  });
  const usual = withRows({ chunkBytes: report.chunkRows * rowBytes, depth: report.depth });
  const stages = stageTimes(costs, bytes, usual);
  const best = bestCut(costs, bytes, cuts);
  const bound = stageNames.reduce((a, b) => (stages[b] > stages[a] ? b : a));
  return {
    job: report.job,
    device: report.device,
    bytesIn: (report.bytesIn / report.rows) * about.rows,
    bytesOut: (report.bytesOut / report.rows) * about.rows,
    wall: startUp + predictWall(costs, bytes, usual),
    stages,
    bound,
    usual,
    best: { ...withRows(best), wall: startUp + best.wall },
    ...about,
  };
}

// The sample's outputs go where the real ones will, so that they take as long, under names of their own.

function sampleFolder(output: RunOptions['output']): string {
  const [path] = pathsOf(output);
  return join(path === undefined ? '.' : dirname(resolve(path)), '.warpstage-plan-');
}

function sampleOutputs(
  work: Job<unknown, OutputArrays> | Sequence<unknown, OutputArrays>,
  folder: string,
  output: RunOptions['output'],
): Readonly<Record<string, OutputData>> {
  const paths = pathsOf(output);
  const names = Object.keys(jobsOf(work).at(-1)!.definition.outputs ?? {});
  return Object.fromEntries(
    names.map((name, i) => [name, join(folder, `${i}-${basename(paths[i] ?? `${name}.raw`)}`)]),
  );
}

/** The files among outputs that are given in their order. */
function pathsOf(output: RunOptions['output']): readonly string[] {
  const list = Array.isArray(output) ? (output as readonly OutputData[]) : [output];
  return list.flatMap((one) => (typeof one === 'string' && one !== '-' ? [one] : []));
}

/** The device that is meant; a virtual one only times. */
async function openFor(
  device: PlanOptions['device'],
): Promise<{ readonly device: Device; close(): Promise<void> }> {
  if (typeof device === 'object') return { device, async close() {} };
  const opened = await open(device, { execute: false });
  return { device: opened, close: () => opened.close() };
}
