// What is said of an index before the statements that it stands in holds when they are carried out: in random
// programs that count, each thread tells what the bounds are where a list begins, and what the index is then.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Expression, Program, Statement } from '#warpstage/compiler/ir.js';
import { printProgram } from '#warpstage/compiler/print.js';
import { factsOf } from '#warpstage/targets/analysis/facts.js';
import type { Bounds, Indices } from '#warpstage/targets/analysis/indices.js';
import {
  anyOperand,
  assignedIn,
  expressionsOf,
  forEachOperand,
  listsOf,
} from '#warpstage/targets/analysis/walk.js';
import { randomRuns, type Tape, tapes } from '../differential/tape.ts';
import { interpreter } from '../support/interpreter.ts';
import { add, binary, compare, constant, load, ProgramBuilder, store, when } from '../support/ir.ts';
import { runProgram } from '../support/run-program.ts';

type List = readonly Statement[];
type Loop = Extract<Statement, { kind: 'loop' }>;

/** Where it was asked of an index: at the beginning of a list around the statement that it stands in. */
interface Asked {
  readonly list: List;
  readonly statement: Statement;
  readonly index: Expression;
  readonly bounds: Bounds;
}

/** What is known of the indices in a list, at its beginning and at the beginning of every list inside it. */
function askedIn(indices: Indices, list: List): Asked[] {
  const assigned = assignedIn(list);
  const asked: Asked[] = [];
  const ask = (statement: Statement, index: Expression, loops: readonly Loop[]) => {
    const bounds = indices.boundsBefore(index, list, assigned, loops);
    if (bounds !== null) asked.push({ list, statement, index, bounds });
  };
  const visit = (statements: List, loops: readonly Loop[]) => {
    for (const statement of statements) {
      if (statement.kind === 'store') ask(statement, statement.index, loops);
      if (statement.kind === 'store' || statement.kind === 'assign') {
        for (const expression of expressionsOf(statement)) {
          forEachOperand(expression, (each) => {
            if (each.kind === 'load') ask(statement, each.index, loops);
          });
        }
      }
      if (statement.kind === 'loop') {
        visit(statement.body, [...loops, statement]);
        visit(statement.update, loops);
      } else for (const inner of listsOf(statement)) visit(inner, loops);
    }
  };
  visit(list, []);
  for (const statement of list)
    for (const inner of listsOf(statement)) asked.push(...askedIn(indices, inner));
  return asked;
}

const hasLoad = (expression: Expression) => anyOperand(expression, ({ kind }) => kind === 'load');

/** The program with a line for each answer where its list begins, and for the index in the place of what it is used for. */
function telling(program: Program, asked: readonly Asked[]): Program {
  const line = (number: number, what: string, values: readonly Expression[]): Statement => ({
    kind: 'call',
    intrinsic: 'print',
    parts: [`${number} ${what}`, ...values.flatMap((value) => [' ', value])],
    range: program.body[0]!.range,
  });
  const begins = (list: List) =>
    asked.flatMap(({ list: own, bounds: { start, ranges } }, number) => {
      const values = [start, ...ranges.flatMap(({ factor, from, to }) => [factor, from, to])];
      return own === list ? [line(number, 'from', values)] : [];
    });
  const uses = (statement: Statement) =>
    asked.flatMap(({ statement: own, index }, number) =>
      own === statement && !hasLoad(index) ? [line(number, 'is', [index])] : [],
    );
  const withLines = (list: List): List => [
    ...begins(list),
    ...list.flatMap((statement) => {
      const before = uses(statement);
      switch (statement.kind) {
        case 'loop':
          return [{ ...statement, body: withLines(statement.body), update: withLines(statement.update) }];
        case 'if':
          return [
            { ...statement, then: withLines(statement.then), otherwise: withLines(statement.otherwise) },
          ];
        case 'block':
          return [{ ...statement, body: withLines(statement.body) }];
        default:
          return statement.kind === 'store' ? before : [...before, statement];
      }
    }),
  ];
  return { ...program, body: withLines(program.body) };
}

/** Between which values an index lies, as lanes check it: in exact numbers; null where they would not go on. */
function interval({ ranges }: Bounds, [start, ...rest]: readonly number[]): [number, number] | null {
  let [least, most] = [start!, start!];
  for (const [i, { largest }] of ranges.entries()) {
    const [factor, from, to] = rest.slice(3 * i) as [number, number, number];
    if (to > largest) return null;
    const distance = factor * Math.max(to - from, 0);
    least += Math.min(distance, 0);
    most += Math.max(distance, 0);
  }
  return least >= 0 && most < 2 ** 30 ? [least, most] : null;
}

/** A loop nest of one thread whose accesses move with its counters, forwards and backwards, by steps of any size. */
function countingLoops(tape: Tape): Program {
  const p = new ProgramBuilder('moves', 1);
  const y = p.array('y', 'i32');
  const n = p.scalar('n', 'i32');
  const zero = p.scalar('zero', 'i32');
  const quotient = p.variable('quotient', 'i32');
  const small = (below: number) => constant('i32', tape.below(below));
  const names = ['i', 'j', 'k', 'd'].map((name) => p.variable(name, 'i32'));
  const depth = 1 + tape.below(3);
  const moving = (): Expression => {
    const term = () => {
      const { value } = names[tape.below(names.length)]!;
      return tape.pick([
        value,
        binary('multiply', value, small(5)),
        binary('shiftLeft', value, small(3)),
        binary('multiply', n, value),
        binary('multiply', names[tape.below(names.length)]!.value, value),
        binary('subtract', n, value),
        small(9),
      ]);
    };
    const two = binary(tape.pick(['add', 'subtract']), term(), term());
    return tape.chance(1, 2) ? two : binary('add', two, term());
  };
  const access = () => store(y, moving(), load(y, moving()));
  const nest = (level: number): Statement[] => {
    const counter = names[level > 0 && tape.chance(1, 8) ? level - 1 : level]!;
    const own: Statement[] = tape.chance(1, 2)
      ? [names[3]!.set(tape.chance(1, 2) ? moving() : small(9))]
      : [];
    const end = tape.pick([n, small(7), small(20), names[3]!.value]);
    const test = compare(tape.pick(['less', 'lessEqual', 'notEqual']), counter.value, end);
    const body = level + 1 < depth ? nest(level + 1) : [access(), access()];
    if (tape.chance(1, 6)) body.push(names[3]!.set(add(names[3]!.value, small(3))));
    const [first, loop] = p.countUp(counter, tape.pick([small(3), n]), test, body) as [Statement, Loop];
    const update = [counter.set(add(counter.value, constant('i32', 1 + tape.below(3))))];
    const isOdd = compare('equal', binary('and', n, constant('i32', 1)), constant('i32', 1));
    own.push(tape.chance(4, 5) ? first : when(isOdd, [first]), { ...loop, update });
    if (tape.chance(1, 3)) own.push(access());
    // Where nothing divides by zero, nothing that is said of it beforehand may.
    const share = quotient.set(binary('divide', constant('i32', 9), zero));
    const guarded = when(compare('notEqual', zero, constant('i32', 0)), [share, store(y, quotient.value, n)]);
    return tape.chance(1, 6) ? [...own, guarded] : own;
  };
  return p.build(nest(0));
}

test('an index stays within what is said of it where a list around it begins', () => {
  let held = 0;
  let moved = 0;
  fc.assert(
    fc.property(tapes(200), (tape) => {
      const program = countingLoops(tape);
      const asked = askedIn(factsOf(program).indices, program.body);
      const { printed, fault } = runProgram(interpreter('late', { steps: 2000 }), telling(program, asked), {
        grid: 1,
        arguments: { y: new Int32Array(64), n: 5, zero: 0 },
      });
      expect(fault?.kind, printProgram(program)).not.toBe('division-by-zero');
      const at = new Map<number, [number, number] | null>();
      for (const line of printed) {
        const [number, what, ...texts] = line.split(' ');
        const { bounds } = asked[Number(number)]!;
        const values = texts.map(Number);
        if (what === 'from') at.set(Number(number), interval(bounds, values));
        const within = what === 'is' ? at.get(Number(number)) : null;
        if (within === null || within === undefined) continue;
        const [least, most] = within;
        const [index] = values as [number];
        held += 1;
        if (least < most) moved += 1;
        if (index < least || index > most)
          throw new Error(`${index} is not between ${least} and ${most}\n${printProgram(program)}`);
      }
    }),
    randomRuns(300),
  );
  expect(held).toBeGreaterThan(1000);
  expect(moved).toBeGreaterThan(2000);
});

test('nothing is said of a product of two counters before both loops', () => {
  const p = new ProgramBuilder('product', 1);
  const y = p.array('y', 'i32');
  const [i, j] = ['i', 'j'].map((name) => p.variable(name, 'i32'));
  const count = (counter: NonNullable<typeof i>, body: Statement[]) =>
    p.countUp(counter, constant('i32', 0), compare('less', counter.value, constant('i32', 4)), body);
  const product = binary('multiply', i!.value, j!.value);
  const inner = count(j!, [store(y, product, i!.value)]);
  const program = p.build(count(i!, inner));
  const asked = askedIn(factsOf(program).indices, program.body);
  // The inner loop alone multiplies by what the outer one has just then.
  expect(asked.some(({ list }) => list === program.body)).toBe(false);
  expect(asked.some(({ list }) => list.some((one) => inner.includes(one)))).toBe(true);
});
