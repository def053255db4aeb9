// What a pipeline orders besides its copies. Kernels that need it are right on every target; what they
// become for a GPU is clean under every schedule; and whatever synchronises there, taken away, is found.

import { describe, expect, test } from 'vitest';
import { type Kernel, kernel as newKernel } from 'warpstage';
import { check } from 'warpstage/check';
import type { Program } from '#warpstage/compiler/ir.js';
import { specialise } from '#warpstage/compiler/specialise.js';
import type { Finding } from '#warpstage/targets/checker/finding.js';
import type { Delivery } from '#warpstage/targets/interpreter/runner.js';
import { runEverywhere } from '../support/everywhere.ts';
import { architectures, loweredFor } from '../support/lowered.ts';
import { type OrderingCase, orderingKernels } from '../support/ordering-kernels.ts';
import { type HostArray, type ProgramLaunch, runProgram } from '../support/run-program.ts';
import { forEachPlace, kindOf, without } from './omissions.ts';

const all = Object.entries(orderingKernels);
const threads = 64;
/** Enough for whole rounds of unrolled loops. */
const batches = 12;

/** Arguments for one block of so many threads. */
function argumentsOf(block: number, count: number, { scratch, threads: perElement }: OrderingCase) {
  const array = () => new Int32Array((block / perElement) * count);
  const input = array().map((_, i) => 7 * i + 1);
  return { out: array(), input, batches: count, late: 0, ...(scratch ? { scratch: array() } : {}) };
}

function programOf(kernel: Kernel): Program {
  const options = { block: [threads, 1, 1], indexType: 'i32', functions: {} } as const;
  return specialise(kernel, { ...options, constants: {} }).program;
}

/** Runs what a program becomes for a GPU; what comes out, or what is wrong. */
function outcome(
  program: Program,
  data: ProgramLaunch['arguments'],
  architecture: number,
  delivery: Delivery,
  after: (lowered: Program) => Program = (lowered) => lowered,
): { readonly out: string; readonly wrong: string | null } {
  const findings: Finding[] = [];
  const target = loweredFor(architecture, delivery, (finding) => findings.push(finding), { after });
  const copies = Object.fromEntries(
    Object.entries(data).map(([name, value]) => [name, typeof value === 'object' ? value.slice() : value]),
  );
  const { fault } = runProgram(target, program, { grid: 1, arguments: copies });
  const wrong =
    fault === null ? (findings[0]?.message ?? null) : 'message' in fault ? fault.message : fault.kind;
  return { out: String(copies.out as HostArray), wrong };
}

const deliveries: readonly Delivery[] = ['eager', 'late', 1, 2, 3];

describe.each(all)('%s', (_, ordering) => {
  const { kernel } = ordering;
  test('is clean, and the same everywhere', () => {
    const launch = { grid: 1, block: 64, arguments: argumentsOf(64, 8, ordering) };
    const { arguments: results, fault } = runEverywhere(kernel, launch);
    expect(fault).toBeNull();
    expect(new Set(results.out as Int32Array).size).toBeGreaterThan(8);
    const small = argumentsOf(64, 5, ordering);
    const { findings, verdict } = check(kernel, { grid: 1, block: 64, arguments: small } as never, {
      schedules: 3,
    });
    expect(findings.map(({ code, message }) => `${code}: ${message}`)).toEqual([]);
    expect(verdict).toBe('clean');
  });

  test.each(architectures)('lowered for sm_%i is clean, and each part of it is needed', (architecture) => {
    const program = programOf(kernel);
    const data = argumentsOf(threads, batches, ordering);
    const right = deliveries.map((delivery) => outcome(program, data, architecture, delivery));
    expect(right.map(({ wrong }) => wrong)).toEqual(deliveries.map(() => null));
    expect(new Set(right.map(({ out }) => out)).size).toBe(1);

    const kinds: string[] = [];
    let copies = false;
    outcome(program, data, architecture, 'eager', (lowered) => {
      forEachPlace(lowered.body, (statement) => {
        const kind = kindOf(statement);
        if (kind !== null) kinds.push(kind);
        copies ||=
          statement.kind === 'call' &&
          statement.intrinsic === 'core' &&
          statement.operation.kind === 'copyChunks';
      });
      return lowered;
    });
    const isNoticed = (mutate: (lowered: Program) => Program) =>
      deliveries.some((delivery) => {
        const { out, wrong } = outcome(program, data, architecture, delivery, mutate);
        return wrong !== null || out !== right[0]!.out;
      });
    // Of barriers of a block and fences some stand in for each other, and an empty commit says nothing.
    const replaceable = new Set(['sync', 'proxyFence', 'copyCommit', 'copyWait']);
    const unnoticed = kinds.filter(
      (kind, n) => !replaceable.has(kind) && !isNoticed((lowered) => without(lowered, (_, at) => at === n)),
    );
    expect(unnoticed).toEqual([]);
    // All of a kind are never too many.
    for (const kind of new Set(kinds)) {
      // Threads that make no copies of their own wait for none.
      if (!copies && (kind === 'copyCommit' || kind === 'copyWait')) continue;
      expect(
        isNoticed((lowered) => without(lowered, (each) => each === kind)),
        kind,
      ).toBe(true);
    }
    expect(kinds.length).toBeGreaterThan(3);
  });
});

describe('other ends', () => {
  const made = (body: string): Kernel =>
    newKernel(
      { out: 'i32[]', input: 'readonly i32[]', batches: 'index' },
      new Function(`return ({ out, input, batches }, cuda) => {
        const block = cuda.thisThreadBlock();
        const t = block.threadRank();
        const staged = cuda.sharedArray('i32', 64);
        ${body}
      }`)(),
    ) as unknown as Kernel;
  const data = { out: new Int32Array(64), input: new Int32Array(64).map((_, i) => i + 1), batches: 3 };
  const isClean = (body: string, architecture: number, mutate?: (lowered: Program) => Program) => {
    const program = programOf(made(body));
    return deliveries.every(
      (delivery) => outcome(program, data, architecture, delivery, mutate).wrong === null,
    );
  };

  const quitting = `
    const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
    staged[t] = t;
    const last = pipe.quit();
    if (last) out[0] = staged[0] + staged[63];`;
  const returning = `
    const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
    pipe.producerAcquire();
    cuda.memcpyAsync(block, staged, input, 64, pipe);
    pipe.producerCommit();
    if (batches === 3) return;
    pipe.consumerWait();
    out[t] = staged[63 - t];
    pipe.consumerRelease();`;
  const storing = `
    const copied = cuda.barrier(block);
    staged[t] = -1;
    cuda.memcpyAsync(block, staged, input, 64, copied);
    copied.arriveAndWait();
    out[t] = staged[63 - t];`;

  test.each(architectures)('sm_%i: the last that quits knows what the others did before', (architecture) => {
    expect(isClean(quitting, architecture)).toBe(true);
    expect(isClean(quitting, architecture, (lowered) => without(lowered, (kind) => kind === 'fence'))).toBe(
      false,
    );
  });

  test.each([80, 90])('sm_%i: a return among copies leaves none under way', (architecture) => {
    expect(isClean(returning, architecture)).toBe(true);
    const leaving = (lowered: Program) => without(lowered, (kind) => kind === 'copyWaitAll');
    expect(isClean(returning, architecture, leaving)).toBe(false);
  });

  test('sm_90: a group meets before one thread copies to what its threads stored', () => {
    expect(isClean(storing, 90)).toBe(true);
    expect(isClean(storing, 90, (lowered) => without(lowered, (kind) => kind === 'sync'))).toBe(false);
    expect(isClean(storing, 90, (lowered) => without(lowered, (kind) => kind === 'proxyFence'))).toBe(false);
  });
});
