// Where a kernel's text comes from.
//
// Everything the compiler says refers to offsets in the text of one function, as
// Function.prototype.toString gives it. A KernelSource turns such an offset into a place in
// the user's own file where the runtime can tell it, and into a line of that text where not.
// Nothing is looked up before an offset is asked for: a kernel without an error costs nothing.

import type { Location } from './error.ts';
import { lineAndColumn, linesOf, offsetAt } from './lines.ts';
import { placeInFile } from './original.ts';

/** A part of one kernel's or device function's text: offsets into `KernelSource.text`. */
export interface Range {
  /** Which of the program's sources: 0 is the kernel itself, the others are device functions. */
  readonly source: number;
  readonly start: number;
  readonly end: number;
}

/** A place in a file (or, if no file is known, in the function's text), counted from 1. */
export interface Place {
  /** Path of the user's file; absent where the runtime cannot tell it. */
  readonly file?: string;
  readonly line: number;
  readonly column: number;
  /** The whole text that `line` counts in: the file's, or the function's. Empty if a file is known but cannot be read. */
  readonly text: string;
  /** What the file calls it there, where a tool gave it another name. */
  readonly name?: string;
}

/** The text of one kernel or device function, and the way back to the user's file. */
export interface KernelSource {
  readonly name: string;
  readonly text: string;
  /** The place of an offset into `text`. Never throws. */
  locate(offset: number): Place;
  /** How a part of `text` is written in the user's file, where `text` was made and the part stands for another. */
  writtenAs?(start: number, end: number): string | undefined;
  /** How a part of `text` stands in the user's file; null where it is not the same there, but for types. Never throws. */
  standing(start: number, end: number): Standing | null;
}

/** A part of a function's text in the user's file. */
export interface Standing {
  readonly file?: string;
  /** Where an offset into the function's text is in the file. What ends there ends after the types that follow. */
  offsetOf(offset: number, ends: boolean): number;
}

/** Any function at all: what kernels are written as. */
export type AnyFunction = (...args: never[]) => unknown;

/** A function whose text was made of another's, which the user wrote. */
interface Written {
  readonly text: string;
  readonly of: AnyFunction;
  readonly parts: () => MadeParts;
}

/** What a made text stands for in the user's. */
export interface MadeParts {
  /** The offset in the user's text that everything is reported at, but the parts. */
  readonly offset: number;
  /** Each place of `made` in the made text stands for a part of the user's: offsets into that. */
  readonly parts: readonly { readonly made: string; readonly start: number; readonly end: number }[];
}

const writtenTexts = new WeakMap<AnyFunction, Written>();

/**
 * A function that is compiled from the given text, in place of its own. It is never called. Errors in the
 * text are reported where the user's function that it was made for says, and name what the user wrote there.
 */
export function functionOfText(text: string, of: AnyFunction, parts: () => MadeParts): AnyFunction {
  const made = () => undefined;
  writtenTexts.set(made, { text, of, parts });
  return made;
}

/** A part of a file as it stands in an editor, which may be newer than what is stored. */
interface FilePart {
  readonly file: string;
  /** The whole text of the file. */
  readonly text: string;
  /** Where the function begins. */
  readonly start: number;
}

const fileParts = new WeakMap<AnyFunction, FilePart & { readonly code: string }>();

/**
 * A function that is compiled from a part of a file. It is never called. `code` is that part, with blanks in place
 * of types, so that an offset in it is one in the file.
 */
export function functionOfFile(code: string, part: FilePart): AnyFunction {
  const made = () => undefined;
  // It has the name of nothing in the file.
  Object.defineProperty(made, 'name', { value: '' });
  fileParts.set(made, { ...part, code });
  return made;
}

/** The function that the user wrote: itself, or what it was made for. */
export function writtenBy(fn: AnyFunction): AnyFunction {
  return writtenTexts.get(fn)?.of ?? fn;
}

const sources = new WeakMap<AnyFunction, KernelSource>();

/** The source of a function; the same object each time it is asked for under the same name. */
export function createKernelSource(fn: AnyFunction, name: string): KernelSource {
  const known = sources.get(fn);
  if (known?.name === name) return known;
  const written = writtenTexts.get(fn);
  if (written !== undefined) return sourceOfText(fn, name, written);
  const part = fileParts.get(fn);
  if (part !== undefined) return sourceOfPart(fn, name, part);
  const text = known?.text ?? Function.prototype.toString.call(fn);
  const source: KernelSource = Object.freeze({
    name,
    text,
    locate: (offset: number) => {
      const inside = Math.min(Math.max(0, offset), text.length);
      return placeInFile(fn, text, inside) ?? { ...lineAndColumn(text, inside), text };
    },
    standing: (start: number, end: number) => {
      const place = source.locate(start);
      const begin = offsetAt(place.text, place);
      if (begin === undefined || !place.text.startsWith(text.slice(start, end), begin)) return null;
      return {
        ...(place.file !== undefined && { file: place.file }),
        offsetOf: (at: number) => begin + at - start,
      };
    },
  });
  sources.set(fn, source);
  return source;
}

function sourceOfText(fn: AnyFunction, name: string, { text, of, parts }: Written): KernelSource {
  const user = createKernelSource(of, name);
  const source: KernelSource = Object.freeze({
    name,
    text,
    locate: (offset: number) => {
      const { offset: elsewhere, parts: all } = parts();
      for (const { made, start, end } of all) {
        const at = text.lastIndexOf(made, offset);
        const last = at + made.length - 1;
        if (at !== -1 && offset <= last)
          return user.locate(offset === last ? Math.max(start, end - 1) : start);
      }
      return user.locate(elsewhere);
    },
    writtenAs: (start: number, end: number) => {
      const part = parts().parts.find(({ made }) => made === text.slice(start, end));
      return part && user.text.slice(part.start, part.end);
    },
    standing: () => null,
  });
  sources.set(fn, source);
  return source;
}

function sourceOfPart(
  fn: AnyFunction,
  name: string,
  { file, text, start, code }: FilePart & { readonly code: string },
): KernelSource {
  const locate = (offset: number) => ({ file, ...lineAndColumn(text, start + offset), text });
  const offsetOf = (offset: number, ends: boolean) =>
    start + offset + (ends ? typesBehind(text.slice(start), code, offset) : 0);
  const source: KernelSource = Object.freeze({
    name,
    text: code,
    locate,
    standing: () => ({ file, offsetOf }),
  });
  sources.set(fn, source);
  return source;
}

/** How many characters of types, which are blank in the code, stand behind an offset. */
function typesBehind(text: string, code: string, offset: number): number {
  const blank = /^\s*/.exec(code.slice(offset))![0].length;
  return text.slice(offset, offset + blank).trimEnd().length;
}

/**
 * The place of a range, as long as it is on its first line there.
 *
 * Source text and file may differ (types are stripped, names shortened), so the end is looked up
 * by itself and believed only if it comes after the start on the same line.
 */
export function locationOf(sources: readonly KernelSource[], range: Range): Location {
  const source = sources[range.source]!;
  const start = source.locate(range.start);
  const words = linesOf(source.text.slice(range.start, range.end))[0]!.trimEnd();
  const line = linesOf(start.text.slice(offsetAt(start.text, start)))[0]!;
  if (line.startsWith(words) || start.text === '') return { ...start, length: Math.max(1, words.length) };

  const last = source.locate(range.start + words.length - 1);
  const sameLine = last.file === start.file && last.line === start.line && last.column >= start.column;
  const name = /^[\p{ID_Continue}$]*/u.exec(line)![0].length;
  return { ...start, length: Math.max(1, name, sameLine ? last.column - start.column + 1 : 1) };
}
