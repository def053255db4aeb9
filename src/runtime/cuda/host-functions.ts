// Host functions in streams of a GPU: each is called when the commands before it are settled, so that what
// they copied is in its place, and is over when it has returned and a promise that it gave is resolved. So are waits for
// devices of which the driver knows nothing.

import type { WarpstageError } from '../../diagnostics/error.ts';
import type { Command } from '../command.ts';
import { failureOfWait, HostWaits, type WaitWork } from '../foreign-wait.ts';
import { callHost, type HostWork } from '../host-call.ts';
import { KeepAlive } from '../keep-alive.ts';
import type { DeferredCommands } from './deferred-commands.ts';

interface HostFunctionsHost {
  readonly deferred: DeferredCommands;
  /** Sees to it that a command of the GPU is settled as soon as it is complete. */
  watch(command: Command): void;
  /** Called when a function that was called is over, and before what is behind it goes on. */
  finished(command: Command, work: HostWork): void;
}

export class HostFunctions {
  readonly #host: HostFunctionsHost;
  /** A function is called whether or not somebody waits for it. */
  readonly #keepAlive = new KeepAlive();
  /** The commands whose functions have not returned. */
  readonly #called = new Set<Command>();
  readonly #waits = new HostWaits();

  constructor(host: HostFunctionsHost) {
    this.#host = host;
  }

  /** The commands whose functions were called and have not returned. */
  get called(): ReadonlySet<Command> {
    return this.#called;
  }

  /** Takes a function that comes next in its stream. */
  add(command: Command, work: HostWork): void {
    this.#keepAlive.add();
    command.whenSettled(() => this.#keepAlive.remove());
    try {
      this.#host.deferred.defer(command, work, () => this.#callBehind(command, work));
    } catch (error) {
      this.#host.deferred.over(command);
      throw error;
    }
  }

  /** Takes a wait for another device that comes next in its stream. */
  addWait(command: Command, work: WaitWork): void {
    this.#keepAlive.add();
    command.whenSettled(() => this.#keepAlive.remove());
    const over = () => {
      const now = performance.now();
      if (command.status === 'queued') command.settle(failureOfWait(command, work), now, now);
      this.#host.deferred.over(command);
    };
    this.#host.deferred.defer(command, work, () => {
      this.#waits.add(command, work, (one) => this.#host.watch(one), over);
    });
  }

  /** Asks the devices that are waited for. */
  ask(): void {
    this.#waits.ask();
  }

  /** Calls it when what the GPU has still to do before it is done, and the caller of this has returned. */
  #callBehind(command: Command, work: HostWork): void {
    const before = command.dependencies.filter(({ status }) => status === 'queued');
    const call = () => queueMicrotask(() => void this.#call(command, work));
    let left = before.length;
    if (left === 0) call();
    for (const one of before) {
      one.whenSettled(() => {
        if (--left === 0) call();
      });
      this.#host.watch(one);
    }
  }

  async #call(command: Command, work: HostWork): Promise<void> {
    const { failure } = command.dependencies.find(({ status }) => status === 'failed') ?? { failure: null };
    const started = performance.now();
    const isCalled = command.status === 'queued' && failure === null;
    const called = isCalled ? callHost(work) : failure;
    let own: WarpstageError | null;
    if (called instanceof Promise) {
      this.#called.add(command);
      own = await called;
      this.#called.delete(command);
    } else own = called;
    // It may have failed meanwhile with what it depends on, or because the device is no more.
    const isOver = command.status === 'queued';
    if (isOver) command.settle(own, started, performance.now());
    try {
      if (isOver && isCalled) this.#host.finished(command, work);
    } finally {
      this.#host.deferred.over(command);
    }
  }
}
