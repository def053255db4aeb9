// What may be wrong with copies and waits: found on the interpreter and on WebAssembly alike, with the
// same words.

import { describe, expect, test } from 'vitest';
import { kernel } from 'warpstage';
import { interpreter } from '../support/interpreter.ts';
import { nativeTargets } from '../support/native.ts';
import { type KernelLaunch, runKernel } from '../support/run-kernel.ts';
import { wasm, wasmStates } from '../support/wasm.ts';
import { counting } from './case.ts';

/** The fault of a kernel, which must be the same everywhere. */
function faultOf(of: ReturnType<typeof kernel>, launch: KernelLaunch) {
  const faults = [interpreter('late'), interpreter('eager'), wasm, wasmStates, ...nativeTargets].map(
    (target) => {
      const fresh = Object.entries(launch.arguments).map(([name, value]) => {
        return [name, ArrayBuffer.isView(value) ? value.slice() : value] as const;
      });
      return runKernel(target, of, { ...launch, arguments: Object.fromEntries(fresh) }).fault;
    },
  );
  for (const fault of faults) expect(fault).toEqual(faults[0]);
  return faults[0]!;
}

describe('overlapping copies', () => {
  const overlapping = kernel(
    { data: 'i32[]', from: 'index', to: 'index', count: 'index', space: 'constant index' },
    ({ data, from, to, count, space }, cuda) => {
      const local = cuda.localArray('i32', 16);
      const shared = cuda.sharedArray('i32', 16);
      const all = space === 0 ? data : space === 1 ? shared : local;
      const pipeline = cuda.makePipeline();
      cuda.memcpyAsync(all.subarray(to), all.subarray(from), count, pipeline);
      pipeline.producerCommit();
      pipeline.consumerWait();
    },
  );
  const launched = (from: number, to: number, count: number, space: number) => ({
    grid: 1,
    block: 1,
    arguments: { data: counting(16), from, to, count, space },
  });

  test.each([
    ['global', 0, 'data'],
    ['shared', 1, 'shared'],
    ['local', 2, 'local'],
  ])('in %s memory', (_, space, name) => {
    for (const [from, to] of [
      [0, 3],
      [3, 0],
      [5, 5],
    ] as const) {
      expect(faultOf(overlapping, launched(from, to, 4, space))).toMatchObject({
        kind: 'misuse',
        code: 'WS3005',
        message: `memcpyAsync of 4 elements from \`${name}\` at ${from} to \`${name}\` at ${to}: the two overlap`,
      });
    }
  });

  test('side by side they do not, nor does a copy of nothing', () => {
    for (const space of [0, 1, 2]) {
      for (const [from, to, count] of [
        [0, 4, 4],
        [4, 0, 4],
        [5, 5, 0],
      ] as const) {
        expect(runKernel(wasm, overlapping, launched(from, to, count, space)).fault).toBeNull();
        expect(
          runKernel(interpreter('late'), overlapping, launched(from, to, count, space)).fault,
        ).toBeNull();
      }
    }
  });
});

describe('a list of arrays', () => {
  const chosen = kernel({ a: 'i32[]', b: 'i32[]', which: 'index', at: 'index' }, ({ a, b, which, at }) => {
    const list = [a, b.subarray(2)];
    list[which]![at] = 1;
  });

  test.each([-1, 2, 2 ** 30, -(2 ** 30)])('has no array %i', (which) => {
    for (const at of [0, 5]) {
      const given = { a: counting(8), b: counting(8), which, at };
      expect(faultOf(chosen, { grid: 1, block: 1, arguments: given })).toMatchObject({
        kind: 'out-of-range',
        access: 'write',
      });
    }
  });

  test.each([0, 1])('has an array %i', (which) => {
    const given = { a: counting(8), b: counting(8), which, at: 5 };
    expect(faultOf(chosen, { grid: 1, block: 1, arguments: given })).toBeNull();
  });
});

describe('assertions', () => {
  const asserting = kernel(
    { out: 'i32[]', x: 'readonly f32[]', limit: 'i32', wide: 'i64' },
    ({ out, x, limit, wide }, cuda) => {
      const t = cuda.thisGrid().threadRank();
      cuda.assert(cuda.i32(t) < limit, `${t} of ${x[t]!}, ${wide} and ${t > 3}`);
      cuda.assert(limit * 2 >= t - 1);
      out[t] = 1;
      cuda.syncthreads();
      cuda.assert(x[t]! > -1);
      cuda.assert(out.length !== 3, 'never three');
    },
  );
  const launched = (limit: number, from = 0.5) => ({
    grid: 1,
    block: 8,
    arguments: {
      out: new Int32Array(8),
      x: Float32Array.from({ length: 8 }, (_, i) => i + from),
      limit,
      wide: -(2n ** 60n),
    },
  });

  test('hold', () => {
    const launch = launched(8);
    expect(faultOf(asserting, launch)).toBeNull();
  });

  test('say what was compared, and their message', () => {
    expect(faultOf(asserting, launched(5))).toMatchObject({
      kind: 'misuse',
      code: 'WS3012',
      message: 'cuda.i32(t) < limit does not hold: 5 of 5.5, -1152921504606846976 and true',
      thread: [5, 0, 0],
    });
    expect(faultOf(asserting, launched(8, -3))).toMatchObject({
      message: 'x[t] > -1 does not hold, where x[t] is -3',
      thread: [0, 0, 0],
    });
  });

  test('of one thread alone end the others, which wait for it', () => {
    const alone = kernel({ out: 'i32[]' }, ({ out }, cuda) => {
      const t = cuda.thisThreadBlock().threadRank();
      cuda.assert(t !== 3 || out.length > 100, 'too short');
      cuda.syncthreads();
      out[t] = 1;
    });
    const launch = { grid: 2, block: 64, arguments: { out: new Int32Array(64) } };
    expect(faultOf(alone, launch)).toMatchObject({ code: 'WS3012', thread: [3, 0, 0], block: [0, 0, 0] });
  });
});

describe('zero-fill', () => {
  const filled = kernel(
    { data: 'readonly i32[]', at: 'index', zeros: 'index' },
    ({ data, at, zeros }, cuda) => {
      const shared = cuda.sharedArray('i32', 4);
      cuda.pipelineMemcpyAsync(shared, data.subarray(at), 4, zeros);
      cuda.pipelineCommit();
      cuda.pipelineWaitPrior(0);
    },
  );
  const launched = (at: number, zeros: number) => ({
    grid: 1,
    block: 1,
    arguments: { data: counting(16), at, zeros },
  });

  test.each([5, -1])('of %i elements of 4', (zeros) => {
    expect(faultOf(filled, launched(0, zeros))).toMatchObject({
      kind: 'misuse',
      code: 'WS3005',
      message: `pipelineMemcpyAsync of 4 elements from \`data\` to \`shared\` sets ${zeros} of them to zero`,
      hint: 'Pass 0 to 4 as zeroFill.',
    });
  });

  test('what is read must lie in the source; where nothing is, it may begin anywhere', () => {
    expect(faultOf(filled, launched(12, 0) as KernelLaunch)).toBeNull();
    expect(faultOf(filled, launched(16, 4))).toBeNull();
    expect(faultOf(filled, launched(400, 4))).toBeNull();
    expect(faultOf(filled, launched(16, 1))).toMatchObject({
      kind: 'out-of-range',
      array: 'data',
      access: 'copy',
      index: 16,
      count: 3,
    });
  });

  test('addresses are multiples of the size', () => {
    expect(faultOf(filled, launched(1, 0))).toMatchObject({
      code: 'WS3005',
      message:
        'memcpyAsync promises an alignment of 16 bytes, but element 1 of `data` lies at an address that is a multiple of 4 only',
    });
  });
});

test('a promise that the size does not keep', () => {
  const promised = kernel({ data: 'readonly i32[]', count: 'index' }, ({ data, count }, cuda) => {
    const shared = cuda.sharedArray('i32', 16);
    cuda.cg.memcpyAsync(cuda.thisThreadBlock(), shared, data, cuda.alignedSize(16, count));
    cuda.cg.wait(cuda.thisThreadBlock());
  });
  const launched = (count: number) => ({ grid: 1, block: 2, arguments: { data: counting(16), count } });
  expect(faultOf(promised, launched(8))).toBeNull();
  expect(faultOf(promised, launched(5))).toMatchObject({
    code: 'WS3005',
    message: 'memcpyAsync promises an alignment of 16 bytes, but copies 20',
  });
});

describe('waits with a limit', () => {
  const wrong = kernel({ what: 'constant index' }, ({ what }, cuda) => {
    const block = cuda.thisThreadBlock();
    const t = block.threadRank();
    const pipeline = cuda.makePipeline(
      block,
      cuda.pipelineSharedState('block', 1),
      t === 0 ? 'producer' : 'consumer',
    );
    if (what === 0 && t === 0) pipeline.consumerWaitFor(10);
    if (what === 1 && t === 0) pipeline.consumerWaitUntil(10);
    if (what === 2 && t === 1) {
      pipeline.quit();
      pipeline.consumerWaitFor(0);
    }
    if (what === 3) {
      if (t === 0) return;
      pipeline.consumerWaitFor(Number.POSITIVE_INFINITY);
    }
  });

  test.each([
    [0, '`pipeline` by a producer', 'consumerWaitFor'],
    [1, '`pipeline` by a producer', 'consumerWaitUntil'],
    [2, '`pipeline` by a thread that has quit it', 'consumerWaitFor'],
  ])('are for consumers that have not quit (%i)', (what, message, verb) => {
    expect(faultOf(wrong, { grid: 1, block: 2, arguments: { what } })).toMatchObject({
      code: 'WS3006',
      message: `${verb} of ${message}`,
    });
  });

  test('without an end deadlock like any other', () => {
    expect(faultOf(wrong, { grid: 1, block: 2, arguments: { what: 3 } })).toMatchObject({
      kind: 'deadlock',
      waiting: [
        {
          what: 'consumerWait on stage 0 of `pipeline`: 0 of 1 producers have committed; 1 thread has returned',
          threads: [1],
        },
      ],
    });
  });
});
