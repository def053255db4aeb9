// Threads with roles as one loop: what producers do for a batch, then what consumers do with it.
//
//   for (c, f = 0; c < n; ++c) {                      for (k = 0; k < n; ++k) {
//     for (; f < n && f < c + S; ++f)                   fill(k)          the i-th producer
//       if (producer) { acquire; fill(f); commit }  →   block.sync()
//     if (consumer) { wait; use(c); release }           use(k)           the i-th consumer
//   }                                                 }
//
// Thread i of the new program does what the i-th producer and the i-th consumer do, with variables of its own for each. It
// may be done where ranks alone decide who is which, both come to their verbs in loops that count alike, and nothing
// else makes threads meet there. A stage is then free when its turn comes, since producers run no further ahead, and full
// behind it: nothing is left to wait for, and of the pipeline nothing at all.
//
// Outside these loops, producers go before consumers from one meeting to the next, and what the block does as one it does
// once. A range says of which rank group a thread is (ir-cohorts.ts).

import type { Call, Expression, Program, Statement } from '../../../compiler/ir.ts';
import type { RankGroup } from '../../../compiler/ir-cohorts.ts';
import { incrementOf, isBound, type Loop, mayLeave } from '../../analysis/counters.ts';
import { factsOf } from '../../analysis/facts.ts';
import { isUniformWork } from '../../analysis/uniformity.ts';
import { anyStatement, assignedIn, forEachStatement, readIn } from '../../analysis/walk.ts';
import { readsOf, startOf } from '../lockstep.ts';
import { flattened, partOf, withoutDead } from '../parts.ts';
import { stageStepOf } from '../verbs.ts';
import { programOf, rankGroupsBy, valuesByRank } from './rank-groups.ts';
import { surelyMade } from './surely-made.ts';
import { type Role, type Way, writeZipped } from './zip-writer.ts';

/** The program with the loops of its producers and consumers as one, or as it was. */
export function zipRoles(program: Program): Program {
  const [pipeline, second] = program.pipelines;
  if (pipeline === undefined || second !== undefined || program.barriers.length > 0) return program;
  if (pipeline.partition === 'unified' || pipeline.group.kind !== 'block') return program;
  if (program.localArrays.length > 0 || !surelyMade(program.body, 'pipeline').has(0)) return program;
  const position = program.body.findIndex((each) => anyStatement([each], isVerb));
  const section = program.body[position];
  if (section === undefined || !program.body.every((each) => each === section || isPlain(each)))
    return program;
  const roles = rolesOf(program, section, position);
  if (roles === null) return program;
  const shared = sharedBy(program, section);
  const [producers, consumers] = roles.map((role) => wayOf(role, position, shared, program));
  if (!producers || !consumers) return program;
  return writeZipped(program, { position, shared, roles, ways: [producers, consumers] }) ?? program;
}

/** Producers and consumers, if they are two rank groups, and the pipeline is made with these producers. */
function rolesOf(program: Program, section: Statement, position: number): readonly [Role, Role] | null {
  const { isUniform } = factsOf(program).among('block');
  const tests: Expression[] = [];
  forEachStatement([section], (each) => {
    if (each.kind === 'if' && anyStatement([each], isVerb) && !isUniform(each.test)) tests.push(each.test);
  });
  const groups = rankGroupsBy(program, tests);
  if (groups?.length !== 2) return null;
  const [one, other] = groups.map((ranks): Role => ({ ranks, body: programOf(program, ranks).body })) as [
    Role,
    Role,
  ];
  const fills = ({ body }: Role) => anyStatement([body[position]!], (each) => stepOf(each) === 'acquire');
  if (fills(one) === fills(other)) return null;
  const roles = fills(one) ? ([one, other] as const) : ([other, one] as const);
  return isMadeWith(program, roles[0].ranks) ? roles : null;
}

/** Whether the pipeline is made with these producers. */
function isMadeWith(program: Program, { first, stride, count }: RankGroup): boolean {
  const [x, y, z] = program.block;
  const make = program.body.find((each) => each.kind === 'call' && each.intrinsic === 'makePipeline');
  if (make?.kind !== 'call' || make.intrinsic !== 'makePipeline' || make.producers === null) return false;
  const told = valuesByRank(program)(make.producers);
  if (told === null) return false;
  const ranks = Array.from({ length: x * y * z }, (_, rank) => rank);
  if (program.pipelines[0]!.partition === 'count') return ranks.every((rank) => Number(told(rank)) === count);
  const members = new Set(Array.from({ length: count }, (_, member) => first + stride * member));
  return ranks.every((rank) => told(rank) === members.has(rank));
}

/** The variables that only what the block does as one, outside the section, gives values. */
function sharedBy(program: Program, section: Statement): ReadonlySet<number> {
  const uniformity = factsOf(program).among('block');
  const own = assignedIn([section]);
  const isOfBlock = (each: Statement) =>
    isUniformWork(each, uniformity) && ![...assignedIn([each]), ...readIn([each])].some((id) => own.has(id));
  for (let before = -1; before !== own.size; ) {
    before = own.size;
    for (const each of program.body) {
      if (each !== section && !isOfBlock(each)) for (const id of assignedIn([each])) own.add(id);
    }
  }
  return new Set([...program.variables.keys()].filter((id) => !own.has(id)));
}

/** What a role does there, if it is a loop that goes through the batches one by one. */
function wayOf({ body }: Role, position: number, shared: ReadonlySet<number>, program: Program): Way | null {
  const known = (test: Expression) => (test.kind === 'constant' ? test.value === true : null);
  const ahead = body.slice(0, position);
  const rest = body.slice(position + 1);
  const alive = (list: readonly Statement[]) => withoutDead(list, { afterwards: rest, keepsFaults: true });
  const list = alive(flattened(alive(partOf([body[position]!], known)), ahead));
  const at = list.findIndex((each) => anyStatement([each], isVerb));
  const loop = list[at];
  if (loop?.kind !== 'loop') return null;
  const [before, after] = [list.slice(0, at), list.slice(at + 1)];
  if (![...before, ...after].every((each) => isPlain(each) && !isMeeting(each))) return null;
  const counter = counterOf(loop, shared);
  if (counter === null || readsOf(counter, [...after, ...rest]) > 0) return null;
  const start = startOf(counter, [...ahead, ...before]);
  if (start === null) return null;
  const steps = loop.body.map(stepOf).filter((step) => step !== null && step !== 'copy');
  if (!/^(acquire,commit|wait,release)$/.test(steps.join())) return null;
  const fills = steps[0] === 'acquire';
  const others = loop.body.filter((each) => !isVerb(each) || stepOf(each) === 'copy');
  const isRefused = (each: Statement) => {
    if (each.kind === 'return' || (each.kind === 'continue' && each.label === loop.label)) return true;
    if (each.kind !== 'call' || isMark(each)) return false;
    return !fills || each.intrinsic !== 'memcpyAsync' || each.group.kind !== 'thread';
  };
  if (anyStatement(others, isRefused)) return null;
  const { type } = program.variables[counter]!;
  return { before, loop: { ...loop, body: others }, after, counter, type, start };
}

/** The variable that a loop counts, to a limit that is the block's. */
function counterOf(loop: Loop, shared: ReadonlySet<number>): number | null {
  const counter = incrementOf(loop.update);
  if (counter === null || loop.test === null || !loop.testFirst || mayLeave(loop)) return null;
  const isOwn = { has: (id: number) => !shared.has(id) };
  return isBound(loop.test, counter, isOwn) && !assignedIn(loop.body).has(counter) ? counter : null;
}

type Verb = Extract<Call, { pipeline: number }>;

/** A use of the pipeline, which to make it or quit it is not. */
function isVerb(statement: Statement): statement is Verb {
  return (
    statement.kind === 'call' &&
    'pipeline' in statement &&
    statement.intrinsic !== 'makePipeline' &&
    statement.intrinsic !== 'quit'
  );
}

function stepOf(statement: Statement): ReturnType<typeof stageStepOf> {
  return isVerb(statement) ? stageStepOf(statement) : null;
}

/** Whether nothing in a statement makes threads meet but, if it is one, a sync of the block. */
function isPlain(statement: Statement): boolean {
  if (isMeeting(statement)) return true;
  return !anyStatement([statement], (each) => each.kind === 'call' || each.kind === 'return');
}

/** Whether all threads of the block meet at a statement, and it does nothing else. */
function isMeeting(statement: Statement): boolean {
  if (statement.kind !== 'call') return false;
  if (statement.intrinsic === 'sync') return statement.group.kind === 'block' && statement.mask === undefined;
  return (
    statement.intrinsic === 'makePipeline' || (statement.intrinsic === 'quit' && statement.result === null)
  );
}

function isMark(call: Call): boolean {
  return call.intrinsic === 'mark';
}
