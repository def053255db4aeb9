// Runs a kernel's text as what it is: JavaScript.
//
// Each thread is a generator of the same text, in which every place where the threads of a
// block wait for each other became a `yield`; all threads run to their next `yield` before any
// goes on. That is right for kernels whose waits all threads reach together. Arrays are plain
// typed arrays, so that nothing of warpstage has a hand in the result.

import type { Value } from '#warpstage/compiler/arithmetic.js';
import { type Extent3, hostArrays } from '#warpstage/kernel/types.js';
import type { HostArray, NumberArray, PlainElement } from './run-program.ts';

/** Where a thread waits, as random kernels write it. */
const waits = /\b(block\.sync|cuda\.syncthreads|pipeline\w*\.(producerAcquire|consumerWait))\(\)/g;

export interface JavaScriptLaunch {
  readonly grid: number;
  readonly block: number;
  readonly arguments: Readonly<Record<string, HostArray | Value>>;
}

/** Runs `(data, cuda) => { … }`; changes the arrays of the arguments. */
export function runAsJavaScript(text: string, launch: JavaScriptLaunch): void {
  const generatorText = text.replace(waits, 'yield').replace(/^\((.*?)\) => \{/s, 'function* kernel($1) {');
  const body = new Function(`return ${generatorText}`)() as (
    data: object,
    cuda: object,
  ) => Generator<undefined, void, void>;
  for (let blockRank = 0; blockRank < launch.grid; blockRank += 1) {
    const shared: NumberArray[] = [];
    const threads = Array.from({ length: launch.block }, (_, rank) =>
      body(launch.arguments, intrinsics(launch, blockRank, rank, shared)),
    );
    let running = threads;
    while (running.length > 0) running = running.filter((thread) => thread.next().done !== true);
  }
}

function intrinsics(
  { grid, block }: JavaScriptLaunch,
  blockRank: number,
  rank: number,
  shared: NumberArray[],
) {
  const gridDim: Extent3 = [grid, 1, 1];
  const extent = ([x, y, z]: Extent3) => ({ x, y, z });
  const blockGroup = {
    size: () => block,
    threadRank: () => rank,
    groupIndex: () => extent([blockRank, 0, 0]),
  };
  // Every thread makes the block's arrays in the same order.
  let made = 0;
  const update = (change: (old: number, value: number) => number) => {
    return (array: NumberArray, index: number, value: number) => {
      const old = array[index]!;
      array[index] = change(old, value);
      return old;
    };
  };
  return {
    thisGrid: () => ({ size: () => grid * block, threadRank: () => blockRank * block + rank }),
    thisThreadBlock: () => blockGroup,
    thisThread: () => ({ size: () => 1, threadRank: () => 0 }),
    threadIdx: extent([rank, 0, 0]),
    blockIdx: extent([blockRank, 0, 0]),
    blockDim: extent([block, 1, 1]),
    gridDim: extent(gridDim),
    sharedArray(element: PlainElement, count: number): NumberArray {
      shared[made] ??= new hostArrays[element](count);
      made += 1;
      return shared[made - 1]!;
    },
    localArray: (element: PlainElement, count: number): NumberArray => new hostArrays[element](count),
    pipelineSharedState: () => null,
    makePipeline: () => ({ producerCommit() {}, consumerRelease() {}, quit() {} }),
    memcpyAsync(group: typeof blockGroup, to: NumberArray, from: NumberArray, count: number): void {
      for (let i = group.threadRank(); i < count; i += group.size()) to[i] = from[i]!;
    },
    atomicAdd: update((old, value) => old + value),
    atomicSub: update((old, value) => old - value),
    atomicMin: update(Math.min),
    atomicMax: update(Math.max),
    atomicAnd: update((old, value) => old & value),
    atomicOr: update((old, value) => old | value),
    atomicXor: update((old, value) => old ^ value),
    atomicExch: update((_old, value) => value),
    i32: (x: number) => x | 0,
    u32: (x: number) => x >>> 0,
    f32: Math.fround,
    f64: (x: number) => x,
  };
}
