// plan(): what a job will take, what binds it and how it is best cut, before it runs.
//
// The beginning of the input goes through the job on the device that is meant, once cut as the whole would be
// and once in small chunks. How fast rows get through when the first chunks are through tells what the whole
// takes: stages that run side by side take processors, caches and memory from each other, which no sum of what
// each takes would show. What the stages took for chunks of both sizes tells which other cut is better. On a
// virtual device, which lives in another time, they tell all: there reading and writing take what they take here,
// and copies and kernels what they would take there.

import { problem } from '../diagnostics/problem.ts';
import type { Device } from '../runtime/device.ts';
import { open } from '../runtime/open.ts';
import type { DeviceName } from '../runtime/open-options.ts';
import type { Span } from '../timeline/span.ts';
import { checkOptions } from './check-options.ts';
import { checkOutputs } from './check-outputs.ts';
import { expandInputs } from './file-lists.ts';
import { assignInputs, inputPaths } from './input-data.ts';
import { hasColumns } from './inputs.ts';
import type { Job, OutputArrays } from './job.ts';
import { noJob } from './no-job.ts';
import type { JobReport, JobResult, Progress, RunOptions } from './options.ts';
import { type StageName, stageNames } from './options.ts';
import { assignOutputs } from './output-data.ts';
import { holdsSeveral } from './outputs.ts';
import {
  bestCut,
  type Cut,
  costOf,
  extrapolate,
  type Mark,
  type Measured,
  predictWall,
  type StageCosts,
  stageTimes,
  type Walls,
} from './predict.ts';
import { run } from './run.ts';
import { jobsOf, type Sequence } from './sequence.ts';
import { withTrialOutputs } from './trial-outputs.ts';

/** What a run takes, as far as planning needs it. */
export interface PlanOptions
  extends Pick<RunOptions, 'input' | 'output' | 'convert' | 'settings' | 'signal'> {
  /** One device, or the name of one. Default `'cpu'`. */
  readonly device?: Device | DeviceName;
}

/** A prediction of a run. */
export interface JobPlan {
  readonly job: string;
  readonly device: string;
  readonly rows: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Milliseconds with the chunk and depth that `run` begins with by itself. */
  readonly wall: number;
  /** The same by the slowest and by the fastest quarter of what was tried: how far it can be relied on. */
  readonly range: readonly [least: number, most: number];
  /** Milliseconds that each stage works, and the one that binds. */
  readonly stages: Readonly<Record<StageName, number>>;
  readonly bound: StageName;
  /** How `run` would cut it, and what is best. */
  readonly usual: Cut & { readonly chunkRows: number };
  readonly best: Cut & { readonly chunkRows: number; readonly wall: number };
  /** Rows from the beginning of the input that were tried, and milliseconds that this took. */
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
/** Small chunks that go through, after two that warm up. */
const sampled = 10;
const warmUp = 2;
/** Of the whole, at most so many chunks are tried, and a quarter if that is enough to tell. */
const mostChunks = 64;

/** What `plan` of start.ts loads. */
export async function plan<V, O extends OutputArrays>(
  work: Job<V, O> | Sequence<V, O>,
  options: PlanOptions,
): Promise<JobPlan> {
  if (work?.kind !== 'job' && work?.kind !== 'sequence') {
    throw noJob('plan', work);
  }
  checkOptions('plan', options);
  if (jobsOf(work).length > 1) {
    throw problem('WS5007', 'a sequence of jobs cannot be planned as a whole', 'plan its jobs one by one');
  }
  const began = performance.now();
  const jobs = jobsOf(work);
  const destinations = assignOutputs(jobs[0]!.definition, options.output, holdsSeveral);
  const data = await expandInputs(assignInputs(jobs, options.input, hasColumns));
  await checkOutputs(destinations, inputPaths(data.values()), {});
  const { device, close } = await openFor(options.device);
  try {
    const sample = (settings: Pick<RunOptions, 'rows' | 'chunk' | 'depth'>) =>
      withTrialOutputs(destinations, async (output) => {
        const marks: Mark[] = [];
        let progressed = performance.now();
        const onProgress = ({ rows, elapsed }: Progress) => {
          marks.push({ rows, elapsed });
          progressed = performance.now();
        };
        const result = await run(
          work,
          { ...options, ...settings, output, device, trace: true, onProgress },
          { asSample: true },
        );
        return { ...result, marks, finishing: performance.now() - progressed };
      });
    const first = await sample({ rows: 1 });
    const again = await sample({ rows: 1 });
    const { totalRows, chunkRows, depth } = first.report;
    if (totalRows === undefined) {
      throw problem('WS5005', 'how long the input is shows only at its end', 'plan with a file');
    }
    const enough = Math.max(totalRows / 4 / chunkRows, 3 * depth + 8);
    const large = await sample({
      rows: Math.min(totalRows, Math.ceil(Math.min(mostChunks, enough)) * chunkRows),
      chunk: chunkRows,
      depth,
    });
    const smallRows = Math.max(1, Math.floor(chunkRows / 4));
    const small = await sample({
      rows: Math.min(totalRows, smallRows * (warmUp + sampled)),
      chunk: smallRows,
    });
    const costs = costsOf(small, large);
    const rowBytes = bytesOfRow(large.report);
    const about = {
      rows: totalRows,
      sampleRows: Math.max(large.report.rows, small.report.rows),
      sampleTime: performance.now() - began,
    };
    const bytes = rowBytes * totalRows;
    const usual = { chunkBytes: chunkRows * rowBytes, depth };
    const predicted = predictWall(costs, bytes, usual);
    const isVirtual = device.properties.kind === 'model';
    const walls = isVirtual
      ? ([predicted, predicted, predicted].map((wall) => first.report.wall + wall) as unknown as Walls)
      : extrapolate(large.marks, {
          rows: totalRows,
          depth,
          wall: large.report.wall,
          cold: Math.max(0, first.report.wall - again.report.wall),
          finishing: large.finishing,
        });
    return summarise(large.report, costs, usual, walls, predicted, about);
  } finally {
    await close();
  }
}

function bytesOfRow({ bytesIn, bytesOut, rows }: JobReport): number {
  return (bytesIn + bytesOut) / Math.max(1, rows);
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
  usual: Cut,
  [wall, least, most]: Walls,
  predicted: number,
  about: Pick<JobPlan, 'rows' | 'sampleRows' | 'sampleTime'>,
): JobPlan {
  const rowBytes = bytesOfRow(report);
  const bytes = rowBytes * about.rows;
  const withRows = <C extends Cut>(cut: C) => ({
    ...cut,
    chunkRows: Math.max(1, Math.round(cut.chunkBytes / rowBytes)),
  });
  const stages = stageTimes(costs, bytes, usual);
  const best = bestCut(costs, bytes, [usual, ...cuts]);
  const bound = stageNames.reduce((a, b) => (stages[b] > stages[a] ? b : a));
  return {
    job: report.job,
    device: report.device,
    bytesIn: (report.bytesIn / report.rows) * about.rows,
    bytesOut: (report.bytesOut / report.rows) * about.rows,
    wall,
    range: [least, most],
    stages,
    bound,
    usual: withRows(usual),
    // As much faster as the stages by themselves say.
    best: { ...withRows(best), wall: (wall * best.wall) / predicted },
    ...about,
  };
}

/** The device that is meant; a virtual one only times. */
async function openFor(
  device: PlanOptions['device'],
): Promise<{ readonly device: Device; close(): Promise<void> }> {
  if (typeof device === 'object') return { device, async close() {} };
  const opened = await open(device ?? 'cpu', { execute: false });
  return { device: opened, close: () => opened.close() };
}
