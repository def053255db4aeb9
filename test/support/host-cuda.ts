// Generated CUDA C++ as threads of this machine: what checked kernels do to their channel can then be seen
// without a GPU. The inline PTX that they reach is replaced; what they share and wait for is host-cuda.h's.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hasTool } from './tools.ts';

export const hasHostCompiler: boolean = hasTool('c++');

/** What a launch left in its channel, and in the array `y`. */
export interface HostRun {
  readonly stop: number;
  readonly site: number;
  readonly launch: number;
  readonly rank: number;
  readonly block: readonly [number, number, number];
  readonly values: readonly [number, number, number, number];
  /** Words of lines that were reserved, lines that were lost, and the words themselves. */
  readonly head: number;
  readonly lost: number;
  readonly lines: readonly number[];
  readonly y: readonly number[];
}

export interface HostLaunch {
  /** CUDA C++ for compute capability 7.5. */
  readonly text: string;
  readonly grid: number;
  readonly block: number;
  /** In the order of the entry's parameters: an array's length in 32-bit integers, or a number. */
  readonly parameters: readonly ({ readonly length: number } | number)[];
  /** Words that the ring of lines has. */
  readonly words?: number;
  /** Milliseconds that a thread waits at most. */
  readonly patience?: number;
  /** Whether the host has asked for the launch to be stopped. */
  readonly cancelled?: boolean;
}

/** A program of launches, by name. */
export class HostProgram {
  readonly #folder = mkdtempSync(join(tmpdir(), 'warpstage-host-cuda-'));
  readonly #names: readonly string[];

  constructor(launches: Readonly<Record<string, HostLaunch>>) {
    this.#names = Object.keys(launches);
    const header = fileURLToPath(new URL('./host-cuda.h', import.meta.url));
    const parts = Object.values(launches).map(part);
    const cases = parts.map((_, i) => `    case ${i}: kernel_${i}::ws_run(); break;`);
    const main = `int main(int, char** operands) {\n  switch (std::atoi(operands[1])) {\n${cases.join('\n')}\n  }\n}\n`;
    const source = join(this.#folder, 'kernels.cpp');
    writeFileSync(source, [`#include "${header}"`, ...parts, main].join('\n'));
    execFileSync('c++', ['-std=c++17', '-O1', '-w', '-pthread', '-o', this.#path, source]);
  }

  get #path(): string {
    return join(this.#folder, 'kernels');
  }

  run(name: string): HostRun {
    const operands = [String(this.#names.indexOf(name))];
    return JSON.parse(execFileSync(this.#path, operands, { encoding: 'utf8', timeout: 60_000 })) as HostRun;
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true });
  }
}

/** One launch, in a namespace of its own. */
function part(
  { text, grid, block, parameters, words = 64, patience = 20_000, cancelled = false }: HostLaunch,
  i: number,
): string {
  const [, entry] = /__global__ void .*? (\w+)\(/.exec(text)!;
  const arrays = parameters.filter((one) => typeof one === 'object');
  const names = arrays.map((_, position) => `array_${position}`);
  let next = 0;
  const operands = parameters.flatMap((one) =>
    typeof one === 'object' ? [`${names[next++]}.data()`, String(one.length)] : [String(one)],
  );
  const json = (list: string, size: string) =>
    `std::printf("["); for (size_t i = 0; i < ${size}; ++i) std::printf("%s%lld", i ? "," : "", (long long)${list}[i]); std::printf("]");`;
  return `#undef WS_DEVICE
${forgottenMacros(text)}
namespace kernel_${i} {
alignas(128) unsigned char ws_shared_memory[65536];
${forHost(text)}
static void ws_run() {
${arrays.map(({ length }, position) => `  std::vector<int> ${names[position]}(${length});`).join('\n')}
  ws_record record{};
  ws_ring ring{};
  unsigned long long head = 0;
  std::vector<unsigned long long> lines(${words});
  ws_channel channel{};
  channel.cancelled = ${cancelled ? '8ull << 32 | 6' : 0};
  channel.record = &record;
  channel.ring = &ring;
  channel.head = &head;
  channel.lines = lines.data();
  channel.words = ${words};
  channel.patience = ${patience}000000ull;
  ws_grid({${grid}, 1, 1}, {${block}, 1, 1}, [&] { ${entry}(${[...operands, '&channel', '7u'].join(', ')}); });
  std::printf("{\\"stop\\":%u,\\"site\\":%u,\\"launch\\":%u,\\"rank\\":%u,\\"head\\":%llu,\\"lost\\":%u,\\"block\\":", channel.stop, record.site, record.launch, record.rank, head, ring.lost);
  ${json('record.block', '3')}
  std::printf(",\\"values\\":");
  ${json('record.values', '4')}
  std::printf(",\\"lines\\":");
  ${json('lines', 'lines.size()')}
  std::printf(",\\"y\\":");
  ${json('array_0', 'array_0.size()')}
  std::printf("}");
}
}`;
}

/** What lets the next text define its macros anew. */
export function forgottenMacros(text: string): string {
  return [...text.matchAll(/^#define (\w+)/gm)].map(([, name]) => `#undef ${name}`).join('\n');
}

/** The text with what only a GPU's compiler knows replaced. */
export function forHost(text: string): string {
  return text
    .replaceAll('extern "C" ', '')
    .replaceAll(/extern __shared__ __align__\(\d+\)/g, 'extern')
    .replaceAll('static __shared__', 'static')
    .replaceAll('__shared__', 'static')
    .replaceAll('asm volatile("exit;");', 'throw ws_exit{};')
    .replaceAll(/asm\("mov\.u32 %0, %laneid;".*\);/g, 'lane = ws_laneid();')
    .replaceAll(/asm volatile\("mov\.u64 %0, %globaltimer;".*\);/g, 'time = ws_nanoseconds();');
}
