// Loads of what lies evenly apart: a part of records or vectors, or every so-manieth element.
//
// Each lane has a span of bytes of which parts are read, and all spans are known to be in the array: those of records are whole
// elements; of other arrays, what the statements at hand read. Spans are loaded as they lie, a row of 16 bytes for each lane or
// half of one, and rows become columns by shuffles; what is read of a span more than once is loaded once. A part that
// stands alone is loaded lane by lane. Numbers of 8 and 16 bits are taken out of their words.

import type { Expression } from '../../../compiler/ir.ts';
import { bytesOf, partOf } from '../../../kernel/layout.ts';
import { type NumberElement, numberBytes } from '../../../kernel/types.ts';
import { forEachOperand } from '../../analysis/walk.ts';
import type { Code, Local } from '../encoder/code.ts';
import { writeLoad } from '../memory.ts';
import { type GroupContext, type Indexed, placeOf, type Shared, sharedLocal } from './group.ts';

type Load = Expression & { readonly kind: 'load' };

/** A part of an element, in the first lane. */
export interface Part {
  readonly address: Local;
  /** Bytes from lane to lane. */
  readonly stride: number;
  /** Where its element begins, from the address, and the element's bytes. */
  readonly begin: number;
  readonly bytes: number;
  /** Where it is itself. */
  readonly offset: number;
  readonly element: NumberElement;
}

/** Bytes of each lane that are there, and the words of them that are read: their distances from the beginning. */
export interface Span extends Pick<Part, 'address' | 'stride' | 'begin' | 'bytes'> {
  readonly words: readonly number[];
}

/** A part of what lies evenly apart. */
export function partAt(group: GroupContext, shared: Shared, access: Indexed): Part {
  const { address, offset } = placeOf(group, shared, access);
  const whole = group.unit.elementOf(access.array);
  const part = partOf(whole, access.component);
  return {
    address,
    stride: group.lanes.strideOf(access),
    begin: offset,
    bytes: bytesOf(whole),
    offset: offset + part.offset,
    element: part.element,
  };
}

/** The spans of what lanes read evenly apart in expressions that all of them compute. */
export function spansOf(group: GroupContext, shared: Shared, reads: readonly Expression[]): readonly Span[] {
  const parts: Part[] = [];
  for (const read of reads) {
    forEachOperand(read, (each) => {
      if (each.kind !== 'load' || group.lanes.isUniform(each)) return;
      if (group.lanes.shapeOf(each) === 'strided') parts.push(partAt(group, shared, each));
    });
  }
  parts.sort((a, b) => a.address - b.address || a.stride - b.stride || a.begin - b.begin);
  const spans: { of: Part; bytes: number; parts: Part[] }[] = [];
  for (const part of parts) {
    const last = spans.at(-1);
    const end = part.begin + part.bytes;
    const joins =
      last !== undefined &&
      last.of.address === part.address &&
      last.of.stride === part.stride &&
      end <= last.of.begin + part.stride;
    if (joins) {
      last.bytes = Math.max(last.bytes, end - last.of.begin);
      last.parts.push(part);
    } else spans.push({ of: part, bytes: part.bytes, parts: [part] });
  }
  return spans.map(({ of, bytes, parts: own }) => spanOf(of, bytes, own));
}

function spanOf({ address, stride, begin }: Part, bytes: number, parts: readonly Part[]): Span {
  const words = parts.flatMap((part) => wordOf({ begin, bytes }, part) ?? []);
  return { address, stride, begin, bytes, words: [...new Set(words)].sort((a, b) => a - b) };
}

/** The word of a span that has a part in it; null for one that is larger, or whose word is not all there. */
function wordOf({ begin, bytes }: Pick<Span, 'begin' | 'bytes'>, { offset, element }: Part): number | null {
  const size = numberBytes[element];
  const word = (offset - begin) & ~3;
  return size <= 4 && offset - begin + size <= word + 4 && word + 4 <= bytes ? word : null;
}

/** Pushes a vector of what lies evenly apart; those of an f64 are counted in pairs. */
export function pushStrided(group: GroupContext, shared: Shared, load: Load, vector: number): void {
  const { code, unit } = group;
  const part = partAt(group, shared, load);
  unit.tell('strides', 'parts of what lies evenly apart, loaded and stored as vectors');
  if (part.element === 'f64') {
    const at = (lane: number) => part.offset + part.stride * (2 * vector + lane);
    pushByLanes(code, part.address, at, 64);
    return;
  }
  const isIn = ({ address, stride, begin, bytes }: Span) =>
    address === part.address &&
    stride === part.stride &&
    begin <= part.begin &&
    part.begin + part.bytes <= begin + bytes;
  const span = shared.spans?.find(isIn) ?? spanOf(part, part.bytes, [part]);
  const word = wordOf(span, part);
  if (word !== null) {
    pushWord(group, shared, span, word, vector);
    writeNarrow(group, part.element, part.offset - span.begin - word);
    return;
  }
  const type = load.type === 'f32' ? 'f32x4' : 'i32x4';
  for (let lane = 0; lane < 4; lane += 1) {
    code.get(part.address);
    writeLoad(group.first, load, part.begin + part.stride * (4 * vector + lane));
    if (lane === 0) code.op(`${type}.splat`);
    else code.lane(`${type}.replace_lane`, lane);
  }
}

/** Makes of words what so many bytes from each one's beginning are as a number. */
function writeNarrow({ code, constants }: GroupContext, element: NumberElement, at: number): void {
  const bits = 8 * numberBytes[element];
  if (bits === 32) return;
  const above = 32 - 8 * at - bits;
  if (element === 'i8' || element === 'i16') {
    if (above > 0) code.i32(above).op('i32x4.shl');
    code.i32(32 - bits).op('i32x4.shr_s');
    return;
  }
  if (at > 0) code.i32(8 * at).op('i32x4.shr_u');
  if (above > 0) code.get(constants.integer(2 ** bits - 1)).op('v128.and');
}

/** Bytes of a span that are loaded together, from its beginning on. */
interface Piece {
  readonly begin: number;
  /** 16 where all of a row is loaded, 8 for half of one, 4 for a word. */
  readonly width: 16 | 8 | 4;
  readonly words: readonly number[];
}

/** The piece that a word is loaded with. */
function pieceOf({ bytes, stride, words }: Span, word: number): Piece {
  const width = bytes >= 12 ? 16 : bytes >= 8 ? 8 : 4;
  let piece: Piece = { begin: word, width, words: [word] };
  for (let at = 0; at < words.length; at += piece.words.length) {
    const begin = Math.max(Math.min(words[at]!, (bytes - width) & ~3), 0);
    piece = { begin, width, words: words.filter((each, i) => i >= at && each < begin + width) };
    if (piece.words.includes(word)) break;
  }
  // A word alone is loaded by itself, if two loads do not have all of them.
  return piece.words.length === 1 && stride !== 8 ? { begin: word, width: 4, words: [word] } : piece;
}

/** Pushes four lanes' words that lie so many bytes from the beginnings of their spans. */
function pushWord(group: GroupContext, shared: Shared, span: Span, word: number, vector: number): void {
  const { code } = group;
  const { address, stride, begin, bytes } = span;
  const at = (lane: number) => begin + stride * (4 * vector + lane);
  const held = (name: string, push: () => void) =>
    sharedLocal(shared, `${name} ${address} ${begin} ${stride} ${vector}`, 'v128', (local) => {
      push();
      code.set(local);
    });
  if (stride === 4) {
    code.get(held('words', () => void code.get(address).memory('v128.load', at(0), 1)));
    return;
  }
  const piece = pieceOf(span, word);
  const position = (word - piece.begin) / 4;
  const load = (lane: number, from = piece.begin) =>
    void code.get(address).memory('v128.load', at(lane) + from, 1);
  if (piece.width === 4) {
    code.get(held(`word ${word}`, () => pushByLanes(code, address, (lane) => at(lane) + word, 32)));
    return;
  }
  if (piece.width === 8) {
    const halves = [0, 2].map((lane) =>
      held(`half ${lane} ${piece.begin}`, () => {
        if (stride === 8) load(lane);
        else pushByLanes(code, address, (each) => at(lane + each) + piece.begin, 64);
      }),
    ) as [Local, Local];
    code
      .get(halves[0])
      .get(halves[1])
      .shuffle(wordsOf(position, position + 2, position + 4, position + 6));
    return;
  }
  const rows = [0, 1, 2, 3].map((lane) =>
    held(`row ${lane} ${piece.begin}`, () => {
      if (lane < 3 || bytes >= 16) load(lane);
      // What is behind the last lane's span is perhaps not there.
      else {
        load(lane, bytes - 16);
        code.withTemporary('v128', (row) => {
          const first = 16 - bytes;
          code.tee(row).get(row);
          code.shuffle(Array.from({ length: 16 }, (_, i) => (first + i) % 16));
        });
      }
    }),
  );
  const order = position < 2 ? low : high;
  const pairs = [0, 2].map((lane) =>
    held(
      `pair ${lane} ${piece.begin} ${position >> 1}`,
      () =>
        void code
          .get(rows[lane]!)
          .get(rows[lane + 1]!)
          .shuffle(order),
    ),
  );
  code
    .get(pairs[0]!)
    .get(pairs[1]!)
    .shuffle(position % 2 === 0 ? lowPairs : highPairs);
}

/** Pushes a vector of words, or of pairs of them, from so many places. */
function pushByLanes(code: Code, address: Local, at: (lane: number) => number, bits: 32 | 64): void {
  code.get(address).memory(`v128.load${bits}_zero`, at(0), 1);
  code.withTemporary('v128', (made) => {
    for (let lane = 1; lane < 128 / bits; lane += 1) {
      code.set(made).get(address).get(made);
      code.memoryLane(`v128.load${bits}_lane`, lane, at(lane), 1);
    }
  });
}

/** The bytes of words of two vectors: 0 to 3 are the first one's. */
export const wordsOf = (...words: readonly number[]): readonly number[] =>
  words.flatMap((word) => [4 * word, 4 * word + 1, 4 * word + 2, 4 * word + 3]);

/** Words of two vectors in turn, of their first or their second halves. */
export const low = wordsOf(0, 4, 1, 5);
export const high = wordsOf(2, 6, 3, 7);
/** The first or the second halves of two vectors. */
export const lowPairs = wordsOf(0, 1, 4, 5);
export const highPairs = wordsOf(2, 3, 6, 7);
