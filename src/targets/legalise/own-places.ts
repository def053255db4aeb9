// Which arrays' elements each belong to one thread of the block.
//
// For each thread, what is known of an index is a residue: index ≡ r (mod m), m a power of two, or
// its exact value. Two threads whose residues differ modulo the smaller m never meet in an element,
// whatever the turn, the block and the arguments. `batch * 256 + threadRank` is such an index; with
// `threadRank / 2` it is one where the tests around it let only every second thread come.

import type { Expression, Program, Statement } from '../../compiler/ir.ts';
import { expressionsOf, forEachOperand, forEachStatement, listsOf, readBy } from '../analysis/walk.ts';
import { divisibility } from './divisibility.ts';

/** value ≡ residue (mod modulus); a modulus of 0 stands for the exact value, 1 for no knowledge. */
interface Residue {
  readonly residue: number;
  readonly modulus: number;
}

/** An access of an array, and the tests that a thread has passed to come to it. */
export interface GuardedIndex {
  readonly index: Expression;
  readonly guards: readonly Guard[];
}

export interface Guard {
  readonly test: Expression;
  readonly holds: boolean;
}

const unknown: Residue = { residue: 0, modulus: 1 };
/** Beyond this no residue is distinguished, and products of two of them are still exact. */
const most = 2 ** 20;

/** A function that says whether no two threads of the block meet in an element by these accesses of one array. */
export function ownPlaces(program: Program): (accesses: readonly GuardedIndex[]) => boolean {
  const evaluate = evaluator(program);
  const [x, y, z] = program.block;
  return (accesses) => {
    const places: { readonly thread: number; readonly at: Residue }[] = [];
    for (let thread = 0; thread < x * y * z; ++thread) {
      for (const { index, guards } of accesses) {
        const isThere = guards.every(({ test, holds }) => {
          const value = evaluate(test, thread);
          return value.modulus !== 0 || (value.residue !== 0) === holds;
        });
        if (isThere) places.push({ thread, at: evaluate(index, thread) });
      }
    }
    const modulus = places.reduce(
      (least, { at }) => (at.modulus === 0 ? least : Math.min(least, at.modulus)),
      most,
    );
    const owners = new Map<number, number>();
    return places.every(({ thread, at }) => {
      const place = modulo(at.residue, modulus);
      const owner = owners.get(place) ?? thread;
      owners.set(place, owner);
      return owner === thread;
    });
  };
}

/** A function that gives what is known of an expression's value in the thread of a rank. */
function evaluator(program: Program): (expression: Expression, thread: number) => Residue {
  const divides = divisibility(program);
  const definitions = onlyDefinitions(program);
  const [width, height] = program.block;

  const of = (expression: Expression, thread: number): Residue => {
    switch (expression.kind) {
      case 'constant':
        return exact(Number(expression.value));
      case 'builtin':
        switch (expression.name) {
          case 'threadRank':
            return exact(thread);
          case 'threadIdx.x':
            return exact(thread % width);
          case 'threadIdx.y':
            return exact(Math.floor(thread / width) % height);
          case 'threadIdx.z':
            return exact(Math.floor(thread / (width * height)));
          default:
            return unknown;
        }
      case 'variable': {
        const definition = definitions.get(expression.id);
        if (definition !== undefined) return of(definition, thread);
        return isInteger(expression) ? { residue: 0, modulus: divides(expression) } : unknown;
      }
      case 'conditional': {
        const test = of(expression.test, thread);
        if (test.modulus === 0)
          return of(test.residue === 0 ? expression.otherwise : expression.then, thread);
        return either(of(expression.then, thread), of(expression.otherwise, thread));
      }
      case 'convert':
        // Between integers the low bits stay.
        if (!isInteger(expression) || !(isInteger(expression.operand) || expression.operand.type === 'bool'))
          return unknown;
        return fitted(of(expression.operand, thread), expression);
      case 'unary': {
        const operand = of(expression.operand, thread);
        if (expression.operator !== 'not' || operand.modulus !== 0) return unknown;
        return exact(operand.residue === 0 ? 1 : 0);
      }
      case 'compare': {
        if (!isInteger(expression.left) && expression.left.type !== 'bool') return unknown;
        const [left, right] = [of(expression.left, thread), of(expression.right, thread)];
        if (left.modulus !== 0 || right.modulus !== 0) return unknown;
        return exact(compared(expression.operator, left.residue, right.residue) ? 1 : 0);
      }
      case 'binary': {
        if (!isInteger(expression)) return unknown;
        const [left, right] = [of(expression.left, thread), of(expression.right, thread)];
        return fitted(combined(expression.operator, left, right), expression);
      }
      default:
        return unknown;
    }
  };
  return of;
}

type Binary = Extract<Expression, { kind: 'binary' }>['operator'];
type Compare = Extract<Expression, { kind: 'compare' }>['operator'];

function combined(operator: Binary, left: Residue, right: Residue): Residue {
  const [a, b] = [left.residue, right.residue];
  if (operator === 'add' || operator === 'subtract') {
    const sum = operator === 'add' ? a + b : a - b;
    return { residue: sum, modulus: lesser(left.modulus, right.modulus) };
  }
  if (operator === 'multiply') {
    // (a + im)(b + jn) = ab + a jn + b im + im jn
    const terms = [powerOf(a) * right.modulus, powerOf(b) * left.modulus, left.modulus * right.modulus];
    return { residue: a * b, modulus: terms.reduce(lesser) };
  }
  if (left.modulus !== 0 || right.modulus !== 0) return unknown;
  if (operator === 'divide') return b === 0 ? unknown : exact(Math.trunc(a / b));
  if (operator === 'remainder') return b === 0 ? unknown : exact(a % b);
  if (operator === 'min') return exact(Math.min(a, b));
  if (operator === 'max') return exact(Math.max(a, b));
  if (a < 0 || b < 0) return unknown;
  if (operator === 'and') return exact(a & b);
  if (operator === 'or') return exact(a | b);
  if (operator === 'xor') return exact(a ^ b);
  if (operator === 'shiftRight') return exact(a >> (b % 32));
  return unknown;
}

function compared(operator: Compare, a: number, b: number): boolean {
  switch (operator) {
    case 'equal':
      return a === b;
    case 'notEqual':
      return a !== b;
    case 'less':
      return a < b;
    case 'lessEqual':
      return a <= b;
    case 'greater':
      return a > b;
    default:
      return a >= b;
  }
}

/** A value that one of two branches gives. */
function either(left: Residue, right: Residue): Residue {
  const apart = powerOf(left.residue - right.residue);
  const modulus = [left.modulus, right.modulus, apart].reduce(lesser);
  return { residue: modulo(left.residue, modulus), modulus };
}

/** What is left of it in the type of an expression: beyond its range it wraps, and only the low bits are known. */
function fitted({ residue, modulus }: Residue, { type }: Expression): Residue {
  const fits = residue < 2 ** 31 && residue >= (type === 'u32' || type === 'u64' ? 0 : -(2 ** 31));
  if (modulus === 0 && fits) return exact(residue);
  if (!Number.isSafeInteger(residue)) return unknown;
  const known = lesser(modulus, most);
  return { residue: modulo(residue, known), modulus: known };
}

function isInteger({ type }: Expression): boolean {
  return type === 'i32' || type === 'u32' || type === 'i64' || type === 'u64';
}

function exact(value: number): Residue {
  return Number.isSafeInteger(value) ? { residue: value, modulus: 0 } : unknown;
}

/** Of two moduli, where 0 is above all others. */
function lesser(a: number, b: number): number {
  return a === 0 ? b : b === 0 ? a : Math.min(a, b);
}

/** The largest power of two that divides a value; 0 for 0. */
function powerOf(value: number): number {
  if (value === 0) return 0;
  let power = 1;
  while (power < most && value % (2 * power) === 0) power *= 2;
  return power;
}

function modulo(value: number, modulus: number): number {
  return modulus === 0 ? value : ((value % modulus) + modulus) % modulus;
}

/**
 * The values of variables that are assigned at one place, which each thread has passed wherever it reads
 * them: all reads stand behind it in the same list of statements, or inside of those.
 */
function onlyDefinitions({ body }: Program): ReadonlyMap<number, Expression> {
  const definitions = new Map<number, Expression>();
  const reads = (statements: readonly Statement[], counts: Map<number, number>) => {
    forEachStatement(statements, (statement) => {
      for (const expression of expressionsOf(statement)) {
        forEachOperand(expression, (each) => {
          if (each.kind === 'variable') counts.set(each.id, (counts.get(each.id) ?? 0) + 1);
        });
      }
    });
    return counts;
  };
  const all = reads(body, new Map());
  const assignments = new Map<number, number>();
  forEachStatement(body, (statement) => {
    const variable =
      statement.kind === 'assign'
        ? statement.variable
        : statement.kind === 'call' && 'result' in statement
          ? statement.result
          : null;
    if (variable !== null) assignments.set(variable, (assignments.get(variable) ?? 0) + 1);
  });
  const visit = (list: readonly Statement[]): void => {
    for (const [position, statement] of list.entries()) {
      for (const inner of listsOf(statement)) visit(inner);
      if (statement.kind !== 'assign' || assignments.get(statement.variable) !== 1) continue;
      const { variable, value } = statement;
      if (readBy(value).has(variable)) continue;
      const behind = reads(list.slice(position + 1), new Map()).get(variable) ?? 0;
      if (behind === (all.get(variable) ?? 0)) definitions.set(variable, value);
    }
  };
  visit(body);
  return definitions;
}
