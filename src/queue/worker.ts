// A worker: takes pieces from the queues of a server, one at a time, and computes them.
//
// A piece is acknowledged when its files are committed and the run was told: a worker that dies before leaves it to
// another one. While it computes, it says again and again that it lives. It looks at a run before it takes a piece of it,
// and leaves alone what it may not or cannot run.

import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Consumer, JsMsg } from '@nats-io/jetstream';
import { WarpstageError } from '../diagnostics/error.ts';
import { piecePath } from '../overlap/shards/piece-files.ts';
import { type Connection, Gone } from './connection.ts';
import {
  allDeals,
  allPieces,
  consumer,
  type Deal,
  type News,
  namesOfStream,
  parseDeal,
  pieceOfSubject,
  type QueueNames,
  workInWords,
} from './deal.ts';
import { Pause } from './pause.ts';

/** Computes the n-th piece of a deal. Throws why it cannot. */
export type Compute = (piece: number, signal: AbortSignal) => Promise<void>;

export interface WorkerOptions {
  /** What it is called. */
  readonly name: string;
  readonly connection: Connection;
  /** Looks at a deal, and prepares for its pieces. Throws why this worker does not take part. */
  readonly prepare: (deal: Deal) => Promise<Compute>;
  /** Whether an error may pass elsewhere, or later. */
  readonly mayPass: (error: WarpstageError) => boolean;
  /** Milliseconds without work after which it ends; undefined: never. */
  readonly idle: number | undefined;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

/** A run that this worker has looked at; without `compute` it is one that it leaves alone. */
interface Known {
  readonly deal: Deal;
  readonly names: QueueNames;
  readonly compute?: Compute;
  readonly pieces?: Consumer;
}

/** Milliseconds to wait for a piece, and for the server to say that there is none; one that failed is left alone so long at first and at most. */
const times = { piece: 1000, answer: 6000, again: 1000, longest: 30_000 } as const;
/** Milliseconds between two looks for runs. */
const pauses = { least: 20, most: 500 } as const;

/** Works until it is told to stop, or has been without work for so long. Returns how many pieces it has computed. */
export async function work(options: WorkerOptions): Promise<number> {
  return await new Worker(options).work();
}

/** What the server answers; undefined where what was asked about is gone. */
async function unlessGone<T>(asked: Promise<T>): Promise<T | undefined> {
  return await asked.catch((error: unknown) => {
    if (error instanceof Gone) return undefined;
    throw error;
  });
}

class Worker {
  readonly #options: WorkerOptions;
  readonly #known = new Map<string, Known>();
  #pieces = 0;

  constructor(options: WorkerOptions) {
    this.#options = options;
  }

  async work(): Promise<number> {
    const { connection, signal, idle = Infinity } = this.#options;
    using pause = new Pause(connection, allDeals, pauses);
    let last = performance.now();
    while (!signal.aborted && performance.now() - last < idle) {
      let asked = false;
      for (const stream of await this.#runs()) {
        const isNew = !this.#known.has(stream);
        const run = await this.#look(stream);
        if (run?.pieces === undefined) continue;
        if (isNew) last = performance.now();
        asked = true;
        if (await this.#take(run, pause)) last = performance.now();
      }
      if (!asked) await pause.wait(signal);
    }
    return this.#pieces;
  }

  /** The streams of the pieces of the runs that there are. */
  async #runs(): Promise<string[]> {
    const { connection } = this.#options;
    const streams = await connection.persist(async () => {
      const found: string[] = [];
      for await (const name of connection.streams.streams.names(allPieces)) found.push(name);
      return found;
    });
    for (const stream of this.#known.keys()) if (!streams.includes(stream)) this.#known.delete(stream);
    return streams;
  }

  /** Looks at a run, once; undefined where there is none, or it is not dealt yet. */
  async #look(stream: string): Promise<Known | undefined> {
    const known = this.#known.get(stream);
    if (known !== undefined) return known;
    const names = namesOfStream(stream);
    const deal = names === undefined ? undefined : await this.#dealOf(names);
    if (deal === undefined) return undefined;
    const found = await this.#prepare(deal, names!);
    this.#known.set(stream, found);
    return found;
  }

  async #dealOf(names: QueueNames): Promise<Deal | undefined> {
    const { connection } = this.#options;
    const { streams } = connection.streams;
    const message = await unlessGone(
      connection.persist(() => streams.getMessage(names.news, { last_by_subj: names.deal })),
    );
    return message ? parseDeal(message.string()) : undefined;
  }

  async #prepare(deal: Deal, names: QueueNames): Promise<Known> {
    const { connection, prepare, say, name } = this.#options;
    try {
      const compute = await prepare(deal);
      const pieces = await unlessGone(
        connection.persist(() => connection.jetstream.consumers.get(names.pieces, consumer)),
      );
      return pieces === undefined ? { deal, names } : { deal, names, compute, pieces };
    } catch (error) {
      if (!(error instanceof WarpstageError) || this.#options.signal.aborted) throw error;
      const { message, hint } = error.issues[0]!;
      say(`${deal.module}: refused. ${message}${hint === undefined ? '' : `\n  hint: ${hint}`}`);
      await this.#tell(names, { kind: 'refused', worker: name, message });
      return { deal, names };
    }
  }

  async #tell(names: QueueNames, news: News): Promise<void> {
    const { connection } = this.#options;
    await unlessGone(connection.publish(names.news, names.said, JSON.stringify(news)));
  }

  /** Computes a piece, if there is one. */
  async #take(run: Known, pause: Pause): Promise<boolean> {
    let message: JsMsg | null;
    try {
      message = await this.#next(run.pieces!);
    } catch {
      // The run is over, or the server is away: which of them shows the next look.
      await pause.wait(this.#options.signal);
      return false;
    }
    if (message === null) return false;
    const piece = pieceOfSubject(message.subject);
    if (this.#options.signal.aborted || piece === undefined) message.nak();
    else await this.#compute(run, piece, message);
    return true;
  }

  /** The next piece; null where there is none, or the server says nothing: the client would ask until it does. */
  async #next(pieces: Consumer): Promise<JsMsg | null> {
    const answered = new AbortController();
    const ended = AbortSignal.any([this.#options.signal, answered.signal]);
    const asked = pieces.next({ expires: times.piece });
    try {
      const message = await Promise.race([
        asked,
        sleep(times.answer, null, { signal: ended }).catch(() => null),
      ]);
      // One that comes too late is another's.
      if (message === null) asked.then((late) => late?.nak()).catch(() => {});
      return message;
    } finally {
      answered.abort();
    }
  }

  async #compute(run: Known, piece: number, message: JsMsg): Promise<void> {
    const { signal, name: worker, say } = this.#options;
    const { deal, names } = run;
    const again = deal.places.every((place) => existsSync(piecePath(place, [piece, deal.of])));
    const alive = setInterval(() => message.working(), deal.ackWait / 3);
    try {
      await run.compute!(piece, signal);
      this.#pieces++;
      await this.#tell(names, { kind: 'done', piece, worker, again });
      // Unheard, it is delivered once more, and found to be there.
      await message.ackAck().catch(() => {});
    } catch (error) {
      if (signal.aborted) message.nak();
      if (signal.aborted || !(error instanceof WarpstageError)) throw error;
      say(`piece ${piece} of ${workInWords(deal)}: ${error.message}`);
      await this.#fail(run, piece, message, error);
    } finally {
      clearInterval(alive);
    }
  }

  /** Leaves a piece to others, or to nobody where it would fail again. */
  async #fail({ deal, names }: Known, piece: number, message: JsMsg, error: WarpstageError): Promise<void> {
    const { name: worker, mayPass } = this.#options;
    const tries = message.info.deliveryCount;
    const final = tries >= deal.tries || !mayPass(error);
    const { code, message: text } = error.issues[0]!;
    await this.#tell(names, { kind: 'failed', piece, worker, code, message: text, final });
    if (final) message.term(code);
    else message.nak(Math.min(times.longest, times.again * 2 ** (tries - 1)));
  }
}
