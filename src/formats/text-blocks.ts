// Text, cut into blocks that end where a line ends.
//
// So whatever reads lines need not know where reads of the file ended. A line end inside quotes ends no record where
// `quoted` says so: quotes are counted, and one that is doubled counts as none.

import { problem } from '../diagnostics/problem.ts';
import type { ByteReader } from './bytes.ts';

/** Bytes that are read at once. */
const blockBytes = 1 << 18;
/** A longer record is no table's. */
const longestRecord = 1 << 24;

/** Cuts text into blocks of whole records. */
export class TextBlocks {
  readonly #bytes: ByteReader;
  readonly #quoted: boolean;
  readonly #decoder = new TextDecoder();
  readonly #read = new Uint8Array(blockBytes);
  #rest = '';
  #ended = false;

  constructor(bytes: ByteReader, quoted: boolean) {
    this.#bytes = bytes;
    this.#quoted = quoted;
  }

  /** The next records, as text; undefined behind the last. */
  async next(): Promise<string | undefined> {
    while (!this.#ended) {
      const read = await this.#bytes.read(this.#read);
      this.#ended = read < blockBytes;
      const text = this.#rest + this.#decoder.decode(this.#read.subarray(0, read), { stream: !this.#ended });
      const end = this.#ended ? text.length : endOfRecords(text, this.#quoted);
      this.#rest = text.slice(end);
      if (this.#rest.length > longestRecord) throw this.#tooLong();
      if (end > 0) return text.slice(0, end);
    }
    return undefined;
  }

  #tooLong(): Error {
    return problem(
      'WS5004',
      `${this.#bytes.name} has a record of over ${longestRecord / 2 ** 20} MiB, which is no row of numbers`,
      this.#quoted ? 'is a quotation mark left open?' : 'is it one value a line?',
    );
  }
}

/** Where the last whole record of a text ends. */
export function endOfRecords(text: string, quoted: boolean): number {
  let end = text.lastIndexOf('\n') + 1;
  if (!quoted || !text.includes('"')) return end;
  // Between an odd number of quotes and the next one a line end is part of a field.
  let last = 0;
  let inside = false;
  let at = 0;
  while (at < end) {
    const quote = text.indexOf('"', at);
    const until = quote < 0 || quote >= end ? end : quote;
    if (!inside) {
      const line = text.lastIndexOf('\n', until - 1) + 1;
      if (line > at) last = line;
    }
    if (until === end) break;
    inside = !inside;
    at = quote + 1;
  }
  end = last;
  return end;
}
