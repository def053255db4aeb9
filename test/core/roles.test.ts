// Pipelines whose producers only copy: one thread copies for all of them where that is the same, and what comes
// out is clean under every schedule and gives the same bits; where it is not, the threads keep their parts.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Program } from '#warpstage/compiler/ir.js';
import { randomLimit, randomRuns } from '../differential/tape.ts';
import { interpreter } from '../support/interpreter.ts';
import { loweredFor } from '../support/lowered.ts';
import { choiceOf, compareLowered, programOfText } from '../support/rewritten.ts';
import { runProgram } from '../support/run-program.ts';
import { atLength } from '../support/thorough.ts';

/** How a kernel with roles is written. */
interface Writing {
  readonly block: number | readonly [number, number];
  /** Whether thread `t` is a producer, and its number among those of its role. */
  readonly produces: string;
  readonly own: string;
  readonly producers: number;
  /** Elements that each producer copies. */
  readonly each: number;
  readonly stages: number;
  /**
   * Whether producers and consumers share the loop, have loops of their own, consumers part on their way, or
   * producers fill the pipeline before it.
   */
  readonly loops: 'shared' | 'own' | 'parted' | 'filled' | 'empty';
  readonly partition: 'role' | 'count';
  /** Which part of a batch a producer copies, and where it puts it. */
  readonly from: string;
  readonly to: string;
  /** Which element of a stage a consumer takes for the one `at` of the batch. */
  readonly taken: string;
  /** Where the first batch begins. */
  readonly shift: number;
  /** What producers do before a commit, and consumers after a wait, besides. */
  readonly produced: string;
  readonly consumed: string;
  /** What all threads do at the end of a turn, and after the last one. */
  readonly turned: string;
  readonly after: string;
}

const plain: Writing = {
  block: 64,
  produces: 't % 2 === 0',
  own: 'Math.trunc(t / 2)',
  producers: 32,
  each: 1,
  stages: 2,
  loops: 'shared',
  partition: 'role',
  from: 'own',
  to: 'own',
  taken: 'last - at',
  shift: 0,
  produced: '',
  consumed: '',
  turned: '',
  after: '',
};
const halves = { produces: 't < 32', own: '(t % 32)' } as const;

function textOf(writing: Writing): string {
  const { block, produces, own, producers, each, stages, loops, partition, from, to, shift } = writing;
  const threads = typeof block === 'number' ? block : block[0] * block[1];
  const width = producers * each;
  const consumers = threads - producers;
  const fill = loops === 'filled' ? stages - 1 : 0;
  const taken = Array.from({ length: Math.ceil(width / consumers) }, (_, i) => {
    const at = `${i * consumers} + own`;
    return `if (${at} < ${width}) out[c * ${width} + ${at}] = 3 * staged[stage + ${writing.taken.replaceAll('at', `(${at})`).replaceAll('last', String(width - 1))}] + c;`;
  });
  const bodies = {
    own: `
      if (produces) for (let f = 0; f < batches; f++) fetch(f);
      else for (let c = 0; c < batches; c++) use(c);`,
    shared: `
      for (let c = 0, f = 0; c < batches; c++) {
        for (; f < batches && f < c + ${stages}; f++) if (produces) fetch(f);
        if (!produces) use(c);
        ${writing.turned}
      }`,
    parted: `
      if (produces) for (let f = 0; f < batches; f++) fetch(f);
      else for (let c = 0; c < batches; c++) if (own % 2 === 0) use(c); else use(c);`,
    empty: `
      for (let c = 100, f = 0; c < batches; c++) {
        for (; f < batches && f < c + ${stages}; f++) if (produces) fetch(f);
        if (!produces) use(c);
      }
      if (!produces) out[own] = 7;`,
    filled: `
      if (produces) for (let f = 0; f < ${fill}; f++) if (f < batches) fetch(f);
      for (let c = 0; c < batches; c++) {
        if (produces) { if (c + ${fill} < batches) fetch(c + ${fill}); }
        else use(c);
      }`,
  };
  return `({ out, scratch, input, order, batches, late }, cuda) => {
    const block = cuda.thisThreadBlock();
    const t = block.threadRank();
    const produces = ${produces};
    const own = ${own};
    const staged = cuda.sharedArray('i32', ${stages * width + 64});
    const state = cuda.pipelineSharedState('block', ${stages});
    const pipe = cuda.makePipeline(block, state, ${partition === 'role' ? "produces ? 'producer' : 'consumer'" : producers});
    const fetch = (f) => {
      const stage = (f % ${stages}) * ${width};
      pipe.producerAcquire();
      cuda.memcpyAsync(staged.subarray(stage + (${to}) * ${each}), input.subarray(f * ${width} + ${shift} + (${from}) * ${each}), ${each}, pipe);
      ${writing.produced}
      pipe.producerCommit();
    };
    const use = (c) => {
      const stage = (c % ${stages}) * ${width};
      pipe.consumerWait();
      ${writing.consumed}
      ${taken.join('\n      ')}
      pipe.consumerRelease();
    };
    let last = 0;
    ${bodies[loops]}
    ${writing.after}
  }`;
}

const batches = 7;

function programOf(writing: Writing): Program {
  const schema = {
    out: 'i32[]',
    scratch: 'i32[]',
    input: 'readonly i32[]',
    order: 'readonly i32[]',
    batches: 'index',
    late: 'index',
  };
  const { block } = writing;
  return programOfText(schema, textOf(writing), typeof block === 'number' ? [block, 1] : block);
}

function dataOf({ producers, each }: Writing) {
  const elements = producers * each * batches;
  return {
    out: new Int32Array(elements),
    scratch: new Int32Array(4096),
    input: Int32Array.from({ length: elements + 64 }, (_, i) => Math.imul(i + 1, 2_654_435_761)),
    order: Int32Array.from({ length: batches }, (_, i) => (3 * i) % batches),
    batches,
    late: 0,
  };
}

function compare(writing: Writing, program: Program): void {
  compareLowered(program, () => dataOf(writing), textOf(writing));
}

describe('one thread copies for all producers', () => {
  const writings: Record<string, Partial<Writing>> = {
    'even threads': {},
    'the first warps': halves,
    'the last warps': { produces: 't >= 32', own: '(t % 32)' },
    'one thread of four': {
      block: 128,
      produces: 't % 4 === 0',
      own: '(t % 4 === 0 ? Math.trunc(t / 4) : Math.trunc(t / 4) * 3 + (t % 4) - 1)',
      each: 4,
    },
    'every second warp': {
      block: 128,
      produces: 'Math.trunc(t / 32) % 2 === 1',
      own: '(Math.trunc(t / 64) * 32 + t % 32)',
      producers: 64,
    },
    'so many producers': { ...halves, partition: 'count' },
    'rows of a block': { block: [16, 4], produces: 'cuda.threadIdx.y >= 2', own: '(t % 32)' },
    'loops of their own': { loops: 'own' },
    'a loop before the loop': { loops: 'filled', stages: 4 },
    'stages that are no power of two': { stages: 3 },
    'more than one element': { each: 3, stages: 1 },
    'consumers that are late': { consumed: 'if (own > 20) cuda.nanosleep(late);' },
    'a source that is read from an array': {
      from: 'own + 32 * order[f] - f * 32',
      loops: 'own',
    },
    'a loop that is never entered': { loops: 'empty' },
    'backwards from the other end': { from: '31 - own', to: '31 - own' },
  };
  test.each(Object.entries(writings))('%s', (_, part) => {
    const writing = { ...plain, ...part };
    const program = programOf(writing);
    const { lowering, why } = choiceOf(program);
    expect({ lowering, why }).toEqual({
      lowering: 'roles',
      why: 'one thread copies for all of its producers',
    });
    compare(writing, program);
  });

  const untold: Record<string, RegExp> = {
    'a source that is read from an array': /what its producers read or divide by/,
    'backwards from the other end': /their order is not that of the ranks/,
  };
  test.each(Object.entries(writings))('%s, where each copy is tested', (name, part) => {
    const writing = { ...plain, ...part };
    const program = programOf(writing);
    const { lowering, why } = choiceOf(program, { checked: true });
    expect(lowering).toBe(name in untold ? 'barriers' : 'roles');
    if (name in untold) expect(why).toMatch(untold[name]!);
    compareLowered(program, () => dataOf(writing), textOf(writing), { checked: true });
  });

  test.each([
    ['even threads', {}],
    ['the last warps', { produces: 't >= 32', own: '(t % 32)' }],
    ['one thread of four', { ...writings['one thread of four'] }],
    ['rows of a block', { ...writings['rows of a block'] }],
    ['more than one element', { each: 4 }],
    ['a loop before the loop', { loops: 'filled', stages: 4 }],
  ] as const)('%s: a wrong copy is that of the thread whose part it is', (_, part) => {
    const writing = { ...plain, ...part } as Writing;
    const program = programOf(writing);
    expect(choiceOf(program, { checked: true }).lowering).toBe('roles');
    const elements = writing.producers * writing.each;
    for (const missing of [1, 2, 5, elements >> 1, elements]) {
      const run = (target: Parameters<typeof runProgram>[0]) => {
        const data = { ...dataOf(writing), input: new Int32Array(elements * batches - missing) };
        return runProgram(target, program, { grid: 1, arguments: data }).fault;
      };
      const expected = run(interpreter('eager'));
      expect(expected?.kind).toBe('out-of-range');
      for (const delivery of ['eager', 'late', 3] as const)
        expect(run(loweredFor(90, delivery, () => {}, { lowering: { checked: true } }))).toEqual(expected);
    }
  });

  test('copies that promise more than a part has are tested one by one', () => {
    const text = textOf(plain).replace('1, pipe)', 'cuda.alignedSize(8, 1), pipe)');
    expect(text).not.toBe(textOf(plain));
    const program = programOfText(
      {
        out: 'i32[]',
        scratch: 'i32[]',
        input: 'readonly i32[]',
        order: 'readonly i32[]',
        batches: 'index',
        late: 'index',
      },
      text,
      [64, 1],
    );
    expect(choiceOf(program, { checked: true }).lowering).toBe('barriers');
  });
});

describe('every producer does its part', () => {
  const writings: Record<string, [part: Partial<Writing>, why: RegExp]> = {
    'where they store': [{ produced: 'scratch[own] = f;' }, /threads may meet elsewhere/],
    'where they read': [{ produced: 'if (input[own] === 5) cuda.nanosleep(late);' }, /more than copy/],
    'where their order is another one': [{ from: '31 - own' }, /other than one part/],
    'where there are gaps': [{ from: '2 * own', shift: 0, stages: 1 }, /other than one part/],
    'where stages have gaps': [
      { stages: 1, to: 'own + 16 * (own % 32 >= 16 ? 1 : 0)', taken: 'at + 16 * (at >= 16 ? 1 : 0)' },
      /other than one part/,
    ],
    'where one part is copied twice': [{ from: 'Math.min(own, 30)' }, /other than one part/],
    'where parts come from anywhere': [{ from: '(own + order[own % 7]) % 32' }, /other than one part/],
    'where a batch begins at any place': [{ shift: 1 }, /aligned to 4 bytes/],
    'where their bytes are too few': [{ block: 64, each: 1, shift: 2 }, /aligned to 8 bytes/],
    'where warps are not filled': [
      { produces: 't < 48', own: '(t < 48 ? t : t - 48)', producers: 48, each: 4 },
      /whole warps/,
    ],
    'where their ranks follow no rule': [
      {
        produces: 't % 4 === 0 || t % 4 === 3',
        own: '(t % 4 === 0 || t % 4 === 3 ? Math.trunc(t / 4) * 2 + t % 2 : Math.trunc(t / 4) * 2 + t % 4 - 1)',
      },
      /regular/,
    ],
    'where lanes of a warp meet': [
      { produces: 't >= 32', own: '(t % 32)', consumed: 'cuda.syncwarp();' },
      /asks for warps/,
    ],
    'where a thread tells its rank': [
      { consumed: "if (c > 100) console.log('thread', t);" },
      /asks for warps/,
    ],
    'where consumers come on two ways': [{ ...halves, loops: 'parted' }, /not all threads of a role/],
    'where threads meet besides': [{ turned: 'block.sync();' }, /meet otherwise/],
    'where what is assigned is read afterwards': [
      { produced: 'last = f;', after: 'if (last === 100) cuda.nanosleep(late);' },
      /read elsewhere/,
    ],
  };
  test.each(Object.entries(writings))('%s', (_, [part, reason]) => {
    const writing = { ...plain, ...part };
    const program = programOf(writing);
    const { lowering, why } = choiceOf(program);
    expect(lowering).toBe('barriers');
    expect(why).toMatch(reason);
    compare(writing, program);
  });
});

const patterns: readonly Pick<Writing, 'block' | 'produces' | 'own' | 'producers'>[] = [
  { block: 64, produces: 't % 2 === 0', own: 'Math.trunc(t / 2)', producers: 32 },
  { block: 64, produces: 't % 2 === 1', own: 'Math.trunc(t / 2)', producers: 32 },
  { block: 64, produces: 't < 32', own: '(t % 32)', producers: 32 },
  { block: 64, produces: 't >= 32', own: '(t % 32)', producers: 32 },
  { block: 128, produces: 't % 64 < 32', own: '(Math.trunc(t / 64) * 32 + (t % 32))', producers: 64 },
  { block: 64, produces: 't % 32 < 16', own: '(Math.trunc(t / 32) * 16 + (t % 16))', producers: 32 },
  { block: 96, produces: 't < 32', own: '(t < 32 ? t : t - 32)', producers: 32 },
  { block: 64, produces: 't < 48', own: '(t < 48 ? t : t - 48)', producers: 48 },
  { block: [8, 8], produces: 'cuda.threadIdx.x < 4', own: '(cuda.threadIdx.y * 4 + (t % 4))', producers: 32 },
];

const writings: fc.Arbitrary<Writing> = fc
  .record({
    pattern: fc.constantFrom(...patterns),
    each: fc.constantFrom(1, 2, 4),
    stages: fc.integer({ min: 1, max: 5 }),
    loops: fc.constantFrom('shared', 'own', 'filled'),
    partition: fc.constantFrom('role', 'count'),
    places: fc.constantFrom('own', 'own', 'own', 'own', 'last - own', '(own + 1) % (last + 1)'),
    sources: fc.constantFrom('own', 'own', 'own', 'own', 'last - own', '(own + 1) % (last + 1)'),
    shift: fc.constantFrom(0, 0, 0, 4, 2, 1),
    produced: fc.constantFrom('', '', '', '', 'scratch[own] = f;', 'cuda.nanosleep(late);'),
    consumed: fc.constantFrom('', '', 'cuda.nanosleep(late);', 'if (own % 3 === 0) cuda.nanosleep(late);'),
    turned: fc.constantFrom('', '', '', '', '', 'block.sync();'),
  })
  .map(({ pattern, places, sources, ...rest }) => {
    const named = (place: string) => place.replaceAll('last', String(pattern.producers - 1));
    return { ...plain, ...rest, ...pattern, to: named(places), from: named(sources) } as Writing;
  });

test(
  'kernels with roles give the same, whichever way is chosen',
  () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(writings, (writing) => {
        const program = programOf(writing);
        seen.add(choiceOf(program).lowering);
        compare(writing, program);
      }),
      randomRuns(atLength ? 40 : 20),
    );
    expect([...seen].sort()).toEqual(['barriers', 'roles']);
  },
  randomLimit(40),
);
