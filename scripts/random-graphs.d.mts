import type { Device, kernel } from 'warpstage';

/** A command of a graph: what it does, in which stream, and of what. */
export interface GraphCommand {
  readonly do: string;
  readonly stream: number;
  readonly [field: string]: unknown;
}

export interface Graph {
  readonly name: string;
  readonly streams: readonly { readonly nonBlocking: boolean; readonly priority: number }[];
  readonly commands: readonly GraphCommand[];
}

export function graphOf(seed: number): Graph;

export interface PreparedGraph {
  issue(): void;
  end(): Promise<void>;
}

export class GraphRunner {
  constructor(device: Device, of: typeof kernel, graphs: readonly Graph[]);
  fill(): void;
  prepare(graph: Graph, serial?: boolean): PreparedGraph;
  time(prepared: PreparedGraph): Promise<{
    readonly elapsed: number;
    readonly issued: number;
    readonly waited: number;
  }>;
  left(graph: Graph, prepared: PreparedGraph): Promise<string[]>;
}
