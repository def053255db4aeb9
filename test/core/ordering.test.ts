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
import { loweredFor, lowerings } from '../support/lowered.ts';
import { type OrderingCase, orderingKernels } from '../support/ordering-kernels.ts';
import { type HostArray, type ProgramLaunch, runProgram } from '../support/run-program.ts';
import { partOf } from '../support/thorough.ts';
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
  { architecture, options }: (typeof lowerings)[number],
  delivery: Delivery,
  after: (lowered: Program) => Program = (lowered) => lowered,
): { readonly out: string; readonly wrong: string | null } {
  const findings: Finding[] = [];
  const target = loweredFor(architecture, delivery, (finding) => findings.push(finding), {
    lowering: options,
    after,
  });
  const copies = Object.fromEntries(
    Object.entries(data).map(([name, value]) => [name, typeof value === 'object' ? value.slice() : value]),
  );
  const { fault } = runProgram(target, program, { grid: 1, arguments: copies });
  const wrong =
    fault === null ? (findings[0]?.message ?? null) : 'message' in fault ? fault.message : fault.kind;
  return { out: String(copies.out as HostArray), wrong };
}

const deliveries: readonly Delivery[] = ['eager', 'late', 1, 2, 3];

describe.each(all)('%s', (name, ordering) => {
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

  const position = all.findIndex(([other]) => other === name);
  test.each(partOf(lowerings, position))(
    'lowered for $name is clean, and each part of it is needed',
    (lowering) => {
      const program = programOf(kernel);
      const data = argumentsOf(threads, batches, ordering);
      const right = deliveries.map((delivery) => outcome(program, data, lowering, delivery));
      expect(right.map(({ wrong }) => wrong)).toEqual(deliveries.map(() => null));
      expect(new Set(right.map(({ out }) => out)).size).toBe(1);

      const kinds: string[] = [];
      let copies = false;
      outcome(program, data, lowering, 'eager', (lowered) => {
        forEachPlace(lowered.body, (statement) => {
          const kind = kindOf(statement);
          if (kind !== null) kinds.push(kind);
          copies ||=
            statement.kind === 'call' &&
            statement.intrinsic === 'core' &&
            statement.operation.kind === 'copyChunks';
        });
        // The wait at the end is for kernels that forget copies (forgotten-copies.test.ts).
        if (kindOf(lowered.body.at(-1)!) === 'copyWaitAll') kinds.pop();
        return lowered;
      });
      const isNoticed = (mutate: (lowered: Program) => Program) =>
        deliveries.some((delivery) => {
          const { out, wrong } = outcome(program, data, lowering, delivery, mutate);
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
    },
  );
});

// Each has an order that the stages alone bring, beside that of the copies. So one thread must not speak for all
// of them there, nor a barrier of the block be left out.
describe('threads that meet elsewhere than in what is copied', () => {
  const schema = {
    out: 'i32[]',
    scratch: 'i32[]',
    input: 'readonly i32[]',
    view: 'readonly i32[]',
    batches: 'index',
    two: 'index',
  } as const;
  const ring = (use: string, before = '') => `
    const staged = cuda.sharedArray('i32', 256);
    const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 4));
    ${before}
    for (let c = 0, f = 0; c < batches; c++) {
      for (; f < batches && f < c + 4; f++) {
        pipe.producerAcquire();
        cuda.memcpyAsync(block, staged.subarray((f % 4) * 64), input.subarray(f * 64), 64, pipe);
        pipe.producerCommit();
      }
      pipe.consumerWait();
      const v = staged[(c % 4) * 64 + t];
      // The acquire of this turn came after the releases of the last.
      const acquired = c > 0 && c + 3 < batches;
      ${use}
      pipe.consumerRelease();
    }`;
  const kept = "const kept = cuda.sharedArray('i32', 1024);";
  const cleared = `${kept}
    for (let k = 0; k < 16; k++) kept[64 * k + t] = 0;
    block.sync();`;
  const one = (produce: string, use: string) => `
    const staged = cuda.sharedArray('i32', 64);
    const noted = cuda.sharedArray('i32', 128);
    const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
    noted[t] = t;
    noted[64 + t] = -t;
    for (let b = 0; b < batches; b++) {
      pipe.producerAcquire();
      ${produce}
      pipe.producerCommit();
      pipe.consumerWait();
      ${use}
      pipe.consumerRelease();
    }`;
  const copy = 'cuda.memcpyAsync(block, staged, input.subarray(b * 64), 64, pipe);';

  const bodies: Readonly<Record<string, string>> = {
    'by an atomic operation': ring(
      `const seen = acquired ? kept[(c - 1) * 64 + t] : 0;
      cuda.atomicAdd(kept, c * 64 + 63 - t, v);
      out[c * 64 + t] = seen;`,
      cleared,
    ),
    'through an argument that overlaps another': ring(
      'out[c * 64 + t] = acquired ? view[(c - 1) * 64 + 63 - t] + v : v;',
    ),
    'through two outputs that overlap': ring(
      `const seen = acquired && t < 63 ? scratch[(c - 1) * 64 + t] : 0;
      out[c * 64 + t] = seen + v;`,
    ),
    'at places that are known modulo different powers of two': ring(
      `if (t < 32) {
        if (acquired) out[c * 64 + t] = kept[32 * (c * two - 1) + t];
      } else kept[64 * c + t] = v;`,
      kept,
    ),
    'behind a test that lets only some of them come': ring(
      `if (t < 32) kept[64 * c + t] = v;
      else if (acquired) out[c * 64 + t] = kept[64 * (c - 1) + (t & 31)];`,
      kept,
    ),
    'in what they read before a commit and store behind the wait': one(
      `${copy}
      const seen = noted[63 - t];`,
      `noted[t] = staged[63 - t] + b;
      out[b * 64 + t] = seen;`,
    ),
    'at the end of a turn of a loop of copies': one(
      `for (let half = 0; half < 2; half++) {
        cuda.memcpyAsync(block, staged.subarray(half * 32), input.subarray(b * 64 + half * 32), 32, pipe);
        noted[half * 64 + t] = b - t;
      }`,
      'out[b * 64 + t] = staged[63 - t] + noted[63 - t] + noted[127 - t];',
    ),
    'in a stage that only one way reads before the copy': `
      const staged = cuda.sharedArray('i32', 64);
      const second = cuda.sharedArray('i32', 64);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
      let v = 0;
      for (let b = 0; b < batches; b++) {
        pipe.producerAcquire();
        if (b % 2 === 0) cuda.memcpyAsync(block, staged, input.subarray(b * 64), 64, pipe);
        else {
          v = v * 31 + second[63 - t];
          block.sync();
        }
        cuda.memcpyAsync(block, second, input.subarray(b * 64), 64, pipe);
        pipe.producerCommit();
        pipe.consumerWait();
        out[b * 64 + t] = v + staged[63 - t] + second[t];
        pipe.consumerRelease();
      }`,
    'in the source of a copy': `
      const staged = cuda.sharedArray('i32', 64);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
      for (let b = 0; b < batches; b++) {
        scratch[b * 64 + t] = input[b * 64 + t] + b;
        block.sync();
        pipe.producerAcquire();
        cuda.memcpyAsync(block, staged, scratch.subarray(b * 64), 64, pipe);
        pipe.producerCommit();
        pipe.consumerWait();
        out[b * 64 + t] = staged[63 - t];
        pipe.consumerRelease();
      }`,
  };

  /** Of arguments that overlap, 8 is the most that is said of an alignment. */
  const overlapping: Readonly<Record<string, readonly string[]>> = {
    'through an argument that overlaps another': ['out', 'view'],
    'through two outputs that overlap': ['out', 'scratch'],
  };

  const numbered = Object.entries(bodies).map(([name, body], position) => ({ name, body, position }));
  test.each(numbered)('$name', ({ name, body, position }) => {
    const text = `({ out, scratch, input, view, batches, two }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      ${body}
    }`;
    const program = programOf(newKernel(schema, new Function(`return ${text}`)()) as unknown as Kernel);
    const shared = overlapping[name] ?? [];
    const alignments = program.parameters.map((parameter) => (shared.includes(parameter.name) ? 8 : 16));
    const input = Int32Array.from({ length: 64 * 16 }, (_, i) => 7 * i + 1);
    const results = partOf(lowerings, position).flatMap(({ architecture, options }) =>
      deliveries.map((delivery) => {
        const findings: Finding[] = [];
        const target = loweredFor(architecture, delivery, (finding) => findings.push(finding), {
          alignments,
          lowering: options,
        });
        const memory = new Int32Array(64 * 16 + 1);
        const isOver = (array: string) => shared.includes(array);
        const given = {
          out: memory.subarray(0, 64 * 16),
          scratch: isOver('scratch') ? memory.subarray(1) : new Int32Array(64 * 16),
          view: isOver('view') ? memory.subarray(0, 64 * 16) : new Int32Array(64 * 16),
          input: input.slice(),
          batches: 15,
          two: 2,
        };
        const { fault } = runProgram(target, program, { grid: 1, arguments: given });
        expect(fault, target.name).toBeNull();
        expect(
          findings.map(({ message }) => message),
          target.name,
        ).toEqual([]);
        return String(given.out);
      }),
    );
    expect(new Set(results).size).toBe(1);
    expect(new Set(results[0]!.split(',')).size).toBeGreaterThan(8);
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
  const isClean = (
    body: string,
    lowering: (typeof lowerings)[number],
    mutate?: (lowered: Program) => Program,
  ) => {
    const program = programOf(made(body));
    return deliveries.every((delivery) => outcome(program, data, lowering, delivery, mutate).wrong === null);
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
  const forBarrier = (between: string) => `
    const copied = cuda.barrier(block);
    cuda.memcpyAsync(block, staged, input, 64, copied);
    ${between}
    copied.arriveAndWait();
    out[t] = staged[63 - t];`;
  const partedWarps = `
    const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
    for (let b = 0; b < batches; b++) {
      if (t % 2 === 0) {
        pipe.producerAcquire();
        staged[t] = input[t] + b;
        pipe.producerCommit();
      } else {
        pipe.producerAcquire();
        staged[t] = input[t] - b;
        pipe.producerCommit();
      }
      pipe.consumerWait();
      out[t] = staged[63 - t];
      pipe.consumerRelease();
    }`;
  const storing = `
    const copied = cuda.barrier(block);
    staged[t] = -1;
    cuda.memcpyAsync(block, staged, input, 64, copied);
    copied.arriveAndWait();
    out[t] = staged[63 - t];`;

  const byEngine = lowerings[3];

  test.each(lowerings)('$name: the last that quits knows what the others did before', (lowering) => {
    expect(isClean(quitting, lowering)).toBe(true);
    expect(isClean(quitting, lowering, (lowered) => without(lowered, (kind) => kind === 'fence'))).toBe(
      false,
    );
  });

  test.each(lowerings.slice(1))('$name: a return among copies leaves none under way', (lowering) => {
    expect(isClean(returning, lowering)).toBe(true);
    const leaving = (lowered: Program) => without(lowered, (kind) => kind === 'copyWaitAll');
    expect(isClean(returning, lowering, leaving)).toBe(false);
  });

  // It would outlive them: they can wait for copies of their own alone.
  test('sm_90: the copy engine copies for no barrier where threads may return', () => {
    const bulkCopies = (body: string) => {
      let count = 0;
      outcome(programOf(made(body)), data, byEngine, 'eager', (lowered) => {
        forEachPlace(lowered.body, (statement) => {
          if (statement.kind !== 'call' || statement.intrinsic !== 'core') return;
          if (statement.operation.kind === 'bulkCopy') count += 1;
        });
        return lowered;
      });
      return count;
    };
    expect(bulkCopies(forBarrier(''))).toBe(1);
    expect(bulkCopies(forBarrier('if (batches > 1000) return;'))).toBe(0);
    expect(isClean(forBarrier('if (batches > 1000) return;'), byEngine)).toBe(true);
  });

  test.each(lowerings)('$name: a warp whose lanes come on two ways', (lowering) => {
    expect(isClean(partedWarps, lowering)).toBe(true);
  });

  test('sm_90: a group meets before one thread copies to what its threads stored', () => {
    expect(isClean(storing, byEngine)).toBe(true);
    expect(isClean(storing, byEngine, (lowered) => without(lowered, (kind) => kind === 'sync'))).toBe(false);
    expect(isClean(storing, byEngine, (lowered) => without(lowered, (kind) => kind === 'proxyFence'))).toBe(
      false,
    );
  });
});
