// What the CPU device needs of the place where it runs: threads and a word on memory in Node; in a browser web workers where
// the page is isolated from others, and else the calling thread. The device itself is the same in all.

import type { CommandTable, CommandTableMemory, EngineName } from './command-table.ts';
import type { Runnable } from './file-pieces.ts';
import type { AddressType } from './linear-memory.ts';
import type { Order, Report, RunnerSource } from './messages.ts';

/** What a device is to have. */
export interface DeviceSize {
  /** Bytes of its memory, and of that for staging. */
  readonly memory: number;
  readonly staging: number;
  /** Threads that run blocks. */
  readonly threads: number;
  /** Of its memories' addresses. */
  readonly addressType: AddressType;
}

export interface EngineEvents {
  report(report: Report): void;
  /** Something was reported, and the main thread has time to look. */
  arrived(): void;
  /** An engine lost a thread; its other threads are still to be stopped. */
  lost(engine: EngineName, reason: string): void;
}

/** The engines, seen from the main thread. */
export interface EngineSet {
  /** Whether an engine is being stopped, and takes no orders. */
  isStopping(engine: EngineName): boolean;
  /** Whether an engine has threads, which may not have started. */
  isWanted(engine: EngineName): boolean;
  /** The number that launches name an executable by. */
  announce(executable: Runnable): number;
  /** Makes an engine ready for its first command. */
  warmUp(engine: EngineName): void;
  /** Gives an engine a command. */
  post(engine: EngineName, order: Extract<Order, { kind: 'command' }>): void;
  /** Somebody has to wait for a kernel, or nobody has. */
  awaitKernels(areAwaited: boolean): void;
  /** Lets go of host memory that was freed. */
  collect(): void;
  /** Hands on all reports that have arrived. */
  drain(): void;
  /** Gives engines that have no threads the time to carry out a command, if one is ready. */
  advance(): void;
  /** Blocks until a command is complete, but not for longer than some milliseconds. */
  wait(ticket: number, timeout: number): void;
  /** Ends what an engine does. Unless that is for good, it may be given orders again when this has resolved. */
  stop(engine: EngineName, forGood: boolean): Promise<void>;
}

/** What engines are made of. */
export interface EngineParts {
  readonly table: CommandTable;
  readonly tableMemory: CommandTableMemory;
  /** The device's memory, and that for staging. Asked for each thread, so that nothing of a closed device is kept. */
  readonly memories: () => { readonly device: WebAssembly.Memory; readonly staging: WebAssembly.Memory };
  readonly runners: RunnerSource;
  readonly threads: number;
  readonly events: EngineEvents;
}

export interface Surroundings {
  /** The processor's name, for people. */
  readonly processor: string;
  /** What is asked for, as far as there is room for it. Throws WS4001 where there is too little. */
  sizeOf(wanted: DeviceSize): DeviceSize;
  createEngines(parts: EngineParts): EngineSet;
  /** An open device has freed a shared array of so many bytes. Whether to collect now, in its threads too. */
  arrayFreed(bytes: number): boolean;
  /** Collects this thread's garbage. */
  collectGarbage(): void;
  /** A closed device has let go of so many bytes. */
  deviceFreed(bytes: number): void;
}
