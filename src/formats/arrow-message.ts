// The messages of Arrow data: what one is, and what a record batch says of its parts.
//
// A message is a length, a table (flat-table.ts) and a body. Nothing that it says is believed beyond the bytes that are there.

import { FlatTable } from './flat-table.ts';

/** Before a message: this, and the length of its table. Older ones have the length alone. */
export const continued = 0xffffffff;
/** A longer table says nothing about columns of numbers. */
export const longestTable = 1 << 26;

/** What a message is, by the number of its kind. */
export const kinds = { schema: 1, dictionary: 2, batch: 3 } as const;

export interface ArrowMessage {
  readonly kind: number;
  readonly header: FlatTable;
  readonly bodyBytes: number;
}

/** The message that a table says. */
export function messageOf(table: Uint8Array): ArrowMessage {
  const message = FlatTable.root(table);
  const version = message.short(0);
  if (version !== 3 && version !== 4) throw new Error(`version ${version + 1} of its messages is not read`);
  const header = message.table(2);
  if (header === undefined) throw new Error('a message has nothing in it');
  return { kind: message.byte(1), header, bodyBytes: message.count(3) };
}

/** Whether bytes begin as a stream does: with a message that is a schema. */
export function beginsAsStream(beginning: Uint8Array): boolean {
  const view = new DataView(beginning.buffer, beginning.byteOffset, beginning.byteLength);
  if (view.byteLength < 16 || view.getUint32(0, true) !== continued) return false;
  const length = view.getInt32(4, true);
  if (length <= 0 || length > longestTable || length % 8 !== 0) return false;
  try {
    return messageOf(beginning.subarray(8)).kind === kinds.schema;
  } catch {
    return false;
  }
}

/** How buffers are compressed. */
export type Codec = 'lz4' | 'zstd';

/** A record batch: where its parts are, from the beginning of its body on. */
export interface Batch {
  /** Rows. */
  readonly length: number;
  readonly nodes: readonly { readonly length: number; readonly nulls: number }[];
  readonly buffers: readonly { readonly begin: number; readonly length: number }[];
  readonly codec: Codec | undefined;
  /** How many buffers more each column of views has. */
  readonly views: readonly number[];
}

const codecs: readonly (Codec | undefined)[] = ['lz4', 'zstd'];

/** What a batch says of itself. */
export function batchOf({ header, bodyBytes }: ArrowMessage): Batch {
  const compression = header.table(3);
  const codec = compression && codecs[compression.byte(0)];
  if (compression !== undefined && (codec === undefined || compression.byte(1) !== 0)) {
    throw new Error('its buffers are compressed in a way that is not read');
  }
  const buffers = header.counts(2, 2, [0, 1]).map(([begin = 0, length = 0]) => {
    if (begin + length > bodyBytes) throw new Error('a buffer lies behind the end of its record batch');
    return { begin, length };
  });
  return {
    length: header.count(0),
    nodes: header.counts(1, 2, [0, 1]).map(([length = 0, nulls = 0]) => ({ length, nulls })),
    buffers,
    codec,
    views: header.counts(4, 1, [0]).map(([count = 0]) => count),
  };
}
