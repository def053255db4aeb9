// nvcc on generated CUDA C++, where it is installed: that it compiles without a warning, and the PTX it becomes.

import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { atLength, partOf } from './thorough.ts';
import { hasTool } from './tools.ts';

export const hasNvcc = hasTool('nvcc');

/** Compiles a text for an architecture, as `sm_` names it; a warning but one of `allowed` is an error. */
async function compile(
  text: string,
  architecture: string,
  output: '-ptx' | '-cubin',
  allowed: readonly number[] = [],
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'warpstage-nvcc-'));
  const [file, out] = [join(folder, 'kernels.cu'), join(folder, 'out')];
  try {
    await writeFile(file, text);
    const options = [`-arch=sm_${architecture}`, '--fmad=false', '-Werror', 'all-warnings', output];
    if (allowed.length > 0) options.push('-diag-suppress', allowed.join());
    const { stdout } = await promisify(execFile)('nvcc', [...options, '-o', out, file]);
    expect(stdout).toBe('');
    return await readFile(out, 'latin1');
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The bytes of shared memory that the only kernel of a text has before it is given any. */
export async function staticSharedOf(text: string, architecture: string): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'warpstage-nvcc-'));
  const file = join(folder, 'kernel.cu');
  try {
    await writeFile(file, text);
    const options = [`-arch=sm_${architecture}`, '-cubin', '-Xptxas', '-v', '-o', join(folder, 'out')];
    const { stderr } = await promisify(execFile)('nvcc', [...options, file]);
    return Number(/ (\d+) bytes smem/.exec(stderr)?.[1] ?? 0);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** What lets the next text define its macros anew. */
function forgetMacros(texts: readonly string[]): string {
  const names = texts.flatMap((text) => [...text.matchAll(/^#define (\w+)/gm)].map(([, name]) => name!));
  return [...new Set(names)].map((name) => `#undef ${name}\n`).join('');
}

/** The PTX of a text. */
export function ptxOf(text: string, architecture: string): Promise<string> {
  return compile(text, architecture, '-ptx');
}

/** Texts of kernels as one file, each in a namespace of its own: nvcc's start costs more than the kernels. */
export function inOneFile(texts: readonly string[]): string {
  return texts
    .map((text, position) => `namespace kernel_${position} {\n${text.replaceAll('extern "C" ', '')}\n}\n`)
    .join(forgetMacros(texts));
}

/**
 * Tests that texts compile for every kind of architecture that is supported, or for an old or a new one where not at
 * length, without a warning but those of `allowed`, which are about what the kernels themselves say.
 */
export function testCompiling(
  what: string,
  textsFor: (architecture: number) => readonly string[],
  allowed: readonly number[] = [],
): void {
  describe.skipIf(!hasNvcc)('nvcc', () => {
    test.each(atLength ? ['75', '80', '90a', '120'] : partOf(['75', '90a'], what.length))(
      `${what} for sm_%s without a warning`,
      async (architecture) => {
        const texts = textsFor(Number.parseInt(architecture, 10));
        await compile(inOneFile(texts), architecture, '-cubin', allowed);
      },
    );
  });
}
