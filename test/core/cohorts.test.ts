// What kernels become for a CPU where threads wait for one another, before it is WebAssembly: cohorts. As a kernel
// is clean, so is that, in any order, it ends and gives the same; and what orders and keeps values there, taken
// away, is found.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Kernel, kernel as newKernel } from 'warpstage';
import type { Program } from '#warpstage/compiler/ir.js';
import type { Segment } from '#warpstage/compiler/ir-cohorts.js';
import { specialise } from '#warpstage/compiler/specialise.js';
import { verifyProgram } from '#warpstage/compiler/verify.js';
import type { Delivery } from '#warpstage/targets/interpreter/runner.js';
import {
  scratchLength,
  stagingInputLength,
  stagingKernelText,
  stagingSchema,
} from '../differential/random-staging.ts';
import { randomLimit, randomRuns, tapes } from '../differential/tape.ts';
import { interpreter } from '../support/interpreter.ts';
import { interpreted, regionsOf, threadsOf } from '../support/lowered.ts';
import { orderingKernels } from '../support/ordering-kernels.ts';
import { type HostArray, type ProgramLaunch, runProgram, type Target } from '../support/run-program.ts';
import { everyOf } from '../support/thorough.ts';
import { others } from './cohort-kernels.ts';
import { type Omission, withoutCounting, withoutKept, withoutOrder } from './cohort-omissions.ts';

const threads = 64;
const deliveries: readonly Delivery[] = ['late', 1, 2, 'eager'];

function programOf(kernel: unknown, cooperative = false): Program {
  const options = { block: [threads, 1, 1], indexType: 'i32', functions: {}, cooperative } as const;
  return specialise(kernel as Kernel, { ...options, constants: {} }).program;
}

function runOf(
  target: Target,
  program: Program,
  data: ProgramLaunch['arguments'],
  found: readonly string[],
  grid = 1,
): string {
  const given = Object.fromEntries(
    Object.entries(data).map(([name, value]) => [name, typeof value === 'object' ? value.slice() : value]),
  );
  const { fault } = runProgram(target, program, { grid, arguments: given });
  if (fault !== null) return 'message' in fault ? fault.message : fault.kind;
  return (
    found[0] ??
    Object.values(given)
      .filter((value) => typeof value === 'object')
      .map((value) => String(value as HostArray))
      .join(' ')
  );
}

/** What a program of cohorts gives under a schedule, or what is wrong with it. */
function outcome(
  cohorts: Program,
  original: Program,
  data: ProgramLaunch['arguments'],
  delivery: Delivery,
  grid = 1,
) {
  const found: string[] = [];
  const report = ({ message }: { readonly message: string }) => void found.push(message);
  // What waits for nothing may go round for ever.
  const target = interpreted('cohorts', delivery, report, () => cohorts, { steps: 100_000 });
  return runOf(target, original, data, found, grid);
}

/** What a thread does alone in a segment, with words of these names. */
const alone = (segment: string, ...names: readonly string[]) => names.map((name) => `${segment}: ${name}`);
const asks = (operation: string) => [`alone waitUntil ${operation}.named`, 'alone waitUntil lanes.gone'];
const frees = (operation: string) => [`set ${operation}.named`, `alone post ${operation}.freed`];

/**
 * What these kernels would do without: one of two waits for the same, with the counting that only it asks for, a state
 * that the role replaces, what a head keeps for the
 * other role, and ways for threads that are late, which none is here. Of what threads do alone: what begins a phase where
 * others always come last, or that nobody waits for; the second clearing of stages that are empty; questions of lanes that
 * all come in one cohort; and what lanes that return do for others, where all have gone on before.
 */
const unneeded: Readonly<Record<string, readonly string[]>> = {
  'a stage half copied': ['0.4: wait waitUntil pipe.consumed', '1.4: wait waitUntil pipe.consumed'],
  'stores seen across turns': ['0.9: split to 1 exits', '0.9: split but for exit 1'],
  'a stage overwritten by a copy': ['0.9: once pipe.tail', '0.9: wait waitUntil pipe.produced'],
  'thread copies overwritten by a copy': ['0.6: once pipe.tail', '0.6: wait waitUntil pipe.produced'],
  'even threads copy': [
    '0.0: once pipe.state',
    '1.0: once pipe.state',
    '1.6: split to 1 exits',
    '1.6: split but for exit 1',
  ],
  'few producers': ['0.0: once pipe.state', '1.0: once pipe.state'],
  'roles of each turn': [
    ...alone('0.6', 'set pipe.consumed', 'set pipe.returned'),
    ...[
      '0.10: keep pipe.tail',
      '0.10: keep pipe.tail.use',
      '0.12: keep pipe.head',
      '0.12: keep pipe.head.use',
    ],
    ...['b', 'i', 'pipe.made.times'].map((name) => `0.22: keep ${name}`),
    ...['head', 'head.use', 'tail', 'tail.use', 'state'].map((name) => `0.22: keep pipe.${name}`),
  ],
  'a pipeline of each turn': alone('0.3', 'set pipe.opened', 'set pipe.returned'),
  'barriers of two roles': alone('0.8', 'alone return empty.pending'),
  'a barrier of each turn': [
    ...alone('0.3', 'set bar.expected'),
    ...alone('0.4', 'alone return bar.pending'),
  ],
  'lanes by masks': [
    ...alone('0.3', ...asks('sync')),
    ...alone('0.4', ...asks('shflXor')),
    ...alone('0.5', ...asks('shflXor')),
    ...lanesThatReturn('0.10', 'sync', 'shflXor'),
  ],
  'lanes by masks at two places': [
    ...alone('0.4', ...frees('sync')),
    ...alone('0.8', ...asks('shflXor')),
    ...alone('0.9', ...asks('shflXor')),
    ...alone('0.10', 'alone waitUntil lanes.gone'),
    ...lanesThatReturn('0.16', 'sync', 'shflXor'),
  ],
  'some lanes of a mask return': alone('0.5', ...asks('sync')),
};

/** What lanes do for others when they return. */
function lanesThatReturn(segment: string, ...operations: readonly string[]): string[] {
  const each = operations.flatMap((operation) => [...asks(operation), ...frees(operation)]);
  return alone(segment, 'alone post lanes.gone', ...each);
}

/**
 * Nobody meets after others have returned, and nobody needs the meeting for a pipeline or barrier that is made once: its
 * words are zero, and who goes on first sets up the same. Other kernels below need both.
 */
function isForLater(what: string): boolean {
  return what.includes(': call return ') || /\.made\.(times|came)$/.test(what);
}

/** A pipeline or barrier that is made once finds its words zero. */
function isForAgain(what: string): boolean {
  return /: set .*\.(opened|proposed|brought|over|produced|consumed|returned)$/.test(what);
}

/** Of which all is taken away, one by one. */
const shortened = everyOf(3, Object.keys(orderingKernels));

describe.each(Object.entries(orderingKernels))('%s', (name, { kernel, scratch, threads: each }) => {
  const original = programOf(kernel);
  const cohorts = threadsOf(original);
  const batches = 12;
  const array = () => new Int32Array((threads / each) * batches);
  const input = array().map((_, i) => 7 * i + 1);
  const data = { out: array(), input, batches, late: 0, ...(scratch ? { scratch: array() } : {}) };
  const right = runOf(interpreter('late'), original, data, []);
  const unnoticed = (omissions: readonly Omission[]) => {
    expect(omissions.length).toBeGreaterThan(2);
    return omissions
      .filter(({ what }) => !isForLater(what))
      .filter(({ program }) => deliveries.every((each) => outcome(program, original, data, each) === right))
      .map(({ what }) => what);
  };

  test('is the same in any order', () => {
    expect(right).toMatch(/^-?\d+(,-?\d+)*/);
    for (const delivery of deliveries) expect(outcome(cohorts, original, data, delivery)).toBe(right);
  });

  test.runIf(shortened.includes(name))('arrivals, waits, calls and ways to part taken away are found', () => {
    expect(unnoticed(withoutOrder(cohorts))).toEqual(unneeded[name] ?? []);
  });

  test.runIf(shortened.includes(name))('values that are not kept are missed', () => {
    expect(unnoticed(withoutKept(cohorts))).toEqual([]);
  });
});

test.each(everyOf(2, Object.entries(others)))('%s: what is taken away is found', (name, body) => {
  const grid = name === 'blocks of a grid' ? 2 : 1;
  const original = programOf(
    newKernel(
      { out: 'i32[]', input: 'readonly i32[]', batches: 'index' },
      new Function(`return ({ out, input, batches }, cuda) => {
        const block = cuda.thisThreadBlock();
        const t = block.threadRank();
        ${body}
      }`)(),
    ),
    grid > 1,
  );
  const input = Int32Array.from({ length: 160 }, (_, i) => 7 * i + 1);
  const data = { out: new Int32Array(160), input, batches: 5 };
  const right = runOf(interpreter('late'), original, data, [], grid);
  expect(right).toMatch(/^-?\d+(,-?\d+)*/);
  const cohorts = threadsOf(original);
  for (const delivery of deliveries) expect(outcome(cohorts, original, data, delivery, grid)).toBe(right);
  const omissions = [...withoutOrder(cohorts), ...withoutCounting(cohorts), ...withoutKept(cohorts)];
  expect(omissions.length).toBeGreaterThan(15);
  const unnoticed = omissions.filter(({ program }) =>
    deliveries.every((each) => outcome(program, original, data, each, grid) === right),
  );
  const isNeeded = (what: string) => {
    if (isForAgain(what)) return name.endsWith('of each turn');
    return (
      !isForLater(what) ||
      (what.includes(': call return ') ? name.startsWith('some') : name.endsWith('of each turn'))
    );
  };
  expect(unnoticed.map(({ what }) => what).filter(isNeeded)).toEqual(unneeded[name] ?? []);
});

test(
  'random staging is clean as regions and as cohorts, and gives the same',
  () => {
    let regions = 0;
    fc.assert(
      fc.property(tapes(80), (tape) => {
        const text = stagingKernelText(tape, threads);
        const original = programOf(newKernel(stagingSchema, new Function(`return ${text}`)()));
        const x = Int32Array.from({ length: stagingInputLength }, (_, i) => (i * 2_654_435_761) | 0);
        const scratch = new Int32Array(scratchLength(threads));
        const data = { out: new Int32Array(threads), scratch, x, batches: 5, who: -1, late: 0 };
        const right = runOf(interpreter('late'), original, data, []);
        const own = regionsOf(original);
        if (own !== null) regions += 1;
        for (const lowered of own === null ? [threadsOf(original)] : [own, threadsOf(original)]) {
          for (const delivery of ['late', 1] as const)
            expect(outcome(lowered, original, data, delivery), text).toBe(right);
        }
      }),
      randomRuns(12),
    );
    expect(regions).toBeGreaterThan(0);
  },
  randomLimit(12),
);

test('a role is what a thread brought, whatever becomes of the memory that said it', () => {
  const roles = newKernel(
    { out: 'i32[]', input: 'readonly i32[]' },
    new Function(`return ({ out, input }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const produces = cuda.sharedArray('i32', 64);
      const staged = cuda.sharedArray('i32', 32);
      produces[t] = t < 32 ? 1 : 0;
      const pipe = cuda.makePipeline(
        block, cuda.pipelineSharedState('block', 1), produces[t] === 1 ? 'producer' : 'consumer');
      produces[63 - t] = 5;
      if (t < 32) {
        pipe.producerAcquire();
        staged[t] = input[t];
        pipe.producerCommit();
      } else {
        pipe.consumerWait();
        out[t] = staged[63 - t];
        pipe.consumerRelease();
      }
    }`)(),
  );
  const original = programOf(roles);
  const input = Int32Array.from({ length: threads }, (_, i) => 3 * i + 2);
  const data = { out: new Int32Array(threads), input };
  const right = String(input.map((_, t) => (t < 32 ? 0 : input[63 - t]!)));
  for (const delivery of deliveries) {
    const found: string[] = [];
    const source = interpreted(
      'source',
      delivery,
      ({ message }) => void found.push(message),
      (program) => program,
    );
    expect(runOf(source, original, data, found)).toBe(`${right} ${input}`);
    expect(outcome(threadsOf(original), original, data, delivery)).toBe(`${right} ${input}`);
  }
});

test('the verifier refuses segments that cannot be entered as they say', () => {
  const cohorts = threadsOf(programOf(orderingKernels['even threads copy']!.kernel));
  const refused = (change: (segment: Segment, all: readonly Segment[]) => Segment) => {
    const changed = cohorts.cohorts!.map((way) => ({
      ...way,
      segments: way.segments.map((segment) => change(segment, way.segments)),
    }));
    return () => verifyProgram({ ...cohorts, cohorts: changed });
  };
  expect(refused((segment) => segment)).not.toThrow();
  expect(
    refused((one) => ({ ...one, end: one.end.kind === 'jump' ? { kind: 'jump', to: 99 } : one.end })),
  ).toThrow('no segment 99');
  expect(
    refused((one) => ({ ...one, end: one.end.kind === 'suspend' ? { ...one.end, kind: 'jump' } : one.end })),
  ).toThrow('waits, and is reached by a jump');
  expect(refused((one, all) => (one === all[0] ? { ...one, head: null } : one))).toThrow('without a head');
  const { range } = cohorts.body[0]!;
  const sync = { kind: 'call', intrinsic: 'sync', group: { kind: 'block' }, range } as const;
  expect(refused((one) => ({ ...one, steps: [...one.steps, { kind: 'call', call: sync }] }))).toThrow(
    'sync in a program of cohorts',
  );
  expect(refused((one) => ({ ...one, head: one.head && { ...one.head, live: [99] } }))).toThrow(
    'no variable 99',
  );
});
