// Binding a launch: kernel, configuration and arguments become one piece of checked work.
//
// Everything that can be wrong about a launch is found here, before a command exists, and all
// wrong arguments are reported at once. What is compiled is kept by what it depends on: constants,
// device functions, block shape, whether the grid has one dimension, and index width. A launch that repeats a former one is not checked again.

import type { Value } from '../compiler/arithmetic.ts';
import { compiling } from '../compiler/defect.ts';
import { narrowIndexLimit, type Program } from '../compiler/ir.ts';
import type { Specialisation, Specialised } from '../compiler/specialise.ts';
import { WarpstageError } from '../diagnostics/error.ts';
import type { DeviceFunction, Kernel } from '../kernel/kernel.ts';
import { parseSchema, type ScalarValue, type SchemaParameter } from '../kernel/parameters.ts';
import { shapeNames } from '../kernel/shaped.ts';
import { componentCount, type Extent3 } from '../kernel/types.ts';
import { type Executable, nativeStates } from '../targets/executable.ts';
import { type Arguments, checkArguments, inWords } from './arguments.ts';
import { DeviceMemoryArray } from './arrays.ts';
import type { Device, LaunchConfiguration } from './device.ts';
import { checkBlock, checkGrid, checkResident, isFlat, threadsOf } from './extents.ts';
import { kernelInWords, type LaunchWork } from './launch.ts';
import { checkLanguage } from './native-kernels.ts';
import { provenAlignment } from './proven-alignment.ts';
import { RecentLaunches, type ScalarForm } from './recent-launches.ts';
import { checkSeenArrays, seesArrays } from './seen-arrays.ts';
import { placeSharedArrays } from './shared-arrays.ts';

/** How kernels become executables on a device. */
export interface LaunchCompiler {
  specialise(kernel: Kernel, specialisation: Specialisation): Specialised;
  /** `alignments`: by which power of two bytes, up to 16, each parameter's array begins at a multiple. */
  compile(specialised: Specialised, alignments: readonly number[]): Executable;
  /** Whether what is compiled depends on the alignments. */
  readonly usesAlignments: boolean;
}

interface Compiled extends Specialised {
  readonly executable: Executable;
}

/** So many specialisations of a kernel are kept: those that were used last. Compiling one again takes milliseconds. */
const mostSpecialisations = 128;

export class LaunchBinder {
  readonly #device: Device;
  readonly #compiler: LaunchCompiler;
  readonly #compiled = new WeakMap<Kernel, Map<string, Compiled>>();
  readonly #recent = new WeakMap<Kernel, RecentLaunches>();
  readonly #functionIds = new WeakMap<DeviceFunction, number>();
  #functionCount = 0;

  constructor(device: Device, compiler: LaunchCompiler) {
    this.#device = device;
    this.#compiler = compiler;
  }

  /** The work of a launch; the same object for a launch that was made before. */
  bind(
    kernel: Kernel,
    configuration: LaunchConfiguration,
    given: Readonly<Record<string, unknown>>,
  ): LaunchWork {
    return this.#recent.get(kernel)?.find(configuration, given) ?? this.#bind(kernel, configuration, given);
  }

  #bind(
    kernel: Kernel,
    configuration: LaunchConfiguration,
    given: Readonly<Record<string, unknown>>,
  ): LaunchWork {
    if (kernel?.kind !== 'kernel') {
      throw new WarpstageError({
        code: 'WS2001',
        message: `launch takes a kernel first, and was given ${inWords(kernel)}`,
        hint: 'make one with kernel({ … }, ({ … }, cuda) => { … })',
      });
    }
    if (typeof configuration !== 'object' || configuration === null) {
      throw new WarpstageError({
        code: 'WS2003',
        message: `launch of ${kernelInWords(kernel.name)}: its shape must be an object, and is ${inWords(configuration)}`,
        hint: 'write launch(kernel, { grid: Math.ceil(n / 256), block: 256 }, { … })',
      });
    }
    checkLanguage(kernel, this.#device);
    // What is checked is what is remembered: a getter may give something else the next time.
    const taken = { ...configuration };
    const values = { ...given };
    const { properties } = this.#device;
    const block = checkBlock(kernel, taken.block, properties);
    const grid = checkGrid(kernel.name, taken.grid, properties);
    const { cooperative = false } = taken;
    if (cooperative && properties.kind !== 'cuda') checkResident(kernel.name, grid, block);
    const parameters = parseSchema(kernel.schema);
    const checked = checkArguments(this.#device, kernel.name, parameters, values);
    const indexType = needsWideIndex(parameters, checked, grid, block) ? 'i64' : 'i32';
    const flatGrid = isFlat(grid);
    const written = parameters.flatMap((parameter) =>
      parameter.kind === 'array' && !parameter.readonly ? [checked.arrays[parameter.name]!] : [],
    );
    const { program, sources, executable, assignedName } = this.#compile(
      kernel,
      { block, indexType, cooperative, flatGrid, constants: checked.constants, functions: checked.functions },
      parameters.flatMap((parameter) => {
        if (parameter.kind === 'array')
          return [
            provenAlignment(checked.arrays[parameter.name]!, parameter.readonly ? written : null),
            // Its shape and its pitch.
            ...(parameter.dimensions === undefined ? [] : shapeNames('', parameter.dimensions).map(() => 1)),
          ];
        if (parameter.kind === 'vector')
          return Array.from({ length: componentCount(parameter.type) }, () => 1);
        return parameter.kind === 'scalar' ? [1] : [];
      }),
    );

    const operands = program.parameters.map((parameter) => {
      if (parameter.kind === 'array') return checked.arrays[parameter.name]!;
      return typedValue(parameter.type, checked.scalars[parameter.name]!);
    });
    checkSeenArrays(
      program,
      `launch of ${kernelInWords(kernel.name)}`,
      (id) => operands[id] as DeviceMemoryArray,
    );
    const { places, bytes } = placeSharedArrays(program, sources, operands, grid, properties);
    const arrays = operands.filter((value) => value instanceof DeviceMemoryArray);
    const work: LaunchWork = {
      kind: 'launch',
      name: kernel.name,
      ...(assignedName === undefined ? {} : { assignedName }),
      sources,
      executable,
      grid,
      values: operands,
      shared: places,
      sharedBytes: bytes,
      allocations: arrays.map(({ allocation }) => allocation),
      cooperative,
      signal: checkSignal(kernel.name, taken.signal),
      get ranOn() {
        return describeExecutable(executable);
      },
      variantOf: null,
    };
    const launch = { grid: taken.grid, block: taken.block, given: values, scalars: checked.scalars, work };
    // Where an array begins decides whether it may be seen so: each launch asks again.
    if (!seesArrays(program)) this.#recentOf(kernel).add({ ...launch, form: formOf(program) }, parameters);
    return work;
  }

  #recentOf(kernel: Kernel): RecentLaunches {
    let recent = this.#recent.get(kernel);
    if (recent === undefined) {
      recent = new RecentLaunches(this.#compiler.usesAlignments);
      this.#recent.set(kernel, recent);
    }
    return recent;
  }

  #compile(kernel: Kernel, specialisation: Specialisation, alignments: readonly number[]): Compiled {
    let byKey = this.#compiled.get(kernel);
    if (byKey === undefined) {
      byKey = new Map();
      this.#compiled.set(kernel, byKey);
    }
    const aligned = this.#compiler.usesAlignments ? ` ${alignments.join()}` : '';
    const key = this.#keyOf(specialisation) + aligned;
    let compiled = byKey.get(key);
    // The map's order is that of the last uses.
    if (compiled !== undefined) byKey.delete(key);
    else {
      const specialised = this.#compiler.specialise(kernel, specialisation);
      const place = { what: kernelInWords(kernel.name), sources: specialised.sources };
      const executable = compiling(place, () => this.#compiler.compile(specialised, alignments));
      compiled = { ...specialised, executable };
    }
    byKey.set(key, compiled);
    if (byKey.size > mostSpecialisations) byKey.delete(byKey.keys().next().value!);
    return compiled;
  }

  #keyOf({ block, indexType, cooperative, flatGrid, constants, functions }: Specialisation): string {
    const constant = (value: ScalarValue) => (Object.is(value, -0) ? '-0' : String(value));
    return [
      indexType,
      ...(cooperative ? ['cooperative'] : []),
      ...(flatGrid ? ['flat'] : []),
      ...block,
      ...Object.entries(constants).map(([name, value]) => `${name}=${constant(value)}`),
      ...Object.entries(functions).map(([name, value]) => `${name}=#${this.#functionId(value)}`),
    ].join(' ');
  }

  #functionId(value: DeviceFunction): number {
    let id = this.#functionIds.get(value);
    if (id === undefined) {
      id = ++this.#functionCount;
      this.#functionIds.set(value, id);
    }
    return id;
  }
}

/** How numbers come to be the values of a program's parameters. */
function formOf({ parameters }: Program): ScalarForm {
  return (position, value) => {
    const parameter = parameters[position]!;
    return parameter.kind === 'scalar' ? typedValue(parameter.type, value) : value;
  };
}

function checkSignal(kernel: string, signal: unknown): AbortSignal | null {
  if (signal === undefined || signal === null) return null;
  if (typeof signal === 'object' && 'aborted' in signal && 'addEventListener' in signal) {
    return signal as AbortSignal;
  }
  throw new WarpstageError({
    code: 'WS2001',
    message: `launch of ${kernelInWords(kernel)}: \`signal\` must be an AbortSignal`,
    hint: 'pass the `signal` of an AbortController, or AbortSignal.timeout(milliseconds)',
  });
}

/** Whether positions or counts of this launch may go beyond 32 bits. */
export function needsWideIndex(
  parameters: readonly SchemaParameter[],
  { arrays, scalars, constants }: Omit<Arguments, 'arrays'> & { arrays: Record<string, { length: number }> },
  grid: Extent3,
  block: Extent3,
): boolean {
  const wide = (value: number) => value >= narrowIndexLimit || value < -narrowIndexLimit;
  return (
    threadsOf(grid) * threadsOf(block) >= narrowIndexLimit ||
    Object.values(arrays).some(({ length }) => length >= narrowIndexLimit) ||
    parameters.some(
      (parameter) =>
        (parameter.kind === 'scalar' || parameter.kind === 'constant') &&
        parameter.type === 'index' &&
        wide(Number(scalars[parameter.name] ?? constants[parameter.name])),
    )
  );
}

/** An argument in the form that the program's type has. */
export function typedValue(type: Program['variables'][number]['type'], value: ScalarValue): Value {
  switch (type) {
    case 'i64':
    case 'u64':
      return BigInt(value);
    case 'f32':
      return Math.fround(Number(value));
    default:
      return value;
  }
}

function describeExecutable(executable: Executable): string {
  if (executable.target === 'interpreter') return 'interpreter';
  if (executable.target === 'cuda') {
    const { checked = false, lowerings } = executable;
    return `cuda (${['kernel', ...(checked ? ['checked'] : []), ...lowerings].join(', ')})`;
  }
  const { mode, vectorised, native } = executable;
  const isNative = native !== undefined && new Int32Array(native.state)[0] !== nativeStates.absent;
  return `${isNative ? 'native' : 'wasm'} (${mode}${vectorised ? ', vectorised' : ''})`;
}
