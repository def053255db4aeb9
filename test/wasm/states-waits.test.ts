// Threads that wait where not all of them come, or not equally often.

import { describe, expect, test } from 'vitest';
import type { Group } from '#warpstage/compiler/ir.js';
import { expectStates } from '../support/agreement.ts';
import {
  add,
  atomic,
  binary,
  block,
  compare,
  constant,
  convert,
  finish,
  leave,
  load,
  loop,
  multiply,
  ProgramBuilder,
  print,
  store,
  sync,
  when,
} from '../support/ir.ts';
import { wasm } from '../support/wasm.ts';

/** How far each thread has come: `out[rank] = value`, in its own elements. */
const own = (p: ProgramBuilder, slot: number, slots = 4) =>
  add(multiply(p.gridRank(), p.index(slots)), p.index(slot));

describe('waits under varying conditions', () => {
  test('threads that returned are not waited for', () => {
    const p = new ProgramBuilder('exits', 8);
    const out = p.array('out', 'i32');
    const shared = p.shared('shared', 'i32', 8);
    const rank = p.builtin('threadRank');
    const program = p.build([
      store(shared, rank, rank),
      when(compare('less', rank, p.index(3)), [finish()]),
      sync(),
      store(out, rank, load(shared, binary('subtract', p.index(7), rank))),
    ]);
    const { arguments: arrays } = expectStates(
      program,
      { grid: 1, arguments: { out: new Int32Array(8) } },
      wasm,
    );
    expect(arrays.out).toEqual(Int32Array.of(0, 0, 0, 4, 3, 2, 1, 0));
  });

  test('syncs at different places of the program meet', () => {
    const p = new ProgramBuilder('meet', 8);
    const out = p.array('out', 'i32');
    const shared = p.shared('shared', 'i32', 8);
    const rank = p.builtin('threadRank');
    const mirrored = load(shared, binary('subtract', p.index(7), rank));
    const low = compare('less', rank, p.index(4));
    const program = p.build([
      store(shared, rank, rank),
      when(low, [sync(), store(out, rank, mirrored)], [sync(), store(out, rank, multiply(mirrored, rank))]),
    ]);
    const { arguments: arrays } = expectStates(
      program,
      { grid: 1, arguments: { out: new Int32Array(8) } },
      wasm,
    );
    expect(arrays.out).toEqual(Int32Array.of(7, 6, 5, 4, 12, 10, 6, 0));
  });

  test('rounds that differ from thread to thread, with breaks and continues across syncs', () => {
    const p = new ProgramBuilder('rounds', 12);
    const out = p.array('out', 'i32');
    const i = p.variable('i', 'i32');
    const sum = p.variable('sum', 'i32');
    const label = p.label();
    const outer = p.label();
    const tile: Group = { kind: 'tile', size: 4 };
    const rank = p.builtin('threadRank');
    const isOdd = compare('equal', binary('and', i.value, p.index(1)), p.index(1));
    const program = p.build([
      loop(outer, null, [
        ...p.countUp(
          i,
          p.index(0),
          compare('less', i.value, add(binary('remainder', rank, p.index(5)), p.index(2))),
          [
            sum.set(add(sum.value, i.value)),
            when(isOdd, [leave('continue', label)]),
            sync(tile),
            when(compare('greater', sum.value, p.index(3)), [leave('break', outer)]),
            sync(),
          ],
          label,
        ),
        sum.set(add(sum.value, p.index(100))),
        when(compare('greater', sum.value, p.index(250)), [leave('break', outer)]),
      ]),
      store(out, rank, sum.value),
    ]);
    expectStates(program, { grid: 2, arguments: { out: new Int32Array(24) } }, wasm);
  });

  test('a loop that tests last, whose update waits', () => {
    const p = new ProgramBuilder('last', 8);
    const out = p.array('out', 'i32');
    const n = p.variable('n', 'i32');
    const rank = p.builtin('threadRank');
    const program = p.build([
      loop(
        p.label(),
        compare('lessEqual', n.value, binary('remainder', rank, p.index(3))),
        [store(out, own(p, 0), n.value)],
        [n.set(add(n.value, p.index(1))), sync({ kind: 'tile', size: 1 })],
        false,
      ),
      store(out, own(p, 1), n.value),
    ]);
    const { arguments: arrays } = expectStates(program, { grid: 1, arguments: { out: new Int32Array(32) } });
    expect(arrays.out).toMatchObject({ 0: 0, 1: 1, 4: 1, 5: 2, 8: 2, 9: 3 });
  });

  test('blocks that are left from inside, around syncs', () => {
    const p = new ProgramBuilder('switches', 9);
    const out = p.array('out', 'i32');
    const rank = p.builtin('threadRank');
    const label = p.label();
    const isCase = (n: number) => compare('equal', binary('remainder', rank, p.index(3)), p.index(n));
    const program = p.build([
      block(label, [
        when(isCase(0), [store(out, rank, p.index(1)), sync(), leave('break', label)]),
        when(isCase(1), [store(out, rank, p.index(2)), leave('break', label)]),
        sync(),
        store(out, rank, p.index(3)),
      ]),
      when(isCase(1), [sync()]),
    ]);
    const { arguments: arrays } = expectStates(
      program,
      { grid: 1, arguments: { out: new Int32Array(9) } },
      wasm,
    );
    expect(arrays.out).toEqual(Int32Array.of(1, 2, 3, 1, 2, 3, 1, 2, 3));
  });

  test('a value that threads find themselves decides how long they take part', () => {
    const p = new ProgramBuilder('searches', 16);
    const out = p.array('out', 'i32');
    const values = p.array('values', 'i32', 'readonly');
    const best = p.shared('best', 'i32', 1);
    const i = p.variable('i', 'i32');
    const rank = p.builtin('threadRank');
    const label = p.label();
    const at = add(multiply(i.value, p.index(16)), rank);
    const program = p.build([
      when(compare('equal', rank, p.index(0)), [store(best, p.index(0), constant('i32', 1000))]),
      sync(),
      ...p.countUp(
        i,
        p.index(0),
        compare('less', i.value, p.index(4)),
        [
          when(compare('less', load(values, at), constant('i32', 20)), [
            atomic('min', [best, p.index(0)], load(values, at)),
            leave('break', label),
          ]),
          sync({ kind: 'tile', size: 1 }),
        ],
        label,
      ),
      sync(),
      store(out, rank, add(multiply(load(best, p.index(0)), p.index(10)), i.value)),
    ]);
    const values64 = Int32Array.from({ length: 64 }, (_, n) => (n * 37) % 101);
    expectStates(program, { grid: 1, arguments: { out: new Int32Array(16), values: values64 } }, wasm);
  });

  test('local arrays and 64-bit variables live through waits', () => {
    const p = new ProgramBuilder('keeps', 6, { indexType: 'i64' });
    const out = p.array('out', 'f64');
    const kept = p.local('kept', 'f64', 3);
    const wide = p.variable('wide', 'f64');
    const uniform = p.variable('uniform', 'u64');
    const rank = p.builtin('threadRank');
    const program = p.build([
      wide.set(multiply(convert(rank, 'f64'), constant('f64', 0.1))),
      uniform.set(constant('u64', 2n ** 63n + 5n)),
      store(kept, binary('remainder', rank, p.index(3)), wide.value),
      when(compare('less', rank, p.index(4)), [sync()], [sync()]),
      store(
        out,
        rank,
        add(
          add(wide.value, load(kept, binary('remainder', rank, p.index(3)))),
          convert(uniform.value, 'f64'),
        ),
      ),
    ]);
    expectStates(program, { grid: 1, arguments: { out: new Float64Array(6) } }, wasm);
  });

  test('what threads print, each in its order', () => {
    const p = new ProgramBuilder('prints', 4);
    const rank = p.builtin('threadRank');
    const program = p.build([
      print('before ', rank),
      when(compare('less', rank, p.index(2)), [sync(), print('low ', rank)], [print('high'), sync()]),
    ]);
    const { printed } = expectStates(program, { grid: 1, arguments: {} }, wasm);
    expect([...printed].sort()).toEqual([
      'before 0',
      'before 1',
      'before 2',
      'before 3',
      'high',
      'high',
      'low 0',
      'low 1',
    ]);
  });
});
