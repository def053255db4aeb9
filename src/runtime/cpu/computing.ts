// What the compute engine does: kernels, run by the lead and its helpers.

import type { BlockRunner, RunnerContext } from '../../targets/executable.ts';
import { StageClock } from '../../targets/stage-marks.ts';
import { type ReportPort, reasonOf, type TaskHandler } from './engine-queue.ts';
import type { Runnable } from './file-pieces.ts';
import { MemoryView } from './linear-memory.ts';
import type { Report } from './messages.ts';
import { type Pace, Paces } from './paces.ts';
import type { WorkerPool } from './worker-pool.ts';

/** Makes runners of what a launch may name. */
export type RunnerFactory = (runnable: Runnable, context: RunnerContext) => BlockRunner;

/** What a thread runs kernels with. */
export interface Workshop {
  readonly memory: WebAssembly.Memory;
  readonly port: ReportPort;
  readonly create: RunnerFactory;
  /** The main thread's time. */
  readonly now: () => number;
  /** See `RunnerContext`. */
  readonly stop?: Int32Array;
}

/** Runs one block, and gives what it did with the stages of its pipelines. */
interface StageRunner {
  readonly recording: { block: number; readonly clock: StageClock };
  readonly run: BlockRunner;
}

/** A thread's executables, each made ready to run when it is first wanted. */
export class Runners {
  readonly #workshop: Workshop;
  readonly #context: RunnerContext;
  readonly #executables = new Map<number, Runnable>();
  readonly #runners = new Map<number, BlockRunner>();
  readonly #stageRunners = new Map<number, StageRunner>();

  constructor(workshop: Workshop) {
    const { memory, port, stop } = workshop;
    this.#workshop = workshop;
    this.#context = {
      memory,
      print: (line) => port.postMessage({ kind: 'print', line } satisfies Report),
      ...(stop === undefined ? {} : { stop }),
    };
  }

  announce(id: number, executable: Runnable): void {
    this.#executables.set(id, executable);
  }

  forget(id: number): void {
    this.#executables.delete(id);
    this.#runners.get(id)?.ends?.();
    this.#runners.delete(id);
    this.#stageRunners.delete(id);
  }

  get(id: number): BlockRunner {
    const known = this.#runners.get(id);
    if (known !== undefined) return known;
    const runner = this.#workshop.create(this.#executables.get(id)!, this.#context);
    this.#runners.set(id, runner);
    return runner;
  }

  /** Whether an executable's blocks take turns at a loop. */
  haveTurns(id: number): boolean {
    const executable = this.#executables.get(id)!;
    return 'blocksInTurn' in executable && executable.blocksInTurn !== undefined;
  }

  /** The runner of an executable that tells of stages. */
  withStages(id: number): StageRunner {
    const known = this.#stageRunners.get(id);
    if (known !== undefined) return known;
    const stages = { block: 0, clock: new StageClock(this.#workshop.now) };
    const run = this.#workshop.create(this.#executables.get(id)!, { ...this.#context, stages });
    const runner = { recording: stages, run };
    this.#stageRunners.set(id, runner);
    return runner;
  }

  /** Null if it was not announced yet or cannot be made here: then the others do the work. */
  tryGet(id: number, stages: number | null): BlockRunner | null {
    try {
      if (!this.#executables.has(id) || (stages !== null && !this.#executables.has(stages))) return null;
      if (stages !== null) this.withStages(stages);
      return this.get(id);
    } catch {
      return null;
    }
  }
}

/** Runs ranges of the open launch until there are none, or one fails; `pace`: of a lead that may be alone. */
function work(
  pool: WorkerPool,
  member: number,
  runners: Runners,
  runner: BlockRunner,
  port: ReportPort,
  pace: Pace | null = null,
): void {
  const record = pool.recordAddress;
  const arena = pool.arenaOf(member);
  const { stages } = pool;
  const run: BlockRunner =
    stages === null
      ? runner
      : recorded(runner, runners.withStages(stages.executable), stages.block, pool, port);
  const take = () => pool.take(pace?.share);
  for (let range = take(); range !== null; range = take()) {
    const { first, end } = range;
    const runRange = () => run(record, arena, first, end);
    const fault = pace === null ? runRange() : pace.run(end - first, runRange);
    if (fault === null) continue;
    pool.halt();
    port.postMessage({ kind: 'fault', ticket: pool.ticket, fault } satisfies Report);
  }
}

/**
 * Runs a block that is recorded by the executable that tells of its stages, and those before and after it as
 * ever; all of them by that one where they wait for each other.
 */
function recorded(
  plain: BlockRunner,
  { recording, run }: StageRunner,
  block: number,
  pool: WorkerPool,
  port: ReportPort,
): BlockRunner {
  return (record, arena, first, end) => {
    if (block < first || block >= end) return plain(record, arena, first, end);
    const [from, to] = pool.isTogether ? [first, end] : [block, block + 1];
    recording.block = block;
    const before = from > first ? plain(record, arena, first, from) : null;
    if (before !== null) return before;
    const fault = run(record, arena, from, to);
    const marks = recording.clock.take();
    if (fault !== null) return fault;
    port.postMessage({ kind: 'stages', ticket: pool.ticket, block, marks } satisfies Report, [marks.buffer]);
    return to < end ? plain(record, arena, to, end) : null;
  };
}

/** What the lead does with the compute engine's tasks. */
export function computeHandler(pool: WorkerPool, workshop: Workshop): TaskHandler {
  const { memory, port } = workshop;
  const device = new MemoryView(memory);
  const runners = new Runners(workshop);
  const paces = new Paces(() => pool.call());
  return {
    run(task, ticket) {
      if (task.kind !== 'launch') throw new TypeError('the compute engine only launches');
      const runner = runners.get(task.executable);
      runner.begins?.();
      device.upTo(task.recordAddress + task.record.length).set(task.record, task.recordAddress);
      const pace = paces.begin(task.executable, task.blocks);
      pool.open({ ...task, ticket, inTurn: runners.haveTurns(task.executable) }, pace.share === null);
      let whole = false;
      try {
        work(pool, 0, runners, runner, port, pace);
      } catch (error) {
        pool.halt();
        throw error;
      } finally {
        whole = pool.close();
      }
      return whole;
    },
    announce: (id, executable) => runners.announce(id, executable),
    forget(id) {
      runners.forget(id);
      paces.forget(id);
    },
  };
}

/** Takes part in the launch that is open, if one is. */
export function help(member: number, pool: WorkerPool, runners: Runners, port: ReportPort): void {
  const executable = pool.executable;
  if (executable === 0) return;
  // The runner is made before entering: it may take a while, and the lead waits for whoever is inside.
  const { stages } = pool;
  const runner = runners.tryGet(executable, stages?.executable ?? null);
  if (runner === null || !pool.enter()) return;
  try {
    const isStill = pool.executable === executable && pool.stages?.executable === stages?.executable;
    if (isStill) work(pool, member, runners, runner, port);
  } catch (error) {
    port.postMessage({ kind: 'broken', ticket: pool.ticket, reason: reasonOf(error) } satisfies Report);
    pool.halt();
  } finally {
    pool.leave();
  }
}
