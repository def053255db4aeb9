// The news of a run, read one after the other: what its workers say, and the server's own notes. They lie on the server
// until the run is over, so that none is lost while nobody reads.

import type { Connection } from './connection.ts';
import { exhaustedPlace, type News, parseNews, pieceOfSubject, type QueueNames } from './deal.ts';

/** A piece that was delivered as often as it may be, and never acknowledged. */
interface Exhausted {
  readonly kind: 'exhausted';
  readonly piece: number;
}

export class NewsReader {
  readonly #connection: Connection;
  readonly #names: QueueNames;
  #next = 1;

  constructor(connection: Connection, names: QueueNames) {
    this.#connection = connection;
    this.#names = names;
  }

  /** The next that there is; null where there is none yet, undefined for what says nothing. */
  async next(): Promise<News | Exhausted | null | undefined> {
    const { streams } = this.#connection;
    const message = await this.#connection.persist(() =>
      streams.streams.getMessage(this.#names.news, { seq: this.#next }),
    );
    if (message === null) return null;
    this.#next++;
    if (message.subject === this.#names.said) return parseNews(message.string());
    const place = message.subject === this.#names.exhausted ? exhaustedPlace(message.string()) : undefined;
    if (place === undefined) return undefined;
    // It is still there unless it was acknowledged after all.
    const left = await this.#connection.persist(() =>
      streams.streams.getMessage(this.#names.pieces, { seq: place }),
    );
    const piece = left === null ? undefined : pieceOfSubject(left.subject);
    return piece === undefined ? undefined : { kind: 'exhausted', piece };
  }
}
