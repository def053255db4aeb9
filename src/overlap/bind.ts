// Binds a job to its data: opens the sources, settles the widths of rows and the settings, plans
// the chunks, uploads the constant arrays, and opens the outputs. Everything that can be found
// wrong before the first chunk is found here.

import { parseSchema } from '../kernel/parameters.ts';
import { type ElementType, elementBytes, hostArrays } from '../kernel/types.ts';
import type { Device, DeviceArray } from '../runtime/device.ts';
import { Accumulator } from './accumulate.ts';
import {
  type BoundInput,
  type BoundJob,
  type BoundOutput,
  launchOf,
  lengthsOf,
  remainderError,
  volume,
} from './chunks.ts';
import { arrayProblem } from './declaration.ts';
import { isOperand, type OpenInputs, wantedOf } from './inputs.ts';
import type { AnyDefinition, ArrayDeclaration, Job, JobContext, TypedArray } from './job.ts';
import type { InputData, OutputData, RunOptions } from './options.ts';
import type { OpenOutputs } from './outputs.ts';
import { type Plan, planChunks, rowsOut } from './plan.ts';
import { count, problem } from './problem.ts';
import { checkComplete, type Settings, settingValues, Widths } from './settings.ts';
import { collectingSink } from './sinks/memory.ts';
import type { Sink } from './sinks/sink.ts';
import type { Source } from './sources/source.ts';
import { WindowReader } from './window.ts';

/** What a job is bound to. */
export interface BindRequest {
  readonly device: Device;
  readonly data: ReadonlyMap<string, InputData>;
  readonly destinations: ReadonlyMap<string, OutputData>;
  readonly settings: Settings;
  readonly chunk: NonNullable<RunOptions['chunk']>;
  readonly depth: NonNullable<RunOptions['depth']>;
  readonly inputs: OpenInputs;
  readonly outputs: OpenOutputs;
  /** Takes the arrays on the device that are to be freed after the run. */
  readonly own: (array: DeviceArray) => void;
}

/** A job that is ready to run. */
export interface Binding {
  readonly job: BoundJob;
  readonly context: JobContext;
  /** Bytes of a row of all inputs, as the kernel has them. */
  readonly inputRowBytes: number;
  readonly outputBytes: (rows: number) => number;
  /** The shape of every output, once its rows are known. */
  readonly shapes: (rows: number) => Map<Sink, readonly number[]>;
}

/** Binds a job. What was opened stays open in `inputs` and `outputs`, also where binding fails. */
export async function bindJob({ definition }: Job, request: BindRequest): Promise<Binding> {
  const binder = new Binder(definition, request);
  return binder.bind();
}

interface OpenInput {
  readonly source: Source;
  readonly bound: BoundInput;
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
    this.#elements = new Map(arrays.map(({ name, element }) => [name, element]));
    this.#widths = new Widths(settingValues(definition, request.settings));
  }

  async bind(): Promise<Binding> {
    const { device, chunk, depth } = this.#request;
    const opened = await this.#openInputs();
    const operands = await this.#readOperands();
    const rows = this.#agreedRows(opened);
    const outputWidths = this.#outputWidths();
    checkComplete(this.#definition, this.#widths.values);
    const settings: Settings = this.#widths.values;

    const outputs = Object.entries(this.#definition.outputs ?? {}).map(([name, { ratio = [1, 1] }]) => ({
      name,
      element: this.#elements.get(name)!,
      width: outputWidths.get(name)!,
      ratio: ratio as BoundOutput['ratio'],
    }));
    const usedRows = this.#usedRows(rows, outputs);
    const plan = planChunks({
      streams: [
        ...opened.map(({ bound: { width, element, halo } }) => ({
          rowBytes: width * elementBytes[element],
          ratio: [1, 1] as const,
          halo,
        })),
        ...outputs.map(({ width, element, ratio }) => ({
          rowBytes: width * elementBytes[element],
          ratio,
          halo: 0,
        })),
      ],
      rows,
      chunk,
      depth,
      free: device.memory.free,
    });

    const fixed = await this.#uploadArrays(operands, { settings, rows: usedRows, chunkRows: plan.chunkRows });
    const inputs = opened.map(({ bound }) => bound);
    const lengths = lengthsOf({ inputs, outputs: [], fixed, accumulators: [] }, 0);
    for (const { name } of inputs) delete lengths[name];
    const context: JobContext = { settings, rows: usedRows, chunkRows: plan.chunkRows, lengths };
    const accumulators = await this.#createAccumulators(context, { inputs, outputs, fixed }, plan);

    const first = opened[0]!.source.shape;
    const shapes = (total: number) => outputs.map((output) => shapeOf(output, total, first));
    const bound: BoundOutput[] = [];
    for (const [position, output] of outputs.entries()) {
      const sink = await this.#request.outputs.open(this.#request.destinations.get(output.name), {
        parameter: output.name,
        element: output.element,
        shape: shapes(usedRows ?? 0)[position]!,
        shapeKnown: usedRows !== undefined,
      });
      bound.push({ ...output, sink });
    }
    const scalars = Object.fromEntries(
      Object.entries(settings).filter(([name]) => name in this.#definition.kernel.schema),
    );
    return {
      job: {
        definition: this.#definition,
        inputs,
        outputs: bound,
        accumulators,
        fixed: { ...this.#definition.functions, ...scalars, ...fixed },
        settings,
        plan,
        rows,
      },
      context,
      inputRowBytes: inputs.reduce((sum, { width, element }) => sum + width * elementBytes[element], 0),
      outputBytes: (total) =>
        outputs.reduce(
          (sum, { width, element, ratio }) => sum + rowsOut(total, ratio) * width * elementBytes[element],
          0,
        ),
      shapes: (total) => new Map(shapes(total).map((shape, position) => [bound[position]!.sink, shape])),
    };
  }

  async #openInputs(): Promise<OpenInput[]> {
    const opened: OpenInput[] = [];
    for (const [name, declaration] of Object.entries(this.#definition.inputs)) {
      const element = this.#elements.get(name)!;
      const wanted = wantedOf(name, element, declaration);
      const source = await this.#request.inputs.open(this.#request.data.get(name)!, wanted);
      const width = this.#widths.of(source.name, declaration.width, source.shape);
      const [before, after] = declaration.halo ?? [0, 0];
      const reader = new WindowReader(source, { width, before, after, edge: declaration.edge ?? 'zero' });
      opened.push({ source, bound: { name, element, width, halo: before + after, reader } });
    }
    return opened;
  }

  /** Rows of all inputs, which must agree where they are known. */
  #agreedRows(opened: readonly OpenInput[]): number | undefined {
    let known: { readonly rows: number; readonly name: string } | undefined;
    let all = true;
    for (const { source, bound } of opened) {
      if (source.length === undefined) {
        all = false;
        continue;
      }
      if (source.length % bound.width !== 0) {
        throw problem(
          'WS5005',
          `${source.name} has ${count(source.length)} elements, which make no whole rows of ${count(bound.width)}`,
        );
      }
      const rows = source.length / bound.width;
      if (known !== undefined && known.rows !== rows) {
        throw problem(
          'WS5005',
          `${known.name} has ${count(known.rows)} rows, and ${source.name} has ${count(rows)}`,
          'all inputs must have as many rows',
        );
      }
      known = { rows, name: source.name };
    }
    return all ? known?.rows : undefined;
  }

  /** Rows that the kernel sees: those that are left over may be dropped. */
  #usedRows(
    rows: number | undefined,
    outputs: readonly Pick<BoundOutput, 'name' | 'ratio'>[],
  ): number | undefined {
    if (rows === undefined) return undefined;
    const rest = Math.max(0, ...outputs.map(({ ratio }) => rows % ratio[1]));
    if (rest === 0 || this.#definition.remainder === 'partial') return rows;
    if (this.#definition.remainder === 'drop') return rows - rest;
    throw remainderError(rows, outputs);
  }

  #outputWidths(): Map<string, number> {
    const outputs = Object.entries(this.#definition.outputs ?? {});
    return new Map(outputs.map(([name, { width }]) => [name, this.#widths.of(`output '${name}'`, width)]));
  }

  /** Reads the constant arrays that come from inputs, whole. */
  async #readOperands(): Promise<Map<string, TypedArray>> {
    const operands = new Map<string, TypedArray>();
    for (const [name, declaration] of Object.entries(this.#definition.arrays ?? {})) {
      if (!isOperand(declaration)) continue;
      const element = this.#elements.get(name)!;
      const source = await this.#request.inputs.open(
        this.#request.data.get(name)!,
        wantedOf(name, element, declaration),
      );
      const array = await readWhole(source, element);
      const width = this.#widths.of(source.name, declaration.width, source.shape);
      if (array.length % width !== 0) {
        throw problem(
          'WS5005',
          `${source.name} has ${count(array.length)} elements, which make no whole rows of ${count(width)}`,
        );
      }
      operands.set(name, array);
    }
    return operands;
  }

  /** The arrays on the device that are the same for every chunk. */
  async #uploadArrays(
    operands: ReadonlyMap<string, TypedArray>,
    known: Omit<JobContext, 'lengths'>,
  ): Promise<Record<string, DeviceArray>> {
    const { device, own } = this.#request;
    const uploaded: Record<string, DeviceArray> = {};
    const lengths: Record<string, number> = {};
    for (const [name, array] of operands) lengths[name] = array.length;
    for (const [name, declaration] of Object.entries(this.#definition.arrays ?? {})) {
      const host = operands.get(name) ?? this.#constantArray(name, declaration, { ...known, lengths });
      lengths[name] = host.length;
      const element = this.#elements.get(name)!;
      const array = device.alloc(element, Math.max(1, host.length));
      own(array);
      uploaded[name] = array.subarray(0, host.length);
      if (host.length > 0) device.defaultStream.memcpyAsync(uploaded[name], host);
    }
    await device.defaultStream.synchronize();
    return uploaded;
  }

  #constantArray(name: string, declaration: ArrayDeclaration, context: JobContext): TypedArray {
    const array = typeof declaration === 'function' ? declaration(context) : (declaration as TypedArray);
    const wrong = arrayProblem(array, {
      kind: 'array',
      name,
      element: this.#elements.get(name)!,
      readonly: true,
    });
    if (wrong !== null) throw problem('WS5007', `arrays.${name} of the job ${wrong}`);
    return array;
  }

  async #createAccumulators(
    context: JobContext,
    known: Pick<BoundJob, 'inputs' | 'fixed'> & { readonly outputs: readonly Omit<BoundOutput, 'sink'>[] },
    plan: Plan,
  ): Promise<Accumulator[]> {
    const { device, own } = this.#request;
    const declarations = Object.entries(this.#definition.accumulators ?? {});
    if (declarations.length === 0) return [];
    const lengths = lengthsOf({ ...known, accumulators: [] }, plan.chunkRows);
    const full = { rows: plan.chunkRows, offset: 0, lengths, settings: context.settings };
    const blocks = volume(launchOf(this.#definition, full).grid);
    const accumulators = declarations.map(([name, declaration]) => {
      const accumulator = new Accumulator(
        device,
        name,
        this.#elements.get(name)!,
        declaration,
        context,
        blocks,
      );
      own(accumulator.array);
      accumulator.initialise(device.defaultStream);
      return accumulator;
    });
    await device.defaultStream.synchronize();
    return accumulators;
  }
}

/** An output that has as many elements as the input, one for one, has its shape as well. */
function shapeOf(
  { width, ratio }: Pick<BoundOutput, 'width' | 'ratio'>,
  rows: number,
  input: readonly number[] | undefined,
): readonly number[] {
  const total = rowsOut(rows, ratio);
  const same =
    ratio[0] === ratio[1] && input?.reduce((product, extent) => product * extent, 1) === total * width;
  if (same) return input!;
  return width === 1 ? [total] : [total, width];
}

/** All elements of a source. */
async function readWhole(source: Source, element: ElementType): Promise<TypedArray> {
  const all = collectingSink(source.name, element, source.length);
  const Constructor: new (length: number) => TypedArray = hostArrays[element];
  const piece = new Constructor(Math.max(1, Math.min(source.length ?? Infinity, 2 ** 18)));
  for (;;) {
    const read = await source.read(piece);
    if (read > 0) await all.write(piece.subarray(0, read));
    if (read < piece.length) return all.result();
  }
}
