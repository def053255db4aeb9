// Pipelines of one stage: it is kept twice where a kernel cannot tell, and what comes of it stays clean under every
// schedule and gives the same bits; where a kernel might tell, the one stage stays one.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Program } from '#warpstage/compiler/ir.js';
import { verifyProgram } from '#warpstage/compiler/verify.js';
import { singleStageKernelText, stagingInputLength, stagingSchema } from '../differential/random-staging.ts';
import { randomLimit, randomRuns, tapes } from '../differential/tape.ts';
import { choiceOf, compareLowered, programOfText } from '../support/rewritten.ts';
import { atLength } from '../support/thorough.ts';

const threads = 64;
const batches = 7;

interface Writing {
  readonly begin?: string;
  /** Elements of the stage, and a declaration of more. */
  readonly length?: string;
  readonly declared?: string;
  readonly loop?: string;
  readonly update?: string;
  /** What stands in a turn: first, in place of the copy, before the wait, behind it, behind the release. */
  readonly first?: string;
  readonly copy?: string;
  readonly early?: string;
  readonly wait?: string;
  readonly use?: string;
  readonly later?: string;
  readonly end?: string;
}

const copyFrom = (from: string, to = 'staged') =>
  `cuda.memcpyAsync(block, ${to}, input.subarray(${from}), 64, pipe);`;
const forLoop = 'for (let c = 0; c < batches; c++)';

function textOf(writing: Writing): string {
  const {
    begin = '',
    length = '64',
    declared = '',
    loop = forLoop,
    update = '',
    first = '',
    early = '',
  } = writing;
  const { copy = copyFrom('c * 64'), wait = 'pipe.consumerWait();', later = '', end = '' } = writing;
  const { use = 'out[c * 64 + t] = 3 * staged[63 - t] + c;' } = writing;
  return `({ out, scratch, input, order, batches, size, late }, cuda) => {
    const block = cuda.thisThreadBlock();
    const t = block.threadRank();
    const staged = cuda.sharedArray('i32', ${length});
    ${declared}
    const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
    ${begin}
    ${loop} {
      ${first}
      pipe.producerAcquire();
      ${copy}
      pipe.producerCommit();
      ${early}
      ${wait}
      ${use}
      pipe.consumerRelease();
      ${later}
      ${update}
    }
    ${end}
  }`;
}

const schema = {
  out: 'i32[]',
  scratch: 'i32[]',
  input: 'readonly i32[]',
  order: 'readonly i32[]',
  batches: 'index',
  size: 'index',
  late: 'index',
};

const programOf = (writing: Writing): Program => programOfText(schema, textOf(writing), [threads, 1]);

const dataOf = () => ({
  out: new Int32Array(threads * 12),
  scratch: new Int32Array(4096),
  input: Int32Array.from({ length: threads * 16 }, (_, i) => 7 * i + 1),
  order: Int32Array.from({ length: 64 }, (_, i) => (5 * i) % 7),
  batches,
  size: 64,
  late: 0,
});

function expectTwice(writing: Writing): void {
  const program = programOf(writing);
  const { lowering, program: twice, why } = choiceOf(program);
  expect(lowering, why).toBe('bulk');
  expect(twice?.pipelines.map(({ stages }) => stages)).toEqual([2]);
  verifyProgram(twice!);
  for (const bytesUnderWay of [1024, 32 * 1024])
    compareLowered(program, dataOf, textOf(writing), { bytesUnderWay });
}

describe('a stage is kept twice', () => {
  const writings: Record<string, Writing> = {
    'in the guide’s loop': {},
    'with what is computed of the batch in between': {
      first: 'const at = c * 2; const from = at * 32;',
      copy: copyFrom('from'),
      early: 'const more = from + t;',
      use: 'out[more] = staged[63 - t] + at;',
    },
    'of two arrays': {
      declared: "const other = cuda.sharedArray('i32', 64);",
      copy: `${copyFrom('c * 64')} ${copyFrom('c * 64 + 128', 'other')}`,
      use: 'out[c * 64 + t] = staged[63 - t] * 3 - other[(t + 5) % 64];',
    },
    'beside another shared array': {
      declared: "const own = cuda.sharedArray('i32', 64);",
      use: 'own[t] = staged[63 - t]; out[c * 64 + t] = own[t];',
    },
    'from a later batch on': { loop: 'for (let c = 3; c < batches; c++)' },
    'with two ends': { loop: 'for (let c = 0; c < batches && c < 5; c++)' },
    'where it is read by loops and in branches': {
      begin: 'let sum = 0;',
      use: `for (let i = 0; i < 4; ++i) { if ((i + t) % 3 === 0) sum = sum * 3 + staged[(t + i) % 64]; }
        out[c * 64 + t] = sum;`,
    },
    'where stores come before the copy of a turn': {
      first: 'out[c * 64 + t] = c;',
      use: 'out[c * 64 + t] += staged[63 - t];',
    },
    'with work behind the release': { later: 'out[c * 64 + t] = out[c * 64 + t] * 3 + 1;' },
    'where it is made for all of the kernel and left': { end: 'pipe.quit();' },
  };
  test.each(Object.entries(writings))('%s', (_, writing) => expectTwice(writing));

  test.each([0, 1, 2, 3, 4, 5, 6, 8, 12])('for %i batches', (count) => {
    const text = textOf({ end: 'out[64 * 11 + t] = 1;' });
    compareLowered(programOfText(schema, text, [threads, 1]), () => ({ ...dataOf(), batches: count }), text);
  });
});

describe('the one stage stays one', () => {
  const writings: Record<string, Writing> = {
    'where a source is read in memory': { copy: copyFrom('order[c] * 64') },
    'where a source goes on by itself': { begin: 'let at = 0;', copy: copyFrom('at'), later: 'at += 64;' },
    'where a source is known from the turn before': {
      begin: 'let at = 0; let next = 0;',
      first: 'at = next; next = c * 64;',
      copy: copyFrom('at'),
    },
    'where the copy fills a part': { length: '128', use: 'out[c * 64 + t] = staged[63 - t];' },
    'where it fills another part': {
      length: '128',
      copy: copyFrom('c * 64', 'staged.subarray(64)'),
      use: 'out[c * 64 + t] = staged[64 + t];',
    },
    'where the kernel keeps two of its own': {
      length: '128',
      copy: copyFrom('c * 64', 'staged.subarray((c % 2) * 64)'),
      use: 'out[c * 64 + t] = staged[t]; if (c > 0) out[c * 64 + t] += staged[((c + 1) % 2) * 64 + t];',
    },
    'where two copies fill it': { copy: `${copyFrom('c * 64')} ${copyFrom('c * 64')}` },
    'where the length is asked for': { use: 'out[c * 64 + t] = staged[63 - t] + staged.length;' },
    'where it is read behind the loop': { end: 'out[t] = staged[t];' },
    'where threads store to it': { use: 'staged[t] = staged[t] + 1; out[c * 64 + t] = staged[t];' },
    'where a loop is left': { later: 'if (c === 4) break;' },
    'where a thread may return': { later: 'if (c === 4) return;' },
    'where a turn is ended early': { later: 'if (c === 4) continue; out[c * 64 + t] = c;' },
    'where the end moves': {
      begin: 'let n = 2;',
      loop: 'for (let c = 0; c < n; c++)',
      later: 'if (n < batches) n += 1;',
    },
    'where the end is read in memory': { loop: 'for (let c = 0; c < order[1]; c++)' },
    'where the counter is moved': { later: 'if (c === 3) c += 1;' },
    'where batches are left out': { loop: 'for (let c = 0; c < batches; c += 2)' },
    'where a loop counts down': { loop: 'for (let c = batches - 1; c >= 0; c--)' },
    'where the first batch is not known': { loop: 'for (let c = size - 63; c < batches; c++)' },
    'where the loop is tested behind a turn': {
      begin: 'let c = 0;',
      loop: 'do',
      update: 'c++; } while (c < batches); {',
      end: '',
    },
    'in another loop': { begin: 'for (let turn = 0; turn < 2; turn++)' },
    'where the pipeline is used elsewhere too': {
      end: `pipe.producerAcquire(); ${copyFrom('0')} pipe.producerCommit(); pipe.consumerWait(); pipe.consumerRelease();`,
    },
    'where threads meet in a turn': { later: 'block.sync();' },
    'where a turn waits': { early: 'cuda.nanosleep(late);' },
    'where a turn asks for the time': { early: 'out[t] = cuda.clock64() > 0 ? 1 : 2;' },
    'where a turn tells something': {
      use: 'out[c * 64 + t] = staged[63 - t]; if (late > 0) console.log(c);',
    },
    'where a turn is asserted': { early: 'cuda.assert(c < 100);' },
    'where an atomic operation orders': { later: 'cuda.atomicAdd(scratch, 0, 1);' },
    'where one does before the loop': { begin: 'cuda.atomicAdd(scratch, 0, 1);' },
    'where threads meet elsewhere': {
      use: 'out[c * 64 + t] = staged[63 - t]; if (c > 0) out[c * 64 + t] += out[c * 64 - 1 - t];',
    },
    'where two arrays are written': { use: 'out[c * 64 + t] = staged[63 - t]; scratch[c * 64 + t] = c;' },
    'where there is another pipeline': {
      declared: "const other = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));",
      end: 'other.producerAcquire(); other.producerCommit(); other.consumerWait(); other.consumerRelease();',
    },
    'where a wait may time out': { wait: 'pipe.consumerWaitFor(1e9);' },
    'where the launch says how much is shared': {
      declared: "const own = cuda.sharedArray('i32', size); own[t] = t;",
    },
    'where it is too much for a block': { declared: "const own = cuda.sharedArray('i32', 700); own[t] = t;" },
  };
  test.each(Object.entries(writings))('%s', (name, writing) => {
    const program = programOf(writing);
    const { lowering, program: twice } = choiceOf(program);
    expect({ lowering, twice }).toEqual({
      lowering: writing.wait === undefined ? 'groups' : 'barriers',
      twice: undefined,
    });
    if (!/time/.test(name)) compareLowered(program, dataOf, textOf(writing));
  });

  const program = programOf({});
  test('where a written array may overlap the source', () => {
    const { lowering, program: twice } = choiceOf(program, { alignment: 8 });
    expect({ lowering, twice }).toEqual({ lowering: 'groups', twice: undefined });
  });

  test('where the source may be written', () => {
    const written = programOfText({ ...schema, input: 'i32[]' }, textOf({}), [threads, 1]);
    const { lowering, program: twice } = choiceOf(written);
    expect({ lowering, twice }).toEqual({ lowering: 'groups', twice: undefined });
  });

  test('in checked kernels', () => {
    expect(choiceOf(program, { checked: true })).toMatchObject({ lowering: 'groups' });
    compareLowered(program, dataOf, textOf({}), { checked: true });
  });
});

test(
  'random kernels with one stage give the same, whether it is kept twice or not',
  () => {
    const seen = { twice: 0, once: 0 };
    const data = () => ({
      out: new Int32Array(threads),
      scratch: new Int32Array(4096),
      x: Int32Array.from({ length: stagingInputLength }, (_, i) => (i * 2_654_435_761) | 0),
      batches: 5,
      who: -1,
      late: 0,
    });
    fc.assert(
      fc.property(tapes(60), (tape) => {
        const text = singleStageKernelText(tape, threads);
        const program = programOfText(stagingSchema, text, [threads, 1]);
        seen[choiceOf(program).program === undefined ? 'once' : 'twice'] += 1;
        compareLowered(program, data, text);
      }),
      randomRuns(atLength ? 60 : 25),
    );
    expect(seen.twice).toBeGreaterThan(0);
    expect(seen.once).toBeGreaterThan(0);
  },
  randomLimit(60),
);
