// Where the parts of a stream pass from the run that computes them to the program that asks for them.
//
// At most one part lies here. Who offers it waits until it is taken; who asks when there is none waits until there is.
// The end comes after the last part was taken, and a failure at once: once to whoever asks next, after that the stream
// has ended.

import { viewElements } from '../formats/typed-arrays.ts';
import { type ElementType, hostArrays, type TypedArray } from '../kernel/types.ts';
import type { WritableShape } from './sinks/web-stream.ts';

interface Asking<T> {
  resolve(result: IteratorResult<T, undefined>): void;
  reject(reason: unknown): void;
}

interface Offered<T> {
  readonly part: T;
  taken(): void;
  refused(reason: unknown): void;
}

const ended = { done: true, value: undefined } as const;

export class PartHandover<T> {
  readonly #asking: Asking<T>[] = [];
  #offered: Offered<T> | undefined;
  #ended = false;
  #failure: { readonly reason: unknown } | undefined;
  #refusal: { readonly reason: unknown } | undefined;

  /** The next part. */
  take(): Promise<IteratorResult<T, undefined>> {
    return new Promise((resolve, reject) => {
      const { part, taken } = this.#offered ?? {};
      if (taken !== undefined) {
        this.#offered = undefined;
        resolve({ done: false, value: part! });
        taken();
      } else if (this.#failure !== undefined) {
        const { reason } = this.#failure;
        this.#failure = undefined;
        reject(reason);
      } else if (this.#ended) resolve(ended);
      else this.#asking.push({ resolve, reject });
    });
  }

  /** No part comes any more. */
  end(): void {
    this.#ended = true;
    for (const { resolve } of this.#asking.splice(0)) resolve(ended);
  }

  /** No part comes any more, for a reason that nobody has been told. */
  fail(reason: unknown): void {
    if (this.#ended) return;
    const first = this.#asking.shift();
    if (first === undefined) this.#failure = { reason };
    else first.reject(reason);
    this.end();
  }

  /** Gives a part away; one at a time. Rejects where it is refused. */
  offer(part: T): Promise<void> {
    if (this.#refusal !== undefined) return Promise.reject(this.#refusal.reason);
    const first = this.#asking.shift();
    if (first !== undefined) {
      first.resolve({ done: false, value: part });
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      this.#offered = { part, taken: resolve, refused: reject };
    });
  }

  /** Refuses the part that nobody has taken, and all that are offered later. */
  refuse(reason: unknown): void {
    this.#refusal = { reason };
    this.#offered?.refused(reason);
    this.#offered = undefined;
  }
}

/**
 * The outputs of a run, by name, whose parts go to a handover. A run writes all outputs of a chunk side by side, and
 * those of the next one when these are taken: so the last of them completes a part.
 */
export function writersTo(
  handover: PartHandover<never>,
  elements: ReadonlyMap<string, ElementType>,
): Record<string, WritableShape> {
  const pieces = new Map<string, TypedArray>();
  let waiting: { resolve(): void; reject(reason: unknown): void }[] = [];
  const write = (name: string, piece: TypedArray) =>
    new Promise<void>((resolve, reject) => {
      pieces.set(name, piece);
      waiting.push({ resolve, reject });
      if (pieces.size < elements.size) return;
      const part =
        elements.size === 1
          ? piece
          : Object.fromEntries([...elements.keys()].map((one) => [one, pieces.get(one)]));
      const writes = waiting;
      waiting = [];
      pieces.clear();
      handover.offer(part as never).then(
        () => {
          for (const { resolve } of writes) resolve();
        },
        (reason) => {
          for (const { reject } of writes) reject(reason);
        },
      );
    });
  return Object.fromEntries(
    [...elements].map(([name, element]) => {
      const writer = {
        write: ({ buffer, byteOffset, byteLength }: Uint8Array) => {
          const length = byteLength / hostArrays[element].BYTES_PER_ELEMENT;
          return write(name, viewElements(element, buffer, byteOffset, length));
        },
        close: async () => {},
        abort: async (reason: unknown) => handover.refuse(reason),
      };
      return [name, { getWriter: () => writer }];
    }),
  );
}
