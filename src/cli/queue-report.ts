// What became of a run over a queue: its report, of a sequence with each pass, and the error of pieces that nobody could compute.

import { counted } from '../diagnostics/count.ts';
import { WarpstageError } from '../diagnostics/error.ts';
import type { Dealt, FailedPiece } from '../queue/dealer.ts';
import { formatBytes, formatCount, formatDuration } from '../timeline/quantities.ts';
import { inSequence, type QueuePass } from './queue-passes.ts';

/** A pass whose pieces are all there. */
export interface DonePass {
  readonly pass: QueuePass;
  readonly of: number;
  /** Of these, the ones that were there before. */
  readonly before: number;
  readonly dealt: Dealt;
}

/** What was done to pieces. */
interface PieceCounts {
  readonly pieces: number;
  /** Of these, the ones that were there before. */
  readonly before: number;
  /** How many each worker has computed. */
  readonly workers: Readonly<Record<string, number>>;
  readonly retries: number;
  readonly repeated: number;
}

/** What a run over a queue did; as JSON has it. */
export interface QueueReport extends PieceCounts {
  readonly job: string;
  /** Milliseconds. */
  readonly wall: number;
  readonly rows: number;
  /** Of all passes. */
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Of a sequence, what is counted above for all of them. */
  readonly passes?: readonly (PieceCounts & { readonly job: string })[];
}

/** The counts of a run, and of its passes where it has several. */
export function countsOf(done: readonly DonePass[]): PieceCounts & Pick<QueueReport, 'passes'> {
  const passes = done.map(({ pass, of, before, dealt: { workers, retries, repeated } }) => ({
    job: pass.job.name,
    ...{ pieces: of, before, workers: Object.fromEntries(workers), retries, repeated },
  }));
  const sum = (name: 'pieces' | 'before' | 'retries' | 'repeated') =>
    passes.reduce((total, pass) => total + pass[name], 0);
  const workers: Record<string, number> = {};
  for (const pass of passes)
    for (const [worker, count] of Object.entries(pass.workers))
      workers[worker] = (workers[worker] ?? 0) + count;
  return {
    ...{ pieces: sum('pieces'), before: sum('before'), workers },
    ...{ retries: sum('retries'), repeated: sum('repeated') },
    ...(passes.length > 1 ? { passes } : {}),
  };
}

/** The report, for people. */
export function reportLines(report: QueueReport): string[] {
  const { job, wall, rows, bytesIn, bytesOut, pieces, before, workers, retries, repeated, passes } = report;
  const counts = Object.values(workers);
  const lines = [
    `${job}: ${counted(pieces, 'piece')} by ${counted(counts.length, 'worker')} in ${formatDuration(wall)}`,
    `  ${formatCount(rows)} rows, ${formatBytes(bytesIn)} in, ${formatBytes(bytesOut)} out`,
  ];
  for (const [position, pass] of (passes ?? []).entries()) {
    const there = pass.before > 0 ? `, ${formatCount(pass.before)} of them there before` : '';
    lines.push(`  pass ${position + 1}, ${pass.job}: ${counted(pass.pieces, 'piece')}${there}`);
  }
  for (const [worker, count] of Object.entries(workers).sort())
    lines.push(`  ${worker}: ${counted(count, 'piece')}`);
  if (before > 0 && passes === undefined) lines.push(`  ${formatCount(before)} pieces were there before`);
  if (retries > 0) lines.push(`  ${formatCount(retries)} tries failed, and were followed by others`);
  if (repeated > 0) lines.push(`  ${formatCount(repeated)} pieces were computed twice, with the same result`);
  return lines;
}

/** The error of a run with pieces that nobody could compute. */
export function failure(failed: readonly FailedPiece[], of: number, pass: QueuePass): WarpstageError {
  const shown = failed.slice(0, 10).map(({ piece, code, message }) => ({
    code: 'WS5018' as const,
    message: `piece ${piece} of ${of}${inSequence(pass)} failed: ${code === undefined ? '' : `${code}, `}${message}`,
  }));
  const list = failed.map(({ piece }) => piece).join(', ');
  const [first, ...others] = shown;
  const hint = `the other pieces are kept: the same command tries only these again (${list})`;
  return new WarpstageError([{ ...first!, hint }, ...others]);
}
