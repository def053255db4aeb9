// How a job is cut: rows of a chunk, and chunks in flight.
//
// A chunk is large enough that its transfers run at full rate and small enough that the first
// one is through early and all slots fit into memory; small inputs are cut into enough chunks to
// overlap at all.
//
// On a CPU as many chunks are in flight as there are processors to work on them, two at least and
// four at most: more chunks only compete with the writer for processors and caches. A GPU has
// engines of its own: there three chunks are copied in, computed and copied out at the same time
// while a fourth is read and a fifth written, whatever the processors. Its chunks are larger,
// because what each costs beside its bytes (to issue it, to wait for it, to begin a transfer)
// weighs more the faster the bytes go. Of pinned transfers in both directions on an H200 (PCIe 5),
// three chunks of 16 MiB in flight came nearest to what the bare copies take; smaller ones leave
// gaps between transfers, larger ones take longer to get started and to run out.

import { count } from '../diagnostics/count.ts';
import { problem } from '../diagnostics/problem.ts';
import { sizeOf } from './sizes.ts';

/** Rows of a stream for rows of input. */
export type Ratio = readonly [rowsOut: number, rowsIn: number];

/** One input or output, as the planner sees it. */
export interface PlannedStream {
  /** Bytes of a row. */
  readonly rowBytes: number;
  /** `[1, 1]` for an input. */
  readonly ratio: Ratio;
  /** Rows beside the chunk's own. */
  readonly halo: number;
}

export interface PlanRequest {
  readonly streams: readonly PlannedStream[];
  /** Rows of the whole input; undefined if only the end tells. */
  readonly rows: number | undefined;
  readonly chunk: number | string;
  readonly depth: number | 'auto';
  /** How many devices share the chunks. */
  readonly devices: number;
  /** Whether all of them are GPUs, or stand for ones. */
  readonly gpus: boolean;
  /** Bytes that the one with the least memory can still allocate. */
  readonly free: number;
  /** Bytes a millisecond of the device's slower direction of copies, where that is known. */
  readonly transferRate?: number | undefined;
  /** How many threads the machine runs at a time. */
  readonly processors: number;
  /** What the host's memory may hold of all chunks in flight, where that is limited, and what it holds of one. */
  readonly host?: HostMemory | undefined;
}

export interface HostMemory {
  readonly bytes: number;
  readonly perRow: number;
  /** Whatever its rows. */
  readonly ofChunk: number;
}

export interface Plan {
  /** Rows of a full chunk: a multiple of what every ratio takes in. */
  readonly chunkRows: number;
  /** Chunks in flight on each device. */
  readonly depth: number;
  /** Bytes of a full chunk's inputs and outputs on the device. */
  readonly chunkBytes: number;
  /** What of it nobody asked for. */
  readonly auto: { readonly chunk: boolean; readonly depth: boolean };
  /** What was chosen by. */
  readonly why: string;
  /** Chunks in flight for which there is memory, if nobody asked for more. */
  readonly affordable: number;
}

const MiB = 2 ** 20;
const leastChunk = MiB;
/** When nobody asked: bytes of a chunk, and chunks in flight at most, on which alone it depends how long a small input's chunks are. */
const usual = {
  cpu: { chunk: 8 * MiB, depth: 4 },
  gpu: { chunk: 16 * MiB, depth: 5 },
} as const;
const greatestDepth = 64;
/** Milliseconds that a chunk's transfer should take where a device's rate is known: 16 MiB on an H200. */
const transferTime = 0.3;
/** What all slots may take on a device, and again on the host, when nobody asked for more. */
const usualMemory = 192 * MiB;

/** Chooses chunk and depth, or checks what was asked for. */
export function planChunks(request: PlanRequest): Plan {
  const { streams, rows, free, devices } = request;
  const usually = usualCut(request);
  const able = request.gpus ? Infinity : request.processors;
  const granularity = granularityOf(streams);
  const widest = Math.max(...streams.map((stream) => perRow(stream)));
  const depth =
    request.depth === 'auto' ? Math.min(usually.depth, Math.max(2, able)) : checkDepth(request.depth);
  const sharing = request.depth === 'auto' ? usually.depth : depth;
  const wish = parseChunk(request.chunk, widest);

  let chunkRows: number;
  if (wish === undefined) {
    const total = rows === undefined ? Infinity : rows * widest;
    // At least two chunks for every slot, unless that makes them small.
    const bytes = Math.min(usually.chunk, Math.max(leastChunk, total / (2 * sharing * devices)));
    const rowOfAll = streams.reduce((sum, stream) => sum + perRow(stream), 0);
    const affordable = Math.min(usualMemory, free / 4) / (sharing * rowOfAll);
    chunkRows = roundTo(
      granularity,
      Math.min(bytes / widest, affordable, hostRows(request.host, sharing * devices)),
    );
  } else {
    chunkRows = roundTo(granularity, wish);
  }
  // A chunk larger than the whole would only take memory.
  if (rows !== undefined)
    chunkRows = Math.min(chunkRows, Math.max(1, Math.ceil(rows / granularity)) * granularity);
  const chunks = rows === undefined ? Infinity : Math.max(1, Math.ceil(rows / chunkRows));
  const ofDevice = Math.ceil(chunks / devices);
  const hosted = hostChunks(request.host, chunkRows) / devices;
  const chunkBytes = bytesOfChunk(streams, chunkRows);
  const auto = { chunk: wish === undefined, depth: request.depth === 'auto' };
  const plan = {
    chunkRows,
    depth: Math.min(depth, ofDevice, auto.depth ? Math.max(1, Math.floor(hosted)) : depth),
    chunkBytes,
    auto,
    why: auto.chunk || auto.depth ? usually.why : 'as asked',
    affordable: Math.floor(Math.min(Math.min(usualMemory, free / 4) / chunkBytes, hosted)),
  };
  checkHost(plan, hosted);
  checkMemory(plan, request);
  return plan;
}

/** What is usual on the devices: bytes of a chunk, chunks in flight, and what that goes by. */
function usualCut({ gpus, processors, transferRate }: PlanRequest) {
  if (!gpus) return { ...usual.cpu, why: `usual with ${count(processors)} processors` };
  if (transferRate === undefined) return { ...usual.gpu, why: 'usual on a GPU' };
  // As long in each direction as the usual one takes where that was found to be best.
  const chunk = 2 ** Math.round(Math.log2(transferRate * transferTime));
  const bounded = Math.min(4 * usual.gpu.chunk, Math.max(leastChunk, chunk));
  return {
    ...usual.gpu,
    chunk: bounded,
    why: `by the device's ${count(Math.round(transferRate / 1e6))} GB/s`,
  };
}

/** Rows of input that all ratios take in without a rest. */
export function granularityOf(streams: readonly { readonly ratio: Ratio }[]): number {
  return streams.map(({ ratio }) => ratio[1]).reduce(leastCommonMultiple, 1);
}

/** Rows of an output that so many rows of input give. */
export function rowsOut(rows: number, ratio: Ratio): number {
  return Math.ceil(rows / ratio[1]) * ratio[0];
}

function perRow({ rowBytes, ratio }: PlannedStream): number {
  return (rowBytes * ratio[0]) / ratio[1];
}

function bytesOfChunk(streams: readonly PlannedStream[], chunkRows: number): number {
  return streams.reduce(
    (sum, { rowBytes, ratio, halo }) => sum + rowBytes * (rowsOut(chunkRows, ratio) + halo),
    0,
  );
}

function roundTo(granularity: number, rows: number): number {
  return Math.max(1, Math.floor(rows / granularity)) * granularity;
}

/** Rows of as many chunks that the host's memory may hold. */
function hostRows(host: HostMemory | undefined, chunks: number): number {
  return host === undefined ? Number.POSITIVE_INFINITY : (host.bytes / chunks - host.ofChunk) / host.perRow;
}

/** Chunks of so many rows that it may hold. */
function hostChunks(host: HostMemory | undefined, rows: number): number {
  return host === undefined ? Number.POSITIVE_INFINITY : host.bytes / (rows * host.perRow + host.ofChunk);
}

function checkHost({ depth, chunkRows }: Pick<Plan, 'depth' | 'chunkRows'>, hosted: number): void {
  if (depth <= hosted) return;
  throw problem(
    'WS5008',
    `there is memory for ${count(Math.floor(hosted))} chunks of ${count(chunkRows)} rows under the limit, and ${depth} are to be in flight`,
    'choose a smaller --chunk or --depth, leave them to be chosen, or raise --max-memory',
  );
}

function checkMemory(
  { chunkRows, depth, chunkBytes }: Pick<Plan, 'chunkRows' | 'depth' | 'chunkBytes'>,
  { free }: PlanRequest,
): void {
  const needed = chunkBytes * depth;
  if (needed <= free) return;
  throw problem(
    'WS4001',
    `${depth === 1 ? 'a chunk' : `${depth} chunks`} of ${count(chunkRows)} rows ${depth === 1 ? 'takes' : 'take'} ` +
      `${count(needed)} bytes of the device's memory, and ${count(free)} are free`,
    'choose a smaller --chunk or --depth, or leave them to be chosen',
  );
}

function checkDepth(depth: number): number {
  if (Number.isInteger(depth) && depth >= 1 && depth <= greatestDepth) return depth;
  throw problem('WS5008', `the depth must be a whole number from 1 to ${greatestDepth}, and is ${depth}`);
}

/** The rows that were asked for, or undefined where the choice is ours. */
function parseChunk(chunk: number | string, widest: number): number | undefined {
  if (chunk === 'auto') return undefined;
  const rows = typeof chunk === 'number' ? chunk : parseRows(chunk, widest);
  if (Number.isSafeInteger(rows) && rows >= 1) return rows;
  throw problem(
    'WS5008',
    `a chunk must have at least one row, and is ${chunk}`,
    'write for example 8MiB, or auto',
  );
}

/** A number of rows, or with a unit the rows that fit into a size: at least one, unless it is 0. */
function parseRows(text: string, widest: number): number {
  const size = sizeOf(text);
  if (size === undefined) {
    throw problem(
      'WS5008',
      `the chunk must be a number of rows or a size, and is '${text}'`,
      'write for example 8MiB',
    );
  }
  const { amount, hasUnit } = size;
  return !hasUnit || amount === 0 ? amount : Math.max(1, Math.floor(amount / widest));
}

function leastCommonMultiple(a: number, b: number): number {
  let [x, y] = [a, b];
  while (y !== 0) [x, y] = [y, x % y];
  return (a / x) * b;
}
