// The bytes of an object of S3, read by ranges of one version.
//
// The first answer says which version that is (its ETag) and how long; every later request asks for that one, and its answer
// must say so, for stores that do not look at what is asked.

import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { WarpstageError } from '../diagnostics/error.ts';
import { problem } from '../diagnostics/problem.ts';
import type { OpenBytes } from './bytes.ts';
import { leastBytes, type Ranged, RangedBytes } from './ranged-bytes.ts';
import { type Answered, refusalOf, refusedObject, S3Object } from './s3-client.ts';
import { changedUrl, type UrlVersion, type UrlVersions } from './url-versions.ts';

/** Milliseconds before another try, where an answer breaks off. The client itself tries again until there is one. */
const pauses = [100, 1000];

/** Opens an object. `opened` receives what ends it, before anything is asked. `versions`: those that the run has met. */
export async function openObject(
  url: string,
  opened: (one: { close(): Promise<void> }) => void,
  versions?: UrlVersions,
): Promise<OpenBytes> {
  const stop = new AbortController();
  opened({ close: async () => stop.abort() });
  const ranges = new ObjectRanges(await S3Object.named(url), stop);
  const bytes = await ranges.open();
  versions?.found(url, { version: ranges.version, bytes: ranges.total });
  return new RangedBytes(ranges, { begin: 0, bytes });
}

/** The ranges of one version of an object. */
export class ObjectRanges implements Ranged {
  readonly name: string;
  readonly #object: S3Object;
  readonly #stop: AbortController;
  #found: UrlVersion | undefined;

  /** `known`: the version, where that was found already. Default: the first answer says it. */
  constructor(object: S3Object, stop: AbortController, known?: UrlVersion) {
    this.name = object.name;
    this.#object = object;
    this.#stop = stop;
    this.#found = known;
    // Every request that is under way listens.
    setMaxListeners(0, stop.signal);
  }

  get version(): string {
    return this.#found!.version;
  }

  get total(): number {
    return this.#found!.bytes;
  }

  /** The first bytes, with which the version is known. */
  open(): Promise<Uint8Array> {
    return this.#whileItPasses(async () => {
      try {
        return await this.#get(0, leastBytes);
      } catch (cause) {
        // One without bytes has no ranges.
        if (refusalOf(cause).status !== 416) throw cause;
      }
      const { ContentLength: bytes, ETag: version } = (await this.#object.head(this.#stop.signal)) ?? {};
      if (bytes !== 0 || version === undefined) throw this.#odd('it has no bytes, and yet some');
      this.#found = { version, bytes };
      return new Uint8Array();
    });
  }

  range(begin: number, end: number): Promise<Uint8Array> {
    return this.#whileItPasses(() => this.#get(begin, end));
  }

  close(): void {
    this.#stop.abort();
  }

  async #get(begin: number, end: number): Promise<Uint8Array> {
    const known = this.#found;
    const answer = await this.#object.send<Answered>(
      'GetObjectCommand',
      { Range: `bytes=${begin}-${end - 1}`, ...(known && { IfMatch: known.version }) },
      this.#stop.signal,
    );
    const range = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(answer.ContentRange ?? '');
    const [from, last, bytes] = (range ?? []).slice(1).map(Number);
    const version = answer.ETag;
    const wrong =
      known !== undefined && (version !== known.version || bytes !== known.bytes)
        ? changedUrl(this.name, known)
        : version === undefined
          ? this.#odd('the store says no version (ETag)')
          : range === null || from !== begin || last !== Math.min(end, bytes!) - 1
            ? this.#odd(`the store gives ${answer.ContentRange ?? 'no range'} for bytes ${begin}-${end - 1}`)
            : undefined;
    if (wrong !== undefined) {
      answer.Body?.destroy();
      throw wrong;
    }
    this.#found ??= { version: version!, bytes: bytes! };
    return await this.#bodyOf(answer, last! + 1 - begin);
  }

  async #bodyOf({ Body: body }: Answered, length: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(length);
    let at = 0;
    const { signal } = this.#stop;
    const onStop = () => body?.destroy(new Error('closed'));
    signal.addEventListener('abort', onStop);
    try {
      if (signal.aborted) onStop();
      for await (const piece of body ?? []) {
        if (at + piece.length > length) throw this.#odd(`the store gives more than ${length} bytes`);
        bytes.set(piece, at);
        at += piece.length;
      }
    } catch (cause) {
      throw signal.aborted ? cause : new BrokenOff(cause);
    } finally {
      signal.removeEventListener('abort', onStop);
    }
    if (at < length) throw new BrokenOff(new Error('it ended early'));
    return bytes;
  }

  /** Asks again where an answer broke off, and gives errors in words. */
  async #whileItPasses<T>(ask: () => Promise<T>): Promise<T> {
    for (const pause of [...pauses, undefined]) {
      try {
        return await ask();
      } catch (cause) {
        if (this.#stop.signal.aborted) throw problem('WS5003', `${this.name} cannot be read: it was closed`);
        if (this.#found !== undefined && refusalOf(cause).status === 412)
          throw changedUrl(this.name, this.#found);
        if (!(cause instanceof BrokenOff)) throw refusedObject(this.name, cause, 'read');
        if (pause === undefined) throw brokenOff(this.name, cause.cause);
      }
      await delay(pause);
    }
    throw new Error('the last try has ended');
  }

  #odd(why: string): Error {
    return problem('WS5003', `${this.name} cannot be read: ${why}`);
  }
}

function brokenOff(name: string, cause: unknown): Error {
  if (cause instanceof WarpstageError) return cause;
  const hint = 'check the network; then run it again';
  return problem('WS5020', `${name} cannot be read: what the store gives breaks off each time`, hint);
}

/** An answer that did not come to its end. */
class BrokenOff extends Error {
  constructor(cause: unknown) {
    super('broken off', { cause });
  }
}
