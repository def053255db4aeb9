// Comparisons of unsigned numbers with literals, which lanes make by another operator and the next number: at every edge.

import { expect, test } from 'vitest';
import type { Program } from '#warpstage/compiler/ir.js';
import { wasmBytes } from '#warpstage/targets/wasm/compile.js';
import { interpreter } from '../support/interpreter.ts';
import { compare, constant, convert, load, ProgramBuilder, store } from '../support/ir.ts';
import { bitsOf, runProgram, type Target } from '../support/run-program.ts';
import { wasm, wasmWithout } from '../support/wasm.ts';

const edges = [0, 1, 2, 2 ** 31 - 1, 2 ** 31, 2 ** 31 + 1, 2 ** 32 - 2, 2 ** 32 - 1];
const operators = ['less', 'lessEqual', 'greater', 'greaterEqual', 'equal', 'notEqual'] as const;

function comparing(operator: (typeof operators)[number], limit: number): Program {
  const p = new ProgramBuilder('comparing', 8);
  const [out, x] = [p.array('out', 'i32'), p.array('x', 'u32', 'readonly')];
  const tested = compare(operator, load(x, p.gridRank()), constant('u32', limit));
  return p.build([store(out, p.gridRank(), convert(tested, 'i32'))]);
}

test.each(operators)('%s', (operator) => {
  for (const limit of edges) {
    const [expected, ...found] = [interpreter('eager'), wasm, wasmWithout('unsigned')].map(
      (target: Target) => {
        const out = new Int32Array(8);
        const x = Uint32Array.from(edges);
        runProgram(target, comparing(operator, limit), { grid: 1, arguments: { out, x } });
        return bitsOf(out);
      },
    );
    expect(found, `${limit}`).toEqual([expected, expected]);
  }
});

test('the pass changes the code, but not at the ends of the numbers', () => {
  const changes = (...[operator, limit]: Parameters<typeof comparing>) => {
    const program = comparing(operator, limit);
    return !Buffer.from(wasmBytes(program)).equals(wasmBytes(program, { without: ['unsigned'] }));
  };
  expect([changes('greater', 1), changes('less', 1), changes('greaterEqual', 1)]).toEqual([
    true,
    true,
    false,
  ]);
  expect([changes('greater', 2 ** 32 - 1), changes('less', 0)]).toEqual([false, false]);
});
