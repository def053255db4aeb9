// Binds a job to its data: opens the sources, settles the widths of rows and the settings, plans
// the chunks, uploads the constant arrays, and opens the outputs. Everything that can be found
// wrong before the first chunk is found here.

import { count } from '../diagnostics/count.ts';
import { problem } from '../diagnostics/problem.ts';
import type { Content } from '../files/content.ts';
import type { Source, Wanted } from '../formats/source.ts';
import type { UrlVersions } from '../formats/url-versions.ts';
import { parseSchema } from '../kernel/parameters.ts';
import type { ElementType } from '../kernel/types.ts';
import { Accumulator } from './accumulate.ts';
import {
  type ArraysOfChunk,
  type BoundInput,
  type BoundJob,
  type BoundOutput,
  launchOf,
  lengthsOf,
  rowBytes,
  rowsKept,
  volume,
} from './chunks.ts';
import { constantArrays, type Place, type ResidentArrays, readWhole } from './constants.ts';
import { haloOf } from './halo.ts';
import { isOperand, isPinned, wantedOf } from './input-data.ts';
import type { AnyDefinition, Job, JobContext, TypedArray } from './job.ts';
import type { Begin } from './journal/text.ts';
import { maskSink, writtenArrays } from './kept-rows.ts';
import { writeState } from './kept-state.ts';
import type { InputData, OutputData, RunOptions } from './options.ts';
import { pathOf, saidRate, sharedFiles } from './output-data.ts';
import { granularityOf, type Plan, type PlanRequest, planChunks, type Ratio, rowsOut } from './plan.ts';
import { checkComplete, type Settings, settingValues, Widths } from './settings.ts';
import { partOf } from './shards/cut.ts';
import type { Shard } from './shards/piece-files.ts';
import type { Sink } from './sinks/sink.ts';
import type { Inputs, Outputs, Surroundings } from './surroundings.ts';
import { WindowReader } from './window.ts';

/** What a job is bound to. */
export interface BindRequest {
  /** The name of the job. */
  readonly job: string;
  readonly data: ReadonlyMap<string, InputData>;
  /** What input files hold, by their paths, where they are identified by that. */
  readonly contents: ReadonlyMap<string, Content>;
  /** Of URLs, as far as they were opened. */
  readonly versions: UrlVersions;
  readonly destinations: ReadonlyMap<string, OutputData>;
  readonly settings: Settings;
  /** How values become another type, whatever the job says of its inputs. */
  readonly convert: RunOptions['convert'];
  /** Only the first rows. */
  readonly head: number | undefined;
  /** Whether they stand for all: cut as these would be, and so many more as outputs take in at a time. */
  readonly asSample: boolean;
  readonly chunk: NonNullable<RunOptions['chunk']>;
  readonly depth: NonNullable<RunOptions['depth']>;
  /** Whether to keep a journal, and to go on where that of a former run ends; a name, where it lies beside that. */
  readonly resume: boolean | string;
  /** Of a sequence's passes; from 0 on. */
  readonly pass: { readonly position: number; readonly of: number };
  /** The piece that is to be computed; undefined for all. */
  readonly shard: Shard | undefined;
  readonly maxMemory: RunOptions['maxMemory'];
  /** Of the devices. */
  readonly target: Pick<PlanRequest, 'devices' | 'gpus' | 'free' | 'transferRate'>;
  readonly inputs: Inputs;
  readonly outputs: Outputs;
  readonly surroundings: Surroundings;
  /** Of each device. */
  readonly residents: readonly ResidentArrays[];
}

/** An output before its sink is open. */
export type UnboundOutput = Omit<BoundOutput, 'sink'>;

/** What a run is recognised by that is to go on where another ended, or to be one of several. */
export interface Unopened {
  readonly inputs: readonly BoundInput[];
  readonly outputs: readonly UnboundOutput[];
  readonly settings: Settings;
  readonly plan: Plan;
  readonly accumulators: readonly Accumulator[];
  readonly constants: ReadonlyMap<string, TypedArray>;
  readonly shapes: readonly (readonly number[])[];
}

/** A job that is ready to run. */
export interface Binding {
  readonly job: BoundJob;
  readonly context: JobContext;
  /** What a former run has written. */
  readonly begin: Begin;
  /** The first row that is this run's. */
  readonly first: number;
  /** How many are; undefined if only the end tells. */
  readonly ownRows: number | undefined;
  /** Rows of the inputs, also of those that are not read. */
  readonly totalRows: number | undefined;
  /** Bytes of a row of all inputs, as the kernel has them. */
  readonly inputRowBytes: number;
  readonly outputBytes: (rows: number) => number;
  /** The shape of every output, once its rows, or those that were kept, are known. */
  readonly shapes: (rows: number) => Map<Sink, readonly number[]>;
}

/** Binds a job. What was opened stays open in the request, also where binding fails. */
export async function bindJob({ definition }: Job, request: BindRequest): Promise<Binding> {
  return new Binder(definition, request).bind();
}

class Binder {
  readonly #definition: AnyDefinition;
  readonly #request: BindRequest;
  readonly #elements: ReadonlyMap<string, ElementType>;
  readonly #widths: Widths;

  constructor(definition: AnyDefinition, request: BindRequest) {
    this.#definition = definition;
    this.#request = request;
    const arrays = parseSchema(definition.kernel.schema).filter((parameter) => parameter.kind === 'array');
    this.#elements = new Map(arrays.map(({ name, element }) => [name, element as ElementType]));
    this.#widths = new Widths(settingValues(definition, request.settings));
  }

  async bind(): Promise<Binding> {
    const { chunk, depth, target, residents, maxMemory, shard, surroundings } = this.#request;
    const definition = this.#definition;

    const inputs = await this.#openInputs();
    const operands = await this.#readOperands();
    const outputs = this.#describeOutputs(inputs);
    const written = outputs.filter(({ name }) => name !== definition.keep);
    const settings: Settings = this.#widths.values;
    checkComplete(definition, settings);

    const head = this.#head;
    const totalRows = agreedRows(inputs);
    const rows = head === undefined || totalRows === undefined ? totalRows : Math.min(head, totalRows);
    const kept = rows === undefined ? undefined : rowsKept(rows, outputs, definition.remainder);
    const streams = [
      ...inputs.map((input) => ({
        ...{ role: 'input' as const, ratio: [1, 1] as const, halo: input.halo },
        rowBytes: rowBytes({ ...input, width: input.width + input.beside }),
      })),
      ...outputs.map((output) => ({
        ...{ role: 'output' as const, rowBytes: rowBytes(output), ratio: output.ratio, halo: 0 },
      })),
    ];
    const shapes = (total: number) =>
      written.map((output) =>
        (definition.keep === undefined ? shapeOf : keptShapeOf)(output, total, inputs[0]!.reader.source),
      );
    const part = partOf(rows, granularityOf(outputs), shard);
    const planned = this.#request.asSample ? totalRows : part && part.end - part.begin;
    const plan = planChunks({
      ...target,
      streams,
      rows: planned,
      chunk,
      depth,
      processors: surroundings.processors,
      host: surroundings.hostMemory({
        ...{ limit: maxMemory, devices: residents.map(({ device }) => device) },
        ...{ streams, inputs, operands, destinations: this.#request.destinations },
        outputs: shapes(kept ?? 0).map((shape, i) => ({
          ...written[i]!,
          parameter: written[i]!.name,
          shape,
        })),
        isKept: this.#request.resume !== false,
        isPiece: shard !== undefined,
      }),
    });

    const known = { settings, rows: kept, chunkRows: plan.chunkRows };
    const constants = constantArrays(definition, this.#elements, operands, known);
    const constantLengths = Object.fromEntries([...constants].map(([name, { length }]) => [name, length]));
    const context: JobContext = { ...known, lengths: constantLengths };
    const arrays: ArraysOfChunk = { inputs, outputs, accumulators: [], constantLengths };
    const lengths = lengthsOf(arrays, plan.chunkRows);
    const { grid } = launchOf(definition, { rows: plan.chunkRows, offset: 0, lengths, settings });
    const accumulators = Object.entries(definition.accumulators ?? {}).map(
      ([name, declaration]) =>
        new Accumulator(name, this.#elements.get(name)!, declaration, context, volume(grid)),
    );
    const places: Place[] = [];
    for (const [position, resident] of residents.entries()) {
      places.push(await resident.place(this.#elements, constants, accumulators, position === 0));
    }

    const run = {
      inputs,
      outputs: written,
      settings,
      plan,
      accumulators,
      constants,
      shapes: shapes(kept ?? 0),
    };
    const first = part?.begin ?? 0;
    const isResumed = this.#request.resume !== false;
    const begin: Begin = isResumed
      ? await surroundings.resume(definition, this.#request, run)
      : { rows: 0, chunks: 0 };
    if (begin.state !== undefined) await writeState({ places, accumulators }, begin.state);
    if (shard !== undefined) {
      const end = Math.min(part!.end, kept!);
      await surroundings.cut(definition, this.#request, run, [first, Math.max(first, end)]);
    }
    const shapeKnown = kept !== undefined && definition.keep === undefined;
    const bound = await this.#openOutputs(written, shapes(kept ?? 0), shapeKnown);
    await this.#request.outputs.opened?.();
    const masks = outputs.filter(({ name }) => name === definition.keep);
    return {
      job: {
        definition,
        inputs,
        outputs: [...bound, ...masks.map((mask) => ({ ...mask, sink: maskSink(mask.name) }))],
        accumulators,
        constantLengths,
        fixed: { ...definition.functions, ...settings },
        places,
        settings,
        plan,
        rows: part?.end,
        begin: first + begin.rows,
        beginChunk: begin.chunks,
        isKept: isResumed && accumulators.length > 0,
      },
      context,
      begin,
      first,
      ownRows: kept === undefined ? undefined : Math.max(0, Math.min(part!.end, kept) - first),
      totalRows,
      inputRowBytes: inputs.reduce((sum, input) => sum + rowBytes(input), 0),
      outputBytes: (total) =>
        written.reduce((sum, output) => sum + rowsOut(total, output.ratio) * rowBytes(output), 0),
      shapes: (total) => new Map(shapes(total).map((shape, position) => [bound[position]!.sink, shape])),
    };
  }

  /** How many of the first rows run. */
  get #head(): number | undefined {
    const { head, asSample } = this.#request;
    if (head === undefined || !asSample) return head;
    const granularity = granularityOf(
      Object.values(this.#definition.outputs ?? {}).map(({ ratio = [1, 1] as const }) => ({ ratio })),
    );
    return Math.ceil(head / granularity) * granularity;
  }

  /** What the kernel wants of an input; what the run says of conversions counts for all. */
  #wantedOf(name: string, element: ElementType, declaration: Parameters<typeof wantedOf>[2]): Wanted {
    const { convert = declaration.convert } = this.#request;
    return wantedOf(name, element, { ...declaration, ...(convert === undefined ? {} : { convert }) });
  }

  async #openInputs(): Promise<BoundInput[]> {
    const opened: BoundInput[] = [];
    for (const [name, declaration] of Object.entries(this.#definition.inputs)) {
      const element = this.#elements.get(name)!;
      const wanted = this.#wantedOf(name, element, declaration);
      const source = await this.#request.inputs.open(this.#request.data.get(name)!, wanted);
      const width = this.#widths.of(source.name, declaration.width, source.shape);
      if (source.length !== undefined) checkWholeRows(source, source.length, width);
      const { before, after, left, right, channels } = haloOf(declaration.halo);
      if (width % channels !== 0) throw noColumns(name, source, width, channels);
      const head = this.#head;
      const reader = new WindowReader(
        source,
        { width, before, after, left, right, channels, edge: declaration.edge ?? 'zero' },
        head,
      );
      const data = this.#request.data.get(name);
      // What lies beyond the ends, and conversions, take a copy of their own.
      const beside = left + right;
      const isBare = before + after + beside === 0;
      const inPlace = isPinned(data) && data.element === element && isBare ? data : undefined;
      opened.push({ name, element, width, halo: before + after, beside, reader, inPlace });
    }
    return opened;
  }

  /** Reads the constant arrays that come from inputs, whole. */
  async #readOperands(): Promise<Map<string, TypedArray>> {
    const operands = new Map<string, TypedArray>();
    for (const [name, declaration] of Object.entries(this.#definition.arrays ?? {})) {
      if (!isOperand(declaration)) continue;
      const element = this.#elements.get(name)!;
      const wanted = this.#wantedOf(name, element, declaration);
      const source = await this.#request.inputs.open(this.#request.data.get(name)!, wanted);
      const array = await readWhole(source, element);
      checkWholeRows(source, array.length, this.#widths.of(source.name, declaration.width, source.shape));
      operands.set(name, array);
    }
    return operands;
  }

  #describeOutputs(inputs: readonly BoundInput[]): UnboundOutput[] {
    return Object.entries(writtenArrays(this.#definition)).map(
      ([name, { ratio = [1, 1] as const, width }]) => ({
        name,
        element: this.#elements.get(name)!,
        width: this.#widths.of(`output '${name}'`, width),
        ratio,
        rate: saidRate(this.#request.destinations.get(name)) ?? this.#rateOf(inputs, ratio),
      }),
    );
  }

  /** Rows a second of an output, as those inputs say it that have a time. */
  #rateOf(inputs: readonly BoundInput[], [out, of]: Ratio): number | undefined {
    const rates = new Set(inputs.flatMap(({ reader: { source } }) => source.rate ?? []));
    const [rate] = rates;
    if (rates.size !== 1 || this.#definition.keep !== undefined) return undefined;
    return Number.isInteger((rate! * out) / of) ? (rate! * out) / of : undefined;
  }

  async #openOutputs(
    outputs: readonly UnboundOutput[],
    shapes: readonly (readonly number[])[],
    shapeKnown: boolean,
  ): Promise<BoundOutput[]> {
    const { destinations, outputs: open, maxMemory } = this.#request;
    const isLimited = maxMemory !== undefined;
    const bound: BoundOutput[] = [];
    const shared = sharedFiles(outputs.map(({ name }) => destinations.get(name)));
    for (const [position, output] of outputs.entries()) {
      const { name, element, rate } = output;
      const shape = shapes[position]!;
      if (this.#definition.keep !== undefined && isPinned(destinations.get(name))) {
        throw problem(
          'WS5006',
          `output '${name}' goes to page-locked memory, which the device fills, and the job keeps some of its rows`,
          'give a typed array, or leave the output away to have one made',
        );
      }
      const isShared = shared.has(pathOf(destinations.get(name)) ?? '-');
      const about = { parameter: name, element, rate, shape, shapeKnown, isShared, isLimited };
      const sink = await open.open(destinations.get(name), about);
      bound.push({ ...output, sink });
    }
    return bound;
  }
}

/** Rows of all inputs, which must agree; undefined if one does not know. */
function agreedRows(inputs: readonly BoundInput[]): number | undefined {
  const lengths = inputs.flatMap(({ width, reader: { source } }) =>
    source.length === undefined ? [] : [{ name: source.name, rows: source.length / width }],
  );
  const first = lengths[0];
  const other = lengths.find(({ rows }) => rows !== first!.rows);
  if (other !== undefined) {
    throw problem(
      'WS5005',
      `${first!.name} has ${count(first!.rows)} rows, and ${other.name} has ${count(other.rows)}`,
      'all inputs must have as many rows',
    );
  }
  return lengths.length === inputs.length ? first?.rows : undefined;
}

function noColumns(input: string, { name }: Source, width: number, channels: number): Error {
  return problem(
    'WS5005',
    `${name} has rows of ${count(width)} elements, which make no whole columns of ${count(channels)}, as the halo of '${input}' says`,
    `say how many elements a column has: halo: { columns: [1, 1], channels: 1 }`,
  );
}

function checkWholeRows({ name }: Source, length: number, width: number): void {
  if (length % width === 0) return;
  throw problem(
    'WS5005',
    `${name} has ${count(length)} elements, which make no whole rows of ${count(width)}`,
  );
}

/** The shape of an output of which some rows are kept: as the input's, where it has rows of as many elements. */
function keptShapeOf({ width }: UnboundOutput, rows: number, { shape }: Source): readonly number[] {
  const inner = shape?.slice(1);
  if (shape?.length && inner?.reduce((product, extent) => product * extent, 1) === width)
    return [rows, ...inner];
  return width === 1 ? [rows] : [rows, width];
}

/** An output that has as many elements as the input, one for one, has its shape as well. */
function shapeOf({ width, ratio }: UnboundOutput, rows: number, { shape }: Source): readonly number[] {
  const total = rowsOut(rows, ratio);
  const elements = shape?.reduce((product, extent) => product * extent, 1);
  if (shape !== undefined && ratio[0] === ratio[1] && elements === total * width) return shape;
  return width === 1 ? [total] : [total, width];
}
