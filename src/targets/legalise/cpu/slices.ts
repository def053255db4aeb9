// Loops of threads that stride over the grid, cut into slices at which the threads of a block meet.
//
// Such a loop reads a short piece of an array in each of its turns, far from the one before. Done to its end for one block and then for
// the next, memory is read in many short pieces; a processor fetches none of them ahead. Cut into slices of a few turns it is a
// loop of the block's own, at which blocks take turns (wasm/turns): what they read lies side by side.
//
//   for (; i + rank < n; i += step) { … }        from = i; whole = true;
//                                                while (whole) {
//                                                  whole = <slice> turns of all threads are left;
//                                                  i = from; end = whole ? from + slice * step : n;
//                                                  for (; i + rank < end; i += step) { … }
//                                                  from = end; sync(block);
//                                                }
//
// Each thread has the turns that it had, in their order. `whole` asks for what makes that so: no sum wraps up to the slice's end, a step
// is no shorter than the block, so that in each slice each thread has as many turns, and no access can be outside of its array, so
// that no thread fails sooner than one before it. If that does not hold, what is left is done at once.

import { binary, builtin, compare, conditional, constant, variable } from '../../../compiler/build.ts';
import type { ArrayReference, Expression, Program, Statement } from '../../../compiler/ir.ts';
import { bytesOf } from '../../../kernel/layout.ts';
import { isVariable, type Loop, mayLeave } from '../../analysis/counters.ts';
import { constantOf, elementOf } from '../../analysis/elements.ts';
import { factsOf } from '../../analysis/facts.ts';
import { mayFail } from '../../analysis/failing.ts';
import type { Uniformity } from '../../analysis/uniformity.ts';
import {
  anyExpression,
  anyOperand,
  anyStatement,
  assignedBy,
  assignedIn,
  expressionsOf,
  forEachStatement,
  readIn,
} from '../../analysis/walk.ts';
import { commutes, isOblivious, stridesOverGrid } from './striding.ts';

/** Turns in a slice, as a power of two. */
const turns = { bits: 2, count: 4 } as const;
/** Literals that are added to an index. */
const mostOffset = 2 ** 16;
/** What a block may keep from slice to slice: variables of each thread, and bytes of shared arrays. */
const [mostKept, mostShared] = [6, 16 * 1024];

/** The parts of a loop `for (; i + rank < limit; i += step)`. */
interface Striding {
  readonly variable: number;
  readonly step: Expression;
  readonly limit: Expression;
  readonly accesses: readonly Access[];
}

/** An access of a launch's array at `i + rank + offset`. */
interface Access {
  readonly array: ArrayReference;
  readonly offset: number;
}

/** The program with its first loop of threads that strides over the grid in slices, if it has one and nobody can tell. */
export function sliceLoops(program: Program): Program {
  const [threads, ...others] = program.block;
  if (others.some((extent) => extent !== 1) || threads === 1 || !isSliceable(program)) return program;
  const uniformity = factsOf(program).among('block');
  for (const [position, each] of program.body.entries()) {
    if (each.kind !== 'loop' || !stridesOverGrid(each, program)) continue;
    const rest = program.body.filter((one) => one !== each);
    const striding = stridingOf(program, each, uniformity);
    if (striding === null || keptBy(each, rest) > mostKept) return program;
    const slices = sliced(program, each, striding);
    const body = [
      ...program.body.slice(0, position),
      ...slices.statements,
      ...program.body.slice(position + 1),
    ];
    return { ...program, variables: [...program.variables, ...slices.variables], body };
  }
  return program;
}

/** Whether blocks may take turns at a loop of the program, and its threads may meet in one. */
function isSliceable(program: Program): boolean {
  const { body, localArrays, pipelines, barriers, sharedArrays } = program;
  if (localArrays.length + pipelines.length + barriers.length > 0 || !isOblivious(program)) return false;
  if (anyStatement(body, ({ kind }) => kind === 'return')) return false;
  let bytes = 0;
  for (const { element, count } of sharedArrays)
    bytes += (constantOf(count) ?? mostShared) * bytesOf(element);
  return bytes <= mostShared;
}

/** A loop that each thread goes through by itself, with a counter that nothing else knows; null if it is another one. */
function stridingOf(program: Program, loop: Loop, uniformity: Uniformity): Striding | null {
  const { test, testFirst, body, update } = loop;
  const [counting] = update;
  if (!testFirst || test?.kind !== 'compare' || test.operator !== 'less' || mayLeave(loop)) return null;
  if (update.length !== 1 || counting?.kind !== 'assign') return null;
  const { variable: counter, value } = counting;
  const { left: index, right: limit } = test;
  if (index.type !== 'i32' || index.kind !== 'binary' || index.operator !== 'add') return null;
  if (value.kind !== 'binary' || value.operator !== 'add') return null;
  const bases = [index.left, index.right].filter((each) => !isRank(each));
  const steps = [value.left, value.right].filter((each) => !isVariable(each, counter));
  if (bases.length !== 1 || !isVariable(bases[0]!, counter) || steps.length !== 1) return null;
  const step = steps[0]!;
  const assigned = assignedIn([...body, ...update]);
  const stays = (each: Expression) =>
    uniformity.isUniform(each) &&
    !anyExpression(
      [{ kind: 'assign', variable: counter, value: each, range: each.range }],
      (part) => part.kind === 'load' || (part.kind === 'variable' && assigned.has(part.id)),
    );
  if (uniformity.varies(counter) || !stays(step) || !stays(limit)) return null;
  // One that is read behind the loop varies, as threads leave it with values of their own.
  if (assignedIn(body).has(counter)) return null;
  const accesses = accessesOf(program, loop, counter);
  return accesses === null ? null : { variable: counter, step, limit, accesses };
}

/** The accesses of a loop that are inside of their arrays as far as the launch makes them so; null if something else in it can fail, or depends on their order. */
function accessesOf(program: Program, { body }: Loop, counter: number): readonly Access[] | null {
  const accesses: Access[] = [];
  const isInside = (array: ArrayReference, index: Expression, bounds: unknown) => {
    if (bounds !== undefined || array.as !== undefined) return false;
    if (array.space === 'shared') {
      const count = constantOf(program.sharedArrays[array.id]!.count);
      return count !== null && mostOf(program, index) < count;
    }
    const offset = offsetOf(index, counter);
    if (array.space !== 'global' || offset === null) return false;
    accesses.push({ array, offset });
    return true;
  };
  const fails = (each: Expression): boolean =>
    anyOperand(each, (part) =>
      part.kind === 'load'
        ? !isInside(part.array, part.index, part.bounds)
        : part.kind === 'binary' && mayFail(part),
    );
  const canFail = anyStatement(body, (each) => {
    if (expressionsOf(each).some(fails)) return true;
    if (each.kind === 'store') return !isInside(each.array, each.index, each.bounds);
    if (each.kind !== 'call' || each.intrinsic !== 'atomic') return each.kind === 'call';
    // In a slice all threads come to their next turns before one is through with all of its own.
    return !commutes(each) || !isInside(each.array, each.index, undefined);
  });
  return canFail ? null : accesses;
}

/** How far an index lies from `i + rank`; null if it is no such. */
function offsetOf(index: Expression, counter: number): number | null {
  const parts: Expression[] = [index];
  let [counters, ranks, offset] = [0, 0, 0];
  for (const part of parts) {
    const literal = constantOf(part);
    if (part.type !== 'i32') return null;
    if (literal !== null) offset += literal;
    else if (isVariable(part, counter)) counters += 1;
    else if (isRank(part)) ranks += 1;
    else if (part.kind === 'binary' && part.operator === 'add') parts.push(part.left, part.right);
    else return null;
  }
  return counters === 1 && ranks === 1 && Math.abs(offset) <= mostOffset ? offset : null;
}

/** The most that an index may be, which is no negative number then; infinite where that is not known. */
function mostOf(program: Program, index: Expression): number {
  const literal = constantOf(index);
  if (literal !== null) return literal >= 0 ? literal : Number.POSITIVE_INFINITY;
  if (index.kind === 'variable') {
    const values: Expression[] = [];
    forEachStatement(program.body, (each) => {
      if (assignedBy(each) === index.id) values.push(each.kind === 'assign' ? each.value : index);
    });
    // Not of what is made of variables in turn: they may go round.
    const known = values.filter((value) => !anyOperand(value, ({ kind }) => kind === 'variable'));
    if (known.length < values.length) return Number.POSITIVE_INFINITY;
    return Math.max(0, ...known.map((value) => mostOf(program, value)));
  }
  if (isRank(index)) return program.block[0] - 1;
  if (index.kind === 'load') {
    const element = elementOf(program, index.array);
    return element === 'u8' ? 0xff : element === 'u16' ? 0xffff : Number.POSITIVE_INFINITY;
  }
  if (index.kind !== 'binary' || index.operator !== 'and') return Number.POSITIVE_INFINITY;
  return Math.min(mostOf(program, index.left), mostOf(program, index.right));
}

function isRank(each: Expression): boolean {
  return each.kind === 'builtin' && each.name === 'threadRank';
}

/** At most so many variables of a thread go from slice to slice. */
function keptBy(loop: Loop, rest: readonly Statement[]): number {
  const elsewhere = readIn(rest);
  return [...assignedIn(loop.body)].filter((id) => elsewhere.has(id) || readIn(loop.body).has(id)).length;
}

function sliced(program: Program, loop: Loop, { variable: counter, step, limit, accesses }: Striding) {
  const { range } = loop;
  const [threads] = program.block;
  const first = program.variables.length;
  const variables = [
    { name: 'from', type: 'i32' },
    { name: 'end', type: 'i32' },
    { name: 'whole', type: 'bool' },
  ] as const;
  const [from, end, whole] = variables.map(({ type }, at) => variable(first + at, type, range)) as [
    Expression & { kind: 'variable' },
    Expression & { kind: 'variable' },
    Expression & { kind: 'variable' },
  ];
  const number = (value: number) => constant('i32', value, range);
  const set = ({ id }: { readonly id: number }, value: Expression): Statement => ({
    ...{ kind: 'assign', variable: id, value, range },
  });
  const again = (each: Expression) => structuredClone(each);
  const all = (...tests: readonly Expression[]): Expression =>
    tests.reduceRight((rest, test) => conditional(test, rest, constant('bool', false, range), range));
  const least = Math.max(0, ...accesses.map(({ offset }) => -offset));
  const isWhole = all(
    compare('greaterEqual', from, number(least), range),
    compare('less', again(from), again(limit), range),
    compare('greaterEqual', again(step), number(threads), range),
    compare(
      'greaterEqual',
      binary('shiftRight', binary('subtract', again(limit), again(from), range), number(turns.bits), range),
      again(step),
      range,
    ),
    ...accesses.map(({ array, offset }) => {
      const length: Expression = { kind: 'length', array, type: 'i32', range };
      return compare(
        'lessEqual',
        again(limit),
        binary('subtract', length, number(Math.max(0, offset)), range),
        range,
      );
    }),
  );
  const beyond = binary(
    'add',
    again(from),
    binary('multiply', again(step), number(turns.count), range),
    range,
  );
  const own = variable(counter, 'i32', range);
  const index = binary('add', own, builtin('threadRank', 'i32', range), range);
  let label = loop.label;
  forEachStatement(program.body, (each) => {
    if ('label' in each) label = Math.max(label, each.label);
  });
  const statements: readonly Statement[] = [
    set(from, again(own)),
    set(whole, constant('bool', true, range)),
    {
      ...{ kind: 'loop', label: label + 1, test: again(whole), testFirst: true, update: [], range },
      body: [
        set(whole, isWhole),
        set(own, again(from)),
        set(end, conditional(again(whole), beyond, again(limit), range)),
        { ...loop, test: compare('less', index, again(end), range) },
        set(from, again(end)),
        { kind: 'call', intrinsic: 'sync', group: { kind: 'block' }, range },
      ],
    },
  ];
  return { variables, statements };
}
