// `warpstage worker`: computes pieces of the runs that a queue has, until it is stopped.
//
// Whoever may write to the queue's server names modules, inputs and outputs. A worker takes those alone that lie within a
// folder, and modules with the text that the run had.

import { readFile, realpath } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, relative, sep } from 'node:path';
import type { Command } from 'commander';
import { counted } from '../diagnostics/count.ts';
import { problem, unreadable } from '../diagnostics/problem.ts';
import { isUrl, shownUrl } from '../formats/url.ts';
import type { Job } from '../overlap/job.ts';
import type { RunOptions } from '../overlap/options.ts';
import { jobsOf, type Sequence } from '../overlap/sequence.ts';
import { differingVersion } from '../overlap/shards/input-stamps.ts';
import { checkAllowed, isFolderOfUrls } from '../queue/allowed-urls.ts';
import type { Connection } from '../queue/connection.ts';
import { type Deal, filesOfInput, settingsOfText, sumOfModule } from '../queue/deal.ts';
import type { Compute, work as Work } from '../queue/worker.ts';
import type { Device } from '../runtime/device.ts';
import { type CommandContext, examplesText, newCommand } from './command.ts';
import { exitCodeOfError } from './exit-codes.ts';
import { usageError } from './failure.ts';
import { findJob } from './find-exports.ts';
import { loadModule } from './load-module.ts';
import { openDevices, printAside } from './open-device.ts';
import { overrideInputs } from './override-inputs.ts';
import { addressOf, patienceOption, urlVariable } from './queue-options.ts';
import type { Terminal } from './terminal.ts';
import { parseCount, parseDuration } from './values.ts';

interface WorkerCommandOptions {
  readonly device: string;
  readonly threads?: number;
  readonly within: string;
  readonly from: readonly string[];
  readonly idle?: number;
  readonly patience: number;
  readonly quiet?: boolean;
}

/** The command `worker`. */
export function workerCommand(context: CommandContext): Command {
  return newCommand('worker', context)
    .summary('compute pieces of the runs of a queue')
    .description(
      'Computes pieces of the runs that have begun with `warpstage run … --queue`, on any machine that has their files ' +
        'by the same names. Workers come and go at any time; what one leaves another takes up.',
    )
    .argument('[url]', `the queue's server, for example nats://host:4222 (default: ${urlVariable})`)
    .option('--device <name>', 'the device to run on, or several that share the chunks', 'cpu')
    .option('--threads <count>', 'threads of a CPU device', parseCount)
    .option('--within <folder>', 'take only modules and files that lie in this folder', '.')
    .option('--from <url>', 'take inputs of this URL too, or below it; may be repeated', addUrl, [])
    .option('--idle <duration>', 'end after so long without work (default: never)', parseDuration)
    .addOption(patienceOption())
    .option('-q, --quiet', 'say nothing but errors')
    .addHelpText(
      'after',
      examplesText(['warpstage worker nats://queue:4222', 'warpstage worker --idle 10m --within /data']),
    )
    .action(async (url: string | undefined, options: WorkerCommandOptions) => {
      const signal = context.interrupt.listen();
      endWithCommand();
      const address = addressOf(url);
      const folder = await realpath(options.within).catch((cause: unknown) => {
        throw unreadable(options.within, cause);
      });
      const [{ Connection }, { work }] = await Promise.all([
        import('../queue/connection.ts'),
        import('../queue/worker.ts'),
      ]);
      const connect = () => Connection.open(address, { patience: 1000 * options.patience, signal });
      await serve(work, connect, { folder, urls: options.from }, options, context.terminal, signal);
    });
}

/** Ends this process when the command is gone that has started it, also where it is gone already. */
function endWithCommand(): void {
  const end = () => process.kill(process.pid, 'SIGTERM');
  process.once('disconnect', end);
  // Of a process that nobody has a channel to it is undefined.
  if (process.connected === false) end();
}

/** What a worker may read. */
interface Reach {
  readonly folder: string;
  readonly urls: readonly string[];
}

/** One URL more. */
function addUrl(text: string, before: readonly string[]): string[] {
  if (isFolderOfUrls(text)) return [...before, text];
  throw usageError(
    `--from ${shownUrl(text)} is no URL without a query`,
    'for example --from https://host/data',
  );
}

async function serve(
  work: typeof Work,
  connect: () => Promise<Connection>,
  reach: Reach,
  { device: names, threads, idle, quiet }: WorkerCommandOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  await using connection = await connect();
  await using opened = await openDevices(names, threads === undefined ? {} : { threads });
  const devices = opened.participants.map(({ device }) => device);
  for (const device of devices) printAside(device, terminal);
  const say = (line: string) => void terminal.errors.write(`${line}\n`);
  if (!quiet) say(`a worker of ${connection.shown}, for files in ${reach.folder}`);
  const pieces = await work({
    name: `${hostname()}-${process.pid}`,
    connection,
    prepare: (deal) => prepare(deal, reach, devices),
    mayPass: ({ code }) => [3, 74, 75].includes(exitCodeOfError(code)),
    idle: idle === undefined ? undefined : 1000 * idle,
    signal,
    say,
  });
  if (!quiet) say(counted(pieces, 'piece'));
}

/** Looks at what pieces are of, and gives what computes them. Throws WS5019 for what is not what the run had. */
async function prepare(deal: Deal, { folder, urls }: Reach, device: readonly Device[]): Promise<Compute> {
  const written = [...deal.outputs.map((output) => output.file), ...deal.places, deal.journal ?? []].flat();
  for (const file of [deal.module, ...written]) {
    // Below no folder, whatever files there are of such names.
    if (isUrl(file)) checkAllowed(file, []);
    await checkWithin(file, folder);
  }
  for (const { file } of filesOfInput(deal.input)) {
    if (isUrl(file)) checkAllowed(file, urls);
    else await checkWithin(file, folder);
  }
  const [{ describeCut }, { run }] = await Promise.all([
    import('../overlap/shards/describe-cut.ts'),
    import('../overlap/run.ts'),
  ]);
  const text = await readFile(deal.module).catch((cause: unknown) => {
    throw unreadable(deal.module, cause);
  });
  if (sumOfModule(text) !== deal.moduleSum) {
    const message = `${deal.module} is another here than where the run began`;
    throw problem('WS5019', message, 'give all machines the same files');
  }
  const { work } = findJob(await loadModule(deal.module), deal.job);
  const job = passOf(overrideInputs(work, deal), deal);
  const computed = settingsOfText(deal.pass?.computed ?? {});
  const { convert, rows, chunk, depth, fsync } = deal;
  const options: RunOptions = {
    input: deal.input,
    ...(deal.journal === undefined ? { output: deal.outputs } : {}),
    device,
    settings: settingsOfText(deal.settings),
    ...(convert === undefined ? {} : { convert }),
    ...(rows === undefined ? {} : { rows }),
    ...(chunk === undefined ? {} : { chunk }),
    ...(depth === undefined ? {} : { depth }),
    fsync,
  };
  const cut = await describeCut(job, options, computed);
  const differing = Object.keys({ ...cut.work, ...deal.work }).find(
    (name) => cut.work[name] !== deal.work[name],
  );
  if (differing !== undefined) {
    throw problem(
      'WS5019',
      `${differing} is ${cut.work[differing] ?? 'not there'} here, and ${deal.work[differing] ?? 'not there'} where the run began`,
      'give all machines the same files, and start this worker anew',
    );
  }
  const version = differingVersion(deal.versions, cut.versions);
  if (version !== undefined) {
    throw problem(
      'WS5019',
      `${version.name} is ${version.is} here, and ${version.was} where the run began`,
      'begin the run anew, for what is there now',
    );
  }
  const { journal } = deal;
  if (journal !== undefined) {
    const { reducePiece } = await import('../overlap/shards/reductions.ts');
    return (piece, signal) =>
      reducePiece(
        job,
        { ...options, signal },
        { shard: [piece, deal.of], journal, work: deal.work, versions: deal.versions, computed },
      );
  }
  return async (piece, signal) => {
    await run(job, { ...options, shard: [piece, deal.of], signal }, { computed });
  };
}

/** The job that pieces are of: of a sequence, a pass. */
function passOf(work: Job | Sequence, { job, pass = { number: 1, of: 1, computed: {} } }: Deal): Job {
  const jobs = jobsOf(work);
  if (jobs.length === pass.of) return jobs[pass.number - 1]!;
  throw problem(
    'WS5019',
    `${job} is ${counted(jobs.length, 'job')} here, and ${pass.of} where the run began`,
    'give all machines the same files',
  );
}

/** Refuses a file that lies elsewhere, wherever its name leads; of a pattern, what stands before it. */
async function checkWithin(file: string, folder: string): Promise<void> {
  const fixed = /[*?[{]/.test(file) ? `${file.split(/[*?[{]/)[0]}x` : file;
  const real = await realpath(fixed).catch(async () => realpath(dirname(fixed)).catch(() => undefined));
  const way = real === undefined ? '..' : relative(folder, real);
  if (way !== '..' && !way.startsWith(`..${sep}`) && !file.split(sep).includes('..')) return;
  throw problem(
    'WS5019',
    `${file} does not lie in ${folder}`,
    'start the worker in the folder that has the files, or name it with --within',
  );
}
