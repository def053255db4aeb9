// `warpstage run`: streams data through a job of the user's module.
//
// Standard output carries the data where the output is `-`, and else the job's value; the report
// and progress go to standard error. The device is opened while the module loads.

import type { Command } from 'commander';
import type { Extent3 } from '../kernel/types.ts';
import type { JobResult, RunOptions } from '../overlap/options.ts';
import type { OpenDevices } from '../overlap/participants.ts';
import { jobsOf } from '../overlap/sequence.ts';
import { startEarly } from '../runtime/cpu/early-thread.ts';
import { timesInWords } from '../runtime/recording.ts';
import { reportText } from '../timeline/report.ts';
import { type AssignedFiles, assignFiles, type NamedWork, type Work } from './assign-files.ts';
import { ChunkLog } from './chunk-log.ts';
import { type CommandContext, examplesText, fileOptions, newCommand } from './command.ts';
import { describeJob } from './describe-job.ts';
import { usageError } from './failure.ts';
import { findJob } from './find-exports.ts';
import { loadModule } from './load-module.ts';
import { openDevices, printAside } from './open-device.ts';
import { overrideInputs } from './override-inputs.ts';
import { peakResidentBytes } from './peak-memory.ts';
import { Progress } from './progress.ts';
import { patienceOption, urlVariable } from './queue-options.ts';
import {
  checkFiles,
  type RunCommandOptions,
  refuseOnTerminal,
  refuseTableOptions,
  resumeOf,
} from './run-checks.ts';
import { type Terminal, widthOf } from './terminal.ts';
import { valueJson, valueText } from './value-text.ts';
import {
  addSetting,
  appendValue,
  parseChunk,
  parseCount,
  parseDuration,
  parseNumber,
  parsePosition,
  parseShare,
} from './values.ts';

type Run = (work: Work, options: RunOptions) => Promise<JobResult>;

/** The command `run`. */
export function runCommand(context: CommandContext): Command {
  return newCommand('run', context)
    .summary('stream data through a job of a module')
    .description(
      'Streams data of any size through a job: read, copy in, compute, copy out and write overlap. ' +
        'Files are .npy, .npz, .parquet, .arrow, .csv, .ndjson, .wav, .png, .tif, .zarr or raw (.raw, .bin, .f32, …, or with --raw), ' +
        'also compressed by gzip (.npy.gz) or zstd; `-` is standard input or output; inputs may be URLs (https://host/x.npy), inputs and outputs objects of S3 (s3://bucket/key). An output appears whole or not at all. A job without an output prints its value.',
    )
    .usage('<module> <input...> [output] [options]')
    .argument('[module]', 'the TypeScript or JavaScript file that exports the job')
    .argument('[files...]', 'the inputs, then the output if the job has one')
    .option(
      '-i, --input <name=file>',
      'a file of an input, or a pattern in quotes; several of one name follow one another (repeatable; behind the module are outputs alone then)',
      appendValue,
    )
    .option('-s, --set <name=value>', 'change a setting of the job (repeatable)', addSetting)
    .option('--job <name>', 'which job, where the module exports several')
    .option(
      '--device <name>',
      'the device to run on, or several that share the chunks: cuda:0,cuda:1 or cuda:*',
      'cpu',
    )
    .option('--threads <count>', 'threads of a CPU device', parseCount)
    .option('--checked', 'on a GPU, test every access as kernels run: slower, and a fault has its line')
    .option(
      '--chunk <size>',
      'bytes of a chunk, for example 8M, or rows as a plain number (default: auto)',
      parseChunk,
    )
    .option('--depth <count>', 'chunks in flight; 1 is without overlap (default: auto)', parseCount)
    .option('--rows <count>', 'only the first rows of the inputs', parseCount)
    .option(
      '--max-memory <size>',
      'what the process may hold resident, for example 300MiB: chunks are smaller, and threads fewer',
    )
    .option(
      '--resume',
      'keep what is written if the run ends before its end, and go on from what a former run kept',
    )
    .option(
      '--journal <name>',
      'as --resume, with what is kept beside this name: for reductions, which have no output to lie beside; also with --queue',
    )
    .option(
      '--shard <n/t>',
      'compute the n-th of t pieces, into a file of its own (y.npy.3-of-10), for `warpstage merge`',
      parseShare,
    )
    .option(
      '--queue [url]',
      `deal pieces to the workers of a NATS server (nats://host:4222; default: ${urlVariable}, or one of its own)`,
    )
    .option('--workers <count>', 'with --queue or without, how many workers to start here', parseCount)
    .option(
      '--pieces <count>',
      'with --queue, into how many pieces (default: by the size of the input)',
      parseCount,
    )
    .option('--tries <count>', 'with --queue, how often a piece is tried (default: 5)', parseCount)
    .option(
      '--ack-wait <duration>',
      'with --queue, how long a worker is silent before another gets its piece (default: 30s)',
      parseDuration,
    )
    .addOption(patienceOption())
    .option('--fsync', 'flush outputs to the disk before they appear: they are there after a loss of power')
    .option('--no-clobber', 'fail if an output is there already')
    .option(
      '--checksum',
      'write the checksums of outputs and inputs beside each output (y.npy.sums), for `warpstage verify`',
    )
    .option(
      '--deadline <duration>',
      'stop after so long, for example 90s or 1h30m: exit code 75; with --resume, what is written is kept',
      parseDuration,
    )
    .addOption(fileOptions.raw())
    .addOption(fileOptions.format())
    .addOption(fileOptions.rate())
    .addOption(fileOptions.dtype())
    .addOption(fileOptions.convert())
    .option(
      '--column <[input=]name>',
      'the column of an input, in a file that has columns (repeatable)',
      appendValue,
    )
    .option('--nulls <value>', 'what stands for nulls in columns (default: a null is an error)', parseNumber)
    .option('--trace <file>', 'write a timeline: a page (.html), or JSON that ui.perfetto.dev opens')
    .option('--log <file>', 'write a line for each chunk as it is through: tab-separated values, with a head')
    .option(
      '--stages <block>',
      "with --trace, record the stages of this block's pipelines too, on a CPU device: 0, or 3,0,1",
      parsePosition,
    )
    .option('--json', 'print the value and the report as JSON; errors as JSON on standard error')
    .option('-q, --quiet', 'no progress, no report')
    .helpOption(false)
    .option('-h, --help', 'show help; with a module, that of its job as well')
    .addHelpText(
      'after',
      examplesText([
        'warpstage run affine.ts x.npy y.npy --set a=2 --set b=1',
        'warpstage run affine.ts x.raw y.raw --dtype f32 --chunk 8M --trace timeline.html',
        'warpstage run affine.ts x.npy y.npy --trace timeline.html --stages 0',
        'warpstage run affine.ts float64.npy y.npy --convert nearest',
        'warpstage run affine.ts x.npy y.npy --resume',
        'warpstage run flights.ts flights.parquet --json',
        'warpstage run affine.ts x.npy y.npy --device cuda:0,cuda:1',
        "warpstage run affine.ts 'parts/*.npy' y.npy",
        'warpstage run affine.ts x.npy y.npy --queue nats://queue:4222',
        'warpstage run affine.ts s3://data/x.npy s3://data/y.npy --resume',
        'cat x.raw | warpstage run affine.ts - - > y.raw',
        'warpstage run affine.ts --help',
      ]),
    )
    .action(
      async (
        modulePath: string | undefined,
        files: string[],
        options: RunCommandOptions,
        command: Command,
      ) => {
        if (options.help) return showHelp(command, modulePath, options, context);
        if (modulePath === undefined) {
          throw usageError(
            'no module was given',
            'name the file that exports the job, for example `warpstage run affine.ts x.npy y.npy`',
          );
        }
        const isDealt = options.queue !== undefined || options.workers !== undefined;
        await (isDealt ? runQueue : runJob)(modulePath, files, options, context);
      },
    );
}

async function showHelp(
  command: Command,
  modulePath: string | undefined,
  options: RunCommandOptions,
  { terminal }: CommandContext,
): Promise<void> {
  command.outputHelp();
  if (modulePath === undefined) return;
  const named = findJob(await loadModule(modulePath), options.job);
  terminal.output.write(`\n${describeJob(named).join('\n')}\n`);
}

async function runQueue(
  modulePath: string,
  files: readonly string[],
  options: RunCommandOptions,
  context: CommandContext,
): Promise<void> {
  const { checkQueueOptions, runOverQueue } = await import('./run-queue.ts');
  checkQueueOptions({ ...options });
  const { name, work } = findJob(await loadModule(modulePath), options.job);
  const named = { name, work: overrideInputs(work, options) };
  const assigned = assignFiles(named, files, options);
  refuseTableOptions(assigned.reads, options);
  await checkFiles(modulePath, named, assigned, options);
  await runOverQueue(modulePath, named, assigned, options, context);
}

async function runJob(
  modulePath: string,
  files: readonly string[],
  options: RunCommandOptions,
  context: CommandContext,
): Promise<void> {
  const { threads, checked } = options;
  const early =
    options.maxMemory === undefined ? startEarly(options.device, threads === 1 ? [] : files) : null;
  const opening = openDevices(
    options.device,
    {
      ...(threads === undefined ? {} : { threads }),
      ...(checked === undefined ? {} : { checked }),
    },
    options.maxMemory,
  );
  // Looked at below; until then the module may fail first, and then this failure does not matter.
  opening.catch(() => {});
  try {
    const { name, work } = findJob(await loadModule(modulePath), options.job);
    const named = { name, work: overrideInputs(work, options) };
    const assigned = assignFiles(named, files, options);
    refuseOnTerminal(assigned, context.terminal);
    refuseTableOptions(assigned.reads, options);
    if (options.stages !== undefined && options.trace === undefined) {
      throw usageError('--stages is shown in a trace, and none is written', 'add --trace timeline.html');
    }
    const { run } = await import('../overlap/run.ts');
    await checkFiles(modulePath, named, assigned, options);
    const opened = await opening;
    for (const { device } of opened.participants) printAside(device, context.terminal);
    if (options.trace !== undefined) prepareRecording(opened, options.stages);
    const result = await stream(run, named, assigned, opened, options, context);
    if (options.trace !== undefined) {
      const { chunks, chunkRows, depth, ranOn, wall } = result.report;
      const facts = {
        chunks,
        'rows of a chunk': chunkRows,
        'chunks in flight': depth,
        'ran on': ranOn.join('; '),
        times: timesOf(opened),
      };
      const { writeTrace } = await import('./write-trace.ts');
      await writeTrace(options.trace, result.spans, { title: titleOf(named, result), wall, facts });
    }
    tell(named, assigned, result, options, context.terminal);
  } finally {
    await opening.then(
      (devices) => devices[Symbol.asyncDispose](),
      () => {},
    );
    await early?.[Symbol.asyncDispose]();
  }
}

/** Has the devices record what the trace is to show. */
function prepareRecording({ participants }: OpenDevices, stages: Extent3 | undefined): void {
  for (const { device, name } of participants) {
    if (stages !== undefined && device.properties.kind !== 'cpu') {
      throw usageError(
        `--stages: ${name} does not record the stages of pipelines`,
        'run on --device cpu, or see them under the checker: warpstage check … --stages stages.html',
      );
    }
    device.recording = { times: 'cupti', ...(stages === undefined ? {} : { stages: { block: stages } }) };
  }
}

/** Whose times the trace has. */
function timesOf({ participants }: OpenDevices): string {
  const reported = participants.map(({ device: { times } }) => timesInWords(times));
  return [...new Set(reported)].join('; ');
}

async function stream(
  run: Run,
  { name, work }: NamedWork,
  { inputs, destinations }: AssignedFiles,
  { participants }: OpenDevices,
  options: RunCommandOptions,
  { terminal, interrupt }: CommandContext,
): Promise<JobResult> {
  using progress = options.quiet ? null : new Progress(name, terminal);
  using log = options.log === undefined ? null : new ChunkLog(options.log);
  return await run(work, {
    input: inputs,
    output: destinations,
    device: participants.map(({ device }) => device),
    signal: interrupt.listen({ kept: Boolean(resumeOf(options)), deadline: options.deadline }),
    ...(options.set === undefined ? {} : { settings: options.set }),
    ...(options.chunk === undefined ? {} : { chunk: options.chunk }),
    ...(options.depth === undefined ? {} : { depth: options.depth }),
    ...(options.rows === undefined ? {} : { rows: options.rows }),
    ...(options.shard === undefined ? {} : { shard: options.shard }),
    ...(options.maxMemory === undefined ? {} : { maxMemory: options.maxMemory }),
    ...(options.convert === undefined ? {} : { convert: options.convert }),
    resume: resumeOf(options),
    fsync: options.fsync ?? false,
    overwrite: options.clobber,
    checksum: options.checksum ?? false,
    trace: options.trace !== undefined,
    ...(log === null ? {} : { onChunk: log.line }),
    onProgress: ({ pass, passes, rows, resumedRows, bytes, totalBytes }) => {
      const title = passes > 1 ? `${name} (${pass} of ${passes})` : name;
      const before = (bytes / rows) * resumedRows;
      progress?.update({
        title,
        done: bytes,
        before,
        ...(totalBytes === undefined ? {} : { total: totalBytes }),
      });
    },
  });
}

/** Prints what a run gave: its value on standard output, its report on standard error. */
function tell(
  named: NamedWork,
  { outputs }: AssignedFiles,
  result: JobResult,
  { json, quiet }: RunCommandOptions,
  { output, errors }: Terminal,
): void {
  const { value, report } = result;
  if (json) {
    // The whole process's: what the run needed at its peak, all threads and buffers together.
    const printed = { value, outputs, report, peakResidentBytes: peakResidentBytes() };
    output.write(`${valueJson(printed)}\n`);
    return;
  }
  const reduces = jobsOf(named.work).at(-1)!.definition.accumulators !== undefined;
  if (reduces && !outputs.includes('-')) output.write(`${valueText(value)}\n`);
  if (quiet) return;
  errors.write(`\n${reportText({ ...report, title: titleOf(named, result) }, widthOf(errors))}\n`);
}

function titleOf({ name }: NamedWork, { report }: JobResult): string {
  return `${name} on ${[report.device, ...report.ranOn].join(', ')}`;
}
