// `warpstage run --queue`: deals the pieces of a run to workers, watches them, and puts the pieces together.
//
// The pieces that are there already, of the same work, are kept: the same command, started again, goes on behind them.

import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { counted } from '../diagnostics/count.ts';
import { WarpstageError } from '../diagnostics/error.ts';
import { packageVersion } from '../diagnostics/package-version.ts';
import { problem, unreadable } from '../diagnostics/problem.ts';
import { placeOf } from '../files/place.ts';
import { isObject, isUrl, shownUrl } from '../formats/url.ts';
import type { Job } from '../overlap/job.ts';
import type { RunOptions } from '../overlap/options.ts';
import { jobsOf } from '../overlap/sequence.ts';
import { type CutWork, describeCut } from '../overlap/shards/describe-cut.ts';
import { differingVersion, versionsOf } from '../overlap/shards/input-stamps.ts';
import { merge, piecesBeside, removePieces } from '../overlap/shards/merge.ts';
import { checkNewer } from '../overlap/shards/newer.ts';
import { readPiece } from '../overlap/shards/piece.ts';
import { piecePath, placesOf } from '../overlap/shards/piece-files.ts';
import { accumulatorPath, combinePieces, isReduction } from '../overlap/shards/reductions.ts';
import { checkDealable } from '../queue/allowed-urls.ts';
import { Connection } from '../queue/connection.ts';
import {
  type Deal,
  type DealtFile,
  type DealtInput,
  filesOfInput,
  idOfOutputs,
  isList,
  isOneFile,
  namesOf,
  settingsAsText,
  sumOfModule,
} from '../queue/deal.ts';
import { type Dealt, deal as dealPieces, type FailedPiece } from '../queue/dealer.ts';
import { OwnWorkers } from '../queue/own-workers.ts';
import { OwnServer } from '../queue/server.ts';
import { queueAddress } from '../queue/url.ts';
import { formatBytes, formatCount, formatDuration } from '../timeline/quantities.ts';
import { type AssignedFiles, type NamedWork, rolesOfFiles } from './assign-files.ts';
import type { CommandContext } from './command.ts';
import { exitCodesToRetry } from './exit-codes.ts';
import { usageError } from './failure.ts';
import { openDevices } from './open-device.ts';
import { Progress } from './progress.ts';
import { addressIfAny, urlVariable, usually } from './queue-options.ts';
import { valueJson, valueText } from './value-text.ts';
import type { Settings } from './values.ts';

/** The options of `warpstage run` that a queue has, and those that go with it. */
export interface QueueRunOptions {
  readonly queue?: string | true;
  readonly pieces?: number;
  /** What the pieces of a reduction are named after. */
  readonly journal?: string;
  readonly tries?: number;
  readonly ackWait?: number;
  readonly patience: number;
  /** Processes of the command's own. */
  readonly workers?: number;
  readonly device: string;
  readonly threads?: number;
  readonly set?: Settings;
  readonly chunk?: number | string;
  readonly depth?: number;
  readonly rows?: number;
  readonly fsync?: boolean;
  readonly clobber: boolean;
  readonly checksum?: boolean;
  readonly deadline?: number;
  readonly convert?: RunOptions['convert'];
  readonly column?: readonly string[];
  readonly nulls?: number;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** Options that say how one process runs: a queue has many. */
const ofOneProcess = ['shard', 'resume', 'trace', 'stages', 'log', 'maxMemory'] as const;

/** Bytes of input that make a piece, and pieces at most, where nobody says. */
const usualPiece = { bytes: 2 ** 26, most: 1000 } as const;
const usualTries = 5;
const usualChunk = '4MiB';
/** Processes beside a server of the command's own. */
const usualWorkers = 2;

/** Refuses options that are of one process. */
export function checkQueueOptions(options: Readonly<Record<string, unknown>>): void {
  const given = ofOneProcess.find((name) => options[name] !== undefined);
  if (given === undefined) return;
  const flag = given.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  throw usageError(
    `--${flag} is of one process, and a queue has many`,
    'leave it out, or run without --queue',
  );
}

/** A run whose pieces are computed by workers. */
export async function runOverQueue(
  modulePath: string,
  named: NamedWork,
  files: AssignedFiles,
  options: QueueRunOptions,
  context: CommandContext,
): Promise<void> {
  const began = performance.now();
  const address = addressIfAny(options.queue === true ? undefined : options.queue);
  const { errors } = context.terminal;
  const stop = new AbortController();
  const { signal } = stop;
  const interrupted = context.interrupt.listen({ kept: true, deadline: options.deadline });
  interrupted.addEventListener('abort', () => stop.abort(interrupted.reason));
  const module = resolve(modulePath);
  const text = await readFile(module).catch((cause: unknown) => {
    throw unreadable(modulePath, cause);
  });
  const input = absoluteInput(files.inputs as DealtInput);
  const urls = filesOfInput(input).flatMap(({ file }) => (isUrl(file) ? [file] : []));
  for (const url of urls) checkDealable(url);
  const journal = journalOf(named, options);
  const outputs =
    journal === undefined
      ? files.destinations.map(absolute)
      : accumulatorsOf(named).map((name) => ({ file: accumulatorPath(journal, name) }));
  const chunk = chunkOf(journal, options);
  const object = outputs.find(({ file }) => isObject(file))?.file;
  if (object !== undefined) {
    throw problem(
      'WS5006',
      `${shownUrl(object)} is an object, and workers of a queue write files alone`,
      'write to a file that all of them see, or compute each piece without a queue: --shard 1/10',
    );
  }
  const cut = await describe(
    named,
    input,
    journal === undefined ? outputs : undefined,
    { ...options, ...(chunk === undefined ? {} : { chunk }) },
    signal,
  );
  const places = placesOf(
    journal === undefined ? rolesOfFiles(named.work).outputs : [],
    outputs.map(({ file }) => file),
  );
  const of = await countPieces(places, cut, options.pieces);
  const there = await piecesThere(places, of, cut);
  const all = Array.from({ length: of }, (_, i) => i + 1);
  const missing = all.filter((n) => !there.has(n));
  const pathsOf = (pieces: readonly number[]) =>
    places.flatMap((place) => pieces.map((n) => piecePath(place, [n, of])));
  // A piece knows the version of a URL; of a file it knows none.
  const inputFiles = cut.files.filter((file) => !isUrl(file));
  await checkNewer(pathsOf([...there]), inputFiles);

  const names = namesOf(
    idOfOutputs(await Promise.all(outputs.map(async ({ file }) => (await placeOf(file)).path))),
  );
  const { column, nulls, convert, rows, depth } = options;
  const deal: Deal = {
    ...{
      run: randomUUID(),
      version: packageVersion(),
      module,
      moduleSum: sumOfModule(text),
      job: named.name,
    },
    ...{ input, outputs, places, settings: settingsAsText(options.set ?? {}) },
    ...Object.fromEntries(
      Object.entries({ column, nulls, convert, rows, chunk, depth, journal }).filter(
        ([, value]) => value !== undefined,
      ),
    ),
    ...{ fsync: options.fsync ?? false, of, tries: options.tries ?? usualTries },
    ...{ ackWait: 1000 * (options.ackWait ?? usually.ackWait), work: cut.work, versions: cut.versions },
  };
  let dealt: Dealt = { workers: new Map(), retries: 0, repeated: 0, failed: [] };
  if (missing.length > 0) {
    await using server = address === undefined ? await OwnServer.start() : undefined;
    const queue = address ?? queueAddress(server!.url);
    await using connection = await Connection.open(queue, { patience: 1000 * options.patience, signal });
    await using _ = startWorkers({ ...options, urls }, server, stop, errors);
    using progress = options.quiet ? null : new Progress(named.name, context.terminal);
    const bytes = (pieces: number) => Math.round((cut.bytes * pieces) / of);
    const before = bytes(there.size);
    progress?.update({ title: `${named.name} (no worker yet)`, done: before, before, total: cut.bytes });
    dealt = await dealPieces({
      ...{ deal, names, pieces: missing, connection, signal },
      // Nobody else can come to a server of the command's own.
      ...(server === undefined ? {} : { most: options.workers ?? usualWorkers }),
      onPiece: (done, workers) => {
        const title = `${named.name} (${counted(workers, 'worker')})`;
        progress?.update({ title, done: bytes(there.size + done), before, total: cut.bytes });
      },
      onTrouble: (line) => {
        if (!options.quiet) errors.write(`${line}\n`);
      },
    });
  }
  if (dealt.failed.length > 0) throw failure(dealt.failed, of);
  // An input may have been changed on the way.
  await piecesThere(places, of, cut);
  await checkNewer(pathsOf(all), inputFiles);
  const { fsync, clobber: overwrite, checksum } = options;
  let bytes = 0;
  let value: unknown = {};
  if (journal === undefined) {
    // What was changed is known from the files' times.
    const how = { fsync, overwrite, checksum, remove: true, ignoreInputs: true, signal };
    // What holds several outputs is put together once.
    const files = new Map(outputs.map((output) => [output.file, output]));
    for (const output of files.values()) bytes += (await merge(output, how)).bytes;
  } else {
    value = await combinePieces(named.work as Job, journal, cut.context, signal);
    for (const place of places) await removePieces(place);
    if (!options.json) context.terminal.output.write(`${valueText(value)}\n`);
  }
  const report = {
    ...{ job: named.name, wall: performance.now() - began, rows: cut.rows },
    ...{ bytesIn: cut.bytes, bytesOut: bytes, pieces: of, before: there.size },
    ...{ workers: Object.fromEntries(dealt.workers), retries: dealt.retries, repeated: dealt.repeated },
  };
  if (options.json)
    context.terminal.output.write(`${valueJson({ value, outputs: files.outputs, report })}\n`);
  else if (!options.quiet) errors.write(`\n${reportLines(report).join('\n')}\n`);
}

/** What the pieces of a reduction are named after; undefined for a job that writes outputs. */
function journalOf({ name, work }: NamedWork, { journal }: QueueRunOptions): string | undefined {
  const isReducing = jobsOf(work).length === 1 && isReduction(jobsOf(work)[0]!.definition);
  if (!isReducing && journal === undefined) return undefined;
  if (!isReducing) throw usageError(`--journal is for reductions, and ${name} is none`, 'leave it out');
  if (journal !== undefined) return resolve(journal);
  throw usageError(
    `${name} has no output that its pieces could lie beside`,
    'say where they lie: --journal sums, for sums.….1-of-10',
  );
}

function accumulatorsOf({ work }: NamedWork): string[] {
  return Object.keys(jobsOf(work)[0]!.definition.accumulators!);
}

/** The chunk of a reduction is the same on all machines, as what accumulators hold may depend on it. */
function chunkOf(journal: string | undefined, { chunk }: QueueRunOptions): number | string | undefined {
  return chunk ?? (journal === undefined ? undefined : usualChunk);
}

function absolute({ file, ...about }: DealtFile): DealtFile {
  return { file: file === '-' || isUrl(file) ? file : resolve(file), ...about };
}

function absoluteInput(input: DealtInput): DealtInput {
  if (isList(input)) return input.map(absolute);
  if (isOneFile(input)) return absolute(input);
  return Object.fromEntries(Object.entries(input).map(([name, files]) => [name, files.map(absolute)]));
}

async function describe(
  { work }: NamedWork,
  input: DealtInput,
  outputs: readonly DealtFile[] | undefined,
  options: QueueRunOptions,
  signal: AbortSignal,
): Promise<CutWork> {
  await using opened = await openDevices('cpu', { threads: 1 });
  const device = opened.participants.map((one) => one.device);
  return await describeCut(work, {
    ...{ input, device, signal },
    ...(outputs === undefined ? {} : { output: outputs }),
    ...(options.set === undefined ? {} : { settings: options.set }),
    ...(options.convert === undefined ? {} : { convert: options.convert }),
    ...(options.rows === undefined ? {} : { rows: options.rows }),
    ...(options.chunk === undefined ? {} : { chunk: options.chunk }),
    ...(options.depth === undefined ? {} : { depth: options.depth }),
    overwrite: options.clobber,
  });
}

/** Into how many pieces the work is cut: as was said, or as it was before, or by its size alone. */
async function countPieces(
  places: readonly string[],
  { rows, granularity, bytes }: CutWork,
  said: number | undefined,
): Promise<number> {
  const before = new Set<number>();
  for (const place of places) for (const of of (await piecesBeside(place)).keys()) before.add(of);
  const other = [...before].find((of) => of !== (said ?? [...before][0]));
  if (other !== undefined) {
    throw problem(
      'WS5015',
      `${places[0]!} has pieces of a cut into ${formatCount(other)}`,
      `go on with these: --pieces ${other}; or remove them`,
    );
  }
  const most = Math.max(1, Math.ceil(rows / granularity));
  const usual = Math.min(usualPiece.most, Math.max(1, Math.ceil(bytes / usualPiece.bytes)));
  return said ?? [...before][0] ?? Math.min(most, usual);
}

/** The pieces that are there, of all outputs. Throws WS5015 for those of another work. */
async function piecesThere(
  places: readonly string[],
  of: number,
  { work, versions }: CutWork,
): Promise<ReadonlySet<number>> {
  let there: ReadonlySet<number> | undefined;
  for (const place of places) {
    const found = (await piecesBeside(place)).get(of) ?? new Set<number>();
    for (const n of found) {
      const path = piecePath(place, [n, of]);
      const piece = await readPiece(path);
      const names = Object.keys({ ...piece.work, ...work });
      const differing = names.find((name) => piece.work[name] !== work[name]);
      const version = differingVersion(versionsOf(piece.inputs), versions);
      if (differing === undefined && version === undefined) continue;
      const what =
        version === undefined
          ? `${differing} is ${piece.work[differing!]}, and here ${work[differing!]}`
          : `${version.name} is ${version.was}, and here ${version.is}`;
      throw problem(
        'WS5015',
        `${path} is of another work: ${what}`,
        'remove it, or run with what it was computed with',
      );
    }
    there = new Set([...found].filter((n) => there?.has(n) ?? true));
  }
  return there ?? new Set();
}

/** The workers of the command's own, if it is to have any. */
function startWorkers(
  { workers, device, threads, patience, queue, urls }: QueueRunOptions & { readonly urls: readonly string[] },
  server: OwnServer | undefined,
  stop: AbortController,
  errors: Writable,
): OwnWorkers | undefined {
  const count = workers ?? (server === undefined ? 0 : usualWorkers);
  if (count === 0) return undefined;
  const url = server?.url ?? (typeof queue === 'string' ? queue : process.env[urlVariable]!);
  return new OwnWorkers({
    ...{ count, environment: { [urlVariable]: url }, device, threads, patience, urls },
    mayPass: (code) => code === 0 || (exitCodesToRetry as readonly number[]).includes(code),
    say: (text) => errors.write(text),
    onGone: () => {
      if (server === undefined) return;
      const message = 'all workers have failed: see above why';
      stop.abort(
        problem(
          'WS5018',
          message,
          'pieces that are computed are kept: mend it, and run the same command again',
        ),
      );
    },
  });
}

/** The error of a run with pieces that nobody could compute. */
function failure(failed: readonly FailedPiece[], of: number): WarpstageError {
  const shown = failed.slice(0, 10).map(({ piece, code, message }) => ({
    code: 'WS5018' as const,
    message: `piece ${piece} of ${of} failed: ${code === undefined ? '' : `${code}, `}${message}`,
  }));
  const list = failed.map(({ piece }) => piece).join(', ');
  const [first, ...others] = shown;
  const hint = `the other pieces are kept: the same command tries only these again (${list})`;
  return new WarpstageError([{ ...first!, hint }, ...others]);
}

interface QueueReport {
  readonly job: string;
  readonly wall: number;
  readonly rows: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly pieces: number;
  readonly before: number;
  readonly workers: Readonly<Record<string, number>>;
  readonly retries: number;
  readonly repeated: number;
}

function reportLines(report: QueueReport): string[] {
  const { job, wall, rows, bytesIn, bytesOut, pieces, before, workers, retries, repeated } = report;
  const counts = Object.values(workers);
  const lines = [
    `${job}: ${counted(pieces, 'piece')} by ${counted(counts.length, 'worker')} in ${formatDuration(wall)}`,
    `  ${formatCount(rows)} rows, ${formatBytes(bytesIn)} in, ${formatBytes(bytesOut)} out`,
  ];
  for (const [worker, count] of Object.entries(workers).sort())
    lines.push(`  ${worker}: ${counted(count, 'piece')}`);
  if (before > 0) lines.push(`  ${formatCount(before)} pieces were there before`);
  if (retries > 0) lines.push(`  ${formatCount(retries)} tries failed, and were followed by others`);
  if (repeated > 0) lines.push(`  ${formatCount(repeated)} pieces were computed twice, with the same result`);
  return lines;
}
