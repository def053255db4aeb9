// `warpstage run --queue`: deals the pieces of a run to workers, watches them, and puts the pieces together; of a sequence pass
// after pass, where the value that one's pieces make gives the settings of the next.
//
// The pieces that are there already, of the same work, are kept: the same command, started again, goes on behind them.

import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { counted } from '../diagnostics/count.ts';
import { packageVersion } from '../diagnostics/package-version.ts';
import { unreadable } from '../diagnostics/problem.ts';
import { placeOf } from '../files/place.ts';
import { isUrl } from '../formats/url.ts';
import type { RunOptions } from '../overlap/options.ts';
import type { Settings } from '../overlap/settings.ts';
import { type CutWork, describeCut } from '../overlap/shards/describe-cut.ts';
import { merge, removePieces } from '../overlap/shards/merge.ts';
import { combinePieces } from '../overlap/shards/reductions.ts';
import { checkDealable } from '../queue/allowed-urls.ts';
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
import { type Dealt, deal as dealPieces } from '../queue/dealer.ts';
import type { AssignedFiles, NamedWork } from './assign-files.ts';
import type { CommandContext } from './command.ts';
import { usageError } from './failure.ts';
import { openDevices } from './open-device.ts';
import { Progress } from './progress.ts';
import { addressIfAny, usually } from './queue-options.ts';
import { passesOf, type QueuePass } from './queue-passes.ts';
import { type CutPieces, checkSameInputs, countPieces, piecesThere } from './queue-pieces.ts';
import { countsOf, type DonePass, failure, type QueueReport, reportLines } from './queue-report.ts';
import { QueueSession } from './queue-session.ts';
import { valueJson, valueText } from './value-text.ts';

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
const usualTries = 5;

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
  const passes = passesOf(named, input, files.destinations.map(absolute), options);
  const about = { module, moduleSum: sumOfModule(text), job: named.name };
  const run: QueueRun = { named, input, passes, about, options, context, signal };

  const done: (DonePass & CutPieces)[] = [];
  let value: unknown = {};
  {
    await using session = new QueueSession({ ...options, address, urls }, stop, context.terminal.errors);
    for (const pass of passes) {
      const one = await computePass(run, pass, value, done, session);
      // An input may have been changed on the way.
      for (const other of [...done, one]) await piecesThere(other);
      done.push(one);
      if (pass.journal !== undefined)
        value = await combinePieces(pass.job, pass.journal, one.cut.context, signal);
    }
    // No worker of the command's own is there any more to write a piece a second time.
  }
  const { fsync, clobber: overwrite, checksum, json, quiet } = options;
  const { outputs, journal } = passes.at(-1)!;
  let bytes = 0;
  if (journal === undefined) {
    // What was changed is known from the files' times.
    const how = { fsync, overwrite, checksum, remove: true, ignoreInputs: true, signal };
    // What holds several outputs is put together once.
    for (const output of new Map(outputs.map((one) => [one.file, one])).values())
      bytes += (await merge(output, how)).bytes;
    value = {};
  }
  for (const { places, of, pass } of done)
    if (pass.journal !== undefined) for (const place of places) await removePieces(place, of);
  const { output, errors } = context.terminal;
  if (journal !== undefined && !json) output.write(`${valueText(value)}\n`);
  const report: QueueReport = {
    ...{ job: named.name, wall: performance.now() - began, rows: done.at(-1)!.cut.rows },
    ...{ bytesIn: done.reduce((sum, { cut }) => sum + cut.bytes, 0), bytesOut: bytes },
    ...countsOf(done),
  };
  if (json) output.write(`${valueJson({ value, outputs: files.outputs, report })}\n`);
  else if (!quiet) errors.write(`\n${reportLines(report).join('\n')}\n`);
}

/** What all passes of a run have in common. */
interface QueueRun {
  readonly named: NamedWork;
  readonly input: DealtInput;
  readonly passes: readonly QueuePass[];
  readonly about: Pick<Deal, 'module' | 'moduleSum' | 'job'>;
  readonly options: QueueRunOptions;
  readonly context: CommandContext;
  readonly signal: AbortSignal;
}

/** Has the pieces of a pass computed that are missing. `before`: the value of the pass before. */
async function computePass(
  run: QueueRun,
  pass: QueuePass,
  before: unknown,
  done: readonly (DonePass & CutPieces)[],
  session: QueueSession,
): Promise<DonePass & CutPieces> {
  const computed = pass.computed(before);
  const cut = await describe(run, pass, computed);
  for (const other of done) checkSameInputs(other.cut, cut, other.pass.number);
  const { places } = pass;
  const of = await countPieces(places, cut, run.options.pieces);
  const pieces = { places, cut, of };
  const there = await piecesThere(pieces);
  const missing = Array.from({ length: of }, (_, i) => i + 1).filter((n) => !there.has(n));
  const dealt =
    missing.length === 0
      ? { workers: new Map<string, number>(), retries: 0, repeated: 0, failed: [] }
      : await dealMissing(run, pass, { ...pieces, missing, computed }, session);
  if (dealt.failed.length > 0) throw failure(dealt.failed, of, pass);
  return { ...pieces, pass, before: there.size, dealt };
}

async function dealMissing(
  run: QueueRun,
  pass: QueuePass,
  {
    cut,
    of,
    missing,
    computed,
  }: CutPieces & { readonly missing: readonly number[]; readonly computed: Settings },
  session: QueueSession,
): Promise<Dealt> {
  const { named, passes, about, options, context, signal } = run;
  const { errors } = context.terminal;
  const { number } = pass;
  const { column, nulls, convert, rows, depth } = options;
  const { input, outputs, places, chunk, journal } = pass;
  const deal: Deal = {
    ...{ run: randomUUID(), version: packageVersion(), ...about },
    ...(pass.of > 1 && { pass: { number, of: pass.of, computed: settingsAsText(computed) } }),
    ...{ input, outputs, places, settings: settingsAsText(pass.given) },
    ...Object.fromEntries(
      Object.entries({ column, nulls, convert, rows, chunk, depth, journal }).filter(
        ([, value]) => value !== undefined,
      ),
    ),
    ...{ fsync: options.fsync ?? false, of, tries: options.tries ?? usualTries },
    ...{ ackWait: 1000 * (options.ackWait ?? usually.ackWait), work: cut.work, versions: cut.versions },
  };
  const connection = await session.open();
  using progress = options.quiet ? null : new Progress(named.name, context.terminal);
  const bytes = (count: number) => Math.round((cut.bytes * count) / of);
  const present = of - missing.length;
  const before = bytes(present);
  const show = (done: number, workers: string) => {
    const which = pass.of > 1 ? `${number} of ${pass.of}, ` : '';
    const title = `${named.name} (${which}${workers})`;
    progress?.update({ title, done: bytes(present + done), before, total: cut.bytes });
  };
  show(0, 'no piece yet');
  return await dealPieces({
    ...{ deal, names: namesOf(await outputsOf(passes), deal.run), pieces: missing, connection, signal },
    ...(session.most === undefined ? {} : { most: session.most }),
    onPiece: (count, workers) => show(count, counted(workers, 'worker')),
    onTrouble: (line) => {
      if (!options.quiet) errors.write(`${line}\n`);
    },
  });
}

/** What runs of the same outputs have in common, whichever pass they are at. */
async function outputsOf(passes: readonly QueuePass[]): Promise<string> {
  const { outputs } = passes.at(-1)!;
  const places = await Promise.all(outputs.map(async ({ file }) => (await placeOf(file)).path));
  return idOfOutputs(places);
}

function absolute({ file, ...about }: DealtFile): DealtFile {
  return { file: file === '-' || isUrl(file) ? file : resolve(file), ...about };
}

function absoluteInput(input: DealtInput): DealtInput {
  if (isList(input)) return input.map(absolute);
  if (isOneFile(input)) return absolute(input);
  return Object.fromEntries(Object.entries(input).map(([name, files]) => [name, files.map(absolute)]));
}

/** What the pieces of a pass are of. With the first one, what is wrong with files and settings of any is found. */
async function describe(run: QueueRun, pass: QueuePass, computed: Settings): Promise<CutWork> {
  await using opened = await openDevices('cpu', { threads: 1 });
  const device = opened.participants.map((one) => one.device);
  const isFirst = pass.number === 1;
  const { set = {}, convert, rows, depth, clobber } = run.options;
  const { journal, outputs } = isFirst ? run.passes.at(-1)! : pass;
  return await describeCut(
    isFirst ? run.named.work : pass.job,
    {
      ...{ device, signal: run.signal, overwrite: clobber },
      ...(isFirst ? { input: run.input, settings: set } : { input: pass.input, settings: pass.given }),
      ...(journal === undefined ? { output: outputs } : {}),
      ...(convert === undefined ? {} : { convert }),
      ...(rows === undefined ? {} : { rows }),
      ...(pass.chunk === undefined ? {} : { chunk: pass.chunk }),
      ...(depth === undefined ? {} : { depth }),
    },
    computed,
  );
}
