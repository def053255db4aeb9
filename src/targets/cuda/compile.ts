// From a program to machine code for one architecture, by NVRTC.

import type { Program } from '../../compiler/ir.ts';
import type { Executable } from '../executable.ts';
import { generateCuda } from './generate.ts';
import { blockUniformPipelines } from './synchronisation.ts';

/** Options of compilation that change what the code means or needs. */
export interface CudaTarget {
  /** Compute capability times ten. */
  readonly architecture: number;
  /** Compiles CUDA C++ with the given options. */
  readonly compile: (text: string, name: string, options: readonly string[]) => Uint8Array;
}

/**
 * Options of NVRTC. Without `fma` arithmetic agrees with the other targets to the bit: no fused multiply-add,
 * IEEE division and roots. Line numbers lead profilers and debuggers to the kernel's own source.
 */
export function nvrtcOptions(architecture: number, { fma = false }: Pick<Program, 'fma'>): readonly string[] {
  const suffix = architecture === 90 || architecture === 100 ? 'a' : '';
  return [
    `--gpu-architecture=sm_${architecture}${suffix}`,
    '--std=c++17',
    `--fmad=${fma}`,
    '--generate-line-info',
  ];
}

function generate(program: Program, alignments: readonly number[], architecture: number) {
  return generateCuda(program, {
    architecture,
    alignments,
    blockUniform: blockUniformPipelines(program),
    lineDirective: () => null,
  });
}

/** The CUDA C++ of a program whose arrays begin at multiples of 16 bytes. */
export function cudaText(program: Program, architecture: number): string {
  return generate(
    program,
    program.parameters.map(() => 16),
    architecture,
  ).text;
}

/** Compiles a program for arrays whose addresses are divisible by the given powers of two. */
export function compileCuda(program: Program, alignments: readonly number[], target: CudaTarget): Executable {
  const { text, entry, lowerings, shared } = generate(program, alignments, target.architecture);
  const image = target.compile(text, `${entry}.cu`, nvrtcOptions(target.architecture, program));
  return { target: 'cuda', program, scratchBytes: 0, entry, image, lowerings, shared };
}
