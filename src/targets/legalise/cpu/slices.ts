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
//
// The turns of a whole slice that only computes, loads and stores stand one after the other, and nothing is counted or tested
// in between: what threads keep from turn to turn is read and written once a slice.

import type { ArrayReference, Expression, Program, Statement } from '../../../compiler/ir.ts';
import { bytesOf } from '../../../kernel/layout.ts';
import { isInvariant, isVariable, type Loop, mayLeave } from '../../analysis/counters.ts';
import { constantOf, elementOf } from '../../analysis/elements.ts';
import { factsOf } from '../../analysis/facts.ts';
import { mayFail } from '../../analysis/failing.ts';
import type { Uniformity } from '../../analysis/uniformity.ts';
import {
  anyOperand,
  anyStatement,
  assignedBy,
  assignedIn,
  expressionsOf,
  forEachStatement,
  readIn,
} from '../../analysis/walk.ts';
import { Frame } from '../frame.ts';
import { conjunctionOf } from '../loops.ts';
import { commutes, isOblivious, stridesOverGrid } from './striding.ts';
import { isPlain, repeated, sizeOf } from './unroll.ts';

/** Turns in a slice, as a power of two. */
const turns = { bits: 2, count: 4 } as const;
/** Literals that are added to an index. */
const mostOffset = 2 ** 16;
/** Operations of a slice whose turns stand one after the other. */
const mostInSlice = 160;
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
  const loop = program.body.find(
    (each): each is Loop => each.kind === 'loop' && stridesOverGrid(each, program),
  );
  if (loop === undefined || keptBy(loop, program) > mostKept) return program;
  const striding = stridingOf(program, loop, factsOf(program).among('block'));
  return striding === null ? program : sliced(program, loop, striding);
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
  if (offsetOf(index, counter) !== 0 || value.kind !== 'binary' || value.operator !== 'add') return null;
  const [step, second] = [value.left, value.right].filter((each) => !isVariable(each, counter));
  if (step === undefined || second !== undefined) return null;
  const assigned = assignedIn([...body, ...update]);
  const stays = (each: Expression) => uniformity.isUniform(each) && isInvariant(each, assigned);
  if (uniformity.varies(counter) || !stays(step) || !stays(limit)) return null;
  // One that is read behind the loop varies, as threads leave it with values of their own.
  if (assignedIn(body).has(counter)) return null;
  const accesses = accessesOf(program, loop, counter);
  return accesses === null ? null : { variable: counter, step, limit, accesses };
}

/** The accesses of a loop that a launch's arrays are long enough for, or not; null if something else in it can fail, or depends on the order of threads. */
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
function keptBy({ body }: Loop, program: Program): number {
  const read = readIn(program.body);
  return [...assignedIn(body)].filter((id) => read.has(id)).length;
}

/** The program with the loop in slices. */
function sliced(
  program: Program,
  loop: Loop,
  { variable: counter, step, limit, accesses }: Striding,
): Program {
  const frame = new Frame(program);
  const words = frame.words(loop.range);
  const [from, end] = [frame.variable('from', 'i32'), frame.variable('end', 'i32')];
  const whole = frame.variable('whole', 'bool');
  const own = () => words.read(counter, 'i32');
  const begin = () => words.read(from, 'i32');
  // Every statement has expressions of its own.
  const [stepAgain, limitAgain] = [step, limit].map((each) => () => structuredClone(each)) as [
    () => Expression,
    () => Expression,
  ];
  const turnsLeft = words.binary('subtract', limitAgain(), begin());
  const isWhole = conjunctionOf([
    words.compare(
      'greaterEqual',
      begin(),
      words.index(Math.max(0, ...accesses.map(({ offset }) => -offset))),
    ),
    words.compare('less', begin(), limitAgain()),
    words.compare('greaterEqual', stepAgain(), words.index(frame.blockSize)),
    words.compare(
      'greaterEqual',
      words.binary('shiftRight', turnsLeft, words.index(turns.bits)),
      stepAgain(),
    ),
    ...accesses.map(({ array, offset }) => {
      const length: Expression = { kind: 'length', array, type: 'i32', range: loop.range };
      const last = words.binary('subtract', length, words.index(Math.max(0, offset)));
      return words.compare('lessEqual', limitAgain(), last);
    }),
  ])!;
  const beyond = words.binary(
    'add',
    begin(),
    words.binary('multiply', stepAgain(), words.index(turns.count)),
  );
  const index = words.binary('add', own(), words.threadRank);
  const turnByTurn: Loop = { ...loop, test: words.compare('less', index, words.read(end, 'i32')) };
  const inRow = (): readonly Statement[] => {
    let place = begin();
    return Array.from({ length: turns.count }, (_, turn): readonly Statement[] => {
      const at = frame.variable(`from.${turn}`, 'i32');
      const reads = () => words.read(at, 'i32');
      const assigned = words.assign(at, place);
      place = words.binary('add', reads(), stepAgain());
      return [assigned, ...repeated(loop.body, counter, reads)];
    }).flat();
  };
  const meet = () => words.sync({ kind: 'block' });
  const slice: readonly Statement[] = [
    words.assign(whole, isWhole),
    words.assign(counter, begin()),
    words.assign(end, words.choose(words.read(whole, 'bool'), beyond, limitAgain())),
    // Threads meet in either branch: each has code of its own, in which nothing asks which it is.
    ...(isShort(loop.body)
      ? [words.when(words.read(whole, 'bool'), [...inRow(), meet()], [turnByTurn, meet()])]
      : [turnByTurn, meet()]),
    words.assign(from, words.read(end, 'i32')),
  ];
  const slices: readonly Statement[] = [
    words.assign(from, own()),
    words.assign(whole, words.constant('bool', true)),
    words.loop(frame.label(), words.read(whole, 'bool'), slice, []),
  ];
  return frame.finish(program.body.flatMap((each) => (each === loop ? slices : [each])));
}

/** Whether the turns of a slice may stand one after the other: they only compute, load and store, and are short. */
function isShort(body: readonly Statement[]): boolean {
  const calls = anyStatement(body, ({ kind }) => kind === 'call');
  return !calls && isPlain(body) && turns.count * sizeOf(body) <= mostInSlice;
}
