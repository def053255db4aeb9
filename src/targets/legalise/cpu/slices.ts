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
// Each thread has the turns that it had, in their order. `whole` asks for what makes that so: no sum wraps up to the slice's end,
// and a step is no shorter than the block, so that in each slice each thread has as many turns. If it does not hold, what is left is done at once.

import { binary, builtin, compare, conditional, constant, variable } from '../../../compiler/build.ts';
import type { Expression, Program, Statement } from '../../../compiler/ir.ts';
import { bytesOf } from '../../../kernel/layout.ts';
import { isVariable, type Loop, mayLeave } from '../../analysis/counters.ts';
import { constantOf } from '../../analysis/elements.ts';
import { factsOf } from '../../analysis/facts.ts';
import type { Uniformity } from '../../analysis/uniformity.ts';
import { anyExpression, anyStatement, assignedIn, forEachStatement, readIn } from '../../analysis/walk.ts';
import { isOblivious, stridesOverGrid } from './striding.ts';

/** Turns in a slice, as a power of two. */
const turns = { bits: 2, count: 4 } as const;
/** What a block may keep from slice to slice: variables of each thread, and bytes of shared arrays. */
const [mostKept, mostShared] = [6, 16 * 1024];

/** The parts of a loop `for (; i + rank < limit; i += step)`. */
interface Striding {
  readonly variable: number;
  readonly step: Expression;
  readonly limit: Expression;
}

/** The program with its first loop of threads that strides over the grid in slices, if it has one and nobody can tell. */
export function sliceLoops(program: Program): Program {
  const [threads, ...others] = program.block;
  if (others.some((extent) => extent !== 1) || threads === 1 || !isSliceable(program)) return program;
  const uniformity = factsOf(program).among('block');
  for (const [position, each] of program.body.entries()) {
    if (each.kind !== 'loop' || !stridesOverGrid(each)) continue;
    const rest = program.body.filter((one) => one !== each);
    const striding = stridingOf(each, rest, uniformity);
    if (striding === null || keptBy(each, rest) > mostKept) return program;
    const slices = sliced(program, each, striding);
    const body = [...program.body.slice(0, position), ...slices.statements, ...program.body.slice(position + 1)];
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
  for (const { element, count } of sharedArrays) bytes += (constantOf(count) ?? mostShared) * bytesOf(element);
  return bytes <= mostShared;
}

/** A loop that each thread goes through by itself, with a counter that nothing else knows; null if it is another one. */
function stridingOf(loop: Loop, rest: readonly Statement[], uniformity: Uniformity): Striding | null {
  const { test, testFirst, body, update } = loop;
  const [counting] = update;
  if (!testFirst || test?.kind !== 'compare' || test.operator !== 'less' || mayLeave(loop)) return null;
  if (anyStatement(body, (each) => each.kind === 'call' && each.intrinsic !== 'atomic')) return null;
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
  if (assignedIn(body).has(counter) || readIn(rest).has(counter)) return null;
  return { variable: counter, step, limit };
}

function isRank(each: Expression): boolean {
  return each.kind === 'builtin' && each.name === 'threadRank';
}

/** At most so many variables of a thread go from slice to slice. */
function keptBy(loop: Loop, rest: readonly Statement[]): number {
  const elsewhere = readIn(rest);
  return [...assignedIn(loop.body)].filter((id) => elsewhere.has(id) || readIn(loop.body).has(id)).length;
}

function sliced(program: Program, loop: Loop, { variable: counter, step, limit }: Striding) {
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
  const isWhole = all(
    compare('greaterEqual', from, number(0), range),
    compare('less', again(from), again(limit), range),
    compare('greaterEqual', again(step), number(threads), range),
    compare(
      'greaterEqual',
      binary('shiftRight', binary('subtract', again(limit), again(from), range), number(turns.bits), range),
      again(step),
      range,
    ),
  );
  const beyond = binary('add', again(from), binary('multiply', again(step), number(turns.count), range), range);
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
