// A piece of an output: what one of several runs (`--shard 3/10`) has written of it, `y.npy.3-of-10` for `y.npy`.
//
// A piece is one file, so that it is there whole or not at all: its elements as they lie in memory, and behind them what
// they are of (the work, and their place in the whole) with their checksums. Nothing in it depends on when, where or on
// what it was computed, so that two results for one piece are the same file. What is read here may be anything.

import { createHash } from 'node:crypto';
import { problem, unreadable } from '../../diagnostics/problem.ts';
import { bytesOf } from '../../kernel/layout.ts';
import { type ElementType, isElementType } from '../../kernel/types.ts';
import type { Facts } from '../journal/text.ts';
import { type InputStamps, isInputStamps } from './input-stamps.ts';
import { type OpenPiece, openPieceFile, type Shard } from './piece-files.ts';

/** What a piece says of itself. */
export interface Piece {
  readonly shard: Shard;
  readonly job: string;
  /** What was computed: the same for all pieces. */
  readonly work: Facts;
  /** The kernel's parameter that the output is of. */
  readonly parameter: string;
  /** The outputs that are parts of one file, this one among them, in their order; absent where it has the file alone. */
  readonly together?: readonly string[];
  readonly element: ElementType;
  /** Rows a second, where they have a time. */
  readonly rate?: number;
  /** Of the whole output. */
  readonly shape: readonly number[];
  /** Which of its elements are here. */
  readonly begin: number;
  readonly end: number;
  /** Of the elements' bytes, as in `Sums`. */
  readonly partBytes: number;
  readonly sums: readonly string[];
  /** The files that it was computed from, by the names of facts. None where inputs are known by their content. */
  readonly inputs: InputStamps;
}

/** The last bytes of a piece say how long the text before them is. */
const footerBytes = 32;
const footer = /^\nwarpstage piece (\d{14})\n$/;
/** Those of 100 TB. */
const longest = 2 ** 28;

/** What a piece ends with: the same whoever computes it. */
export function pieceEnding({ inputs: _, ...piece }: Piece): Buffer {
  const body = Buffer.from(withCheck(piece));
  return Buffer.concat([body, Buffer.from(`\nwarpstage piece ${String(body.length).padStart(14, '0')}\n`)]);
}

/** What lies between the elements and the ending. */
export function inputsText({ inputs }: Pick<Piece, 'inputs'>): Buffer {
  return Buffer.from(Object.keys(inputs).length === 0 ? '' : withCheck({ inputs }));
}

function withCheck(value: object): string {
  const text = JSON.stringify(value);
  return `${text.slice(0, -1)},"check":"${checkOf(text)}"}`;
}

function checkOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** Reads what a piece says of itself. Throws WS5003 where it is none, or damaged. */
export async function readPiece(path: string): Promise<Piece> {
  let file: OpenPiece | undefined;
  let piece: Piece | undefined;
  try {
    file = await openPieceFile(path);
    const { size } = file;
    const bytes = async (at: number, length: number) => {
      const read = Buffer.alloc(length);
      await file!.read(read, at);
      return read.toString();
    };
    const [, digits] =
      size < footerBytes ? [] : (footer.exec(await bytes(size - footerBytes, footerBytes)) ?? []);
    const length = Number(digits);
    const begin = size - footerBytes - length;
    if (length <= longest && begin >= 0) {
      const about = parse(await bytes(begin, length));
      const elements = about === undefined ? 0 : (about.end - about.begin) * bytesOf(about.element);
      const between = begin - elements;
      if (about !== undefined && between >= 0 && between <= longest) {
        const inputs = parseInputs(await bytes(elements, between));
        piece = inputs && { ...about, inputs };
      }
    }
  } catch (cause) {
    throw unreadable(path, cause);
  } finally {
    await file?.close().catch(() => {});
  }
  if (piece !== undefined) return piece;
  throw problem(
    'WS5003',
    `${path} is no piece of an output, or a damaged one`,
    'remove it, and run its shard again',
  );
}

/** What `withCheck` has made a text of, if it is whole. */
function parseChecked(text: string): unknown {
  const [, body, check] = /^(.*),"check":"([0-9a-f]{16})"\}$/s.exec(text) ?? [];
  if (body === undefined || check !== checkOf(`${body}}`)) return undefined;
  try {
    return JSON.parse(`${body}}`);
  } catch {
    return undefined;
  }
}

function parseInputs(text: string): InputStamps | undefined {
  if (text === '') return {};
  const { inputs } = (parseChecked(text) ?? {}) as { readonly inputs?: unknown };
  return isInputStamps(inputs) ? inputs : undefined;
}

function parse(text: string): Omit<Piece, 'inputs'> | undefined {
  const value = (parseChecked(text) ?? {}) as Partial<Piece>;
  const { shard, job, work, parameter, together, element, rate, shape, begin, end, partBytes, sums } = value;
  const isCount = (one: unknown): one is number => Number.isSafeInteger(one) && (one as number) >= 0;
  const isCounts = (list: unknown): list is number[] => Array.isArray(list) && list.every(isCount);
  const isWhole =
    isCounts(shard) &&
    shard.length === 2 &&
    typeof job === 'string' &&
    typeof work === 'object' &&
    work !== null &&
    typeof parameter === 'string' &&
    (together === undefined || isPartOf(together, parameter)) &&
    typeof element === 'string' &&
    isElementType(element) &&
    (rate === undefined || isCount(rate)) &&
    isCounts(shape) &&
    isCount(begin) &&
    isCount(end) &&
    begin <= end &&
    isCount(partBytes) &&
    partBytes > 0 &&
    Array.isArray(sums) &&
    sums.length === Math.ceil(((end - begin) * bytesOf(element)) / partBytes);
  return isWhole ? (value as Omit<Piece, 'inputs'>) : undefined;
}

/** Whether a value is a list of names, each once and of one part of a path, and a name is among them. */
function isPartOf(value: unknown, name: string): boolean {
  const isName = (one: unknown) => typeof one === 'string' && /^[^./\\]+$/.test(one);
  const isList = Array.isArray(value) && value.every(isName) && new Set(value).size === value.length;
  return isList && value.includes(name);
}
