// The log of a run: a line for each chunk, written when the chunk is through, so that it says how far a run came
// that was killed.

import { closeSync, openSync, writeSync } from 'node:fs';
import { unwritable } from '../diagnostics/problem.ts';
import type { ChunkReport } from '../overlap/options.ts';

/** The columns, in the order in which they happen. Times are milliseconds since the run began. */
const columns: readonly (readonly [heading: string, value: (chunk: ChunkReport) => string])[] = [
  ['pass', ({ pass }) => String(pass)],
  ['chunk', ({ chunk }) => String(chunk)],
  ['device', ({ device }) => device],
  ['first_row', ({ firstRow }) => String(firstRow)],
  ['rows', ({ rows }) => String(rows)],
  ['read_began', ({ readBegan }) => readBegan.toFixed(3)],
  ['read_ended', ({ readEnded }) => readEnded.toFixed(3)],
  ['computed', ({ computed }) => computed.toFixed(3)],
  ['write_began', ({ writeBegan }) => writeBegan.toFixed(3)],
  ['write_ended', ({ writeEnded }) => writeEnded.toFixed(3)],
];

export class ChunkLog implements Disposable {
  readonly #path: string;
  readonly #file: number;

  /** Begins a log anew. Throws WS5006 where it cannot be written, and so does each line. */
  constructor(path: string) {
    this.#path = path;
    try {
      this.#file = openSync(path, 'w');
      this.#write(columns.map(([heading]) => heading));
    } catch (cause) {
      throw unwritable(path, cause);
    }
  }

  readonly line = (chunk: ChunkReport): void => {
    try {
      this.#write(columns.map(([, value]) => value(chunk)));
    } catch (cause) {
      throw unwritable(this.#path, cause);
    }
  };

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }

  #write(values: readonly string[]): void {
    writeSync(this.#file, `${values.join('\t')}\n`);
  }
}
