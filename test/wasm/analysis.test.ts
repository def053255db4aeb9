// What the analyses see: what is uniform, what is affine, what jumps can be said as conditions.

import { describe, expect, test } from 'vitest';
import type { Expression, Program, Statement } from '#warpstage/compiler/ir.js';
import { printProgram } from '#warpstage/compiler/print.js';
import { AffineForms } from '#warpstage/targets/analysis/affine.js';
import { analyseLiveness } from '#warpstage/targets/analysis/liveness.js';
import { analyseUniformity } from '#warpstage/targets/analysis/uniformity.js';
import { splitAffine } from '#warpstage/targets/legalise/cpu/split-affine.js';
import { structure } from '#warpstage/targets/legalise/cpu/structure.js';
import {
  add,
  atomic,
  binary,
  block,
  compare,
  constant,
  finish,
  leave,
  load,
  loop,
  multiply,
  ProgramBuilder,
  store,
  sync,
  when,
} from '../support/ir.ts';

function analyse(program: Program, among: 'block' | 'row' = 'block') {
  return analyseUniformity(program, analyseLiveness(program.body), among);
}

/** The names of the variables that vary. */
function varying(program: Program, among?: 'block' | 'row'): string[] {
  const { varies } = analyse(program, among);
  return program.variables.filter((_, id) => varies(id)).map(({ name }) => name);
}

/** The body as text, one line a statement. */
function bodyText(program: Program): string[] {
  const lines = printProgram(program).split('\n');
  return lines.slice(lines.indexOf('') + 1).filter((line) => line !== '');
}

describe('uniformity', () => {
  test('follows values', () => {
    const p = new ProgramBuilder('k', 32);
    const y = p.array('y', 'i32');
    const counts = p.array('counts', 'i32');
    const local = p.local('local', 'i32', 2);
    const names = ['rank', 'place', 'element', 'own', 'shared', 'counted', 'mine'] as const;
    const v = Object.fromEntries(names.map((name) => [name, p.variable(name, 'i32')]));
    const program = p.build([
      v.rank!.set(p.builtin('threadRank')),
      v.place!.set(multiply(p.builtin('blockIdx.x'), p.length(y))),
      v.element!.set(load(y, v.place!.value)),
      v.own!.set(load(y, v.rank!.value)),
      v.shared!.set(add(v.element!.value, v.place!.value)),
      v.counted!.set(load(counts, p.index(0))),
      v.mine!.set(load(local, p.index(0))),
      atomic('add', [counts, p.index(0)], constant('i32', 1)),
      store(y, add(v.rank!.value, add(v.shared!.value, v.counted!.value)), add(v.own!.value, v.mine!.value)),
    ]);
    expect(varying(program)).toEqual(['rank', 'own', 'counted', 'mine']);
  });

  test('a branch that some threads take makes vary what is read after it', () => {
    const p = new ProgramBuilder('k', 32);
    const y = p.array('y', 'i32');
    const inside = p.variable('inside', 'i32');
    const after = p.variable('after', 'i32');
    const program = p.build([
      after.set(p.index(0)),
      when(compare('less', p.builtin('threadRank'), p.index(3)), [
        inside.set(p.index(1)),
        after.set(inside.value),
        store(y, inside.value, inside.value),
      ]),
      store(y, after.value, after.value),
    ]);
    expect(varying(program)).toEqual(['after']);
  });

  test('a counter is uniform in a loop that threads leave at different times, unless it is read afterwards', () => {
    const make = (readAfter: boolean) => {
      const p = new ProgramBuilder('k', 32);
      const y = p.array('y', 'i32');
      const i = p.variable('i', 'i32');
      return p.build([
        ...p.countUp(i, p.index(0), compare('less', i.value, p.builtin('threadRank')), [
          store(y, i.value, i.value),
        ]),
        ...(readAfter ? [store(y, p.builtin('threadRank'), i.value)] : []),
      ]);
    };
    expect(varying(make(false))).toEqual([]);
    expect(varying(make(true))).toEqual(['i']);
  });

  test('a round that some threads cut short makes vary what they skip', () => {
    const p = new ProgramBuilder('k', 32);
    const y = p.array('y', 'i32');
    const i = p.variable('i', 'i32');
    const taken = p.variable('taken', 'i32');
    const label = p.label();
    const program = p.build([
      taken.set(p.index(0)),
      ...p.countUp(
        i,
        p.index(0),
        compare('less', i.value, p.index(9)),
        [
          when(compare('less', load(y, p.builtin('threadRank')), i.value), [leave('continue', label)]),
          taken.set(add(taken.value, p.index(1))),
        ],
        label,
      ),
      store(y, p.builtin('threadRank'), taken.value),
    ]);
    expect(varying(program)).toEqual(['taken']);
  });

  test('knows where not all threads arrive together', () => {
    const p = new ProgramBuilder('k', 32);
    const y = p.array('y', 'i32');
    const i = p.variable('i', 'i32');
    const some = compare('less', p.builtin('threadRank'), p.index(3));
    const all = compare('less', p.builtin('blockIdx.x'), p.index(3));
    const [first, second, third, fourth, fifth, sixth] = Array.from({ length: 6 }, () => sync());
    const label = p.label();
    const { partial } = analyse(
      p.build([
        first!,
        when(all, [second!]),
        when(some, [third!]),
        fourth!,
        ...p.countUp(
          i,
          p.index(0),
          compare('less', i.value, p.index(4)),
          [fifth!, when(compare('less', load(y, p.builtin('threadRank')), i.value), [leave('break', label)])],
          label,
        ),
        sixth!,
      ]),
    );
    expect([first, second, third, fourth, fifth, sixth].map((each) => partial.has(each!))).toEqual([
      false,
      false,
      true,
      false,
      true,
      false,
    ]);
  });

  test('after a return of some threads the others are alone', () => {
    const p = new ProgramBuilder('k', 32);
    const last = sync();
    const { partial, returnsDivergently } = analyse(
      p.build([when(compare('less', p.builtin('threadRank'), p.index(3)), [finish()]), last]),
    );
    expect(partial.has(last)).toBe(true);
    expect(returnsDivergently).toBe(true);
  });

  test('in a row of a block threads differ in x alone', () => {
    const p = new ProgramBuilder('k', [16, 4, 1]);
    const y = p.array('y', 'i32');
    const row = p.variable('row', 'i32');
    const column = p.variable('column', 'i32');
    const program = p.build([
      row.set(p.builtin('threadIdx.y')),
      column.set(p.builtin('threadIdx.x')),
      store(y, row.value, column.value),
    ]);
    expect(varying(program)).toEqual(['row', 'column']);
    expect(varying(program, 'row')).toEqual(['column']);
  });
});

describe('affine forms', () => {
  const p = new ProgramBuilder('k', 32);
  const n = p.scalar('n', 'i32');
  const rank = p.builtin('threadRank');
  const program = p.build([finish()]);
  const { isUniform } = analyse(program);
  const forms = new AffineForms(program, isUniform);
  const coefficient = (expression: Expression) => forms.of(expression)?.coefficient ?? null;

  test.each<[string, Expression, number | null]>([
    ['n', n, 0],
    ['rank', rank, 1],
    ['n + rank', add(n, rank), 1],
    ['n - rank', binary('subtract', n, rank), -1],
    ['rank - rank', binary('subtract', rank, rank), 0],
    ['4 * (rank + n) + rank', add(multiply(p.index(4), add(rank, n)), rank), 5],
    ['rank << 3', binary('shiftLeft', rank, p.index(3)), 8],
    ['n * rank', multiply(n, rank), null],
    ['rank * rank', multiply(rank, rank), null],
    ['rank & 3', binary('and', rank, p.index(3)), null],
    ['n * n', multiply(n, n), 0],
  ])('%s', (_, expression, expected) => {
    expect(coefficient(expression)).toBe(expected);
  });

  test('an affine variable keeps its base alone, and its readers add the thread', () => {
    const builder = new ProgramBuilder('k', 32);
    const y = builder.array('y', 'i32');
    const count = builder.scalar('count', 'i32');
    const i = builder.variable('i', 'i32');
    const stride = multiply(builder.builtin('gridDim.x'), builder.index(32));
    const gridStride = builder.build([
      i.set(builder.gridRank()),
      loop(
        builder.label(),
        compare('less', i.value, count),
        [store(y, i.value, i.value)],
        [i.set(add(i.value, stride))],
      ),
    ]);
    const split = splitAffine(gridStride, analyse(gridStride, 'row'));
    expect(bodyText(split)).toMatchInlineSnapshot(`
      [
        "i = blockIdx.x * 32",
        "L1: while (i + threadRank < count) {",
        "  y[i + threadRank] = i + threadRank",
        "} update {",
        "  i = i + gridDim.x * 32",
        "}",
      ]
    `);
    expect(varying(split)).toEqual([]);
  });
});

describe('jumps said as conditions', () => {
  const p = new ProgramBuilder('k', 32);
  const y = p.array('y', 'i32');
  const a = compare('less', p.builtin('threadRank'), p.index(3));
  const b = compare('less', load(y, p.index(0)), p.index(9));
  const act = (place: number) => store(y, p.index(place), p.index(0));
  const label = p.label();
  const text = (body: readonly Statement[]) => bodyText({ ...p.build(structure(body)) });

  test('a return before the rest', () => {
    expect(text([when(a, [act(1), finish()]), act(2)])).toMatchInlineSnapshot(`
      [
        "if (threadRank < 3) {",
        "  y[1] = 0",
        "} else {",
        "  y[2] = 0",
        "}",
      ]
    `);
  });

  test('a continue in both branches', () => {
    expect(
      text([
        loop(label, a, [
          when(b, [act(1), leave('continue', label)], [when(a, [leave('continue', label)]), act(2)]),
          act(3),
        ]),
      ]),
    ).toMatchInlineSnapshot(`
      [
        "L1: while (threadRank < 3) {",
        "  if (y[0] < 9) {",
        "    y[1] = 0",
        "  } else {",
        "    if (threadRank < 3) {",
        "    } else {",
        "      y[2] = 0",
        "      y[3] = 0",
        "    }",
        "  }",
        "}",
      ]
    `);
  });

  test('a break at the beginning of a loop', () => {
    expect(text([loop(label, null, [when(b, [leave('break', label)]), act(1)])])).toMatchInlineSnapshot(`
      [
        "L1: while (!(y[0] < 9)) {",
        "  y[1] = 0",
        "}",
      ]
    `);
  });

  test('what cannot be said so stays', () => {
    expect(text([loop(label, a, [act(1), when(b, [leave('break', label)]), act(2)])])).toMatchInlineSnapshot(`
      [
        "L1: while (threadRank < 3) {",
        "  y[1] = 0",
        "  if (y[0] < 9) {",
        "    break L1",
        "  }",
        "  y[2] = 0",
        "}",
      ]
    `);
    expect(text([block(label, [when(a, [leave('break', label)]), act(1)]), act(2)])).toMatchInlineSnapshot(`
      [
        "L1: {",
        "  if (threadRank < 3) {",
        "  } else {",
        "    y[1] = 0",
        "  }",
        "}",
        "y[2] = 0",
      ]
    `);
  });
});
