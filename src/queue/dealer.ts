// The run that deals: puts the pieces that are missing on the queue, and listens until each is there or has failed for good.
//
// What counts is the pieces' files, which workers commit before they say so: the queue may be lost, and is made anew from
// the files by the next run. While it lasts nobody else deals the same outputs: who begins takes the queue away from who was
// there before, and that one ends.

import { problem } from '../diagnostics/problem.ts';
import { again, type Connection, Gone } from './connection.ts';
import { consumer, type Deal, dealsOf, namesOfStream, type QueueNames } from './deal.ts';
import { NewsReader } from './news.ts';
import { Pause } from './pause.ts';

/** What is to be dealt. */
export interface DealRequest {
  readonly deal: Deal;
  readonly names: QueueNames;
  /** The pieces that are missing. */
  readonly pieces: readonly number[];
  readonly connection: Connection;
  readonly signal: AbortSignal;
  /** How many workers there can be. Default: any number, so that another one may take what these refuse. */
  readonly most?: number;
  /** Called for each piece that is there. */
  readonly onPiece: (done: number, workers: number) => void;
  /** Called where a worker refuses, or a piece has to be tried again. */
  readonly onTrouble: (line: string) => void;
}

/** A piece that is not there in the end. */
export interface FailedPiece {
  readonly piece: number;
  readonly code: string | undefined;
  readonly message: string;
}

/** What became of the pieces. */
export interface Dealt {
  /** How many pieces each worker has computed. */
  readonly workers: ReadonlyMap<string, number>;
  /** Tries that failed, and were followed by others. */
  readonly retries: number;
  /** Pieces that were computed a second time, with the same result. */
  readonly repeated: number;
  readonly failed: readonly FailedPiece[];
}

/** Milliseconds between two looks at the news. */
const pauses = { least: 5, most: 100 } as const;
/** Messages that are on their way to the server at a time. */
const atOnce = 64;

/** Deals the pieces, and waits for them. Throws WS5017 where the queue is lost. */
export async function deal(request: DealRequest): Promise<Dealt> {
  const table = new Table(request);
  try {
    await table.lay();
    return await table.watch();
  } catch (error) {
    throw error instanceof Gone ? lost(request.connection, error) : error;
  } finally {
    await table.clear();
  }
}

function lost(connection: Connection, cause: Gone): Error {
  return problem(
    'WS5017',
    `the queue at ${connection.shown} is gone: it was removed, or another run deals the same outputs`,
    again,
    cause,
  );
}

class Table {
  readonly #request: DealRequest;
  readonly #open: Set<number>;
  readonly #workers = new Map<string, number>();
  readonly #failed = new Map<number, FailedPiece>();
  readonly #last = new Map<number, FailedPiece>();
  readonly #refused = new Map<string, string>();
  #retries = 0;
  #repeated = 0;

  constructor(request: DealRequest) {
    this.#request = request;
    this.#open = new Set(request.pieces);
  }

  /** Makes the streams, with the deal and the pieces. */
  async lay(): Promise<void> {
    const { connection, names, deal: dealt, pieces } = this.#request;
    const { streams, client } = connection;
    const { AckPolicy, RetentionPolicy, StorageType } = client.jetstream;
    const stored = { storage: StorageType.File, num_replicas: 1 };
    const news = { name: names.news, subjects: [names.deal, names.said, names.exhausted], ...stored };
    const work = {
      ...{ name: names.pieces, subjects: [names.piece('*')], retention: RetentionPolicy.Workqueue },
      ...stored,
    };
    for (const stream of [news, work]) await connection.persist(() => streams.streams.add(stream));
    await connection.persist(() =>
      streams.consumers.add(names.pieces, {
        ...{ durable_name: consumer, ack_policy: AckPolicy.Explicit },
        ack_wait: dealt.ackWait * 1e6,
        max_deliver: dealt.tries,
        // As many as there are workers, of which there may be any number.
        max_ack_pending: 100_000,
      }),
    );
    await this.#takeOver();
    await connection.publish(names.news, names.deal, JSON.stringify(dealt), 'deal');
    for (let i = 0; i < pieces.length; i += atOnce) {
      const part = pieces.slice(i, i + atOnce);
      await Promise.all(part.map((n) => connection.publish(names.pieces, names.piece(n), dealt.run, `${n}`)));
    }
  }

  /** Listens until no piece is open. */
  async watch(): Promise<Dealt> {
    const { connection, names, signal } = this.#request;
    const reader = new NewsReader(connection, names);
    using pause = new Pause(connection, names.said, pauses);
    while (this.#open.size > 0) {
      const news = await reader.next();
      if (news === null) await pause.wait(signal);
      else if (news !== undefined) this.#hear(news);
    }
    return {
      workers: this.#workers,
      retries: this.#retries,
      repeated: this.#repeated,
      failed: [...this.#failed.values()].sort((a, b) => a.piece - b.piece),
    };
  }

  #hear(news: NonNullable<Awaited<ReturnType<NewsReader['next']>>>): void {
    const { onPiece, onTrouble, most = Infinity } = this.#request;
    if (news.kind === 'refused') {
      const { worker, message } = news;
      const line = `a worker (${worker}) refuses the work: ${message}`;
      if (this.#refused.get(worker) !== message) onTrouble(line);
      this.#refused.set(worker, message);
      if (this.#refused.size >= most)
        throw problem('WS5019', `all workers refuse the work: ${message}`, 'mend that, and run it again');
      return;
    }
    const { piece } = news;
    if (news.kind === 'done') {
      if (news.again) this.#repeated++;
      this.#failed.delete(piece);
      this.#open.delete(piece);
      this.#workers.set(news.worker, (this.#workers.get(news.worker) ?? 0) + 1);
      onPiece(this.#request.pieces.length - this.#open.size, this.#workers.size);
      return;
    }
    if (news.kind === 'failed') {
      const { code, message, worker, final } = news;
      this.#last.set(piece, { piece, code, message });
      if (!final) {
        this.#retries++;
        onTrouble(`piece ${piece} is tried again, after ${code} of ${worker}: ${message}`);
        return;
      }
    }
    this.#giveUp(piece);
  }

  #giveUp(piece: number): void {
    if (!this.#open.delete(piece)) return;
    const message = `each of its ${this.#request.deal.tries} workers went away without a word`;
    this.#failed.set(piece, this.#last.get(piece) ?? { piece, code: undefined, message });
  }

  /** Takes the queue away: workers find no more pieces. */
  async clear(): Promise<void> {
    const { names, connection } = this.#request;
    const { streams } = connection.streams;
    for (const name of [names.pieces, names.news]) await streams.delete(name).catch(() => {});
  }

  /**
   * Takes away the queues of runs of the same outputs that began before this one.
   *
   * @throws Gone where one began later: of two that begin at the same time, both of which see this, one goes on
   */
  async #takeOver(): Promise<void> {
    const { names, connection } = this.#request;
    const { streams } = connection.streams;
    const runs = await connection.persist(async () => {
      const found: { readonly names: QueueNames; readonly created: string }[] = [];
      for await (const { config, created } of streams.list(dealsOf(names))) {
        const ofRun = namesOfStream(config.name);
        if (ofRun !== undefined) found.push({ names: ofRun, created });
      }
      return found;
    });
    const own = runs.find((run) => run.names.news === names.news);
    if (own === undefined || runs.some(({ created }) => isLater(created, own.created)))
      throw new Gone('another run began');
    for (const { pieces, news } of runs.filter((run) => run !== own).map((run) => run.names)) {
      for (const stream of [pieces, news]) {
        await connection
          .persist(() => streams.delete(stream))
          .catch((error: unknown) => {
            // It has ended.
            if (!(error instanceof Gone)) throw error;
          });
      }
    }
  }
}

/** Whether a time of the server, which has up to nine digits of a second, is later than another one. */
function isLater(one: string, other: string): boolean {
  const [a, b] = [Date.parse(one), Date.parse(other)];
  const digits = (time: string) => (/\.(\d+)/.exec(time)?.[1] ?? '').padEnd(9, '0');
  return a === b ? digits(one) > digits(other) : a > b;
}
