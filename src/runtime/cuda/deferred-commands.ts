// What the driver is not given yet: commands behind a host function that has not returned, or behind a wait for another
// device that only the host can notice the end of.
//
// Many calls of the driver may wait for all that its context was given: to load a kernel, to lock memory, to make
// a graph. They are made on the thread that calls host functions; so a function must never be among what
// they wait for. It is in no stream of the driver, then, but here, and with it all that comes behind it: in
// its stream, or by dependencies through whichever streams. What the driver has been given always ends by itself.
//
// Each entry waits for entries before it: those that it depends on, and the last one of its stream, which keeps a
// stream's order even where a command between them has failed. When a function is over, what waited for
// it has its turn, in the order in which it was issued.

import type { WarpstageError } from '../../diagnostics/error.ts';
import type { Command, Work } from '../command.ts';
import type { CopyWork } from '../copies.ts';

interface Entry {
  readonly order: number;
  readonly stream: string;
  /** Null for a point of a stream, of which nothing but its place matters. */
  readonly command: Command | null;
  readonly work: Work | null;
  /** Called when nothing that is deferred comes before it; with whether somebody waits for it. */
  readonly turn: (isWatched: boolean) => void;
  /** How many entries it waits for. */
  waitsFor: number;
  /** The entries that wait for it; none any more when it has left. */
  behind: Entry[];
  isWatched: boolean;
}

/** A command that is deferred, and what it is to do. */
export interface DeferredCommand {
  readonly command: Command;
  readonly work: Work;
}

export class DeferredCommands {
  readonly #entries = new Map<Command, Entry>();
  /** The last entry of each stream that has some. */
  readonly #last = new Map<string, Entry>();
  #issued = 0;

  /** Whether what is issued to a stream now must be deferred; `before` is what it depends on. */
  defers(stream: string, before: readonly Command[]): boolean {
    return this.#last.size > 0 && (this.#last.has(stream) || before.some((one) => this.#entries.has(one)));
  }

  has(command: Command): boolean {
    return this.#entries.has(command);
  }

  /** The commands that are deferred and have not failed, in the order of issue. */
  get commands(): readonly DeferredCommand[] {
    const deferred: DeferredCommand[] = [];
    for (const [command, { work }] of this.#entries) {
      if (command.status === 'queued') deferred.push({ command, work: work! });
    }
    return deferred;
  }

  /** The last of these in a stream. */
  lastOf(stream: string): Command | undefined {
    if (!this.#last.has(stream)) return undefined;
    return this.commands.findLast(({ command }) => command.stream === stream)?.command;
  }

  /** Notes that somebody waits for a command, if it is deferred; whether it is. */
  watch(command: Command): boolean {
    const entry = this.#entries.get(command);
    if (entry !== undefined) entry.isWatched = true;
    return entry !== undefined;
  }

  /** Defers a command; a function, or a wait, is deferred until it is over, anything else until its turn. */
  defer(command: Command, work: Work, turn: Entry['turn']): void {
    const entry = this.#add({ command, work, stream: command.stream, turn }, command.dependencies);
    this.#entries.set(command, entry);
    if (entry.waitsFor === 0) turn(false);
  }

  /** Defers what belongs to the point of a stream behind some commands. */
  deferPoint(stream: string, before: readonly Command[], turn: () => void): void {
    this.#add({ command: null, work: null, stream, turn }, before);
  }

  #add(given: Pick<Entry, 'command' | 'work' | 'stream' | 'turn'>, before: readonly Command[]): Entry {
    const deferred: Entry[] = [];
    const last = this.#last.get(given.stream);
    if (last !== undefined) deferred.push(last);
    for (const one of before) {
      const entry = this.#entries.get(one);
      if (entry !== undefined && !deferred.includes(entry)) deferred.push(entry);
    }
    const entry = {
      ...given,
      order: ++this.#issued,
      waitsFor: deferred.length,
      behind: [],
      isWatched: false,
    };
    for (const one of deferred) one.behind.push(entry);
    this.#last.set(given.stream, entry);
    return entry;
  }

  #remove(entry: Entry): void {
    if (entry.command !== null) this.#entries.delete(entry.command);
    if (this.#last.get(entry.stream) === entry) this.#last.delete(entry.stream);
  }

  /** A function is over, and its command settled: what waited for it goes on. */
  over(command: Command): void {
    const entry = this.#entries.get(command);
    if (entry === undefined) return;
    this.#remove(entry);
    // All whose turn it is now, before any of it is done: others have their turn only after these.
    const ready: Entry[] = [];
    const left = [entry];
    for (const one of left) {
      for (const next of one.behind) {
        if (--next.waitsFor > 0) continue;
        ready.push(next);
        if (!isOfHost(next.work)) left.push(next);
      }
      one.behind = [];
    }
    ready.sort((a, b) => a.order - b.order);
    for (const next of ready) {
      if (!isOfHost(next.work)) this.#remove(next);
      next.turn(next.isWatched);
    }
  }

  /** Fails a command that is deferred, and those that depend on it. Their places in their streams stay. */
  fail(command: Command, failure: WarpstageError): void {
    const entry = this.#entries.get(command);
    const failing = entry === undefined ? [] : [entry];
    for (const { command: failed, behind } of failing) {
      if (failed?.status !== 'queued') continue;
      const dependent = behind.filter((next) => next.command?.dependencies.includes(failed));
      failed.settle(failure, failed.queued, performance.now());
      failing.push(...dependent);
    }
  }

  /** Fails the copies among what is deferred, and in its graphs, of which this is true. */
  failCopies(which: (work: CopyWork) => boolean, failure: WarpstageError): void {
    for (const { command, work } of this.commands) {
      const parts: readonly Work[] = work.kind === 'graph' ? work.nodes.map((node) => node.work) : [work];
      if (parts.some((part) => part.kind === 'copy' && which(part))) this.fail(command, failure);
    }
  }

  /** Fails all that is deferred, and has none of it done. What is behind a function that is left out fails all the same. */
  abandon(failure: WarpstageError, leftOut: ReadonlySet<Command> = new Set()): void {
    const deferred = [...this.#entries.keys()].filter((command) => !leftOut.has(command));
    for (const entry of this.#entries.values()) entry.behind = [];
    for (const command of deferred) this.#entries.delete(command);
    this.#last.clear();
    for (const command of deferred) {
      if (command.status === 'queued') command.settle(failure, command.queued, performance.now());
    }
  }
}

/** Whether it is the host that ends it, after its turn: a function, or a wait for another device. */
function isOfHost(work: Work | null): boolean {
  return work?.kind === 'host' || work?.kind === 'wait';
}
