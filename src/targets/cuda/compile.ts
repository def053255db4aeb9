// From a program to machine code for one architecture, by NVRTC.

import type { Program } from '../../compiler/ir.ts';
import type { Specialised } from '../../compiler/specialise.ts';
import { WarpstageError } from '../../diagnostics/error.ts';
import type { KernelSource } from '../../diagnostics/source.ts';
import type { Executable } from '../executable.ts';
import type { LoweringOptions } from '../legalise/lowering.ts';
import { blockUniformPipelines } from '../legalise/synchronisation.ts';
import { generateCuda } from './generate.ts';
import { lineDirectives } from './line-directives.ts';

/** Options of compilation that change what the code means or needs. */
export interface CudaTarget {
  /** Compute capability times ten. */
  readonly architecture: number;
  /** Whether profilers and debuggers are to show the lines of the user's files. */
  readonly lineInfo?: boolean;
  /** Whether accesses, copies and divisions are tested as the kernel runs. */
  readonly checked?: boolean;
  /** Bytes that should be on their way to a multiprocessor of this GPU. Default: those of an H200. */
  readonly bytesUnderWay?: number | undefined;
  /** Compiles CUDA C++ with the given options. */
  readonly compile: (text: string, name: string, options: readonly string[]) => Uint8Array;
  /** Architectures whose PTX is wanted as well, and who takes it. */
  readonly portable?: {
    readonly architectures: readonly number[];
    readonly keep: (text: string, name: string, options: readonly string[]) => void;
  };
}

/**
 * Options of NVRTC. Without `fma` arithmetic agrees with the other targets to the bit: no fused multiply-add,
 * IEEE division and roots. Nothing is used that one architecture alone has (sm_90a), so that PTX runs on all
 * later ones; machine code is the same.
 */
export function nvrtcOptions(
  architecture: number,
  { fma = false }: Pick<Program, 'fma'>,
  lineInfo = false,
): readonly string[] {
  return [
    `--gpu-architecture=sm_${architecture}`,
    '--std=c++17',
    `--fmad=${fma}`,
    ...(lineInfo ? ['--generate-line-info'] : []),
  ];
}

/** The same for PTX, the code that the driver of any later GPU compiles. */
export function ptxOptions(...operands: Parameters<typeof nvrtcOptions>): readonly string[] {
  return nvrtcOptions(...operands).map((option) =>
    option.replace('architecture=sm_', 'architecture=compute_'),
  );
}

function generate(
  program: Program,
  alignments: readonly number[],
  architecture: number,
  sources: readonly KernelSource[] | null,
  options: Pick<LoweringOptions, 'checked' | 'bytesUnderWay'>,
) {
  return generateCuda(program, {
    ...options,
    architecture,
    alignments,
    blockUniform: blockUniformPipelines(program),
    lineDirective: sources === null ? () => null : lineDirectives(sources),
  });
}

/** The CUDA C++ of a program whose arrays begin at multiples of 16 bytes; with `sources`, lines count in the user's files. */
export function cudaText(
  program: Program,
  architecture: number,
  sources: readonly KernelSource[] | null = null,
  checked = false,
): string {
  const alignments = program.parameters.map(() => 16);
  return generate(program, alignments, architecture, sources, { checked }).text;
}

/**
 * Compiles a program for arrays whose addresses are divisible by the given powers of two.
 *
 * To look up the user's lines takes longer than the compilation itself, so it is done where they are wanted:
 * for `lineInfo`, and when NVRTC refuses the text, to say it in terms of the user's file.
 */
export function compileCuda(
  { program, sources }: Specialised,
  alignments: readonly number[],
  target: CudaTarget,
): Executable {
  const { architecture, lineInfo = false, checked = false, bytesUnderWay, portable } = target;
  const paced = bytesUnderWay === undefined ? { checked } : { checked, bytesUnderWay };
  const make = (lines: boolean) => {
    const source = generate(program, alignments, architecture, lines ? sources : null, paced);
    const options = nvrtcOptions(architecture, program, lines);
    return { ...source, image: target.compile(source.text, `${source.entry}.cu`, options) };
  };
  const { entry, image, lowerings, shared, sites } = attempt(() => make(lineInfo)) ?? make(true);
  for (const older of portable?.architectures ?? []) {
    const { text } = generate(program, alignments, older, null, { checked });
    portable!.keep(text, `${entry}.cu`, ptxOptions(older, program));
  }
  const tells = sites === null ? {} : { checked, sites };
  return { target: 'cuda', program, scratchBytes: 0, entry, image, lowerings, shared, ...tells };
}

function attempt<T>(make: () => T): T | null {
  try {
    return make();
  } catch (error) {
    if (error instanceof WarpstageError && error.code === 'WS1014') return null;
    throw error;
  }
}
