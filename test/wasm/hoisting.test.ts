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

test.each(targets)('an index that holds what a counter was before, by $name', (target) => {
  const p = new ProgramBuilder('before', [64, 1, 1]);
  const y = p.array('y', 'i32');
  const [i, j, d] = (['i', 'j', 'd'] as const).map((name) => p.variable(name, 'i32'));
  const rank = p.builtin('threadRank');
  const least = (variable: typeof i, limit: number) => compare('less', variable!.value, p.index(limit));
  const inner = p.countUp(j!, p.index(0), least(j!, 4), [store(y, add(d!.value, rank), i!.value)]);
  const outer = p.countUp(i!, p.index(0), least(i!, 2), [d!.set(j!.value), ...inner]);
  const program = p.build([j!.set(p.index(40)), ...outer]);
  const data = { y: new Int32Array(68) };
  expect(runProgram(target, program, { grid: 1, arguments: data }).fault).toMatchObject({
    kind: 'out-of-range',
    thread: [28, 0, 0],
  });
});
