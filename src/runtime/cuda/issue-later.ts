// Commands behind a host function: prepared when the program issues them, and given to the driver when the function is over
// (deferred-commands.ts). By then nobody is there to whom an error could be thrown: the command fails with it.

import { WarpstageError } from '../../diagnostics/error.ts';
import type { Cancellations } from '../cancellations.ts';
import { type Command, failedOf } from '../command.ts';
import type { Context } from './context.ts';
import type { DeferredCommands } from './deferred-commands.ts';
import type { Guard } from './guard.ts';
import type { GpuWork, Issuer, Prepared } from './issuer.ts';

/** What it needs of the dispatcher. */
export interface IssueLaterHost {
  readonly context: Context;
  readonly guard: Guard;
  readonly issuer: Issuer;
  readonly deferred: DeferredCommands;
  readonly cancellations: Cancellations;
  issue(command: Command, work: GpuWork, prepared: Prepared): void;
  watch(command: Command): void;
}

export class IssueLater {
  readonly #host: IssueLaterHost;

  constructor(host: IssueLaterHost) {
    this.#host = host;
  }

  /** Holds a command back until what it is behind is over. */
  defer(command: Command, work: GpuWork): void {
    const { issuer, deferred, cancellations, guard } = this.#host;
    const prepared = issuer.prepare(work);
    const deaf =
      work.kind === 'launch' && work.signal !== null
        ? cancellations.add(work, work.signal, (failure) => deferred.fail(command, failure))
        : null;
    if (deaf !== null) command.whenSettled(deaf);
    deferred.defer(command, work, (isWatched) => {
      deaf?.();
      this.#issue(command, work, prepared);
      if (isWatched && guard.lost === null) this.#host.watch(command);
    });
  }

  #issue(command: Command, work: GpuWork, prepared: Prepared): void {
    const { context, guard } = this.#host;
    let failure = guard.lost ?? failedOf(command.dependencies)?.failure ?? null;
    if (failure === null && command.status === 'queued') {
      try {
        context.use();
        this.#host.issue(command, work, prepared);
        return;
      } catch (error) {
        const reason = guard.blame(error);
        failure = reason instanceof WarpstageError ? reason : notIssued(reason);
      }
    }
    prepared.staged?.release();
    if (command.status === 'queued') command.settle(failure, command.queued, performance.now());
  }
}

/** The error of a command that could not be issued, for a reason that is no error of this package's. */
function notIssued(reason: unknown): WarpstageError {
  const message = `a command behind a host function could not be issued: ${reason}`;
  return new WarpstageError({ code: 'WS4006', message }, { cause: reason });
}
