// Failures of commands: which were thrown, and which are still to be.
//
// A command that is not carried out, because it was cancelled or depends on one that failed, may be settled
// before others that it waited for. It leaves those to whoever waits for it (`Command.left`): a
// synchronisation waits for what a failed command left too, and throws those failures with its own.
// So a failure stays within reach of a stream's frontier until a call throws it; what none has
// thrown when the device is closed, `close` throws.

import { WarpstageError } from '../diagnostics/error.ts';
import { isOfClosing, warnOfCancelled } from './closed.ts';
import type { Command } from './command.ts';
import type { StreamState } from './queue.ts';

const nothing: readonly Command[] = [];

/** These commands, and of those that failed all that they left. */
function withLeft(commands: Iterable<Command>): ReadonlySet<Command> {
  const all = new Set(commands);
  for (const command of all) for (const left of command.left) all.add(left);
  return all;
}

/** What has still to be settled before these commands and all before them are over. */
export function unsettled(commands: readonly Command[]): readonly Command[] {
  if (commands.every(({ status }) => status === 'done')) return nothing;
  return [...withLeft(commands)].filter(({ status }) => status === 'queued');
}

/** Commands without some that failed, for which what they left comes in. */
export function without(commands: readonly Command[], isGone: (command: Command) => boolean): Command[] {
  const kept = new Set(commands);
  for (const command of kept) {
    if (command.status !== 'failed' || !isGone(command)) continue;
    kept.delete(command);
    for (const left of command.left) kept.add(left);
  }
  return [...kept];
}

function failedAmong(commands: Iterable<Command>): Set<Command> {
  return new Set([...withLeft(commands)].filter(({ status }) => status === 'failed'));
}

function failuresOf(commands: Iterable<Command>): readonly WarpstageError[] {
  return [...new Set([...failedAmong(commands)].map(({ failure }) => failure!))];
}

/** One error of all these; null if there are none. */
function oneOf(failures: readonly WarpstageError[]): WarpstageError | null {
  if (failures.length < 2) return failures[0] ?? null;
  return new WarpstageError(
    failures.flatMap(({ issues }) => issues),
    { cause: failures[0] },
  );
}

export class Failures {
  readonly #thrown = new WeakSet<object>();
  /** What calls wait for that will throw its failures. */
  readonly #awaited = new Set<readonly Command[]>();

  wasThrown(failure: WarpstageError): boolean {
    return this.#thrown.has(failure);
  }

  /** Notes that a call has thrown this. */
  noteThrown(error: unknown): void {
    if (error instanceof WarpstageError) this.#thrown.add(error);
  }

  /**
   * Waits by `completion` for commands, and then calls `settled`, which throws their failures: in the same step in which
   * they are no longer awaited, so that a device that is closed meanwhile does not throw them as well.
   */
  async awaiting(
    commands: readonly Command[],
    completion: Promise<void>,
    settled: () => void,
  ): Promise<void> {
    this.#awaited.add(commands);
    try {
      await completion;
      settled();
    } catch (error) {
      this.noteThrown(error);
      throw error;
    } finally {
      this.#awaited.delete(commands);
    }
  }

  /** Throws the failures of these commands, which are settled, after which the streams go on afresh. */
  report(commands: readonly Command[], streams: Iterable<StreamState>): void {
    const failed = failedAmong(commands);
    if (failed.size === 0) return;
    for (const stream of streams)
      stream.frontier = without(stream.frontier, (command) => failed.has(command));
    const failures = failuresOf(failed);
    for (const failure of failures) this.#thrown.add(failure);
    throw oneOf(failures)!;
  }

  /**
   * Throws the failures that no call has thrown or is about to throw, when the device is closed. Of those that its closing
   * made it only warns: who closes a device may mean to cancel its work, or may have forgotten to wait.
   */
  reportLeft(streams: Iterable<StreamState>): void {
    const known = new Set([...this.#awaited].flatMap((commands) => failuresOf(commands)));
    const unreported = failuresOf([...streams].flatMap(({ frontier }) => frontier)).filter(
      (failure) => !this.#thrown.has(failure) && !known.has(failure),
    );
    const left = unreported.filter((failure) => !isOfClosing(failure));
    if (left.length < unreported.length) warnOfCancelled();
    for (const failure of left) this.#thrown.add(failure);
    const error = oneOf(left);
    if (error !== null) throw error;
  }
}
