// What all threads of a region find the same is computed in front of it, unless it may fail or change there.

import { expect, test } from 'vitest';
import { interpreter } from '../support/interpreter.ts';
import {
  add,
  binary,
  compare,
  constant,
  load,
  ProgramBuilder,
  store,
  subtract,
  when,
} from '../support/ir.ts';
import { runProgram } from '../support/run-program.ts';
import { wasm, wasmStates } from '../support/wasm.ts';

const targets = [interpreter('late'), wasm, wasmStates];

test.each(targets)('an element and a quotient that a test keeps from failing, by $name', (target) => {
  const p = new ProgramBuilder('guarded', [64, 1, 1]);
  const input = p.array('input', 'i32', 'readonly');
  const output = p.array('output', 'i32');
  const count = p.scalar('count', 'i32');
  const rank = p.builtin('threadRank');
  const isSome = compare('greater', count, p.index(0));
  const last = load(input, subtract(count, p.index(1)));
  const share = binary('divide', constant('i32', 640), count);
  const program = p.build([when(isSome, [store(output, rank, add(add(last, share), rank))])]);
  for (const length of [0, 4]) {
    const given = Int32Array.from({ length }, (_, i) => 100 * i);
    const y = new Int32Array(64).fill(-1);
    const { fault } = runProgram(target, program, {
      grid: 1,
      arguments: { input: given, output: y, count: length },
    });
    expect(fault).toBeNull();
    expect([...y]).toEqual(Array.from({ length: 64 }, (_, i) => (length === 0 ? -1 : 300 + 160 + i)));
  }
});

test.each(targets)('an element that the thread itself has changed, by $name', (target) => {
  const p = new ProgramBuilder('changed', 1);
  const data = p.array('data', 'i32');
  const first = p.index(0);
  const doubled = () => store(data, first, add(load(data, first), load(data, first)));
  const program = p.build([doubled(), doubled(), store(data, p.index(1), load(data, first))]);
  const y = Int32Array.of(3, 0);
  expect(runProgram(target, program, { grid: 1, arguments: { data: y } }).fault).toBeNull();
  expect([...y]).toEqual([12, 12]);
});
