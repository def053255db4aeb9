// memcpy of the C library, called in the threads of Node's pool, where a GPU's job must not wait for
// the main thread to copy.
//
// The memory belongs to whoever calls, and must neither be detached nor shrink until the promise
// resolves; the views are kept until then.

import { WarpstageError } from '../../diagnostics/error.ts';
import { cFunction } from './c-library.ts';
import { addressOf } from './library.ts';

/** Copies bytes; both views have the same length. */
export type CopyBytes = (into: Uint8Array, from: Uint8Array) => Promise<void>;

type AsyncMemcpy = (into: number, from: number, bytes: number, done: (error: Error | null) => void) => void;

let memcpy: AsyncMemcpy | null | undefined;

/** Copies in a thread of the pool; null where the C library is not found. */
export function poolCopies(): CopyBytes | null {
  if (memcpy === undefined) {
    const call = cFunction('memcpy', 'uint64_t', 'uint64_t', 'uint64_t', 'size_t');
    memcpy = (call?.async as AsyncMemcpy | undefined) ?? null;
  }
  const copy = memcpy;
  if (copy === null) return null;
  return (into, from) =>
    new Promise((resolve, reject) => {
      const bytes = from.length;
      const done = (error: Error | null) => {
        // The views are named here, so that their memory lives as long as the call.
        if (error !== null) reject(error);
        else if (into.length === bytes && from.length === bytes) resolve();
        else reject(detached());
      };
      try {
        copy(addressOf(into), addressOf(from), bytes, done);
      } catch {
        // The FFI has room for some hundred calls at a time.
        into.set(from);
        resolve();
      }
    });
}

function detached(): WarpstageError {
  return new WarpstageError({
    code: 'WS4004',
    message: 'a typed array was detached while it was copied',
    hint: 'transfer or resize an array only when whatever uses it is done',
  });
}
