// The formats that are known, and which one a name or a beginning tells.
//
// They are kept where every copy of this package in a process finds them: a module that registers a format may
// have its own copy, beside that of the command line.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { problem } from '../diagnostics/problem.ts';
import { arrow } from './arrow.ts';
import { compressedFormat, compressionOfName } from './compression.ts';
import { csv } from './csv.ts';
import type { Format } from './format.ts';
import { ndjson } from './ndjson.ts';
import { npy } from './npy.ts';
import { npz } from './npz.ts';
import { parquet } from './parquet.ts';
import { png } from './png.ts';
import { raw } from './raw.ts';
import { tiff } from './tiff.ts';
import { isUrl, pathInName } from './url.ts';
import { wav } from './wav.ts';
import { zarr } from './zarr.ts';

const key = Symbol.for('warpstage.formats');

/** By name. */
const formats: Map<string, Format> = known();

function known(): Map<string, Format> {
  const shared = globalThis as { [key]?: Map<string, Format> };
  shared[key] ??= new Map(
    [raw, npy, npz, parquet, arrow, csv, ndjson, wav, png, tiff, zarr].map((format) => [format.name, format]),
  );
  return shared[key];
}

/**
 * Makes a format known to `run()`, `plan()` and the commands. For the command line, a module does it that the
 * job's module imports, or that `--import` names.
 *
 * @throws WarpstageError WS4007 where it is no format
 */
export function registerFormat(format: Format): void {
  const wrong = formatProblem(format);
  if (wrong !== null) {
    throw problem(
      'WS4007',
      `what was to be registered is no format: ${wrong}`,
      "give at least { name: 'vec', endings: ['.vec'], open: async (file) => ({ arrays: [ … ] }) }",
    );
  }
  formats.set(format.name, format);
}

/** The format of a name. Throws WS5004 where there is none. */
export function formatNamed(name: string): Format {
  const format = formats.get(name);
  if (format !== undefined) return format;
  const names = [...formats.keys()].join(', ');
  throw problem('WS5004', `there is no format '${name}'`, `the formats are ${names}`);
}

/** A format by its name, for a file that may be compressed by its name. Throws WS5004 where there is none. */
export function formatOfFile(name: string, file: string): Format {
  const compression = compressionOfName(file)?.compression;
  const format = formatNamed(name);
  return compression === undefined ? format : compressedFormat(format, compression);
}

/** The format that a file's name tells, by the longest of the endings that fit. */
export function formatOfName(file: string): Format | undefined {
  const format = formatOfEnding(file);
  if (format !== undefined) return format;
  const packed = compressionOfName(file);
  const inside = packed && formatOfEnding(packed.inner);
  return inside && compressedFormat(inside, packed.compression);
}

function formatOfEnding(file: string): Format | undefined {
  const name = pathInName(file).toLowerCase();
  let best: Format | undefined;
  let longest = 0;
  for (const format of formats.values()) {
    for (const ending of format.endings) {
      if (ending.length <= longest || !name.endsWith(ending)) continue;
      best = format;
      longest = ending.length;
    }
  }
  return best;
}

/** The format that a file's beginning tells. */
export function formatOfBeginning(beginning: Uint8Array): Format | undefined {
  return [...formats.values()].find((format) => format.probe?.(beginning) ?? false);
}

/** The format of a folder, by the file that marks it. */
export function formatOfFolder(path: string): Format | undefined {
  return [...formats.values()].find(({ mark }) => mark !== undefined && existsSync(join(path, mark)));
}

/**
 * The format of a folder at a URL, by the name of that, or of one that it lies in, as an array in a group: there is nothing
 * else that could be looked at before.
 */
export function formatOfFolderUrl(url: string): Format | undefined {
  if (!isUrl(url)) return undefined;
  const names = pathInName(url).toLowerCase().split('/').slice(3);
  return [...formats.values()].find(
    ({ mark, endings }) =>
      mark !== undefined && names.some((name) => endings.some((ending) => name.endsWith(ending))),
  );
}

/** The endings of files that are read, or written, for hints. */
export function endingsOf(does: 'open' | 'encode'): string[] {
  return [...formats.values()]
    .filter((format) => format[does] !== undefined)
    .flatMap(({ endings }) => endings);
}

function formatProblem(format: unknown): string | null {
  if (typeof format !== 'object' || format === null)
    return `it is ${format === null ? 'null' : typeof format}`;
  const { name, endings, open, encode } = format as Partial<Format>;
  if (typeof name !== 'string' || name === '') return 'it has no name';
  const areEndings = Array.isArray(endings) && endings.every((one) => /^\.[^A-Z]+$/.test(String(one)));
  if (!areEndings) return "its endings are no list of endings in lower case such as '.vec'";
  if (open === undefined && encode === undefined) return 'it can neither be read (open) nor written (encode)';
  return null;
}
