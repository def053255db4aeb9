// Loops that keep a pipeline full, and ones that look like them and differ in one thing: what is made of them for a GPU, rotated,
// in step, in rounds, with fewer barriers, gives what the kernel gives, and is clean.

import { describe, expect, test } from 'vitest';
import { type Kernel, kernel as newKernel } from 'warpstage';
import type { Program } from '#warpstage/compiler/ir.js';
import { printProgram } from '#warpstage/compiler/print.js';
import { specialise } from '#warpstage/compiler/specialise.js';
import { newLoopSchedule } from '#warpstage/targets/legalise/loop-schedule.js';
import { rotateFillLoops } from '#warpstage/targets/legalise/rotate.js';
import { deliveries, interpreter } from '../support/interpreter.ts';
import { loweredFor, lowerings } from '../support/lowered.ts';
import { runProgram, type Target } from '../support/run-program.ts';
import { atLength } from '../support/thorough.ts';

interface Variant {
  /** Declares `c` and `f`: how many batches are used, and how many fetched. */
  readonly begin?: string;
  readonly test?: string;
  readonly fillTest?: string;
  readonly inFill?: string;
  readonly acquired?: string;
  /** The batch that is used in turn `c`, where that is another. */
  readonly batch?: string;
  readonly use?: string;
  readonly used?: string;
  readonly released?: string;
  readonly turns?: number;
  /** Whether its inner loop runs at most once a turn, so that it is rotated. */
  readonly isRotated: boolean;
}

const variants: Readonly<Record<string, Variant>> = {
  'the guide’s': { isRotated: true },
  'one that skips the rest of a turn': {
    use: 'if (c % 3 === 1) { sum = sum + 1; pipe.consumerRelease(); continue; }',
    isRotated: false,
  },
  'one whose inner loop is left': { test: 'c < n && c < 7', inFill: 'if (f === 7) break;', isRotated: false },
  'one that fills by a loop': { inFill: 'for (let h = 0; h < 3; ++h) sum = sum + h * f;', isRotated: false },
  'one that uses two batches in some turns': {
    released: `if (c % 3 === 0 && c + 1 < n) {
      ++c;
      pipe.consumerWait();
      sum = sum * 5 + shared[(c % 4) * 64 + t];
      pipe.consumerRelease();
    }`,
    isRotated: false,
  },
  'one with more stages after a while': {
    begin: 'let [c, f, stages] = [0, 0, 2];',
    fillTest: 'f < n && f < c + stages',
    use: 'sum = sum + f * 7;',
    released: 'if (c === 3) stages = 4;',
    isRotated: false,
  },
  'one that comes to know of more batches': {
    begin: 'let [c, f, known] = [0, 0, Math.min(n, 2)];',
    fillTest: 'f < known && f < c + 4',
    use: 'sum = sum + f * 7;',
    released: 'if (c + 1 === known) known = Math.min(n, known + 3);',
    isRotated: false,
  },
  'one that leaves two batches out': {
    begin: 'let [c, f] = [0, 2];',
    test: 'c < n - 2',
    batch: 'c + 2',
    isRotated: true,
  },
  'one that reads how many are fetched': { use: 'sum = sum + f * 7;', isRotated: true },
  'one in another loop': { turns: 3, isRotated: true },
  'one whose threads read, while they fetch, what others stored turns before': {
    acquired: 'if (f >= 4) sum = sum + notes[(f % 4) * 64 + 63 - t];',
    used: 'notes[(c % 4) * 64 + t] = sum;',
    isRotated: true,
  },
  'one whose threads read what others stored in the turn before': {
    use: 'if (c > 0 && c + 3 < n) sum = sum + notes[((c - 1) % 4) * 64 + 63 - t];',
    used: 'notes[(c % 4) * 64 + t] = sum;',
    isRotated: true,
  },
};

function textOf(variant: Variant): string {
  const { begin = 'let [c, f] = [0, 0];', test = 'c < n', fillTest = 'f < n && f < c + 4' } = variant;
  const { inFill = '', acquired = '', batch = 'c', use = '', used = '', released = '', turns = 1 } = variant;
  const loop = `${begin}
  for (; ${test}; ++c) {
    for (; ${fillTest}; ++f) {
      ${inFill}
      pipe.producerAcquire();
      ${acquired}
      cuda.memcpyAsync(block, shared.subarray((f % 4) * 64), input.subarray(f * 64), 64, pipe);
      pipe.producerCommit();
    }
    pipe.consumerWait();
    ${use}
    sum = sum * 3 + shared[((${batch}) % 4) * 64 + 63 - t];
    ${used}
    pipe.consumerRelease();
    ${released}
  }`;
  return `({ out, input, n }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const shared = cuda.sharedArray('i32', 256);
  ${used === '' ? '' : "const notes = cuda.sharedArray('i32', 256);"}
  const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 4));
  let sum = 0;
  ${turns === 1 ? loop : `for (let turn = 0; turn < ${turns}; ++turn) {\n${loop}\n}`}
  out[t] = sum;
}`;
}

/** Tested behind its body, where a turn may be repeated as often as there are stages. */
const testedBehind = `({ out, input, n }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const shared = cuda.sharedArray('i32', 128);
  const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
  let [sum, c] = [0, 0];
  do {
    pipe.producerAcquire();
    cuda.memcpyAsync(block, shared.subarray((c % 2) * 64), input.subarray(c * 64), 64, pipe);
    pipe.producerCommit();
    pipe.consumerWait();
    sum = sum * 3 + shared[(c % 2) * 64 + 63 - t];
    pipe.consumerRelease();
    c++;
  } while (c < n);
  out[t] = sum;
}`;

const batches = 21;
const input = Int32Array.from({ length: 64 * batches }, (_, i) => (i * 2654435761) % 1009);

function programOf(text: string): Program {
  const schema = { out: 'i32[]', input: 'readonly i32[]', n: 'index' } as const;
  const made = newKernel(schema, new Function(`return ${text}`)(), { name: 'fills' }) as unknown as Kernel;
  return specialise(made, { block: [64, 1, 1], indexType: 'i32', functions: {}, constants: {} }).program;
}

function sums(target: Target, program: Program, n: number): number[] {
  const out = new Int32Array(64);
  expect(runProgram(target, program, { grid: 1, arguments: { out, input, n } }).fault).toBeNull();
  return [...out];
}

const all = [
  ...Object.entries(variants).map(([name, variant]) => [name, textOf(variant), variant.isRotated] as const),
  ['one that is tested behind its body', testedBehind, false] as const,
];

describe.each(all)('%s', (_, text, isRotated) => {
  const program = programOf(text);

  test('is rotated where its inner loop runs at most once a turn, and nowhere else', () => {
    const rotated = rotateFillLoops(program, ['groups'], newLoopSchedule(), () => false);
    expect(printProgram(rotated) !== printProgram(program)).toBe(isRotated);
  });

  // With few bytes under way, batches are fetched later than the program says and share barriers.
  test.each(
    lowerings.flatMap(({ name, architecture, options }) =>
      [512, 32_768].map((bytesUnderWay) => [name, bytesUnderWay, architecture, options] as const),
    ),
  )('lowered for %s, with %i bytes under way', (__, bytesUnderWay, architecture, options) => {
    for (const [at, n] of (atLength ? [1, 3, 4, 5, batches] : [3, batches]).entries()) {
      const right = sums(interpreter('late'), program, n);
      // Each count with half of the deliveries, and the others with the other bytes.
      const own = deliveries.filter((_, which) => (which + at + Number(bytesUnderWay === 512)) % 2 === 0);
      for (const delivery of atLength ? own : (['late'] as const)) {
        const found: string[] = [];
        const lowering = { ...options, bytesUnderWay };
        const target = loweredFor(architecture, delivery, ({ message }) => found.push(message), { lowering });
        expect(sums(target, program, n)).toEqual(right);
        expect(found).toEqual([]);
      }
    }
  });
});
