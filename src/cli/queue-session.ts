// What a run over a queue has open: the connection, the server of its own if there is one, and its own workers. They are there
// from the first pass that has pieces to deal to the end of the last; a run whose pieces are all there starts nothing.

import type { Writable } from 'node:stream';
import { problem } from '../diagnostics/problem.ts';
import { Connection } from '../queue/connection.ts';
import { OwnWorkers } from '../queue/own-workers.ts';
import { OwnServer } from '../queue/server.ts';
import { type QueueAddress, queueAddress } from '../queue/url.ts';
import { exitCodesToRetry } from './exit-codes.ts';
import { urlVariable } from './queue-options.ts';

/** What the command line says of them. */
export interface SessionOptions {
  /** Undefined: a server of the command's own. */
  readonly address: QueueAddress | undefined;
  readonly queue?: string | true;
  /** Processes of the command's own. */
  readonly workers?: number;
  readonly device: string;
  readonly threads?: number;
  /** Seconds. */
  readonly patience: number;
  /** URLs that they may read. */
  readonly urls: readonly string[];
}

/** Processes beside a server of the command's own. */
const usualWorkers = 2;

export class QueueSession implements AsyncDisposable {
  readonly #options: SessionOptions;
  readonly #stop: AbortController;
  readonly #errors: Writable;
  #server: OwnServer | undefined;
  #connection: Connection | undefined;
  #workers: OwnWorkers | undefined;

  constructor(options: SessionOptions, stop: AbortController, errors: Writable) {
    this.#options = options;
    this.#stop = stop;
    this.#errors = errors;
  }

  /** The connection to the queue, with workers at work if there are to be any. */
  async open(): Promise<Connection> {
    if (this.#connection !== undefined) return this.#connection;
    const { address, patience } = this.#options;
    if (address === undefined) this.#server = await OwnServer.start();
    const { signal } = this.#stop;
    this.#connection = await Connection.open(address ?? queueAddress(this.#server!.url), {
      patience: 1000 * patience,
      signal,
    });
    this.#startWorkers();
    return this.#connection;
  }

  /** How many workers there can be: nobody else can come to a server of the command's own. */
  get most(): number | undefined {
    return this.#server === undefined ? undefined : (this.#options.workers ?? usualWorkers);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#workers?.[Symbol.asyncDispose]();
    await this.#connection?.[Symbol.asyncDispose]();
    await this.#server?.[Symbol.asyncDispose]();
  }

  #startWorkers(): void {
    const { workers, device, threads, patience, queue, urls } = this.#options;
    const server = this.#server;
    const count = workers ?? (server === undefined ? 0 : usualWorkers);
    if (count === 0) return;
    const url = server?.url ?? (typeof queue === 'string' ? queue : process.env[urlVariable]!);
    this.#workers = new OwnWorkers({
      ...{ count, environment: { [urlVariable]: url }, device, threads, patience, urls },
      mayPass: (code) => code === 0 || (exitCodesToRetry as readonly number[]).includes(code),
      say: (text) => this.#errors.write(text),
      onGone: () => {
        if (server === undefined) return;
        const message = 'all workers have failed: see above why';
        this.#stop.abort(
          problem(
            'WS5018',
            message,
            'pieces that are computed are kept: mend it, and run the same command again',
          ),
        );
      },
    });
  }
}
