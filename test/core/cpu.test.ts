// What kernels become for the CPU, before it is WebAssembly: as they are clean, so is that, it ends, and it gives
// the same; and what orders and keeps values there, taken away, is found.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Kernel, kernel as newKernel } from 'warpstage';
import type { Program, Statement } from '#warpstage/compiler/ir.js';
import { specialise } from '#warpstage/compiler/specialise.js';
import { replaceCalls } from '#warpstage/targets/analysis/map.js';
import type { Finding } from '#warpstage/targets/checker/finding.js';
import type { Delivery } from '#warpstage/targets/interpreter/runner.js';
import { allCases } from '../conformance/cases.ts';
import { warpKernelText } from '../differential/random-warps.ts';
import { randomLimit, randomRuns, tapes } from '../differential/tape.ts';
import { expectAgreement } from '../support/agreement.ts';
import { interpreter } from '../support/interpreter.ts';
import { interpreted, loweredForCpu, regionsOf, threadsOf } from '../support/lowered.ts';
import { orderingKernels } from '../support/ordering-kernels.ts';
import { runKernel } from '../support/run-kernel.ts';
import { type HostArray, type ProgramLaunch, runProgram } from '../support/run-program.ts';
import { isFirst, isInTurn, partOf } from '../support/thorough.ts';
import { eachChange, flattened, withoutKept } from './cpu-omissions.ts';

const copyOf = (data: ProgramLaunch['arguments']): Record<string, ProgramLaunch['arguments'][string]> =>
  Object.fromEntries(
    Object.entries(data).map(([name, value]) => [name, typeof value === 'object' ? value.slice() : value]),
  );

const all = Object.entries(allCases).flatMap(([subject, cases]) =>
  cases.map((one) => ({ ...one, name: `${subject}: ${one.name}` })),
);

test.each(all.map((one, position) => ({ ...one, position })))(
  '$name',
  ({ kernel, grid, block, data, expected, findings = [], position }) => {
    const found: Finding[] = [];
    const report = (finding: Finding) => void found.push(finding);
    const states = (delivery: Delivery) => interpreted('made ready for states', delivery, report, threadsOf);
    const ways = [
      ...(['late', 'eager', 1] as const).map((delivery) => () => loweredForCpu(delivery, report)),
      () => loweredForCpu('late', report, ['structure']),
      () => loweredForCpu('late', report, ['affine']),
      () => loweredForCpu('late', report, ['unroll']),
      ...(['late', 1] as const).map((delivery) => () => states(delivery)),
    ];
    // Each case meets every other way, of which the next case meets those between.
    const inTurn = ways.filter((_, i) => !isInTurn || i % 2 === position % 2);
    for (const way of partOf(inTurn, Math.floor(position / 2))) {
      const target = way();
      const given = copyOf(data);
      const { fault } = runKernel(target, kernel, { grid, block, arguments: given });
      expect(fault, target.name).toBeNull();
      if (findings.length === 0) expect(found.map(({ message }) => message).join('; '), target.name).toBe('');
      for (const [name, array] of Object.entries(expected)) {
        expect(given[name], `${name}, ${target.name}`).toEqual(array);
      }
    }
  },
);

const threads = 64;
const batches = 12;

function programOf(kernel: Kernel): Program {
  const options = { block: [threads, 1, 1], indexType: 'i32', functions: {} } as const;
  const { program } = specialise(kernel, { ...options, constants: {} });
  // Some of these threads sleep alone, to be late: that tells nothing here, and regions cannot say it.
  const body = replaceCalls(program.body, (call) => (call.intrinsic === 'nanosleep' ? [] : [call]));
  return { ...program, body };
}

/** What a program of regions gives in any order, or what is wrong with it. */
function outcomes(program: Program, data: ProgramLaunch['arguments'], name: string): string[] {
  return (['eager', 'late', 1] as const).map((delivery) => {
    const found: Finding[] = [];
    // What waits for nothing may go round for ever.
    const options = { steps: 100_000 };
    const target = interpreted(
      name,
      delivery,
      (finding) => void found.push(finding),
      (given) => given,
      options,
    );
    const given = copyOf(data);
    const { fault } = runProgram({ ...target, lower: () => program }, program, { grid: 1, arguments: given });
    if (fault !== null) return 'message' in fault ? fault.message : fault.kind;
    return found[0]?.message ?? String(given.out as HostArray);
  });
}

/**
 * Ends that nobody needs: a copy and stores that touch different elements, before both are read; and the copies of
 * several stages before the first turn.
 */
const unneeded: Readonly<Record<string, readonly string[]>> = {
  'stores beside a copy': ['between call and region'],
  'a stage half copied': ['between call and region'],
  'stores seen across turns': ['all in a loop'],
  'stores before a copy': ['between region and call'],
  'a ring of three stages': ['all in a loop'],
  'copies for a barrier': ['between call and region'],
  'a ring of barriers': ['between call and region', 'between call and region'],
};

describe.runIf(isFirst).each(Object.entries(orderingKernels).filter(([, { threads: each }]) => each === 1))(
  '%s',
  (name, { kernel, scratch }) => {
    const program = regionsOf(programOf(kernel))!;
    const array = () => new Int32Array(threads * batches);
    const input = array().map((_, i) => 7 * i + 1);
    const data = { out: array(), input, batches, late: 0, ...(scratch ? { scratch: array() } : {}) };
    const [right] = outcomes(program, data, name);
    const isNoticed = (changed: Program) => outcomes(changed, data, name).some((result) => result !== right);

    test('is the same in any order', () => {
      expect(right).toMatch(/^-?\d+(,-?\d+)*$/);
      expect(isNoticed(program)).toBe(false);
    });

    test('ends of regions and copies taken away are found', () => {
      const all = flattened(program);
      expect(all.length).toBeGreaterThan(1);
      const unnoticed = all.filter((one) => !isNoticed(one.program)).map(({ what }) => what);
      expect(unnoticed).toEqual(unneeded[name] ?? []);
    });

    test('counts of batches taken away are found', () => {
      const isCounter = (id: number) => /\.(committed|released)$/.test(program.variables[id]!.name);
      const changed = eachChange(program, (statement) =>
        statement.kind === 'assign' && isCounter(statement.variable) && statement.value.kind !== 'constant'
          ? [[]]
          : [],
      );
      expect(changed.length > 1).toBe(programOf(kernel).pipelines.length > 0);
      for (const one of changed) expect(isNoticed(one)).toBe(true);
    });
  },
);

const written = (schema: Parameters<typeof newKernel>[0], body: string): Kernel =>
  newKernel(
    schema,
    new Function(`return ({ out, input, batches }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const shared = cuda.sharedArray('i32', 64);
      ${body}
    }`)(),
  ) as unknown as Kernel;
const schema = { out: 'i32[]', input: 'readonly i32[]', batches: 'index' } as const;
const small = () => ({
  out: new Int32Array(threads),
  input: Int32Array.from({ length: threads }, (_, i) => 5 * i + 1),
  batches: 3,
});

test.runIf(isFirst)('what threads keep from region to region is needed', () => {
  const keeping = written(
    schema,
    `let sum = input[t] | 0;
    let k = batches;
    for (let b = 0; b < batches; b++) {
      shared[t] = sum;
      block.sync();
      for (; k > b; k--) sum = sum + shared[(t + k) % 64] | 0;
      block.sync();
      k = k + batches;
    }
    out[t] = sum;`,
  );
  const program = regionsOf(programOf(keeping))!;
  const [right] = outcomes(program, small(), 'keeping');
  expect(right).toMatch(/^\d+,/);
  const changed = withoutKept(program);
  expect(changed.length).toBeGreaterThan(5);
  const isNoticed = (one: Program) => outcomes(one, small(), 'keeping').some((result) => result !== right);
  expect(changed.map(isNoticed)).toEqual(changed.map(() => true));
});

// Each is stopped by one operation of the program that its block runs; without that, it would go on.
const stopped: Readonly<Record<string, string>> = {
  'an acquire without a release': `
    const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
    for (let b = 0; b < 3; b++) { pipe.producerAcquire(); pipe.producerCommit(); }`,
  'a wait without a commit': `
    const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
    pipe.consumerWait();`,
  'a pipeline that was quit': `
    const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 2));
    if (batches === 3) pipe.quit();
    pipe.producerAcquire();`,
  'a wait for a phase without arrivals': `
    const bar = cuda.barrier(block);
    const token = bar.arrive();
    bar.wait(token);
    bar.wait(bar.arrive());
    bar.waitParity(false);`,
  'a token of two phases ago': `
    const bar = cuda.barrier(block);
    const token = bar.arrive();
    bar.wait(token);
    bar.wait(bar.arrive());
    bar.wait(bar.arrive());
    bar.wait(token);`,
};

test.runIf(isFirst).each(Object.entries(stopped))('%s stops the kernel, on every way', (_, body) => {
  const program = programOf(written(schema, `out[t] = t;${body}`));
  const launch = { grid: 1, arguments: small() };
  const { fault } = expectAgreement(program, launch);
  expect(fault).not.toBeNull();
  const lowered = loweredForCpu('late', () => {});
  expect(runProgram(lowered, program, { ...launch, arguments: small() }).fault).toEqual(fault);
  const isStop = (statement: Statement) =>
    statement.kind === 'call' && statement.intrinsic === 'core' && statement.operation.kind !== 'copyNow';
  const harmless = eachChange(regionsOf(program)!, (statement) => (isStop(statement) ? [[]] : [])).filter(
    (changed) => runProgram({ ...lowered, lower: () => changed }, program, launch).fault === null,
  );
  expect(harmless.length).toBe(1);
});

describe.runIf(isFirst)('random programs', () => {
  test.each([64, 40])(
    'exchanges of lanes in blocks of %i are clean, and give the same',
    (block) => {
      let regions = 0;
      fc.assert(
        fc.property(tapes(60), (tape) => {
          const text = warpKernelText(tape);
          const random = newKernel(
            { out: 'i32[]', x: 'readonly i32[]' },
            new Function(`return ${text}`)(),
          ) as unknown as Kernel;
          const found: Finding[] = [];
          const run = (target: Parameters<typeof runKernel>[0]) => {
            const x = Int32Array.from({ length: 64 }, (_, i) => (i * 2_654_435_761) | 0);
            const data = { out: new Int32Array(64), x };
            const { fault } = runKernel(target, random, { grid: 1, block, arguments: data });
            return fault === null ? String(data.out) : 'a fault';
          };
          const expected = run(interpreter('late'));
          const target = loweredForCpu(1, (finding) => void found.push(finding));
          const lower = (program: Program) => {
            if (regionsOf(program) !== null) regions += 1;
            return target.lower!(program);
          };
          expect(run({ ...target, lower }), text).toBe(expected);
          expect(found.map(({ message }) => message).join('; '), text).toBe('');
        }),
        randomRuns(30),
      );
      expect(regions).toBeGreaterThan(3);
    },
    randomLimit(30),
  );
});
