// A run of a job, or of a sequence of jobs, over data of any size, wherever it runs.
//
// A run either succeeds, and all its outputs are there; or it fails, and nothing of it is left:
// no file, no memory on the device, no open source. Whatever stops it (an error in a file, a
// kernel's fault, the caller's signal) takes the same way out. Only a run that is to be resumed leaves what
// it has written, beside the name of the output, for the next one.

import type { Code } from '../diagnostics/codes.ts';
import { counted } from '../diagnostics/count.ts';
import { WarpstageError } from '../diagnostics/error.ts';
import { problem } from '../diagnostics/problem.ts';
import type { Content } from '../files/content.ts';
import { UrlVersions } from '../formats/url-versions.ts';
import { checkCombinable } from './accumulate.ts';
import { bindJob } from './bind.ts';
import { checkOptions } from './check-options.ts';
import { ResidentArrays } from './constants.ts';
import type { CopyBytes } from './copy-here.ts';
import { assignInputs, inputPaths } from './input-data.ts';
import type { Job, OutputArrays, TypedArray } from './job.ts';
import type { Begin } from './journal/text.ts';
import { readState } from './kept-state.ts';
import { runChunks } from './loop.ts';
import { Meter } from './meter.ts';
import { noJob } from './no-job.ts';
import type { DeviceReport, InputData, JobReport, JobResult, OutputData, RunOptions } from './options.ts';
import { assignOutputs } from './output-data.ts';
import { namesOfDevices, type Participant } from './participants.ts';
import type { Pieces } from './pieces.ts';
import type { PlanRequest } from './plan.ts';
import { jobsOf, type Sequence } from './sequence.ts';
import { checkSettings, ownSettings, type Settings } from './settings.ts';
import { checkShard } from './shards/cut.ts';
import type { Sink } from './sinks/sink.ts';
import type { Outputs, Surroundings } from './surroundings.ts';

/** What other parts of this package say of a run. */
export interface RunWays {
  /** Whether the first rows stand for all: cut as these would be, and as many as outputs take in. */
  readonly asSample?: boolean;
  /** Settings of the first pass that another run's value gave, as where the passes of a sequence are dealt one by one. */
  readonly computed?: Settings;
}

/** Runs a job where it is. */
export async function runWhole<V, O extends OutputArrays>(
  surroundings: Surroundings,
  work: Job<V, O> | Sequence<V, O>,
  options: RunOptions,
  ways: RunWays = {},
): Promise<JobResult<V, O>> {
  if (work?.kind !== 'job' && work?.kind !== 'sequence') {
    throw noJob('run', work);
  }
  checkOptions('run', options);
  const jobs = jobsOf(work);
  checkSettings(jobs, options.settings ?? {});
  checkRows(options.rows);
  checkShard(options.shard);
  const data = await surroundings.expand(assignInputs(jobs, options.input, surroundings.hasColumns));
  const { definition } = jobs.at(-1)!;
  const destinations = assignOutputs(definition, options.output, surroundings.holdsSeveral);
  await checkRepeatable(surroundings, jobs, data);
  await surroundings.check({ jobs, data, destinations, options });
  if (options.signal?.aborted) throw interrupted(options.signal, Boolean(options.resume));

  await using devices = await surroundings.openDevices(options.device, options.maxMemory);
  const { participants } = devices;
  if (participants.length > 1) for (const { definition } of jobs) checkCombinable(definition);
  const copy = surroundings.copiesFor(participants);
  const whole = new WholeRun(surroundings, work, options, participants, data, destinations, copy, ways);
  return (await whole.run()) as JobResult<V, O>;
}

class WholeRun {
  readonly #surroundings: Surroundings;
  readonly #work: Job | Sequence;
  readonly #options: RunOptions;
  readonly #participants: readonly Participant[];
  readonly #data: ReadonlyMap<string, InputData>;
  readonly #destinations: ReadonlyMap<string, OutputData>;
  readonly #meter: Meter;
  readonly #copy: CopyBytes;
  readonly #ways: RunWays;
  readonly #stop = new AbortController();
  readonly #outputs: Outputs;
  readonly #ranOn = new Set<string>();
  /** What the input files hold, where that is noted. */
  #contents: ReadonlyMap<string, Content> = new Map();
  /** Those of URLs, which are the same in all passes. */
  readonly #versions: UrlVersions;
  readonly #shares: { rows: number; chunks: number }[];
  #report: Omit<JobReport, 'wall' | 'stages' | 'bound' | 'ranOn' | 'passes' | 'devices'>;

  constructor(
    surroundings: Surroundings,
    work: Job | Sequence,
    options: RunOptions,
    participants: readonly Participant[],
    data: ReadonlyMap<string, InputData>,
    destinations: ReadonlyMap<string, OutputData>,
    copy: CopyBytes,
    ways: RunWays,
  ) {
    this.#surroundings = surroundings;
    this.#ways = ways;
    this.#work = work;
    this.#options = options;
    this.#participants = participants;
    this.#shares = participants.map(() => ({ rows: 0, chunks: 0 }));
    this.#data = data;
    this.#destinations = destinations;
    const isKept = Boolean(options.resume) || options.shard !== undefined;
    this.#versions = new UrlVersions(isReadAgain(jobsOf(work), data, options), isKept);
    this.#copy = copy;
    this.#meter = new Meter(participants, options.trace ?? false);
    this.#outputs = surroundings.outputs(
      {
        fsync: options.fsync ?? false,
        overwrite: options.overwrite ?? true,
        checksum: options.checksum ?? false,
        signal: this.#stop.signal,
      },
      copy,
    );
    this.#report = {
      job: work.name,
      device: namesOfDevices(participants),
      rows: 0,
      totalRows: undefined,
      bytesIn: 0,
      bytesOut: 0,
      chunks: 0,
      chunkRows: 0,
      chunkBytes: 0,
      depth: 0,
      chosen: { auto: { chunk: false, depth: false }, steps: [] },
    };
  }

  async run(): Promise<JobResult> {
    const { signal } = this.#options;
    const onAbort = () => this.#stop.abort(interrupted(signal!, Boolean(this.#options.resume)));
    signal?.addEventListener('abort', onAbort);
    try {
      // While the devices were opened nobody listened.
      if (signal?.aborted) onAbort();
      this.#stop.signal.throwIfAborted();
      const paths = inputPaths(this.#data.values());
      const { checksum = false } = this.#options;
      const looking = { versions: this.#versions, signal: this.#stop.signal };
      const files = await this.#surroundings.lookAt(paths, checksum, looking);
      this.#contents = files.contents;
      let value: unknown;
      let shapes: ReadonlyMap<Sink, readonly number[]> = new Map();
      for (const [position, job] of jobsOf(this.#work).entries()) {
        ({ value, shapes } = await this.#pass(job, position, this.#settings(job, position, value)));
      }
      await files.check();
      await this.#outputs.publish(shapes, this.#origin);
      this.#meter.stop();
      return {
        value,
        outputs: this.#outputs.arrays,
        report: {
          ...this.#report,
          ...this.#meter.summary(),
          devices: this.#reportDevices(),
          ranOn: [...this.#ranOn],
          passes: jobsOf(this.#work).length,
        },
        spans: this.#meter.spans,
      };
    } catch (error) {
      await this.#outputs.abandon();
      const reason: unknown = this.#stop.signal.aborted ? this.#stop.signal.reason : error;
      throw withKept(reason, this.#outputs.keptRows, this.#destinations.size > 0);
    } finally {
      signal?.removeEventListener('abort', onAbort);
      this.#meter[Symbol.dispose]();
    }
  }

  /** What the outputs are noted to come from. */
  get #origin(): Parameters<Outputs['publish']>[1] {
    const settings = Object.entries(this.#options.settings ?? {}).map(([name, value]) => [
      name,
      String(value),
    ]);
    const inputs = [...this.#contents].map(([path, content]) => ({ path, ...content }));
    return { job: this.#work.name, settings: Object.fromEntries(settings) as Record<string, string>, inputs };
  }

  #reportDevices(): readonly DeviceReport[] {
    const stages = this.#meter.stagesOfDevices();
    return this.#participants.map(({ name, device }, position) => ({
      name,
      device: device.properties.name,
      ...this.#shares[position]!,
      stages: stages[position]!,
    }));
  }

  /** What this pass and those before go on behind. */
  #resumed({ rows, chunks }: Begin, bytes: number): NonNullable<JobReport['resumed']> {
    const before = this.#report.resumed ?? { rows: 0, chunks: 0, bytes: 0 };
    return { rows: before.rows + rows, chunks: before.chunks + chunks, bytes: before.bytes + bytes };
  }

  /** Whether nobody asks what became of each chunk, stage by stage. */
  get #mayBeInPieces(): boolean {
    const { trace = false, onChunk, resume = false, shard } = this.#options;
    return !trace && onChunk === undefined && !resume && shard === undefined && !this.#ways.asSample;
  }

  /** What the caller set, as far as this pass has it, and what the pass before computed. */
  #settings(job: Job, position: number, before: unknown): Settings {
    const pass = this.#work.kind === 'sequence' ? this.#work.following[position - 1] : undefined;
    const computed = (pass === undefined ? this.#ways.computed : pass.settings(before as never)) ?? {};
    checkSettings([job], computed, true);
    return { ...ownSettings(job, this.#options.settings ?? {}), ...computed };
  }

  async #pass(
    job: Job,
    position: number,
    settings: Settings,
  ): Promise<{ readonly value: unknown; readonly shapes: ReadonlyMap<Sink, readonly number[]> }> {
    const passes = jobsOf(this.#work).length;
    const inputs = this.#surroundings.inputs(this.#copy, this.#versions);
    const residents = this.#participants.map((participant) => new ResidentArrays(participant));
    const { signal } = this.#stop;
    let pieces: Pieces | null = null;
    const release = () => {
      // Threads that read and write themselves end first: see pieces.run.
      if (pieces !== null) return;
      void inputs.close();
      void this.#outputs.interrupt();
    };
    signal.addEventListener('abort', release);
    try {
      // A signal that was aborted before this listener was added has not told it.
      signal.throwIfAborted();
      const binding = await bindJob(job, {
        job: job.name,
        data: this.#data,
        contents: this.#contents,
        versions: this.#versions,
        destinations: this.#destinations,
        settings,
        convert: this.#options.convert,
        head: this.#options.rows,
        asSample: this.#ways.asSample ?? false,
        chunk: this.#options.chunk ?? 'auto',
        depth: this.#options.depth ?? 'auto',
        resume: this.#options.resume || false,
        pass: { position, of: passes },
        shard: this.#options.shard,
        maxMemory: this.#options.maxMemory,
        target: targetOf(this.#surroundings, this.#participants),
        surroundings: this.#surroundings,
        inputs,
        outputs: this.#outputs,
        residents,
      });
      signal.throwIfAborted();
      if (this.#mayBeInPieces) pieces = this.#surroundings.inPieces(binding.job);
      if (pieces === null) await this.#surroundings.loadCompilers(this.#participants);
      const { begin, first } = binding;
      const before = first + begin.rows;
      const began = this.#meter.elapsed;
      const progress = (rows: number) => ({
        pass: position + 1,
        passes,
        rows,
        resumedRows: begin.rows,
        totalRows: binding.ownRows,
        bytes: rows * binding.inputRowBytes,
        totalBytes: binding.ownRows === undefined ? undefined : binding.ownRows * binding.inputRowBytes,
        elapsed: this.#meter.elapsed - began,
      });
      let rows = begin.rows;
      let kept = begin.kept ?? 0;
      const outputs = this.#outputs;
      const context = {
        meter: this.#meter,
        stop: this.#stop,
        keep: binding.job.isKept
          ? { isDue: () => outputs.isStateDue!, state: (state: Uint8Array) => outputs.keepState!(state) }
          : undefined,
        onRows: (more: number, keptOfThem?: number) => {
          rows += more;
          kept += keptOfThem ?? 0;
          this.#outputs.written(more, keptOfThem);
          this.#options.onProgress?.(progress(rows));
        },
      };
      const passed = await (pieces === null
        ? runChunks(binding.job, {
            ...context,
            onChunk: (chunk) => this.#options.onChunk?.({ pass: position + 1, ...chunk }),
          })
        : pieces.run(context));
      if (binding.job.isKept && position < passes - 1) {
        outputs.keepState!(await readState(binding.job));
        await outputs.stateKept!();
      }
      for (const [position, { rows, chunks }] of passed.shares.entries()) {
        const share = this.#shares[position]!;
        share.rows += rows;
        share.chunks += chunks;
      }
      for (const ranOn of passed.ranOn) this.#ranOn.add(ranOn);
      const results: Record<string, TypedArray> = {};
      for (const accumulator of binding.job.accumulators) {
        // The first device's initial values count, whether it had a chunk or not.
        const parts = binding.job.places.filter(
          (_, i) => i === 0 || i < begin.chunks || passed.shares[i]!.chunks > 0,
        );
        results[accumulator.name] = await accumulator.collect(
          parts.map(({ accumulated, stream }) => ({ array: accumulated[accumulator.name]!, stream })),
        );
      }
      signal.throwIfAborted();
      const { plan } = passed;
      const { keep } = job.definition;
      const bytesOut =
        keep === undefined
          ? binding.outputBytes(passed.rows) - binding.outputBytes(before)
          : binding.outputBytes(kept) - binding.outputBytes(begin.kept ?? 0);
      this.#report = {
        ...this.#report,
        rows: passed.rows - first,
        totalRows: binding.totalRows,
        bytesIn: this.#report.bytesIn + (passed.rows - before) * binding.inputRowBytes,
        bytesOut: this.#report.bytesOut + bytesOut,
        ...(keep === undefined ? {} : { keptRows: kept }),
        chunks: passed.chunks,
        chunkRows: plan.chunkRows,
        chunkBytes: plan.chunkBytes,
        depth: plan.depth,
        chosen: { auto: plan.auto, steps: passed.steps },
        ...(this.#options.resume
          ? {
              resumed: this.#resumed(
                begin,
                binding.outputBytes(keep === undefined ? begin.rows : (begin.kept ?? 0)),
              ),
            }
          : {}),
      };
      const { finish } = job.definition;
      const value =
        finish === undefined ? results : finish(results, { ...binding.context, rows: passed.rows });
      return { value, shapes: binding.shapes(keep === undefined ? passed.rows : kept) };
    } finally {
      signal.removeEventListener('abort', release);
      for (const resident of residents) await resident.free();
      await inputs.close();
    }
  }
}

function checkRows(rows: unknown): void {
  if (rows === undefined || (Number.isSafeInteger(rows) && (rows as number) >= 1)) return;
  throw problem('WS5008', `\`rows\` must be a whole number from 1 on, and is ${String(rows)}`);
}

/** What planning needs to know of the devices. */
function targetOf(
  { modelOf }: Surroundings,
  participants: readonly Participant[],
): Pick<PlanRequest, 'devices' | 'gpus' | 'free' | 'transferRate'> {
  const models = participants.map(({ device }) => modelOf(device));
  const rates = models.map((model) => model && Math.min(model.hostToDevice, model.deviceToHost));
  return {
    devices: participants.length,
    gpus: participants.every(({ device }) => device.properties.kind !== 'cpu'),
    free: Math.min(...participants.map(({ device }) => device.memory.free)),
    transferRate: rates.some((rate) => rate === undefined) ? undefined : Math.min(...(rates as number[])),
  };
}

/** Which URLs are read by another pass, or by another run. */
function isReadAgain(
  jobs: readonly Job[],
  data: ReadonlyMap<string, InputData>,
  { resume, shard }: RunOptions,
): (url: string) => boolean {
  if (resume || shard !== undefined) return () => true;
  const again = [...data].filter(([name]) => usersOf(jobs, name).length > 1);
  const paths = new Set(inputPaths(again.map(([, given]) => given)));
  return (url) => paths.has(url);
}

/** The passes that read an input. */
function usersOf(jobs: readonly Job[], name: string): readonly Job[] {
  return jobs.filter(({ definition }) => name in definition.inputs || name in (definition.arrays ?? {}));
}

/** A sequence reads its inputs once for every pass that has them. */
async function checkRepeatable(
  { isRepeatable }: Surroundings,
  jobs: readonly Job[],
  data: ReadonlyMap<string, InputData>,
): Promise<void> {
  for (const [name, source] of data) {
    const users = usersOf(jobs, name);
    if (users.length < 2 || (await isRepeatable(source))) continue;
    throw problem(
      'WS5005',
      `input '${name}' is a stream, which can be read once, and the job reads it ${users.length} times`,
      'save it to a file first',
    );
  }
}

/** The error of a run that the caller stopped. `kept`: the next run finds what it has written. */
function interrupted(signal: AbortSignal, kept: boolean): WarpstageError {
  const { reason } = signal as { reason: unknown };
  if (reason instanceof WarpstageError && reason.code === 'WS5009') return reason;
  const left = kept ? 'what it has written is kept' : 'nothing of its output is left';
  return problem('WS5009', `the job was stopped before its end; ${left}`, undefined, reason);
}

/** What can be mended without changing the job, so that the next run goes on. */
const mendable: readonly Code[] = ['WS4001', 'WS4006', 'WS5003', 'WS5006', 'WS5009'];

/** The error of a run whose first rows are kept: says so, where it has nothing better to say. */
function withKept(error: unknown, rows: number, hasOutputs: boolean): unknown {
  if (rows === 0 || !(error instanceof WarpstageError)) return error;
  if (error.hint !== undefined || !mendable.includes(error.code)) return error;
  const found = `the first ${counted(rows, 'row')}`;
  const kept = hasOutputs ? `${found} of the output are kept` : `what was found in ${found} is kept`;
  const hint = `${kept}: run it again with resume to go on from there`;
  const [first, ...others] = error.issues;
  return new WarpstageError([{ ...first!, hint }, ...others], { cause: error.cause });
}
