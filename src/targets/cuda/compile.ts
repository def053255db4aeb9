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

/** Options that make arithmetic agree with the other targets: no fused multiply-add, IEEE division and roots. */
export function nvrtcOptions(architecture: number): readonly string[] {
  const suffix = architecture === 90 || architecture === 100 ? 'a' : '';
  return [`--gpu-architecture=sm_${architecture}${suffix}`, '--std=c++17', '--fmad=false'];
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
  const image = target.compile(text, `${entry}.cu`, nvrtcOptions(target.architecture));
  return { target: 'cuda', program, scratchBytes: 0, entry, image, lowerings, shared };
}
