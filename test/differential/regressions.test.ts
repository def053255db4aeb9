// What random programs have found, as small as it became: each case failed once.

import { describe, expect, test } from 'vitest';
import { kernel } from 'warpstage';
import { interpreter } from '../support/interpreter.ts';
import { add, convert, load, ProgramBuilder, store } from '../support/ir.ts';
import { runKernel } from '../support/run-kernel.ts';
import { runProgram } from '../support/run-program.ts';
import { wasm, wasmStates } from '../support/wasm.ts';

test.each(['u8', 'i8', 'u16', 'i16'] as const)('a uniform element of %s for four lanes', (element) => {
  const p = new ProgramBuilder('spread', 32);
  const out = p.array('out', 'i32');
  const y = p.array('y', 'i32', 'readonly');
  const small = p.array('small', element, 'readonly');
  const uniform = convert(load(small, p.builtin('blockIdx.x')), 'i32');
  const program = p.build([store(out, p.gridRank(), add(load(y, p.gridRank()), uniform))]);
  const bytes = Uint8Array.from({ length: 64 }, (_, i) => 200 + i);
  const elements = {
    u8: bytes,
    i8: new Int8Array(bytes.buffer),
    u16: new Uint16Array(bytes.buffer),
    i16: new Int16Array(bytes.buffer),
  }[element];
  const expected = Int32Array.from({ length: 96 }, (_, i) => i + elements[Math.floor(i / 32)]!);
  for (const target of [interpreter(), wasm, wasmStates]) {
    const array = new Int32Array(96);
    const { executable } = runProgram(target, program, {
      grid: 3,
      arguments: { out: array, y: Int32Array.from(array.keys()), small: elements },
    });
    expect(array).toEqual(expected);
    if (target === wasm) expect(executable).toMatchObject({ vectorised: true });
  }
});

describe('an index that is the rank and a distance that differs from thread to thread', () => {
  const schema = { out: 'i32[]', n: 'index' } as const;
  const distances = {
    'assigned in a branch': kernel(schema, ({ out, n }, cuda) => {
      const t = cuda.threadIdx.x;
      let shift = 0;
      if (t > n) shift = 1;
      const at = t + shift;
      out[t] = at;
    }),
    'chosen by a condition': kernel(schema, ({ out, n }, cuda) => {
      const t = cuda.threadIdx.x;
      const shift = t > n ? 1 : 0;
      const at = t + shift;
      out[t] = at;
    }),
    'counted in a loop': kernel(schema, ({ out, n }, cuda) => {
      const t = cuda.threadIdx.x;
      let before = 0;
      for (let i = 0; i < 1; i++) if (i + n < t) before++;
      const at = t + before;
      out[t] = at;
    }),
    'the difference of two such indices': kernel(schema, ({ out, n }, cuda) => {
      const t = cuda.threadIdx.x;
      let at = t;
      if (t > n) at = t + 1;
      const shift = at - t;
      const again = t + shift;
      out[t] = again;
    }),
  };
  test.each(Object.entries(distances))('%s', (_, made) => {
    for (const target of [interpreter(), wasm, wasmStates]) {
      const out = new Int32Array(8);
      const { fault } = runKernel(target, made, { grid: 1, block: 8, arguments: { out, n: 3 } });
      expect(fault).toBeNull();
      expect([...out]).toEqual([0, 1, 2, 3, 5, 6, 7, 8]);
    }
  });
});

test('lanes that are in no branch are in no loop of it either', () => {
  const summed = kernel({ out: 'i32[]', x: 'readonly i32[]' }, ({ out, x }, cuda) => {
    const t = cuda.threadIdx.x;
    const own = x[t]!;
    let sum = 100;
    if (own > 2) {
      for (let i = 0; i < (own & 3); i++) {
        sum += own;
        if (own > 5) for (let j = 0; j < (own & 1); j++) sum += 1000;
      }
    }
    out[t] = sum;
  });
  const x = Int32Array.of(1, 7, 3, 2, 5, 2, 9, 1);
  for (const target of [interpreter(), wasm, wasmStates]) {
    const out = new Int32Array(8);
    const { executable } = runKernel(target, summed, { grid: 1, block: 8, arguments: { out, x } });
    expect([...out]).toEqual([100, 3121, 109, 100, 105, 100, 1109, 100]);
    if (target === wasm) expect(executable).toMatchObject({ vectorised: true });
  }
});
