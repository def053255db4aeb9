// Waits of the main thread for what the driver was given, where it cannot go on otherwise: memory is short, or is about to be
// read and has still to be filled. What is deferred behind a host function is never waited for: that function runs on
// this thread.

import type { Command } from '../command.ts';
import { sourceBehindFunction } from '../host-call.ts';
import type { DeferredCommands } from './deferred-commands.ts';
import type { DriverStreams } from './driver-streams.ts';
import { fills } from './staging.ts';

export class Blocking {
  readonly #streams: DriverStreams;
  readonly #deferred: DeferredCommands;
  readonly #settle: (result: number) => void;

  /** `settle` takes what a wait has given, and settles all that is complete. */
  constructor(streams: DriverStreams, deferred: DeferredCommands, settle: (result: number) => void) {
    this.#streams = streams;
    this.#deferred = deferred;
    this.#settle = settle;
  }

  /** Blocks until nothing in flight has still to fill a part of this pageable memory. */
  settleFillings(memory: ArrayBufferLike): void {
    if (this.#deferred.commands.some(({ work }) => fills(work, memory))) throw sourceBehindFunction();
    for (const { pending } of this.#streams.values()) {
      const last = pending.findLast(({ work }) => fills(work, memory));
      if (last !== undefined) this.#finish(last.command);
    }
  }

  /** Blocks until the oldest staged copy in flight is settled; false if there is none. Those deferred keep what they have. */
  settleOldestCopy(): boolean {
    const [oldest] = [...this.#streams.values()]
      .flatMap(
        (stream) => stream.pending.find(({ land, work }) => land !== null && work.kind === 'copy') ?? [],
      )
      .sort((a, b) => a.command.id - b.command.id);
    if (oldest !== undefined) this.#finish(oldest.command);
    return oldest !== undefined && oldest.command.status !== 'queued';
  }

  /** Blocks until all in flight is settled; false if there is nothing. */
  drain(): boolean {
    const busy = [...this.#streams.values()].filter(({ pending }) => pending.length > 0);
    if (busy.length === 0) return false;
    let result = 0;
    for (const stream of busy) {
      result = stream.block(stream.pending.at(-1)!.command);
      if (result !== 0) break;
    }
    this.#settle(result);
    return true;
  }

  #finish(command: Command): void {
    this.#settle(this.#streams.ofCommand(command).block(command));
  }
}
