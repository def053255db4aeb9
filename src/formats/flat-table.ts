// Tables of a FlatBuffer, in which Arrow says what is in a file.
//
// Whatever the bytes are, nothing outside them is read (a DataView throws there), and no list is longer than they are.
// Places of tables are distances forward, so that no table contains itself; how many are read is the reader's to limit.

/** Longer ones are no names. */
const longestText = 1 << 16;

/** A table. Fields that are not there have their defaults. */
export class FlatTable {
  readonly #view: DataView;
  readonly #at: number;

  private constructor(view: DataView, at: number) {
    this.#view = view;
    this.#at = at;
  }

  /** The table that bytes begin with. */
  static root(bytes: Uint8Array): FlatTable {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return new FlatTable(view, view.getUint32(0, true));
  }

  byte(field: number): number {
    const at = this.#place(field);
    return at === undefined ? 0 : this.#view.getUint8(at);
  }

  short(field: number, otherwise = 0): number {
    const at = this.#place(field);
    return at === undefined ? otherwise : this.#view.getInt16(at, true);
  }

  int(field: number, otherwise = 0): number {
    const at = this.#place(field);
    return at === undefined ? otherwise : this.#view.getInt32(at, true);
  }

  /** A count of 64 bits. */
  count(field: number): number {
    const at = this.#place(field);
    return at === undefined ? 0 : countAt(this.#view, at);
  }

  text(field: number): string {
    const list = this.#list(field, 1);
    if (list === undefined) return '';
    if (list.length > longestText) throw new Error(`a name has ${list.length} bytes`);
    const { buffer, byteOffset } = this.#view;
    return new TextDecoder().decode(new Uint8Array(buffer, byteOffset + list.begin, list.length));
  }

  table(field: number): FlatTable | undefined {
    const at = this.#place(field);
    return at === undefined ? undefined : new FlatTable(this.#view, at + this.#view.getUint32(at, true));
  }

  tables(field: number): FlatTable[] {
    const { begin, length } = this.#list(field, 4) ?? { begin: 0, length: 0 };
    return Array.from({ length }, (_, i) => {
      const at = begin + 4 * i;
      return new FlatTable(this.#view, at + this.#view.getUint32(at, true));
    });
  }

  /** A list of records without tables, of counts of 64 bits each: of each record, those at certain words of 8 bytes. */
  counts(field: number, words: number, wanted: readonly number[]): number[][] {
    const { begin, length } = this.#list(field, 8 * words) ?? { begin: 0, length: 0 };
    return Array.from({ length }, (_, i) =>
      wanted.map((word) => countAt(this.#view, begin + 8 * (i * words + word))),
    );
  }

  /** Whether a field is there. */
  has(field: number): boolean {
    return this.#place(field) !== undefined;
  }

  #place(field: number): number | undefined {
    const table = this.#at - this.#view.getInt32(this.#at, true);
    const entry = 4 + 2 * field;
    if (entry + 2 > this.#view.getUint16(table, true)) return undefined;
    const offset = this.#view.getUint16(table + entry, true);
    return offset === 0 ? undefined : this.#at + offset;
  }

  /** Where a list begins, and how many it has, all of them within the bytes. */
  #list(field: number, width: number): { readonly begin: number; readonly length: number } | undefined {
    const at = this.#place(field);
    if (at === undefined) return undefined;
    const list = at + this.#view.getUint32(at, true);
    const length = this.#view.getUint32(list, true);
    if (list + 4 + length * width > this.#view.byteLength) throw new Error(`a list of ${length} is cut off`);
    return { begin: list + 4, length };
  }
}

function countAt(view: DataView, at: number): number {
  const value = Number(view.getBigInt64(at, true));
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`it counts ${value} of something`);
}
