// Arrays seen as elements of other types: in device and shared memory, on the host, and by the checker.

import { describe, expect, test } from 'vitest';
import { kernel, open, struct } from 'warpstage';
import { check } from 'warpstage/check';
import { generateCuda } from '#warpstage/targets/cuda/generate.js';
import { blockUniformPipelines } from '#warpstage/targets/legalise/synchronisation.js';
import { compile, kernelOf, mistakesIn } from '../compiler/support.ts';
import { cudaTargets } from '../support/cuda.ts';
import { interpreter } from '../support/interpreter.ts';
import { nativeTargets, newAmong } from '../support/native.ts';
import { sayWithoutGpu } from '../support/no-gpu.ts';
import { testCompiling } from '../support/nvcc.ts';
import { runKernel } from '../support/run-kernel.ts';
import { wasm, wasmStates } from '../support/wasm.ts';

const checkedTargets = newAmong([interpreter('eager'), wasm, wasmStates, ...nativeTargets]);

sayWithoutGpu();

const pair = struct({ low: 'u16', high: 'u16' });

/** Four numbers at a time from one side to the other, through shared memory whose bytes are looked at too. */
const seen = kernelOf(
  { out: 'f32[]', x: 'readonly f32[]', bytes: 'u8[]', pairs: 'u32[]', begin: 'index', pair },
  `({ out, x, bytes, pairs, begin, pair }, cuda) => {
    const block = cuda.thisThreadBlock();
    const t = block.threadRank();
    const staged = cuda.sharedArray('f32', 4 * block.size());
    const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
    const four = x.as('f32x4');
    pipeline.producerAcquire();
    cuda.memcpyAsync(block, staged.as('f32x4'), four.subarray(block.groupIndex().x * block.size()), block.size(), pipeline);
    pipeline.producerCommit();
    pipeline.consumerWait();
    const v = staged.as('f32x4')[block.size() - 1 - t];
    out.subarray(begin).as('f32x4')[cuda.thisGrid().threadRank()] = cuda.f32x4(v.w, v.z, v.y, v.x);
    const own = staged.as('u8');
    bytes[cuda.thisGrid().threadRank()] = own[16 * t + 15] + own.length;
    pairs.as(pair)[cuda.thisGrid().threadRank()].high = pairs.as('u16')[2 * cuda.thisGrid().threadRank()] + four.length;
    pipeline.consumerRelease();
  }`,
);

describe.each([...checkedTargets, ...cudaTargets])('$name', (target) => {
  test.each(['i32', 'i64'] as const)('sees the same bytes, with an index of %s', (indexType) => {
    const [grid, block, begin] = [2, 8, 4];
    const count = 4 * grid * block;
    const x = Float32Array.from({ length: count }, (_, i) => i * 1.5 - 7);
    const given = {
      out: new Float32Array(count + begin),
      x,
      bytes: new Uint8Array(grid * block),
      pairs: Uint32Array.from({ length: grid * block }, (_, i) => 1000 * i + 5),
    };
    const { fault } = runKernel(target, seen, { grid, block, indexType, arguments: { ...given, begin } });
    expect(fault).toBeNull();
    const own = new Uint8Array(x.buffer);
    for (let i = 0; i < grid * block; i += 1) {
      const from = i - (i % block) + block - 1 - (i % block);
      const turned = [...x.subarray(4 * from, 4 * from + 4)].reverse();
      expect([...given.out.subarray(begin + 4 * i, begin + 4 * i + 4)]).toEqual(turned);
      expect(given.bytes[i]).toBe((own[16 * i + 15]! + 16 * block) % 256);
      const low = (1000 * i + 5) % 65536;
      expect(given.pairs[i]).toBe(low + 65536 * (low + grid * block));
    }
  });
});

test.each(checkedTargets)('$name: an element outside is named by its own index', (target) => {
  const beyond = kernelOf({ x: 'f32[]' }, "({ x }, cuda) => { x.as('f32x4')[cuda.threadIdx.x].w = 1; }");
  const { fault } = runKernel(target, beyond, { grid: 1, block: 3, arguments: { x: new Float32Array(11) } });
  expect(fault).toMatchObject({ kind: 'out-of-range', array: 'x', index: 2, length: 2, access: 'write' });
});

test.each(checkedTargets)('$name: a beginning between two elements is an error', (target) => {
  const one = kernelOf({ x: 'f32[]', n: 'index' }, "({ x, n }) => { x.subarray(n).as('f32x2')[0].x = 1; }");
  const run = (n: number) =>
    runKernel(target, one, { grid: 1, block: 1, arguments: { x: new Float32Array(8), n } }).fault;
  expect(run(2)).toBeNull();
  expect(run(3)).toMatchObject({ kind: 'misuse', code: 'WS3012' });
});

test('what is known to begin between two elements is not compiled, nor a view of a thread’s own array', () => {
  const schema = { x: 'f32[]', r: 'readonly f32[]' } as const;
  const of = (statement: string) => mistakesIn(schema, `({ x, r }, cuda) => { ${statement} }`)[0];
  expect(of("x.subarray(3).as('f32x4')[0].x = 1;")).toContain(
    "'x' begins at element 3, 12 bytes from its array's beginning, which is no multiple of the 16 bytes of f32x4 (let it begin at a multiple of 4 elements)",
  );
  expect(of("r.as('f32x4')[0].x = 1;")).toContain("'r' is read-only");
  expect(of("const own = cuda.localArray('f32', 8); own.as('f32x4')[0].x = 1;")).toContain(
    "'own' is a thread's own array, and stays what it is",
  );
  expect(of("x[0] = x.as('f31')[0];")).toContain('element of array.as must be the name of an element type');
});

test('a launch says which array begins where its elements may not', async () => {
  await using device = await open('cpu');
  const stream = device.createStream();
  const doubled = kernel({ x: 'f32[]' }, ({ x }, cuda) => {
    x.as('f32x4')[cuda.threadIdx.x]!.x *= 2;
  });
  const x = device.alloc('f32', 16);
  stream.memcpyAsync(
    x,
    Float32Array.from({ length: 16 }, (_, i) => i),
  );
  stream.launch(doubled, { grid: 1, block: 2 }, { x });
  stream.launch(doubled, { grid: 1, block: 2 }, { x: x.subarray(4) });
  expect(() => stream.launch(doubled, { grid: 1, block: 2 }, { x: x.subarray(5) })).toThrow(
    'argument `x` begins 4 bytes behind a multiple of 16, and the kernel sees it as f32x4',
  );
  const result = new Float32Array(16);
  stream.memcpyAsync(result, x);
  await stream.synchronize();
  expect([...result]).toEqual([0, 1, 2, 3, 16, 5, 6, 7, 16, 9, 10, 11, 12, 13, 14, 15]);
});

test('the host sees arrays of devices and its own as other elements', async () => {
  await using device = await open('cpu');
  const stream = device.createStream();
  const [x, host] = [device.alloc('f32', 10), device.allocPinned('u32', 6)];
  host.as('f32').array.set([1, 2, 3, 4, 5, 6]);
  stream.memcpyAsync(x.subarray(4), host.as('f32'));
  const bits = new Uint32Array(2);
  stream.memcpyAsync(bits, x.as('u32').subarray(8));
  await stream.synchronize();
  expect([...bits]).toEqual([0x40a00000, 0x40c00000]);
  expect([x.as('f32x4').length, x.subarray(2).as('f64').length, host.as(pair).length]).toEqual([2, 4, 6]);
  expect(() => x.subarray(1).as('f64')).toThrow(
    'begins 4 bytes from the beginning of its memory, and f64 begins at multiples of 8',
  );
  expect(() => x.as('f32x4').free()).toThrow('is a part of');
  x.free();
  expect(() => x.as('f32x4')).toThrow('WS4002');
});

describe('the checker', () => {
  const codesOf = (text: string, length = 8) =>
    check(kernelOf({ x: 'f32[]', out: 'f32[]' }, text), {
      grid: 1,
      block: 2,
      arguments: { x: { length }, out: { length: 2 } } as never,
    }).findings.map(({ code }) => code);

  test('finds two threads in the same bytes, whatever they see there', () => {
    const race = "({ x }, cuda) => { if (cuda.threadIdx.x === 0) x[3] = 1; else x.as('f32x4')[0].w = 2; }";
    expect(codesOf(race)).toContain('WS7001');
    expect(codesOf(race.replace('.w', '.z'))).toEqual([]);
    expect(codesOf(race.replace('x[3]', "x.as('u8')[15]"))).toContain('WS7001');
    expect(codesOf(race.replace('x[3]', "x.as('u8')[11]"))).toEqual([]);
  });

  test('keeps two threads apart in the bytes of one number', () => {
    expect(codesOf("({ x }, cuda) => { x.as('u8')[cuda.threadIdx.x] = cuda.threadIdx.x; }")).toEqual([]);
    expect(codesOf("({ x }, cuda) => { x.as('u8')[2] = cuda.threadIdx.x; }")).toContain('WS7001');
  });

  test('knows which bytes of shared memory are written', () => {
    const read = (index: number) => `({ out }, cuda) => {
      const s = cuda.sharedArray('f32', 8);
      s.as('f32x2')[cuda.threadIdx.x] = cuda.f32x2(1, 2);
      cuda.syncthreads();
      out[cuda.threadIdx.x] = s[${index}];
    }`;
    expect(codesOf(read(3))).toEqual([]);
    expect(codesOf(read(4))).toContain('WS7003');
  });
});

testCompiling('arrays seen as other elements compile', (architecture) => {
  const { program } = compile(seen);
  const text = generateCuda(program, {
    architecture,
    alignments: program.parameters.map(() => 16),
    blockUniform: blockUniformPipelines(program),
    lineDirective: () => null,
  }).text;
  expect(text).toContain('((const float4*)g_x_1)');
  return [text];
});
