// What the main thread and the worker threads say to each other, beside the command table.

import type { MessagePort } from 'node:worker_threads';
import type { Fault } from '../../targets/executable.ts';
import type { Box, Layout } from '../box.ts';
import type { CommandTableMemory, EngineName } from './command-table.ts';
import type { Runnable } from './file-pieces.ts';
import type { WorkerPoolMemory } from './worker-pool.ts';

/** Memory as the engines name it. */
export interface Target extends Layout {
  readonly buffer: 'device' | 'staging' | SharedArrayBuffer;
  /** Bytes from the buffer's beginning. */
  readonly offset: number;
}

/** The work of a command, for an engine. */
export type Task =
  | { readonly kind: 'copy'; readonly destination: Target; readonly source: Target; readonly box: Box }
  | { readonly kind: 'set'; readonly address: number; readonly bytes: number; readonly byte: number }
  | LaunchTask;

export interface LaunchTask {
  readonly kind: 'launch';
  /** The number under which the executable was announced. */
  readonly executable: number;
  readonly record: Uint8Array;
  /** Where the record and the first thread's arena are to lie, and how far apart the arenas are. */
  readonly recordAddress: number;
  readonly arena: number;
  readonly arenaStride: number;
  /** One thread runs all blocks, as they wait for each other. */
  readonly together: boolean;
  readonly blocks: number;
  /** The stages of this block's pipelines are recorded; by which executable it is run. */
  readonly stages: { readonly block: number; readonly executable: number } | null;
}

/** To a thread. */
export type Order =
  | {
      readonly kind: 'command';
      readonly ticket: number;
      readonly priority: number;
      /** Tickets of the commands to wait for. */
      readonly dependencies: readonly number[];
      readonly task: Task;
    }
  | { readonly kind: 'executable'; readonly id: number; readonly executable: Runnable }
  /** No launch will name this executable any more. */
  | { readonly kind: 'forget'; readonly id: number }
  /** Host memory was freed that this thread may hold. */
  | { readonly kind: 'collect' };

/** From a thread. */
export type Report =
  /** A command that the main thread waits for is complete. */
  | { readonly kind: 'complete' }
  | { readonly kind: 'fault'; readonly ticket: number; readonly fault: Fault }
  /** Something threw where nothing should. */
  | { readonly kind: 'broken'; readonly ticket: number; readonly reason: string }
  /** What a kernel's block did with the stages of its pipelines. */
  | {
      readonly kind: 'stages';
      readonly ticket: number;
      readonly block: number;
      /** See `spansOfMarks`. */
      readonly marks: Float64Array;
    }
  | { readonly kind: 'print'; readonly line: string };

/** What a block did with the stages of its pipelines; the block by its linear number. */
export type RecordedStages = Pick<Extract<Report, { kind: 'stages' }>, 'block' | 'marks'>;

/** What makes runners of a target's executables: a target of the package, or a function that a module exports. */
export type RunnerSource =
  | 'wasm'
  | 'native'
  | 'interpreter'
  | { readonly url: string; readonly name: string };

/** What a thread does: an engine's work, or a member of the pool beside the lead. */
export type Role = EngineName | { readonly helper: number };

/** What a thread is started with. */
export interface ThreadData {
  readonly role: Role;
  readonly port: MessagePort;
  readonly table: CommandTableMemory;
  readonly pool: WorkerPoolMemory;
  readonly device: WebAssembly.Memory;
  readonly staging: WebAssembly.Memory;
  readonly runners: RunnerSource;
  /** The main thread's `clockOffset()`. */
  readonly clockOffset: number;
}
