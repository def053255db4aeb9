// Pipelines of thread scope whose threads copy what the block would: they become the block's where that is the
// same, and stay clean under every schedule and give the same bits; where it is not, threads copy on their own.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Program } from '#warpstage/compiler/ir.js';
import { randomLimit, randomRuns } from '../differential/tape.ts';
import { choiceOf, compareLowered, programOfText } from '../support/rewritten.ts';
import { atLength } from '../support/thorough.ts';

interface Writing {
  readonly block: number;
  readonly each: number;
  readonly stages: number;
  /** How far copies run ahead, where that is not as many stages as there are. */
  readonly ahead: number;
  readonly from: string;
  readonly to: string;
  readonly shift: number;
  /** Which element of the stage a thread reads: `t` is its rank, `last` the last thread's. */
  readonly read: string;
  /** What stands before the loop, before the wait, after the wait, after the release, after the loop. */
  readonly first: string;
  readonly early: string;
  readonly wait: string;
  readonly used: string;
  readonly later: string;
  readonly end: string;
  readonly start: number;
  readonly bound: string;
}

const plain: Writing = {
  block: 64,
  each: 1,
  stages: 2,
  ahead: 0,
  from: 't',
  to: 't',
  shift: 0,
  read: 'last - t',
  first: '',
  early: '',
  wait: 'pipe.consumerWait();',
  used: '',
  later: '',
  end: '',
  start: 0,
  bound: 'batches',
};

const batches = 7;

function textOf({ block, each, stages, ahead, from, to, shift, read, ...writing }: Writing): string {
  const width = block * each;
  return `({ out, scratch, input, order, batches, late }, cuda) => {
    const block = cuda.thisThreadBlock();
    const t = block.threadRank();
    const last = ${block - 1};
    const staged = cuda.sharedArray('i32', ${stages * width});
    const other = cuda.sharedArray('i32', ${block});
    const pipe = cuda.makePipeline();
    ${writing.first}
    for (let c = ${writing.start}, f = 0; c < batches; c++) {
      for (; f < ${writing.bound} && f < c + ${stages + ahead}; f++) {
        pipe.producerAcquire();
        cuda.memcpyAsync(staged.subarray((f % ${stages}) * ${width} + (${to}) * ${each}), input.subarray(f * ${width} + ${shift} + (${from}) * ${each}), ${each}, pipe);
        pipe.producerCommit();
      }
      ${writing.early}
      ${writing.wait}
      block.sync();
      ${writing.used}
      let sum = 0;
      for (let i = 0; i < ${each}; i++) sum += staged[(c % ${stages}) * ${width} + (${read}) * ${each} + i];
      out[c * ${block} + t] = sum + c;
      pipe.consumerRelease();
      ${writing.later}
      block.sync();
    }
    ${writing.end}
  }`;
}

const schema = {
  out: 'i32[]',
  scratch: 'i32[]',
  input: 'readonly i32[]',
  order: 'readonly i32[]',
  batches: 'index',
  late: 'index',
};

const programOf = (writing: Writing): Program => programOfText(schema, textOf(writing), [writing.block, 1]);

function compare(writing: Writing, program: Program): void {
  const dataOf = () => ({
    out: new Int32Array(writing.block * batches),
    scratch: new Int32Array(4096),
    input: Int32Array.from({ length: writing.block * writing.each * batches + 64 }, (_, i) => 7 * i + 1),
    order: Int32Array.from({ length: 64 }, (_, i) => i % 3),
    batches,
    late: 0,
  });
  compareLowered(program, dataOf, textOf(writing));
}

describe('the block copies for its threads', () => {
  const writings: Record<string, Partial<Writing>> = {
    'an element each': {},
    'four elements each': { each: 4, stages: 4 },
    'a single stage': { stages: 1 },
    'three stages': { stages: 3 },
    'each thread reads its own': { read: 't' },
    'backwards from the other end': { from: 'last - t', to: 'last - t' },
    'threads that are late': { used: 'if (t > 40) cuda.nanosleep(late);' },
    'a block without whole warps': { block: 16 },
    'other shared elements of each thread': { used: 'other[t] = c;', later: 'if (other[t] < 0) out[t] = 1;' },
  };
  test.each(Object.entries(writings))('%s', (_, part) => {
    const writing = { ...plain, ...part };
    const program = programOf(writing);
    const { lowering, why } = choiceOf(program);
    expect({ lowering, why }).toEqual({
      lowering: 'bulk',
      why: 'its threads copy what the block would, in step',
    });
    compare(writing, program);
  });
});

describe('each thread copies on its own', () => {
  const writings: Record<string, Partial<Writing>> = {
    'where their order is another one': { from: 'last - t' },
    'where parts come from anywhere': { from: '(t + order[t]) % 64' },
    'where a batch begins at any place': { shift: 1 },
    'where threads meet elsewhere': { used: 'scratch[t] = c;' },
    'where they exchange what they know': {
      used: 'other[(t + 1) % 64] = c; block.sync(); if (other[t] < 0) out[t] = 1;',
    },
    'where a stage is read after its release': {
      later: 'if (staged[(c % 2) * 64 + t] === 5) cuda.nanosleep(late);',
    },
    'where a sync stands in a branch': { used: 'if (batches > 3) block.sync();' },
    'where a loop begins later': { first: 'pipe.producerAcquire();' },
    'where more is waited for than is copied': { end: 'pipe.consumerWait();' },
    'where times are asked for': { early: 'pipe.consumerWaitFor(5);', stages: 2 },
    'where the wait may time out': { wait: 'if (!pipe.consumerWaitFor(1e9)) return;' },
    'where it may time out, and that it did is not asked': { wait: 'pipe.consumerWaitFor(1e9);' },
  };
  test.each(Object.entries(writings))('%s', (_, part) => {
    const writing = { ...plain, ...part };
    const program = programOf(writing);
    expect(choiceOf(program).lowering).toBe('thread');
    if (writing.early === '') compare(writing, program);
  });

  test('where the arrays are not known to begin at multiples of 16 bytes', () => {
    expect(choiceOf(programOf(plain), { alignment: 8 }).lowering).toBe('thread');
  });

  test('where the copies begin apart from what is used, or end apart', () => {
    expect(choiceOf(programOf({ ...plain, start: 1 })).lowering).toBe('thread');
    expect(choiceOf(programOf({ ...plain, bound: '(batches + 1)' })).lowering).toBe('thread');
  });
});

test(
  'kernels of thread scope give the same, whichever way is chosen',
  () => {
    const seen = new Set<string>();
    const writings = fc.record({
      block: fc.constantFrom(16, 48, 64),
      each: fc.constantFrom(1, 2, 4),
      stages: fc.integer({ min: 1, max: 5 }),
      from: fc.constantFrom('t', 't', 't', 'last - t', '(t + 1) % (last + 1)'),
      to: fc.constantFrom('t', 't', 't', 'last - t', '(t + 1) % (last + 1)'),
      shift: fc.constantFrom(0, 0, 0, 4, 2, 1),
      read: fc.constantFrom('t', 'last - t', '(t + 5) % (last + 1)'),
      used: fc.constantFrom(
        '',
        '',
        '',
        'if (t > 9) cuda.nanosleep(late);',
        'scratch[t] = c;',
        'block.sync();',
      ),
      later: fc.constantFrom('', '', '', 'cuda.nanosleep(late);', 'block.sync();'),
    });
    fc.assert(
      fc.property(writings, (part) => {
        const writing = { ...plain, ...part };
        const program = programOf(writing);
        seen.add(choiceOf(program).lowering);
        compare(writing, program);
      }),
      randomRuns(atLength ? 30 : 15),
    );
    expect([...seen].sort()).toEqual(['bulk', 'thread']);
  },
  randomLimit(30),
);
