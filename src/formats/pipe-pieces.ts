// The bytes of a pipe or socket, piece by piece in one buffer that is used again.
//
// A stream of Node gives each piece in memory of its own, which the garbage collector takes back when it has seen some
// 64 MiB of it: more than a run may have that is to stay below a limit. Here a piece is valid until the next one is asked
// for, and nothing is read meanwhile: who writes to the pipe waits.

import { Socket } from 'node:net';

const pieceBytes = 1 << 16;

interface Waiting {
  resolve(result: IteratorResult<Uint8Array>): void;
  reject(cause: Error): void;
}

export class PipePieces implements AsyncIterableIterator<Uint8Array> {
  readonly #socket: Socket;
  #piece: Uint8Array | null = null;
  #ended = false;
  #failure: Error | null = null;
  #waiting: Waiting | null = null;

  /** Of an open pipe or socket, by its number. */
  constructor(fd: number) {
    const onread = {
      buffer: new Uint8Array(pieceBytes),
      callback: (length: number, buffer: Uint8Array) => {
        this.#piece = buffer.subarray(0, length);
        this.#settle();
        return false;
      },
    };
    // A name of its own: the types of Node do not have `onread` here, its documentation has.
    const options = { fd, readable: true, writable: false, onread };
    this.#socket = new Socket(options);
    this.#socket.on('error', (cause) => {
      this.#failure = cause;
      this.#settle();
    });
    const end = () => {
      this.#ended = true;
      this.#settle();
    };
    this.#socket.on('end', end);
    this.#socket.on('close', end);
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#settle();
      if (this.#waiting !== null) this.#socket.resume();
    });
  }

  /** Gives who waits what there is. */
  #settle(): void {
    const waiting = this.#waiting;
    if (waiting === null) return;
    const piece = this.#piece;
    if (piece === null && this.#failure === null && !this.#ended) return;
    this.#waiting = null;
    this.#piece = null;
    if (piece !== null) waiting.resolve({ done: false, value: piece });
    else if (this.#failure !== null) waiting.reject(this.#failure);
    else waiting.resolve({ done: true, value: undefined });
  }

  destroy(): void {
    this.#socket.destroy();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
