// Workers that have started and wait for something to do.
//
// A browser starts a worker only while the thread that asked for it returns to its event loop, and a device's thread
// blocks now and then. So all workers of a device start before it is open, and those that were stopped are replaced
// before their engine is given orders again.
//
// Nothing tells when a worker that was ended is gone. So each holds a lock by a name of its own for as long as it lives,
// which is free when it is gone.

import { type WebWorker, web } from './globals.ts';
import { text } from './worker.text.js';

/** Milliseconds within which a worker starts, and within which one that was ended is gone. */
const startLimit = 10_000;
const endLimit = 5_000;

export interface Member {
  readonly worker: WebWorker;
  /** Ends it, whatever it does. Resolves when it is gone. */
  end(): Promise<void>;
}

let made = 0;

export class Crew {
  readonly #size: number;
  #waiting: Member[];
  #isClosed = false;

  private constructor(size: number, waiting: Member[]) {
    this.#size = size;
    this.#waiting = waiting;
  }

  /** Starts so many workers; null where they cannot be. */
  static async start(size: number): Promise<Crew | null> {
    const started = await startAll(size);
    return started === null ? null : new Crew(size, started);
  }

  get size(): number {
    return this.#size;
  }

  /** One that has started. Throws where none is left, as after a replacement that did not start. */
  take(): Member {
    const member = this.#waiting.pop();
    if (member === undefined) throw new Error('no worker has started');
    return member;
  }

  /** Replaces so many that were ended. Where they do not start, the engine that asks for them is lost. */
  async replace(count: number): Promise<void> {
    const started = this.#isClosed ? [] : ((await startAll(count)) ?? []);
    this.#waiting.push(...started);
    if (this.#isClosed) await this.close();
  }

  /** Ends those that wait. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#waiting.splice(0).map((member) => member.end()));
  }
}

/** All of them, or none. */
async function startAll(count: number): Promise<Member[] | null> {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/javascript' }));
  try {
    const settled = await Promise.allSettled(Array.from({ length: count }, () => startOne(url)));
    const members = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    if (members.length === count) return members;
    await Promise.all(members.map((member) => member.end()));
    return null;
  } finally {
    URL.revokeObjectURL(url);
  }
}

async function startOne(url: string): Promise<Member> {
  const lock = `warpstage ${performance.timeOrigin} ${Math.random()} ${++made}`;
  const worker = new web.Worker!(url, { name: 'warpstage' });
  const end = async () => {
    worker.terminate();
    const { locks } = web.navigator ?? {};
    if (locks !== undefined)
      await within(
        endLimit,
        locks.request(lock, () => {}),
      );
  };
  try {
    const started = new Promise<void>((resolve, reject) => {
      worker.onmessage = () => resolve();
      worker.onerror = (event) => reject(new Error(event.message ?? 'the worker did not start'));
      worker.postMessage({ lock });
    });
    if (!(await within(startLimit, started))) throw new Error('the worker did not start in time');
    return { worker, end };
  } catch (error) {
    worker.terminate();
    throw error;
  }
}

/** Whether something has happened within some milliseconds; it is not waited for any longer. */
async function within(milliseconds: number, happens: Promise<unknown>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), milliseconds);
  });
  try {
    return await Promise.race([happens.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
