// Which way of the hardware a pipeline takes, chosen for each pipeline of a program.
//
//   bulk      sm_90: one thread copies a whole stage through the copy engine of the
//             multiprocessor; a full barrier a stage says when it has arrived, a block barrier
//             before the refill says that all threads have read it.
//   groups    sm_80: all threads copy (cp.async); a thread's wait covers its own copies, a block
//             barrier behind it everybody's. Before sm_80 the same with copies done at once.
//   barriers  full and empty barriers a stage with one arrival a thread: partitioned roles,
//             tiles, waits that may time out, and those that not all threads of the block reach
//             together.
//   thread    thread scope: groups without any block barrier.

import type { Call, Expression, Program, Statement } from '../../compiler/ir.ts';
import type { Pipeline } from '../../compiler/ir-pipelines.ts';
import { elementBytes } from '../../kernel/types.ts';
import { elementOf } from '../analysis/elements.ts';
import { factsOf } from '../analysis/facts.ts';
import { divisorOf } from '../analysis/values.ts';
import { anyStatement, forEachStatement } from '../analysis/walk.ts';

export type Lowering = 'bulk' | 'groups' | 'barriers' | 'thread';

export type Copy = Extract<Call, { intrinsic: 'memcpyAsync' }>;

/** What the choice depends on beside the program. */
export interface LoweringOptions {
  /** Compute capability times ten: 75, 80, 90, 120. */
  readonly architecture: number;
  /** For each parameter, by which power of two bytes its array's address is divisible at the launch. */
  readonly alignments: readonly number[];
  /** Whether every use of the pipeline stands in control flow that the whole block takes together. */
  readonly blockUniform: (pipeline: number) => boolean;
}

/** Calls `visit` for every call of the program. */
export function forEachCall(statements: readonly Statement[], visit: (call: Call) => void): void {
  forEachStatement(statements, (statement) => {
    if (statement.kind === 'call') visit(statement);
  });
}

/** The pipelines or barriers that statements make inside of loops. */
export function madeInLoops(statements: readonly Statement[], what: 'pipeline' | 'barrier'): Set<number> {
  const made = new Set<number>();
  forEachStatement(statements, (statement) => {
    if (statement.kind !== 'loop') return;
    forEachCall([statement], (call) => {
      if (what === 'pipeline' && call.intrinsic === 'makePipeline') made.add(call.pipeline);
      if (what === 'barrier' && call.intrinsic === 'makeBarrier') made.add(call.barrier);
    });
  });
  return made;
}

/** Whether a kernel writes to shared arrays by itself, by stores or atomics. */
export function storesToShared(statements: readonly Statement[]): boolean {
  return anyStatement(statements, (statement) => {
    const writes =
      statement.kind === 'store' || (statement.kind === 'call' && statement.intrinsic === 'atomic');
    return writes && statement.array.space === 'shared';
  });
}

/** Whether threads may return while copies are under way: behind the first statement that copies, or inside it. */
export function returnsAmongCopies(body: readonly Statement[]): boolean {
  const first = body.findIndex((statement) =>
    anyStatement([statement], (each) => each.kind === 'call' && each.intrinsic === 'memcpyAsync'),
  );
  return first >= 0 && anyStatement(body.slice(first), ({ kind }) => kind === 'return');
}

/** A function that gives the power of two bytes, up to 16, that both addresses and the size of a copy are multiples of. */
export function copyAlignment(program: Program, alignments: readonly number[]): (copy: Copy) => number {
  const facts = factsOf(program);
  return (copy) => {
    const { destination, source, count, alignment } = copy;
    const factOf = facts.at(copy);
    const bytes = elementBytes[elementOf(program, source.array)];
    const base = ({ space, id }: Copy['source']['array']) =>
      space === 'global' ? (alignments[id] ?? bytes) : 16;
    const proven = (offset: Expression) => bytes * divisorOf(factOf(offset));
    const addresses = Math.min(
      base(destination.array),
      base(source.array),
      proven(destination.offset),
      proven(source.offset),
    );
    return Math.min(16, Math.max(Math.min(addresses, proven(count)), alignment));
  };
}

/** The lowering of a pipeline, and why it is that one: half a sentence. */
export interface Choice {
  readonly lowering: Lowering;
  readonly why: string;
}

/** Chooses the lowering of each pipeline. */
export function chooseLowerings(program: Program, options: LoweringOptions): readonly Lowering[] {
  return explainLowerings(program, options).map(({ lowering }) => lowering);
}

/** The same with the reasons. */
export function explainLowerings(program: Program, options: LoweringOptions): readonly Choice[] {
  const copies = program.pipelines.map((): Copy[] => []);
  const timed = new Set<number>();
  forEachCall(program.body, (call) => {
    if (call.intrinsic === 'consumerWaitFor' || call.intrinsic === 'consumerWaitUntil')
      timed.add(call.pipeline);
    if (call.intrinsic === 'memcpyAsync' && 'pipeline' in call) copies[call.pipeline]!.push(call);
  });
  const against = obstacleOfCopies(program, options);
  // Copies of the engine that nothing waits for would outlive the block; those of threads they can wait for.
  const returns = returnsAmongCopies(program.body);
  const barriers = (why: string): Choice => ({ lowering: 'barriers', why });
  const groups = (why: string): Choice => ({ lowering: 'groups', why });
  return program.pipelines.map(({ scope, partition, group }: Pipeline, id): Choice => {
    if (scope === 'thread') return { lowering: 'thread', why: 'it has thread scope' };
    if (timed.has(id)) return barriers('a wait for it may time out');
    if (partition !== 'unified') return barriers('its threads have roles');
    if (group.kind !== 'block') return barriers('its threads are a tile of the block');
    if (!options.blockUniform(id)) return barriers('not all threads of the block reach its calls together');
    if (options.architecture < 90) return groups(`sm_${options.architecture} has no engine for bulk copies`);
    if (returns) return groups('threads may return while copies are under way');
    if (copies[id]!.length === 0) return groups('it has no copies');
    const obstacle = copies[id]!.map(against).find((one) => one !== null);
    if (obstacle !== undefined) return groups(obstacle);
    return { lowering: 'bulk', why: 'each of its copies is fit for the copy engine' };
  });
}

/** A function that says why the copy engine cannot make a copy; null if it can. */
function obstacleOfCopies(program: Program, { alignments }: LoweringOptions): (copy: Copy) => string | null {
  const alignmentOf = copyAlignment(program, alignments);
  return (copy) => {
    const { group, destination, source } = copy;
    if (group.kind !== 'block') return 'a copy of it is not made by the whole block';
    if (destination.array.space !== 'shared' || source.array.space !== 'global')
      return 'a copy of it does not go from global to shared memory';
    const { id } = source.array;
    if (!isReadonly(program, id))
      return `a copy of it reads \`${program.parameters[id]!.name}\`, which is not readonly`;
    const known = Math.min(alignments[id] ?? 1, alignmentOf(copy));
    return known < 16 ? `a copy of it is known to be aligned to ${known} bytes, and not to 16` : null;
  };
}

/** Only what nobody writes during the kernel may be read by the copy engine without a fence between. */
function isReadonly(program: Program, id: number): boolean {
  const parameter = program.parameters[id]!;
  return parameter.kind === 'array' && parameter.readonly;
}
