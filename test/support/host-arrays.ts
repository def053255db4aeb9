// Generated CUDA C++ of unchecked kernels as threads of this machine, with arrays of any type: what the text computes
// can be compared without a GPU. What C++ leaves undefined ends the program: sums of integers that leave their type,
// shifts by too many bits or of negative numbers, and conversions of floats that do not fit.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { forgottenMacros, forHost } from './host-cuda.ts';
import type { HostArray } from './run-program.ts';

export interface ArrayLaunch {
  /** CUDA C++ for compute capability 7.5. */
  readonly text: string;
  readonly grid: number;
  readonly block: number;
  /** In the order of the kernel's parameters. */
  readonly parameters: readonly (HostArray | number | boolean)[];
}

const checks = [
  '-fsanitize=signed-integer-overflow,shift,integer-divide-by-zero,float-cast-overflow',
  '-fsanitize-undefined-trap-on-error',
];

/** What each launch leaves in its arrays, in the order of its parameters; its index in the list where it is stopped. */
export function runOnHost(launches: readonly ArrayLaunch[]): (HostArray[] | 'undefined behaviour')[] {
  const folder = mkdtempSync(join(tmpdir(), 'warpstage-host-arrays-'));
  try {
    const [source, program] = [join(folder, 'kernels.cpp'), join(folder, 'kernels')];
    const header = fileURLToPath(new URL('./host-cuda.h', import.meta.url));
    const cases = launches.map((_, i) => `    case ${i}: kernel_${i}::ws_run(); break;`);
    const main = `int main(int, char** operands) {\n  switch (std::atoi(operands[1])) {\n${cases.join('\n')}\n  }\n}\n`;
    writeFileSync(source, [`#include "${header}"`, ...launches.map(part), main].join('\n'));
    const flags = ['-std=c++17', '-O1', '-w', '-ffp-contract=off', '-pthread', ...checks];
    execFileSync('c++', [...flags, '-o', program, source]);
    return launches.map((launch, i) => run(program, launch, i));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function run(program: string, { parameters }: ArrayLaunch, i: number): HostArray[] | 'undefined behaviour' {
  let bytes: Buffer;
  try {
    bytes = execFileSync(program, [String(i)], { timeout: 60_000, maxBuffer: 1 << 26 });
  } catch (error) {
    // A trap of the compiler's: SIGILL or, on other processors, SIGTRAP.
    if (['SIGILL', 'SIGTRAP'].includes((error as { signal?: string }).signal ?? ''))
      return 'undefined behaviour';
    throw error;
  }
  let at = 0;
  return parameters.filter(isArray).map((given) => {
    const copy = given.slice();
    new Uint8Array(copy.buffer).set(bytes.subarray(at, at + copy.byteLength));
    at += copy.byteLength;
    return copy;
  });
}

function isArray(parameter: HostArray | number | boolean): parameter is HostArray {
  return typeof parameter === 'object';
}

/** One launch, in a namespace of its own; it prints the bytes of its arrays. */
function part({ text, grid, block, parameters }: ArrayLaunch, i: number): string {
  const [, entry, list] = /__global__ void .*? (\w+)\((.*)\) \{/.exec(text)!;
  const types = list!.split(', ').map((each) => each.replace(/ \w+$/, ''));
  const arrays = parameters.filter(isArray);
  const memory = arrays.map(({ buffer, byteLength }, position) => {
    const bytes = new Uint8Array(buffer, 0, byteLength).join();
    return `alignas(16) static unsigned char array_${position}[] = {${bytes}};`;
  });
  const operands = parameters.flatMap((one) =>
    isArray(one) ? [`array_${arrays.indexOf(one)}`, String(one.length)] : [constant(one)],
  );
  const cast = operands.map((operand, position) => `(${types[position]})${operand}`);
  const print = arrays.map(
    (_, position) => `  std::fwrite(array_${position}, 1, sizeof array_${position}, stdout);`,
  );
  return `#undef WS_DEVICE
${forgottenMacros(text)}
namespace kernel_${i} {
alignas(128) unsigned char ws_shared_memory[65536];
${forHost(text)}
${memory.join('\n')}
static void ws_run() {
  ws_grid({${grid}, 1, 1}, {${block}, 1, 1}, [&] { ${entry}(${cast.join(', ')}); });
${print.join('\n')}
}
}`;
}

function constant(value: number | boolean): string {
  return Number.isInteger(value) ? `${value}ll` : String(value);
}
