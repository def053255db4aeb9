// A capture: operations of streams that are noted down, to be carried out as a graph, as CUDA's
// stream capture does.
//
// It begins with one stream. A stream that waits for an event which was recorded in the capture
// joins it; at the end all that joined must have been waited for by the first one. The order
// is that of streams: an operation waits for what its stream's frontier is at that time.

import { WarpstageError } from '../diagnostics/error.ts';
import type { Allocation } from './arrays.ts';
import type { Work } from './command.ts';
import type { GraphNode, GraphWork } from './graph-work.ts';
import type { StreamState } from './queue.ts';

/** A point of a captured stream: positions of the operations before it. */
export interface CapturedPoints {
  readonly capture: Capture;
  readonly nodes: readonly number[];
}

interface Branch {
  readonly branch: number;
  frontier: readonly number[];
}

export function captureProblem(message: string, hint: string): WarpstageError {
  return new WarpstageError({ code: 'WS4009', message, hint });
}

export class Capture {
  readonly origin: StreamState;
  readonly #nodes: GraphNode[] = [];
  readonly #branches = new Map<StreamState, Branch>();

  constructor(origin: StreamState) {
    this.origin = origin;
    this.#branches.set(origin, { branch: 0, frontier: [] });
  }

  has(stream: StreamState): boolean {
    return this.#branches.has(stream);
  }

  get streams(): Iterable<StreamState> {
    return this.#branches.keys();
  }

  /** Notes an operation down. */
  add(stream: StreamState, work: Work, uses: readonly Allocation[]): void {
    if (work.kind === 'graph') {
      throw captureProblem(
        'a graph was launched in a stream that is being captured',
        'launch the operations of the graph themselves',
      );
    }
    if (work.kind === 'launch' && work.signal !== null) {
      throw captureProblem(
        'a launch with a signal cannot be captured: a graph is launched many times',
        'leave the signal away',
      );
    }
    const branch = this.#branches.get(stream)!;
    this.#nodes.push({ work, branch: branch.branch, dependencies: branch.frontier, uses });
    branch.frontier = [this.#nodes.length - 1];
  }

  /** The present point of a stream. */
  points(stream: StreamState): CapturedPoints {
    return { capture: this, nodes: this.#branches.get(stream)!.frontier };
  }

  /** Has a stream wait for a point; it joins the capture. */
  join(stream: StreamState, { nodes }: CapturedPoints): void {
    let branch = this.#branches.get(stream);
    if (branch === undefined) {
      branch = { branch: this.#branches.size, frontier: [] };
      this.#branches.set(stream, branch);
    }
    branch.frontier = [...new Set([...branch.frontier, ...nodes])];
  }

  /** The graph. Throws if a stream that joined is not waited for. */
  finish(): GraphWork {
    const nodes = this.#nodes;
    const awaited = new Set(this.#branches.get(this.origin)!.frontier);
    for (let position = nodes.length - 1; position >= 0; --position) {
      if (awaited.has(position))
        for (const dependency of nodes[position]!.dependencies) awaited.add(dependency);
    }
    for (const [stream, { branch }] of this.#branches) {
      const last = nodes.findLastIndex((node) => node.branch === branch);
      if (last < 0 || awaited.has(last)) continue;
      throw captureProblem(
        `the capture of ${this.origin.name} ended, and nothing in it waits for ${stream.name}, which joined it`,
        'record an event in that stream at the end, and have the captured stream wait for it',
      );
    }
    const pinned = nodes.flatMap(({ work }) => {
      if (work.kind !== 'copy') return [];
      return [work.source.memory, work.destination.memory].flatMap((memory) =>
        memory.kind === 'shared' && memory.owner !== undefined ? [memory.owner] : [],
      );
    });
    return { kind: 'graph', nodes, branches: this.#branches.size, pinned: [...new Set(pinned)] };
  }
}
