// Kernels that the user wrote in CUDA C++.
//
// The parameters of the C++ function are the schema's, in its order: an array is a pointer, a
// scalar its value, `index` a long long. A constant is a macro of its name. The text is compiled
// when the kernel is made, if every constant has a default, and for other values when they come.

import type { Specialisation, Specialised } from '../../compiler/specialise.ts';
import { WarpstageError } from '../../diagnostics/error.ts';
import { lineAndColumn } from '../../diagnostics/lines.ts';
import type { KernelSource } from '../../diagnostics/source.ts';
import { type Kernel, schemaOf } from '../../kernel/kernel.ts';
import { parseSchema, type ScalarValue } from '../../kernel/parameters.ts';
import type { Schema } from '../../kernel/schema.ts';
import type { Executable } from '../../targets/executable.ts';
import type { CudaKernelOptions, Device } from '../device.ts';
import { nativeKernel } from '../native-kernels.ts';
import type { CudaCompiler } from './compiler.ts';

type Program = Specialised['program'];

interface Raw {
  readonly source: string;
  readonly options: CudaKernelOptions<Schema>;
}

/** The types that a scalar may have, as they are passed. */
const valueTypes = {
  index: 'i64',
  i32: 'i32',
  u32: 'u32',
  i64: 'i64',
  u64: 'u64',
  f32: 'f32',
  f64: 'f64',
  bool: 'bool',
} as const;

const nowhere = { source: 0, start: 0, end: 0 };

/** What kernels are compiled for. */
interface RawTargets {
  readonly architecture: number;
  /** Architectures whose PTX is kept in the cache as well. */
  readonly portable: readonly number[];
}

export class RawKernels {
  readonly #device: Device;
  readonly #compiler: CudaCompiler;
  readonly #targets: RawTargets;
  readonly #kernels = new WeakMap<Kernel, Raw>();
  readonly #programs = new WeakMap<Program, Executable>();

  constructor(device: Device, compiler: CudaCompiler, targets: RawTargets) {
    this.#device = device;
    this.#compiler = compiler;
    this.#targets = targets;
  }

  /** Makes a kernel of a text. */
  make<S extends Schema>(source: string, options: CudaKernelOptions<S>): Kernel<S> {
    const own = checkOptions(source, options);
    const { name, schema } = own;
    const parameters = parseSchema(schema);
    const wrong = parameters.find(({ kind }) => kind === 'function');
    if (wrong !== undefined) {
      throw new WarpstageError({
        code: 'WS1010',
        message: `compile: parameter '${wrong.name}' is a device function, which CUDA C++ cannot be given`,
        hint: 'write the function in the source',
      });
    }
    const shaped = parameters.find((one) => one.kind === 'array' && one.dimensions !== undefined);
    if (shaped?.kind === 'array') {
      throw new WarpstageError({
        code: 'WS1010',
        message: `compile: parameter '${shaped.name}' is an array of several dimensions, and CUDA C++ is given a pointer`,
        hint: `declare it as '${shaped.element}[]', and pass its extents and its pitch as scalars`,
      });
    }
    const narrow = parameters.find((one) => one.kind === 'scalar' && !Object.hasOwn(valueTypes, one.type));
    if (narrow?.kind === 'scalar') {
      throw new WarpstageError({
        code: 'WS1010',
        message: `compile: parameter '${narrow.name}' is a scalar of type ${narrow.type}, which cannot be passed to CUDA C++`,
        hint: `pass one of ${Object.keys(valueTypes).join(', ')}, and convert it in the source`,
      });
    }
    const raw: Raw = { source, options: own as unknown as CudaKernelOptions<Schema> };
    const kernel = nativeKernel(this.#device, name, schema);
    this.#kernels.set(kernel as unknown as Kernel, raw);
    const defaults = parameters.flatMap((one) =>
      one.kind === 'constant' ? [[one.name, one.default] as const] : [],
    );
    if (defaults.every(([, value]) => value !== undefined)) {
      this.#compile(raw, Object.fromEntries(defaults) as Specialisation['constants']);
    }
    return kernel;
  }

  /** The program of a launch of such a kernel; null for a kernel in TypeScript. */
  specialise(kernel: Kernel, { block, constants }: Specialisation): Specialised | null {
    const raw = this.#kernels.get(kernel);
    if (raw === undefined) return null;
    const { sharedMemory = 0 } = raw.options;
    const program: Program = {
      name: kernel.name,
      block,
      indexType: 'i64',
      parameters: parseSchema(kernel.schema).flatMap((parameter): Program['parameters'] => {
        if (parameter.kind === 'array') return [parameter];
        if (parameter.kind !== 'scalar') return [];
        const type = valueTypes[parameter.type as keyof typeof valueTypes];
        return [{ kind: 'scalar', name: parameter.name, type }];
      }),
      variables: [],
      sharedArrays:
        sharedMemory === 0
          ? []
          : [
              {
                name: 'shared memory',
                element: 'u8',
                count: { kind: 'constant', type: 'i64', value: BigInt(sharedMemory), range: nowhere },
                range: nowhere,
              },
            ],
      localArrays: [],
      barriers: [],
      pipelines: [],
      body: [],
    };
    const { image, entry } = this.#compile(raw, constants);
    this.#programs.set(program, {
      target: 'cuda',
      program,
      scratchBytes: 0,
      entry,
      image,
      lowerings: [],
      shared: program.sharedArrays.map(() => ({ offset: 0, length: sharedMemory })),
      plainPointers: true,
    });
    return { program, sources: [sourceOf(raw)] };
  }

  /** What the program of such a kernel was compiled to. */
  executable(program: Program): Executable | undefined {
    return this.#programs.get(program);
  }

  #compile({ source, options }: Raw, constants: Specialisation['constants']) {
    const { architecture, portable } = this.#targets;
    // What the user wrote may use all that this very GPU has.
    const suffix = architecture === 90 || architecture === 100 ? 'a' : '';
    const flags = [
      '--std=c++17',
      ...Object.entries(constants).map(([name, value]) => `--define-macro=${name}=${textOf(value)}`),
      ...(options.options ?? []),
    ];
    const file = `${fileName(options.name)}.cu`;
    for (const one of portable) {
      const all = [`--gpu-architecture=compute_${one}`, ...flags];
      this.#compiler.keepPortable(source, file, all, options.name);
    }
    const all = [`--gpu-architecture=sm_${architecture}${suffix}`, ...flags];
    return this.#compiler.compile(source, file, all, options.name);
  }
}

/** A constant as C++ has it: `-0` alone would be an integer there. */
function textOf(value: ScalarValue): string {
  return Object.is(value, -0) ? '-0.0' : String(value);
}

/** The text as messages show it. */
function sourceOf({ source, options }: Raw): KernelSource {
  return {
    name: options.name,
    text: source,
    locate: (offset) => ({ ...lineAndColumn(source, offset), text: source }),
    standing: () => null,
  };
}

/** A name for messages of the compiler: that of the function without its template arguments. */
function fileName(name: string): string {
  return name.replace(/<.*$/s, '').replace(/.*::/, '') || 'kernel';
}

/** The options as they are now, checked: what is compiled later does not change with the caller's object. */
function checkOptions<S extends Schema>(
  source: unknown,
  options: CudaKernelOptions<S>,
): CudaKernelOptions<S> {
  const problem = (message: string) =>
    new WarpstageError({
      code: 'WS4007',
      message: `compile: ${message}`,
      hint: "write for example device.compile(source, { name: 'scale', schema: { y: 'f32[]', a: 'f32' } })",
    });
  if (typeof source !== 'string') throw problem(`the source must be a string, and is ${typeof source}`);
  if (typeof options?.name !== 'string' || options.name === '')
    throw problem('`name` must name a __global__ function');
  const { name, sharedMemory = 0, options: more = [] } = options;
  if (!Number.isSafeInteger(sharedMemory) || sharedMemory < 0) {
    throw problem(`\`sharedMemory\` must be a number of bytes, and is ${String(sharedMemory)}`);
  }
  return { name, schema: schemaOf(options.schema, parseSchema), sharedMemory, options: [...more] };
}
