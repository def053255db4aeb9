// Literals of Python, as far as headers of .npy files have them: dictionaries, lists and tuples of
// strings, whole numbers, True, False and None.
//
// What is no such literal, to the last character, is an error: nothing of a header is guessed.

/** A literal's value. Lists and tuples are arrays; the keys of dictionaries are strings. */
export type PythonValue =
  | string
  | number
  | boolean
  | null
  | readonly PythonValue[]
  | ReadonlyMap<string, PythonValue>;

/** Deeper ones than any header has would only exhaust the stack. */
const deepest = 16;

const words: ReadonlyMap<string, PythonValue> = new Map<string, PythonValue>([
  ['True', true],
  ['False', false],
  ['None', null],
]);

const escapes: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['\\', '\\'],
  ["'", "'"],
  ['"', '"'],
]);

/** Reads a literal. Throws a SyntaxError that says what is wrong where. */
export function parsePythonLiteral(text: string): PythonValue {
  return new Parser(text).parse();
}

class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  parse(): PythonValue {
    const value = this.#value(0);
    if (this.#peek() !== '') throw this.#unexpected();
    return value;
  }

  #value(depth: number): PythonValue {
    if (depth > deepest) throw new SyntaxError('it is nested too deeply');
    const begin = this.#peek();
    if (begin === '{') return this.#dictionary(depth);
    if (begin === '[') return this.#items(']', depth).items;
    if (begin === '(') {
      const { items, commas } = this.#items(')', depth);
      // (1) is a number, (1,) a tuple.
      return items.length === 1 && commas === 0 ? items[0]! : items;
    }
    if (begin === "'" || begin === '"') return this.#string();
    const number = this.#match(/-?\d+L?/y);
    if (number !== undefined) return Number(number.replace('L', ''));
    const word = this.#match(/[A-Za-z_]\w*/y);
    if (word !== undefined && words.has(word)) return words.get(word)!;
    throw word === undefined ? this.#unexpected() : new SyntaxError(`'${word}' is no literal`);
  }

  #dictionary(depth: number): ReadonlyMap<string, PythonValue> {
    const entries = new Map<string, PythonValue>();
    this.#at++;
    while (this.#peek() !== '}') {
      const key = this.#value(depth + 1);
      if (typeof key !== 'string') throw new SyntaxError('a key is no string');
      if (entries.has(key)) throw new SyntaxError(`the key '${key}' is there twice`);
      this.#expect(':');
      entries.set(key, this.#value(depth + 1));
      if (this.#peek() !== '}') this.#expect(',');
    }
    this.#at++;
    return entries;
  }

  #items(end: string, depth: number): { readonly items: readonly PythonValue[]; readonly commas: number } {
    const items: PythonValue[] = [];
    let commas = 0;
    this.#at++;
    while (this.#peek() !== end) {
      items.push(this.#value(depth + 1));
      if (this.#peek() === end) break;
      this.#expect(',');
      commas++;
    }
    this.#at++;
    return { items, commas };
  }

  #string(): string {
    const quote = this.#text[this.#at++]!;
    let value = '';
    for (;;) {
      const letter = this.#text[this.#at++];
      if (letter === undefined || letter === '\n') throw new SyntaxError('a string does not end');
      if (letter === quote) return value;
      if (letter !== '\\') {
        value += letter;
        continue;
      }
      const letterBehind = this.#text[this.#at++] ?? '';
      const meant = escapes.get(letterBehind);
      if (meant === undefined) throw new SyntaxError(`a string has the escape \\${letterBehind}`);
      value += meant;
    }
  }

  #expect(letter: string): void {
    if (this.#peek() !== letter) throw this.#unexpected();
    this.#at++;
  }

  /** The next character that is no space; empty at the end. */
  #peek(): string {
    this.#match(/[ \t\r\n]+/y);
    return this.#text[this.#at] ?? '';
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }

  #unexpected(): SyntaxError {
    const letter = this.#text[this.#at];
    return new SyntaxError(
      letter === undefined ? 'it ends too early' : `${JSON.stringify(letter)} at position ${this.#at}`,
    );
  }
}
