// Which version of each URL a run reads. A URL may be opened more than once in a run, in a list or for several passes, and
// by the run that resumes this one: whoever opens it again gets the bytes of the first time, or an error.
//
// A version is a strong ETag, or else Last-Modified, with the number of bytes. A server without ranges or versions gives
// none, and its URLs are read once.

import { problem } from '../diagnostics/problem.ts';
import { shownUrl } from './url.ts';

/** A version of what a URL names. */
export interface UrlVersion {
  readonly version: string;
  readonly bytes: number;
}

/** The versions that a run has met. */
export class UrlVersions {
  readonly #isNeeded: (url: string) => boolean;
  readonly #known: Map<string, UrlVersion>;
  /** Whether another run is to know them: a folder has a version as a whole then. */
  readonly isKept: boolean;

  /** `isNeeded`: whether a URL must have a version, because it is read again. Default: none. */
  constructor(
    isNeeded: (url: string) => boolean = () => false,
    isKept = false,
    known = new Map<string, UrlVersion>(),
  ) {
    this.#isNeeded = isNeeded;
    this.#known = known;
    this.isKept = isKept;
  }

  /** The same versions, for URLs that are all read again. */
  get needed(): UrlVersions {
    return new UrlVersions(() => true, this.isKept, this.#known);
  }

  /** Likewise, for URLs that another run is to know. */
  get kept(): UrlVersions {
    return new UrlVersions(() => true, true, this.#known);
  }

  /** The same versions, for what lies below a URL: it is needed where that is. */
  below(url: string): UrlVersions {
    return this.#isNeeded(url) ? this.needed : this;
  }

  /** What was found of a URL. */
  of(url: string): UrlVersion | undefined {
    return this.#known.get(url);
  }

  /** A URL was opened. Throws WS5003 where it is another version than before. */
  found(url: string, now: UrlVersion): void {
    const before = this.#known.get(url);
    if (before === undefined) this.#known.set(url, now);
    else if (before.version !== now.version || before.bytes !== now.bytes)
      throw changedUrl(shownUrl(url), before);
  }

  /** A URL was opened that has no version. Throws WS5005 where it needs one. */
  foundNone(url: string): void {
    if (!this.#isNeeded(url) && !this.#known.has(url)) return;
    throw problem(
      'WS5005',
      `${shownUrl(url)} is to be read more than once, and its server has no ranges, or says no version (ETag, Last-Modified)`,
      'save it to a file first',
    );
  }
}

/** The error of a URL that has another version than before. */
export function changedUrl(name: string, { version, bytes }: UrlVersion): Error {
  return problem(
    'WS5003',
    `${name} changed while it was read: it was version ${version} of ${bytes} bytes`,
    'run it again when nothing writes to it, or on a copy of it',
  );
}
