// Copies that a kernel never waits for. CUDA leaves open what comes of them, and the checker reports them; but run
// unchecked, chunk copies (cp.async) are over before their thread ends, and write to no memory of a later block.

import { describe, expect, test } from 'vitest';
import { type Kernel, kernel as newKernel } from 'warpstage';
import type { Program, Statement } from '#warpstage/compiler/ir.js';
import { specialise } from '#warpstage/compiler/specialise.js';
import { mapStatements } from '#warpstage/targets/analysis/map.js';
import { forEachStatement } from '#warpstage/targets/analysis/walk.js';
import type { Delivery } from '#warpstage/targets/interpreter/runner.js';
import { loweredFor, lowerings } from '../support/lowered.ts';
import { orderingKernels } from '../support/ordering-kernels.ts';
import { choiceOf } from '../support/rewritten.ts';
import { runProgram } from '../support/run-program.ts';

const threads = 64;
const deliveries: readonly Delivery[] = ['late', 3, 'eager'];
const expression = <T>(each: T) => each;

function programOf(kernel: unknown): Program {
  const options = { block: [threads, 1, 1], indexType: 'i32', functions: {}, constants: {} } as const;
  return specialise(kernel as Kernel, options).program;
}

const pipelineOf = (scope: string, copy: string) => `
  const pipe = cuda.makePipeline(${scope});
  pipe.producerAcquire();
  ${copy}
`;
const ofBlock = "block, cuda.pipelineSharedState('block', 2)";
const all = 'cuda.memcpyAsync(block, staged, x, 64, pipe);';
const own = 'cuda.memcpyAsync(staged.subarray(t), x.subarray(t), 1, pipe);';

const forgotten: Readonly<Record<string, string>> = {
  'a stage of the block': `${pipelineOf(ofBlock, all)} pipe.producerCommit();`,
  'a stage that is not committed': pipelineOf(ofBlock, all),
  'a stage of a thread': `${pipelineOf('', own)} pipe.producerCommit();`,
  'a stage of a thread that is not committed': pipelineOf('', own),
  'a copy of a group': 'cuda.cg.memcpyAsync(block, staged, x, 64);',
  'what some threads copy': `if (t % 3 === 0) { ${pipelineOf('', own)} pipe.producerCommit(); }`,
  'what threads copy that return': `if (t % 3 === 0) { ${pipelineOf('', own)} pipe.producerCommit(); return; }`,
  'a copy behind one that is waited for': `${pipelineOf('', own)}
    pipe.producerCommit();
    pipe.consumerWait();
    ${own}
    pipe.producerCommit();`,
  'a copy beside one that is waited for': `${pipelineOf('', own)}
    pipe.producerCommit();
    pipe.producerAcquire();
    ${own.replaceAll('subarray(t)', 'subarray(64 + t)')}
    pipe.consumerWait();`,
  'a copy beside those of a group that are waited for': `
    cuda.cg.memcpyAsync(block, staged, x, 64);
    ${pipelineOf('', own.replaceAll('subarray(t)', 'subarray(64 + t)'))}
    cuda.cg.wait(block);`,
  'the last of a loop': `const pipe = cuda.makePipeline(${ofBlock});
    for (let b = 0; b < n; b++) {
      pipe.producerAcquire();
      cuda.memcpyAsync(block, staged.subarray(64 * (b % 2)), x.subarray(64 * b), 64, pipe);
      pipe.producerCommit();
      if (b > 0) {
        pipe.consumerWait();
        out[t] += staged[64 * ((b + 1) % 2) + t];
        pipe.consumerRelease();
      }
    }`,
};

function forgettingKernel(body: string): Kernel {
  const text = `return ({ out, x, n }, cuda) => {
    const block = cuda.thisThreadBlock();
    const t = block.threadRank();
    const staged = cuda.sharedArray('i32', 128);
    ${body}
  }`;
  const schema = { out: 'i32[]', x: 'readonly i32[]', n: 'index' } as const;
  return newKernel(schema, new Function(text)()) as unknown as Kernel;
}

/** What is wrong with a program that is lowered for an architecture, or null; `lowered` gets what it became. */
function faultOf(
  program: Program,
  data: Parameters<typeof runProgram>[2]['arguments'],
  [{ architecture, options }, delivery]: readonly [(typeof lowerings)[number], Delivery],
  after: (lowered: Program) => Program = (lowered) => lowered,
): string | null {
  const target = loweredFor(architecture, delivery, () => {}, { lowering: options, after });
  const { fault } = runProgram(target, program, { grid: 1, arguments: data });
  return fault === null ? null : 'message' in fault ? fault.message : fault.kind;
}

const isCore = (statement: Statement, kind: string) =>
  statement.kind === 'call' && statement.intrinsic === 'core' && statement.operation.kind === kind;

/** Copies of the copy engine and arrivals that wait for copies are the kernel's own to wait for. */
const runs = lowerings.flatMap((lowering) => deliveries.map((delivery) => [lowering, delivery] as const));

describe.each(Object.entries(forgotten))('%s', (name, body) => {
  const program = programOf(forgettingKernel(body));
  const data = () => ({ out: new Int32Array(64), x: new Int32Array(256), n: 3 });

  test('is over when its threads end', () => {
    for (const run of runs) expect(faultOf(program, data(), run), `${run[0].name}, ${run[1]}`).toBeNull();
  });

  test('would write later if nothing waited at the end', () => {
    const without = (lowered: Program): Program => ({
      ...lowered,
      body: mapStatements(lowered.body, {
        expression,
        statement: (each) =>
          isCore(each, 'copyWaitAll') ? { kind: 'block', label: 9999, body: [], range: each.range } : each,
      }),
    });
    const found = runs.map((run) => faultOf(program, data(), run, without));
    expect(found, name).toContain('a copy is under way at the end of its block');
  });
});

/** The programs that lack one of a program's waits. */
function withoutOneWait(program: Program): Program[] {
  const isWait = (each: Statement) => each.kind === 'call' && each.intrinsic === 'consumerWait';
  let waits = 0;
  forEachStatement(program.body, (each) => {
    if (isWait(each)) waits += 1;
  });
  return Array.from({ length: waits }, (_, which) => {
    let seen = -1;
    const statement = (each: Statement): Statement => {
      if (isWait(each)) seen += 1;
      return isWait(each) && seen === which
        ? { kind: 'block', label: 9999, body: [], range: each.range }
        : each;
    };
    return { ...program, body: mapStatements(program.body, { expression, statement }) };
  });
}

test('no kernel that lacks a wait leaves chunk copies behind', () => {
  let lacking = 0;
  for (const [name, { kernel, scratch, threads: each }] of Object.entries(orderingKernels)) {
    const batches = 5;
    const array = () => new Int32Array((threads / each) * batches);
    const data = () => ({
      out: array(),
      input: array(),
      batches,
      late: 0,
      ...(scratch ? { scratch: array() } : {}),
    });
    for (const program of withoutOneWait(programOf(kernel))) {
      const found = faultOf(program, data(), [lowerings[1], 'late']);
      expect(found ?? '', name).not.toContain('a copy is under way');
      lacking += 1;
    }
  }
  expect(lacking).toBeGreaterThan(5);
});

/** Loops that may leave stages of the copy engine behind, with so many stages. */
const leaving: Readonly<Record<string, (stages: number) => string>> = {
  'a loop that is left early': (stages) => `for (let c = 0, f = 0; c < n; c++) {
      for (; f < n && f < c + ${stages}; f++) {
        pipe.producerAcquire();
        cuda.memcpyAsync(block, staged.subarray((f % ${stages}) * 64), x.subarray(f * 64), 64, pipe);
        pipe.producerCommit();
      }
      pipe.consumerWait();
      out[t] += staged[(c % ${stages}) * 64 + t];
      pipe.consumerRelease();
      if (c === most) break;
    }`,
  'a loop that copies more than it uses': (stages) => `for (let c = 0, f = 0; c < most; c++) {
      for (; f < n && f < c + ${stages}; f++) {
        pipe.producerAcquire();
        cuda.memcpyAsync(block, staged.subarray((f % ${stages}) * 64), x.subarray(f * 64), 64, pipe);
        pipe.producerCommit();
      }
      pipe.consumerWait();
      out[t] += staged[(c % ${stages}) * 64 + t];
      pipe.consumerRelease();
    }`,
  'a loop without its last waits': (stages) => `for (let b = 0; b < n; b++) {
      pipe.producerAcquire();
      cuda.memcpyAsync(block, staged.subarray(64 * (b % ${stages})), x.subarray(64 * b), 32, pipe);
      cuda.memcpyAsync(block, staged.subarray(64 * (b % ${stages}) + 32), x.subarray(64 * b + 32), 32, pipe);
      pipe.producerCommit();
      if (b >= ${stages} - 1 && b < most) {
        pipe.consumerWait();
        out[t] += staged[64 * ((b + 1) % ${stages}) + t];
        pipe.consumerRelease();
      } else if (b >= most) break;
    }`,
  'a copy that a branch does not commit': (stages) => `for (let b = 0; b < n; b++) {
      pipe.producerAcquire();
      cuda.memcpyAsync(block, staged.subarray(64 * (b % ${stages})), x.subarray(64 * b), 64, pipe);
      if (b === most) break;
      pipe.producerCommit();
      pipe.consumerWait();
      out[t] += staged[64 * (b % ${stages}) + t];
      pipe.consumerRelease();
    }`,
};

describe.each(Object.entries(leaving))('what the copy engine still brings behind %s', (name, body) => {
  test.each([1, 2, 3, 4])('has come when the block ends: %i stages', (stages) => {
    const text = `return ({ out, x, n, most }, cuda) => {
      const block = cuda.thisThreadBlock();
      const t = block.threadRank();
      const staged = cuda.sharedArray('i32', ${64 * stages});
      // Wide enough that a single stage is the copy engine's.
      const wide = cuda.sharedArray('i32', 512);
      const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', ${stages}));
      ${
        stages > 1
          ? ''
          : `pipe.producerAcquire(); cuda.memcpyAsync(block, wide, x, 512, pipe); pipe.producerCommit();
      pipe.consumerWait(); out[t] += wide[511 - t]; pipe.consumerRelease();`
      }
      ${body(stages)}
    }`;
    const schema = { out: 'i32[]', x: 'readonly i32[]', n: 'index', most: 'index' } as const;
    const program = programOf(newKernel(schema, new Function(text)()));
    const lowering = choiceOf(program).lowering;
    expect(lowering).toBe('bulk');
    for (const [n, most] of [
      [0, 0],
      [1, 0],
      [2, 1],
      [3, 0],
      [5, 2],
      [8, 3],
      [9, 8],
      [9, 7],
      [8, 4],
    ] as const) {
      const data = () => ({
        out: new Int32Array(64),
        x: Int32Array.from({ length: 1024 }, (_, i) => 3 * i + 1),
        n,
        most,
      });
      for (const delivery of deliveries)
        expect(
          faultOf(program, data(), [lowerings[3], delivery]),
          `${name} ${n} ${most} ${delivery}`,
        ).toBeNull();
    }
  });
});

/** Kernels whose producers fill more stages than consumers wait for. */
const unread: Readonly<Record<string, { readonly fetch: string; readonly use: string }>> = {
  'the last stages': {
    fetch: 'for (let f = 0; f < n; f++) fetch(f, true);',
    use: 'for (let c = 0; c < most; c++) use(c);',
  },
  'what is behind a break': {
    fetch: 'for (let f = 0; f < n; f++) fetch(f, true);',
    use: 'for (let c = 0; c < n; c++) { if (c === most) break; use(c); }',
  },
  'a stage behind the others': {
    fetch: 'for (let f = 0; f < most; f++) fetch(f, true); fetch(most, true);',
    use: 'for (let c = 0; c < most; c++) use(c);',
  },
  'a stage that is not committed': {
    fetch: 'for (let f = 0; f < most; f++) fetch(f, true); fetch(most, false);',
    use: 'for (let c = 0; c < most; c++) use(c);',
  },
  'loops that begin apart': {
    fetch: 'for (let f = 0; f < n; f++) fetch(f, true);',
    use: 'for (let c = 1; c < n; c++) use(c);',
  },
  'every second stage': {
    fetch: 'for (let f = 0; f < most; f++) { fetch(f, true); if (f < n - most) fetch(f, true); }',
    use: 'for (let c = 0; c < most; c++) use(c);',
  },
};
const used = {
  fetch: 'for (let f = 0; f < n; f++) fetch(f, true);',
  use: 'for (let c = 0; c < n; c++) use(c);',
};

function programWithRoles({ fetch, use }: (typeof unread)[string], stages: number): Program {
  const text = `return ({ out, x, n, most }, cuda) => {
    const block = cuda.thisThreadBlock();
    const t = block.threadRank();
    const staged = cuda.sharedArray('i32', ${32 * stages});
    const pipe = cuda.makePipeline(block, cuda.pipelineSharedState('block', ${stages}), t < 32 ? 'producer' : 'consumer');
    const fetch = (f, whole) => {
      pipe.producerAcquire();
      cuda.memcpyAsync(staged.subarray((f % ${stages}) * 32 + t), x.subarray(f * 32 + t), 1, pipe);
      if (whole) pipe.producerCommit();
    };
    const use = (c) => {
      pipe.consumerWait();
      out[c * 32 + t - 32] = staged[(c % ${stages}) * 32 + t - 32];
      pipe.consumerRelease();
    };
    if (t < 32) { ${fetch} } else { ${use} }
  }`;
  const schema = { out: 'i32[]', x: 'readonly i32[]', n: 'index', most: 'index' } as const;
  return programOf(newKernel(schema, new Function(text)()));
}

describe.each(Object.entries(unread))(
  'what one thread copies for producers, and nobody waits for: %s',
  (name, parts) => {
    test.each([1, 2, 3, 4])('has come when the block ends: %i stages', (stages) => {
      const program = programWithRoles(parts, stages);
      expect(choiceOf(program).lowering).toBe('roles');
      for (const [n, most] of [
        [1, 0],
        [3, 2],
        [4, 3],
        [8, 7],
      ] as const) {
        if (n - most > stages) continue;
        const data = () => ({
          out: new Int32Array(512),
          x: Int32Array.from({ length: 512 }, (_, i) => 3 * i + 1),
          n,
          most,
        });
        for (const delivery of deliveries)
          expect(
            faultOf(program, data(), [lowerings[3], delivery]),
            `${name} ${n} ${most} ${delivery}`,
          ).toBeNull();
      }
    });
  },
);

test('nothing is waited for at the end of producers whose stages are all waited for', () => {
  const waits = (parts: (typeof unread)[string]): number => {
    let found = 0;
    const count = (lowered: Program): Program => {
      found = 0;
      forEachStatement(lowered.body, (each) => {
        if (isCore(each, 'mbarrierWait')) found += 1;
      });
      return lowered;
    };
    const data = { out: new Int32Array(512), x: new Int32Array(512), n: 0, most: 0 };
    expect(faultOf(programWithRoles(parts, 2), data, [lowerings[3], 'eager'], count)).toBeNull();
    return found;
  };
  const stages = 2;
  expect(waits(unread['the last stages']!)).toBe(waits(used) + stages);
});
