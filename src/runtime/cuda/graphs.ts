// Graphs of the driver: captured work that one call starts.
//
// A graph is made by the driver's own stream capture, of the same calls that carry out single
// commands: branches of the graph are streams that are captured together, and what waits
// for another branch waits for an event. It is given back when nothing can launch it any more.

import { sitesOf } from '../../targets/cuda/faults.ts';
import type { Work } from '../command.ts';
import type { GraphNode, GraphWork } from '../graph-work.ts';
import type { Driver } from './driver.ts';
import type { EventPool } from './driver-stream.ts';
import type { PinnedMemory } from './memory.ts';

/** CU_STREAM_NON_BLOCKING */
const nonBlocking = 1;
/** CU_STREAM_CAPTURE_MODE_RELAXED: other calls of this thread are no part of it. */
const relaxed = 2;

/**
 * Whether the GPU can carry it out by itself: no host functions, no memory that only the main thread reaches, and
 * no kernel that tells the host something, which is read when its own command is complete.
 */
export function isGpuGraph({ nodes }: GraphWork, pinned: PinnedMemory): boolean {
  return nodes.every(({ work }) => {
    if (work.kind === 'host') return false;
    if (work.kind === 'launch') return sitesOf(work.executable) === undefined;
    if (work.kind !== 'copy') return true;
    return [work.source.memory, work.destination.memory].every(
      (memory) =>
        memory.kind === 'device' ||
        (memory.kind === 'shared' && pinned.addressOf(memory.buffer) !== undefined),
    );
  });
}

export class Graphs {
  readonly #driver: Driver;
  readonly #pool: EventPool;
  readonly #give: (work: Exclude<Work, GraphWork>, stream: number) => void;
  readonly #made = new WeakMap<GraphWork, number>();
  /** What was made and not given back. What is under way holds its graph, so that no other can be launched any more. */
  readonly #left = new Set<number>();
  readonly #unreachable = new FinalizationRegistry<number>((executable) => this.#giveBack(executable));

  /** `give` gives work to a stream. */
  constructor(
    driver: Driver,
    pool: EventPool,
    give: (work: Exclude<Work, GraphWork>, stream: number) => void,
  ) {
    this.#driver = driver;
    this.#pool = pool;
    this.#give = give;
  }

  launch(graph: GraphWork, stream: number): void {
    let executable = this.#made.get(graph);
    if (executable === undefined) {
      executable = this.#instantiated(graph);
      this.#made.set(graph, executable);
      this.#left.add(executable);
      this.#unreachable.register(graph, executable);
    }
    this.#driver.check(this.#driver.cuGraphLaunch(executable, stream), 'launching a graph');
  }

  /** Captures on this thread alone. */
  #instantiated(graph: GraphWork): number {
    const { issuing } = this.#driver;
    issuing?.hold();
    try {
      return this.#instantiate(graph);
    } finally {
      issuing?.letGo();
    }
  }

  #instantiate({ nodes, branches }: GraphWork): number {
    const driver = this.#driver;
    const streams = Array.from({ length: branches }, () => {
      const stream = [0];
      driver.check(driver.cuStreamCreateWithPriority(stream, nonBlocking, 0), 'creating a stream');
      return Number(stream[0]);
    });
    const events: number[] = [];
    const graph = [0];
    const executable = [0];
    try {
      driver.check(driver.cuStreamBeginCapture_v2(streams[0], relaxed), 'capturing a graph');
      this.#capture(nodes, streams, events);
      driver.check(driver.cuStreamEndCapture(streams[0], graph), 'capturing a graph');
      driver.check(driver.cuGraphInstantiateWithFlags(executable, graph[0], 0), 'making a graph');
      return Number(executable[0]);
    } finally {
      if (graph[0] !== 0) driver.cuGraphDestroy(graph[0]);
      for (const event of events) this.#pool.give(event);
      for (const stream of streams) driver.cuStreamDestroy_v2(stream);
    }
  }

  #capture(nodes: readonly GraphNode[], streams: readonly number[], events: number[]): void {
    const driver = this.#driver;
    const wait = (stream: number, event: number) =>
      driver.check(driver.cuStreamWaitEvent(stream, event, 0), 'capturing a graph');
    const mark = (stream: number) => {
      const event = this.#pool.record(stream);
      events.push(event);
      return event;
    };
    const begin = mark(streams[0]!);
    for (const stream of streams.slice(1)) wait(stream, begin);
    const needed = new Set(
      nodes.flatMap(({ dependencies, branch }) =>
        dependencies.filter((dependency) => nodes[dependency]!.branch !== branch),
      ),
    );
    const behind = new Map<number, number>();
    for (const [position, { work, branch, dependencies }] of nodes.entries()) {
      const stream = streams[branch]!;
      for (const dependency of dependencies) {
        const event = behind.get(dependency);
        if (event !== undefined) wait(stream, event);
      }
      this.#give(work, stream);
      if (needed.has(position)) behind.set(position, mark(stream));
    }
    for (const stream of streams.slice(1)) wait(streams[0]!, mark(stream));
  }

  #giveBack(executable: number): void {
    if (this.#left.delete(executable)) this.#driver.cuGraphExecDestroy(executable);
  }

  /** Forgets them, where the GPU has stopped and nothing can be given back. */
  abandon(): void {
    this.#left.clear();
  }

  close(): void {
    for (const executable of this.#left) this.#giveBack(executable);
  }
}
