// A pipeline of one stage whose stage is kept twice, so that the next batch comes while one is used.
//
//   for (c = s; c < n; ++c) {                    for (c = f = s; c < n; ++c) {
//     acquire; copy(c) to stage; commit;           for (; f < n && f < c + 2; ++f)
//     wait; use stage; release             →         { acquire; copy(f) to stage[f % 2]; commit }
//   }                                              wait; use stage[c % 2]; release
//                                                }
//
// The same batches are copied and used, in the same order; each is fetched up to a turn sooner. No program can tell where
//
// - copies are all that threads of a block are ordered by (only-copies.ts), and nobody writes what they read;
// - a turn does nothing beside them but compute, load and store: no call tells anybody anything, or asks. It is not left
//   but by the loop's test, which depends on the counter and on what the loop does not change;
// - where a copy reads depends on the counter, and on what the loop does not change: on no memory;
// - a copy fills the whole of its shared array, which is read between the wait and the release alone.
//
// All shared arrays have constant sizes then: a launch does not know that there is more.

import type { ArrayReference, Expression, Program, Statement } from '../../compiler/ir.ts';
import { bytesOf } from '../../kernel/layout.ts';
import {
  type Comparison,
  conjunctsOf,
  incrementOf,
  isBound,
  isVariable,
  type Loop,
  mayLeave,
} from '../analysis/counters.ts';
import { constantOf } from '../analysis/elements.ts';
import { mapExpression, mapStatements } from '../analysis/map.ts';
import { anyStatement, assignedIn, forEachExpression, forEachStatement } from '../analysis/walk.ts';
import { type Copy, forEachCall } from './calls.ts';
import { startOf } from './lockstep.ts';
import { newLabels } from './loop-schedule.ts';
import { conjunctionOf } from './loops.ts';
import { onlyCopiesMeet } from './only-copies.ts';
import { laterOffset } from './prefetch.ts';
import { isVerbOf, stageStepOf, type Verb } from './verbs.ts';
import { Words } from './words.ts';

/** Shared memory of a block with its stages twice: as many blocks are resident as without, 2048 threads having 96 KB. */
const mostBytesOfThread = 48;
const mostBytes = 16 * 1024;

/** Batches have numbers from no more than this on: the first ones, and the stages, are added without wrapping. */
const mostStart = 2 ** 30;

/** A loop over batches, its counter, and its tests that there is one more. */
interface Batches {
  readonly loop: Loop;
  readonly counter: number;
  readonly start: number;
  readonly tests: readonly Comparison[];
}

/** The program with a pipeline's one stage kept twice; null where something might tell. */
export function keptTwice(program: Program, id: number, alignments: readonly number[]): Program | null {
  const { body, pipelines } = program;
  const isVerb = isVerbOf(id);
  const position = body.findIndex((each) => anyStatement([each], isVerb));
  const loop = body[position];
  if (pipelines[id]!.stages !== 1 || loop?.kind !== 'loop') return null;
  const batches = batchesOf(program, loop, body.slice(0, position));
  if (batches === null || !isOnlyUse(program, loop, position, id)) return null;
  const copies = loop.body.filter(
    (each): each is Copy => each.kind === 'call' && each.intrinsic === 'memcpyAsync',
  );
  const lengths = filledWhole(program, copies);
  if (lengths === null || !isReadInBetween(program, loop, isVerb, lengths)) return null;
  const sharedArrays = doubled(program, lengths);
  if (sharedArrays === null || !onlyCopiesMeet(program, alignments)) return null;

  const fetched = program.variables.length;
  const { indexType } = program;
  const words = new Words(loop.range, indexType);
  const fill = fillOf(program, batches, fetched, isVerb, lengths);
  if (fill === null) return null;
  const begin = words.assign(fetched, words.index(batches.start));
  const rewritten = [begin, { ...loop, body: [fill, ...usesOf(program, batches, isVerb, lengths)] }];
  return {
    ...program,
    variables: [...program.variables, { name: 'fetched', type: indexType }],
    sharedArrays,
    pipelines: pipelines.map((each, n) => (n === id ? { ...each, stages: 2 } : each)),
    body: body.flatMap((each) => (each === loop ? rewritten : [each])),
  };
}

/** A loop that counts from a constant to what does not change in it, and does nothing that others may notice. */
function batchesOf(program: Program, loop: Loop, before: readonly Statement[]): Batches | null {
  const counter = incrementOf(loop.update);
  if (counter === null || loop.test === null || !loop.testFirst || mayLeave(loop)) return null;
  if (program.variables[counter]!.type !== program.indexType || assignedIn(loop.body).has(counter))
    return null;
  const start = startOf(counter, before);
  if (start === null || start < 0 || start > mostStart) return null;
  const assigned = assignedIn([loop]);
  const conjuncts = conjunctsOf(loop.test);
  const tests = conjuncts.filter((test) => isBound(test, counter, assigned));
  return tests.length === conjuncts.length ? { loop, counter, start, tests } : null;
}

/** Whether a turn of the loop uses the pipeline's stage once, calls nothing else, and nothing outside of it uses the pipeline. */
function isOnlyUse({ body }: Program, loop: Loop, position: number, id: number): boolean {
  const isVerb = isVerbOf(id);
  const verbs = loop.body.filter(isVerb);
  if (!/^acquire,(copy,)+commit,wait,release$/.test(verbs.map(stageStepOf).join())) return false;
  if (anyStatement(loop.body, (each) => each.kind === 'call' && !isVerb(each))) return false;
  let uses = 0;
  let makes = 0;
  forEachStatement(body, (statement) => {
    if (isVerb(statement)) ++uses;
  });
  forEachCall(body, ({ intrinsic }) => {
    if (intrinsic === 'makePipeline') ++makes;
  });
  const isMade = body
    .slice(0, position)
    .some((each) => each.kind === 'call' && each.intrinsic === 'makePipeline' && each.pipeline === id);
  return uses === verbs.length && makes === 1 && isMade;
}

/** The elements of each shared array that copies fill, each by one and as a whole; null where they fill another part. */
function filledWhole(program: Program, copies: readonly Copy[]): ReadonlyMap<number, number> | null {
  const lengths = new Map<number, number>();
  for (const { destination, count, zeroFill, alignment } of copies) {
    const { array, offset } = destination;
    if (array.space !== 'shared' || lengths.has(array.id) || zeroFill !== null) return null;
    const { count: length, element } = program.sharedArrays[array.id]!;
    const elements = constantOf(count);
    if (elements === null || elements !== constantOf(length) || constantOf(offset) !== 0) return null;
    // The second half begins at such a multiple too.
    if (elements === 0 || (elements * bytesOf(element)) % Math.max(16, alignment) !== 0) return null;
    lengths.set(array.id, elements);
  }
  return lengths;
}

/** Whether what copies fill is read between the wait and the release alone; that no thread stores to it, only-copies.ts says. */
function isReadInBetween(
  { body }: Program,
  loop: Loop,
  isVerb: (statement: Statement) => statement is Verb,
  lengths: ReadonlyMap<number, number>,
): boolean {
  const loadsIn = (statements: readonly Statement[]) => {
    let [plain, others] = [0, 0];
    forEachExpression(statements, (each) => {
      if ((each.kind !== 'load' && each.kind !== 'length') || !isOf(lengths, each.array)) return;
      if (each.kind === 'load' && each.bounds === undefined) ++plain;
      else ++others;
    });
    return { plain, others };
  };
  const [wait, release] = [...loop.body.keys()].filter((at) => isVerb(loop.body[at]!)).slice(-2);
  const { plain, others } = loadsIn(body);
  return others === 0 && plain === loadsIn(loop.body.slice(wait, release)).plain;
}

function isOf(lengths: ReadonlyMap<number, number>, { space, id }: ArrayReference): boolean {
  return space === 'shared' && lengths.has(id);
}

/** The shared arrays with twice the stage; null where their sizes are not known, or they are too much for a block. */
function doubled(
  { sharedArrays, block: [x, y, z] }: Program,
  lengths: ReadonlyMap<number, number>,
): Program['sharedArrays'] | null {
  let bytes = 0;
  for (const [id, { count, element }] of sharedArrays.entries()) {
    const length = constantOf(count);
    if (length === null) return null;
    bytes += length * bytesOf(element) * (lengths.has(id) ? 2 : 1);
  }
  if (bytes > Math.min(mostBytes, mostBytesOfThread * x * y * z)) return null;
  return sharedArrays.map((array, id) => {
    const { count } = array;
    if (!lengths.has(id)) return array;
    const twice = new Words(count.range, count.type as Program['indexType']).index(2 * lengths.get(id)!);
    return { ...array, count: twice };
  });
}

/** The loop that fetches up to two batches ahead; null where a copy's source is not known from the batch's number. */
function fillOf(
  program: Program,
  { loop, counter, tests }: Batches,
  fetched: number,
  isVerb: (statement: Statement) => statement is Verb,
  lengths: ReadonlyMap<number, number>,
): Loop | null {
  const { indexType } = program;
  const words = new Words(loop.range, indexType);
  const next = words.read(fetched, indexType);
  const fill: Statement[] = [];
  for (const verb of loop.body.filter(isVerb).slice(0, -2)) {
    if (verb.intrinsic !== 'memcpyAsync') {
      fill.push(verb);
      continue;
    }
    const offset = laterOffset(verb, loop.body, counter, next);
    if (offset === null) return null;
    const { array } = verb.destination;
    const destination = { array, offset: halfOf(next, lengths.get(array.id)!, words) };
    fill.push({ ...verb, destination, source: { ...verb.source, offset } });
  }
  const isFetched = (test: Expression) =>
    mapExpression(test, { expression: (each) => (isVariable(each, counter) ? next : each) });
  const limit = words.binary('add', words.read(counter, indexType), words.index(2));
  const test = conjunctionOf([...tests.map(isFetched), words.compare('less', next, limit)]);
  const update = [words.assign(fetched, words.binary('add', next, words.index(1)))];
  return {
    kind: 'loop',
    label: newLabels(program.body)(),
    test,
    testFirst: true,
    body: fill,
    update,
    range: loop.range,
  };
}

/** Where a batch's half of a stage begins. */
function halfOf(batch: Expression, length: number, words: Words): Expression {
  return words.binary('multiply', words.binary('remainder', batch, words.index(2)), words.index(length));
}

/** What a turn does beside fetching, on its batch's halves. */
function usesOf(
  { indexType }: Program,
  { loop, counter }: Batches,
  isVerb: (statement: Statement) => statement is Verb,
  lengths: ReadonlyMap<number, number>,
): readonly Statement[] {
  const fetching = new Set<Statement>(loop.body.filter(isVerb).slice(0, -2));
  return mapStatements(
    loop.body.filter((each) => !fetching.has(each)),
    {
      expression: (each) => {
        if (each.kind !== 'load' || !isOf(lengths, each.array)) return each;
        const words = new Words(each.range, indexType);
        const half = halfOf(words.read(counter, indexType), lengths.get(each.array.id)!, words);
        return { ...each, index: words.binary('add', half, each.index) };
      },
    },
  );
}
