// The encoder: what it writes is valid, and means what was asked for.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Code, type WasmType } from '#warpstage/targets/wasm/encoder/code.js';
import { ModuleWriter } from '#warpstage/targets/wasm/encoder/module.js';
import {
  type EngineInstruction,
  engineOpcodes,
  type LaneInstruction,
  type LaneMemoryInstruction,
  laneMemoryOpcodes,
  laneOpcodes,
  type MemoryInstruction,
  memoryOpcodes,
  type PlainInstruction,
  plainOpcodes,
  type RelaxedInstruction,
  relaxedOpcodes,
} from '#warpstage/targets/wasm/encoder/opcodes.js';
import { disassemble, functionText } from '../support/disassemble.ts';
import { withRelaxedSimd } from '../support/relaxed-simd.ts';

const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });

function instantiate(bytes: Uint8Array<ArrayBuffer>, imports: WebAssembly.Imports = {}) {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), {
    env: { memory },
    ...imports,
  });
  return exports as Record<string, (...values: unknown[]) => unknown>;
}

/** A module with one exported function `f` without parameters. */
function moduleOf(result: WasmType, write: (code: Code) => void): Uint8Array<ArrayBuffer> {
  const writer = new ModuleWriter();
  const code = new Code();
  writer.function('f', code, [], [result], { exported: true });
  write(code);
  return writer.encode();
}

test('integer literals of every size', () => {
  const edges = [0, 1, -1, 63, 64, -64, -65, 127, 128, 8191, 8192, 2 ** 31 - 1, -(2 ** 31)];
  fc.assert(
    fc.property(fc.oneof(fc.constantFrom(...edges), fc.integer()), (value) => {
      expect(instantiate(moduleOf('i32', (code) => code.i32(value))).f!()).toBe(value);
    }),
  );
  fc.assert(
    fc.property(
      fc.oneof(fc.constantFrom(...edges.map(BigInt)), fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n)),
      (value) => {
        expect(instantiate(moduleOf('i64', (code) => code.i64(value))).f!()).toBe(value);
      },
    ),
  );
});

test('float literals keep their bits', () => {
  for (const value of [0, -0, 1.1, 1e-320, Number.MAX_VALUE, Number.POSITIVE_INFINITY, Number.NaN]) {
    expect(instantiate(moduleOf('f64', (code) => code.f64(value))).f!()).toBe(value);
    expect(instantiate(moduleOf('f32', (code) => code.f32(value))).f!()).toBe(Math.fround(value));
  }
});

test('every instruction is known to the engine by its number and to a disassembler by its name', () => {
  const names = Object.keys(plainOpcodes) as PlainInstruction[];
  const writer = new ModuleWriter();
  const code = new Code();
  writer.function('f', code, [], []);
  // After `unreachable` the stack has whatever an instruction takes.
  code.op('unreachable');
  for (const name of names) code.op(name).op('unreachable');
  for (const name of Object.keys(engineOpcodes) as EngineInstruction[]) code.engine(name).op('unreachable');
  for (const name of Object.keys(memoryOpcodes) as MemoryInstruction[])
    code.memory(name, 8).op('unreachable');
  for (const name of Object.keys(laneOpcodes) as LaneInstruction[]) code.lane(name, 1).op('unreachable');
  for (const name of Object.keys(laneMemoryOpcodes) as LaneMemoryInstruction[])
    code.memoryLane(name, 1, 8).op('unreachable');
  code.shuffle(Array.from({ length: 16 }, (_, byte) => 31 - byte)).op('drop', 'unreachable');
  code.i32x4([1, -2, 3, -4]).op('drop', 'unreachable').memoryCopy().op('unreachable').memoryFill();
  const bytes = writer.encode();
  expect(WebAssembly.validate(bytes)).toBe(true);
  const text = disassemble(bytes);
  const others = [engineOpcodes, memoryOpcodes, laneMemoryOpcodes, laneOpcodes].flatMap((table) =>
    Object.keys(table),
  );
  for (const name of [...names, ...others, 'i8x16.shuffle']) {
    expect(text).toMatch(new RegExp(`\\b${name.replaceAll('.', '\\.')}\\b`));
  }
});

test('so is every instruction of relaxed SIMD', () => {
  const names = Object.keys(relaxedOpcodes) as RelaxedInstruction[];
  const writer = new ModuleWriter();
  const code = new Code();
  writer.function('f', code, [], []);
  code.op('unreachable');
  for (const name of names) code.relaxed(name).op('unreachable');
  const bytes = writer.encode();
  expect(withRelaxedSimd(() => WebAssembly.validate(bytes))).toBe(true);
  const text = disassemble(bytes);
  for (const name of names) expect(text).toContain(name);
});

test('branches find their block, and names are kept', () => {
  const writer = new ModuleWriter();
  const add = writer.import('host', 'note', ['i32'], []);
  const code = new Code([{ name: 'n', type: 'i32' }]);
  writer.function('sum', code, ['i32'], ['i32'], { exported: true });
  const total = code.local('i32', 'total');
  code.block((done) => {
    code.loop((next) => {
      code.get(0).op('i32.eqz').brIf(done);
      code
        .get(0)
        .i32(3)
        .op('i32.eq')
        .if(() => code.get(total).call(add));
      code.get(total).get(0).op('i32.add').set(total);
      code.get(0).i32(1).op('i32.sub').set(0).br(next);
    });
  });
  code.get(total);
  const bytes = writer.encode();
  const noted: number[] = [];
  const exports = instantiate(bytes, { host: { note: (value: number) => noted.push(value) } });
  expect(exports.sum!(5)).toBe(15);
  expect(noted).toEqual([9]);
  expect(functionText(bytes, 'sum')).toMatchInlineSnapshot(`
    "  (func $sum (export "sum") (type 1) (param $n i32) (result i32)
        (local $total i32)
        (block  ;; label = @1
          (loop  ;; label = @2
            (br_if 1 (;@1;)
              (i32.eqz
                (local.get $n)))
            (if  ;; label = @3
              (i32.eq
                (local.get $n)
                (i32.const 3))
              (then
                (call $note
                  (local.get $total))))
            (local.set $total
              (i32.add
                (local.get $total)
                (local.get $n)))
            (local.set $n
              (i32.sub
                (local.get $n)
                (i32.const 1)))
            (br 0 (;@2;))))
        (local.get $total))"
  `);
});

test('a table of branches', () => {
  const writer = new ModuleWriter();
  const code = new Code([{ name: 'n', type: 'i32' }]);
  writer.function('choose', code, ['i32'], ['i32'], { exported: true });
  code.block((other) => {
    code.block((one) => {
      code.block((zero) => code.get(0).brTable([zero, one], other));
      code.i32(100).op('return');
    });
    code.i32(101).op('return');
  });
  code.i32(102);
  const { choose } = instantiate(writer.encode());
  expect([0, 1, 2, -1].map((n) => choose!(n))).toEqual([100, 101, 102, 102]);
});

test('captured code is written where it is appended', () => {
  const bytes = moduleOf('i32', (code) => {
    const local = code.local('i32');
    const later = code.capture(() => code.get(local).i32(2).op('i32.mul'));
    code.i32(21).set(local).append(later);
  });
  expect(instantiate(bytes).f!()).toBe(42);
});

test('a fragment and a branch must stand where they belong', () => {
  const code = new Code();
  const fragment = code.capture(() => code.i32(1));
  expect(() => code.block(() => code.append(fragment))).toThrow('at its own depth');
  let label: Parameters<typeof code.br>[0];
  const other = new Code();
  other.block((each) => {
    label = each;
  });
  expect(() => other.br(label)).toThrow('inside the block that it leaves');
});

test('temporaries are used again', () => {
  const code = new Code();
  const first = code.withTemporary('i32', (local) => local);
  const [second, third] = code.withTemporaries((take) => [take('i32'), take('i32')] as const);
  expect(second).toBe(first);
  expect(third).not.toBe(first);
});
