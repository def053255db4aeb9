// A connection to the server of a queue, which outlives the server's absences.
//
// Whatever is asked of the server goes through `persist`: an answer counts, also one that says no; no answer is a
// server that is away, and the question is asked again until it has been away for the time that was said. Everything that
// is asked here may be asked twice.

import { setTimeout as sleep } from 'node:timers/promises';
import type * as JetStream from '@nats-io/jetstream';
import type * as Nats from '@nats-io/transport-node';
import { problem } from '../diagnostics/problem.ts';
import type { QueueAddress } from './url.ts';

/** The client's libraries, which are loaded when a queue is asked for. */
export interface Client {
  readonly nats: typeof Nats;
  readonly jetstream: typeof JetStream;
}

async function loadClient(): Promise<Client> {
  try {
    const [nats, jetstream] = await Promise.all([
      import('@nats-io/transport-node'),
      import('@nats-io/jetstream'),
    ]);
    return { nats, jetstream };
  } catch (cause) {
    throw problem(
      'WS6001',
      'a queue needs two packages that are not installed',
      'npm install @nats-io/transport-node@3.3 @nats-io/jetstream@3.3',
      cause,
    );
  }
}

/** How a connection is made. */
export interface ConnectionOptions {
  /** Milliseconds for which the server may be away. */
  readonly patience: number;
  readonly signal: AbortSignal;
}

/** Milliseconds between two tries, and for one. */
const times = { pause: 200, answer: 5000, connect: 2000 } as const;
/** Answers of JetStream that say that it is not ready yet. */
const notReady = [503, 10008, 10118];

/** What to do about a queue that is lost. */
export const again = 'computed pieces are kept: run the same command again, and it computes the others';

/** What is asked about is not there, or no longer. */
export class Gone extends Error {
  constructor(cause: unknown) {
    super('what was asked about is not there', { cause });
    this.name = 'Gone';
  }
}

export class Connection implements AsyncDisposable {
  readonly shown: string;
  readonly client: Client;
  readonly #options: ConnectionOptions;
  #connection!: Nats.NatsConnection;
  #streams!: JetStream.JetStreamManager;
  #jetstream!: JetStream.JetStreamClient;

  private constructor(shown: string, client: Client, options: ConnectionOptions) {
    this.shown = shown;
    this.client = client;
    this.#options = options;
  }

  /**
   * Connects to a server.
   *
   * @throws WarpstageError WS6001 for credentials that it refuses, and a server without JetStream; WS5017 where there is
   * none for the time that was said
   */
  static async open(address: QueueAddress, options: ConnectionOptions): Promise<Connection> {
    const client = await loadClient();
    const connection = new Connection(address.shown, client, options);
    await connection.#open(address);
    return connection;
  }

  async #open({ servers, user, pass, token, tls }: QueueAddress): Promise<void> {
    const { nats, jetstream } = this.client;
    this.#connection = await this.persist(() =>
      nats.connect({
        servers: [...servers],
        ...(user === undefined ? {} : { user }),
        ...(pass === undefined ? {} : { pass }),
        ...(token === undefined ? {} : { token }),
        ...(tls ? { tls: {} } : {}),
        name: 'warpstage',
        timeout: times.connect,
        // Who gives up is `persist`.
        maxReconnectAttempts: -1,
        reconnectTimeWait: times.pause,
        ignoreAuthErrorAbort: true,
        noAsyncTraces: true,
      }),
    );
    try {
      this.#jetstream = jetstream.jetstream(this.#connection, { timeout: times.answer });
      this.#streams = await jetstream.jetstreamManager(this.#connection, {
        timeout: times.answer,
        checkAPI: false,
      });
      await this.persist(() => this.#streams.getAccountInfo());
    } catch (error) {
      await this[Symbol.asyncDispose]();
      throw error;
    }
  }

  get streams(): JetStream.JetStreamManager {
    return this.#streams;
  }

  get jetstream(): JetStream.JetStreamClient {
    return this.#jetstream;
  }

  /** Has each message on a subject told. One may be lost while the server is away. */
  listen(subject: string, onMessage: () => void): Nats.Subscription {
    return this.#connection.subscribe(subject, {
      callback: (error) => {
        if (error === null) onMessage();
      },
    });
  }

  /** Has a stream keep a message. Throws Gone where there is no such stream. */
  async publish(stream: string, subject: string, text: string, msgID?: string): Promise<void> {
    await this.persist(async () => {
      try {
        await this.#jetstream.publish(subject, text, msgID === undefined ? {} : { msgID });
      } catch (error) {
        // That nobody takes it may have this reason, which is an answer.
        await this.#streams.streams.info(stream);
        throw error;
      }
    });
  }

  /**
   * Asks until there is an answer.
   *
   * @throws Gone where what is asked about is not there; WarpstageError WS5017 for what else the server answers, and where it
   * is away for too long
   */
  async persist<T>(ask: () => Promise<T>): Promise<T> {
    const { patience, signal } = this.#options;
    const began = performance.now();
    let absent: number | undefined;
    for (;;) {
      signal.throwIfAborted();
      try {
        return await ask();
      } catch (error) {
        signal.throwIfAborted();
        this.#refuse(error);
        if ((error as Error).name === 'JetStreamNotEnabled') {
          absent ??= performance.now();
          if (performance.now() - absent > times.answer) throw this.#withoutJetStream();
        } else absent = undefined;
        if (performance.now() - began > patience) throw this.#lost(error);
      }
      await sleep(times.pause, undefined, { signal }).catch(() => {});
    }
  }

  /** Throws an answer, if it is one. */
  #refuse(error: unknown): void {
    const { nats, jetstream } = this.client;
    if (error instanceof jetstream.JetStreamApiError) {
      if (notReady.includes(error.code) || error.status === 503) return;
      throw error.status === 404 ? new Gone(error) : this.#answered(error);
    }
    if (error instanceof nats.AuthorizationError || error instanceof nats.UserAuthenticationExpiredError)
      throw problem('WS6001', `${this.shown} refuses the user, password or token`, 'see its configuration');
    if (error instanceof nats.PermissionViolationError)
      throw problem(
        'WS6001',
        `${this.shown} does not let this user ${error.operation} ${error.subject}`,
        'the user of a queue needs warpstage.>, $JS.> and _INBOX.>',
      );
  }

  #withoutJetStream(): Error {
    return problem('WS6001', `${this.shown} has no JetStream`, 'start the server with: nats-server -js');
  }

  #answered(cause: Error): Error {
    return problem(
      'WS5017',
      `the queue at ${this.shown} answers: ${cause.message}`,
      `look at the server's log, and at how much it may store; ${again}`,
      cause,
    );
  }

  #lost(cause: unknown): Error {
    const seconds = Math.round(this.#options.patience / 1000);
    return problem(
      'WS5017',
      `the queue at ${this.shown} has not answered for ${seconds} s`,
      `see whether its server runs; ${again}`,
      cause,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection?.close().catch(() => {});
  }
}
