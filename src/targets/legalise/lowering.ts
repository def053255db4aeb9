// Which way of the hardware a pipeline takes, chosen for each pipeline of a program.
//
//   bulk      sm_90: one thread copies a whole stage through the copy engine of the
//             multiprocessor; a full barrier a stage says when it has arrived, a block barrier
//             before the refill says that all threads have read it. One stage is kept twice where
//             nothing can tell (kept-twice.ts).
//   groups    sm_80: all threads copy (cp.async); a thread's wait covers its own copies, a block
//             barrier behind it everybody's. Before sm_80 the same with copies done at once. On
//             sm_90 too for one stage of little: what threads copy is there sooner.
//   roles     sm_90, where producers do nothing but copy: one thread copies for all of them through
//             the copy engine; full barriers say what has arrived, and empty ones, at which each
//             consumer arrives, what was read (roles.ts).
//   barriers  full and empty barriers a stage with one arrival a thread: other partitioned roles,
//             tiles, waits that may time out, and those that not all threads of the block reach
//             together.
//   thread    thread scope: groups without any block barrier.

import type { Program } from '../../compiler/ir.ts';
import { isTimedWait, type Pipeline } from '../../compiler/ir-pipelines.ts';
import { bytesOf } from '../../kernel/layout.ts';
import { constantOf, elementOf } from '../analysis/elements.ts';
import { type Copy, copyAlignment, forEachCall, returnsAmongCopies } from './calls.ts';
import type { Lowering } from './decisions.ts';
import { keptTwice } from './kept-twice.ts';
import { onlyCopiesMeet } from './only-copies.ts';
import { partRoles } from './roles.ts';
import { threadsAsBlock } from './thread-scope.ts';

/** What the choice depends on beside the program. */
export interface LoweringOptions {
  /** Compute capability times ten: 75, 80, 90, 120. */
  readonly architecture: number;
  /** For each parameter, by which power of two bytes its array's address is divisible at the launch. */
  readonly alignments: readonly number[];
  /** Whether every use of the pipeline stands in control flow that the whole block takes together. */
  readonly blockUniform: (pipeline: number) => boolean;
  /** Whether what threads access and copy is tested, as what they do in the kernel's text. Default: no. */
  readonly checked?: boolean;
  /** Bytes that should be on their way to a multiprocessor at any time. Default: those of an H200. */
  readonly bytesUnderWay?: number;
  /**
   * Whether a single stage of little may be kept twice, or copied by threads, though the copy engine could fill the one.
   * Default: yes. Tests that are to show the engine's order in small kernels say no.
   */
  readonly briefByThreads?: boolean;
}

/** The lowering of a pipeline, and why it is that one: half a sentence. */
export interface Choice {
  readonly lowering: Lowering;
  readonly why: string;
  /** The program as this lowering needs it; absent: as it is. */
  readonly program?: Program;
}

/** Chooses the lowering of each pipeline. */
export function chooseLowerings(program: Program, options: LoweringOptions): readonly Choice[] {
  const { briefByThreads = true } = options;
  const copies = program.pipelines.map((): Copy[] => []);
  const timed = new Set<number>();
  forEachCall(program.body, (call) => {
    if (isTimedWait(call)) timed.add(call.pipeline);
    if (call.intrinsic === 'memcpyAsync' && 'pipeline' in call) copies[call.pipeline]!.push(call);
  });
  const against = obstacleOfCopies(program, options);
  // Copies of the engine that nothing waits for would outlive the block; those of threads they can wait for.
  const returns = returnsAmongCopies(program.body);
  const barriers = (why: string): Choice => ({ lowering: 'barriers', why });
  const groups = (why: string): Choice => ({ lowering: 'groups', why });
  return program.pipelines.map(({ scope, partition, group }: Pipeline, id): Choice => {
    if (scope === 'thread') return ofThreads(program, id, options);
    if (timed.has(id)) return barriers('a wait for it may time out');
    if (partition !== 'unified') return ofRoles(program, id, options);
    if (group.kind !== 'block') return barriers(`its threads are ${othersInWords(group)}`);
    if (!options.blockUniform(id)) return barriers('not all threads of the block reach its calls together');
    if (options.architecture < 90) return groups(`sm_${options.architecture} has no engine for bulk copies`);
    if (returns) return groups('threads may return while copies are under way');
    if (copies[id]!.length === 0) return groups('it has no copies');
    const obstacle = copies[id]!.map(against).find((one) => one !== null);
    if (obstacle !== undefined) return groups(obstacle);
    // A checked kernel's faults are those of the one stage.
    const twice =
      briefByThreads && options.checked !== true ? keptTwice(program, id, options.alignments) : null;
    if (twice !== null) {
      const why =
        'its one stage is kept twice, so that the next batch comes while one is used, which the kernel cannot notice';
      return { lowering: 'bulk', why, program: twice };
    }
    if (briefByThreads && isBrief(program, id, copies[id]!))
      return groups(
        'its one stage is awaited at once, and threads have so little sooner than the copy engine',
      );
    return { lowering: 'bulk', why: 'each of its copies is fit for the copy engine' };
  });
}

/** What a thread copies by one instruction. */
const chunk = 16;

/**
 * Whether a pipeline has one stage, of no more than a chunk for each thread. Nothing lies between its copy and the wait, so
 * that how long one copy takes decides, and not how many instructions it needs.
 */
function isBrief(program: Program, id: number, copies: readonly Copy[]): boolean {
  if (program.pipelines[id]!.stages !== 1) return false;
  const [x, y, z] = program.block;
  return copies.every(({ count, source }) => {
    const bytes =
      Number(constantOf(count) ?? Number.POSITIVE_INFINITY) * bytesOf(elementOf(program, source.array));
    return bytes <= chunk * x * y * z;
  });
}

/** For a pipeline of thread scope. */
function ofThreads(program: Program, id: number, options: LoweringOptions): Choice {
  const { architecture, alignments, blockUniform, checked } = options;
  const thread: Choice = { lowering: 'thread', why: 'it has thread scope' };
  if (architecture < 90 || checked === true || !blockUniform(id)) return thread;
  if (!onlyCopiesMeet(program, alignments)) return thread;
  const ofBlock = threadsAsBlock(program, id);
  if (ofBlock === null) return thread;
  const [choice] = chooseLowerings(ofBlock, { ...options, blockUniform: () => true, briefByThreads: false });
  if (choice!.lowering !== 'bulk') return thread;
  return { lowering: 'bulk', why: 'its threads copy what the block would, in step', program: ofBlock };
}

/** For a pipeline whose threads have roles. */
function ofRoles(
  program: Program,
  id: number,
  { architecture, alignments, checked }: LoweringOptions,
): Choice {
  const barriers = (obstacle: string): Choice => ({
    lowering: 'barriers',
    why: `its threads have roles, and ${obstacle}`,
  });
  const { group } = program.pipelines[id]!;
  if (group.kind !== 'block') return barriers(`they are ${othersInWords(group)}`);
  if (architecture < 90) return barriers(`sm_${architecture} has no engine for bulk copies`);
  if (!onlyCopiesMeet(program, alignments))
    return barriers('threads may meet elsewhere than in copied stages');
  const parted = partRoles(program, id, { alignments, checked: checked === true });
  if ('obstacle' in parted) return barriers(parted.obstacle);
  return { lowering: 'roles', why: 'one thread copies for all of its producers', program: parted.program };
}

function othersInWords({ kind }: Pipeline['group']): string {
  return kind === 'lanes' ? 'any lanes of a warp' : 'a tile of the block';
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
