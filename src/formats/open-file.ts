// Opens a file in the format that it has, and never in another.
//
// The caller says which one that is; or else its name does, or its beginning. A name or beginning that
// tells of something that is not read is refused with what to do; bare elements, which begin like anything, are
// only what is called so. A pipe has no name: there, what begins like nothing known and is no text is bare elements.

import { count } from '../diagnostics/count.ts';
import { WarpstageError } from '../diagnostics/error.ts';
import { problem, unreadable } from '../diagnostics/problem.ts';
import { type OpenBytes, openBytes, openFolderOfUrls } from './bytes.ts';
import { compressedFormat, compressionOfBeginning, unpackedBeginning } from './compression.ts';
import type { Dtype } from './dtype.ts';
import { ElementSource } from './element-source.ts';
import type { Contents, Elements, Format, OpenRequest, StoredArray } from './format.ts';
import {
  endingsOf,
  formatNamed,
  formatOfBeginning,
  formatOfFile,
  formatOfFolder,
  formatOfFolderUrl,
  formatOfName,
} from './registry.ts';
import type { Wanted } from './source.ts';
import { correctRow, hasNulls, UnitSource } from './unit-source.ts';
import { type Unsupported, unsupportedBeginning, unsupportedName } from './unsupported.ts';
import { isUrl, shownUrl } from './url.ts';
import type { UrlVersions } from './url-versions.ts';

/** A file as it was given. */
export interface FileRequest {
  /** A path; `'-'` is standard input. */
  readonly file: string;
  /** The name of its format, where that was said. */
  readonly format?: string | undefined;
  /** The type of its elements, where that was said: a check where the file says its own. */
  readonly dtype?: Dtype | undefined;
}

/** A file with what is in it. */
export interface OpenedFile {
  /** Its path. */
  readonly file: string;
  readonly format: Format;
  readonly bytes: OpenBytes;
  readonly contents: Contents;
}

/** Bytes by which a file is recognised. */
const beginningBytes = 512;

/**
 * Opens a file. `opened` receives what is to be closed before anything is read of it, so that it can be closed
 * while it waits for its first bytes. `needed` is the type of elements for formats that do not say it; `versions` are
 * those that URLs must be of.
 *
 * @throws WarpstageError WS5003 where it cannot be read, WS5004 where its format is not read, WS5005 where it
 * holds another type than was said
 */
export async function openFile(
  request: FileRequest,
  needed: Dtype | undefined,
  opened: (one: { close(): Promise<void> }) => void,
  versions?: UrlVersions,
): Promise<OpenedFile> {
  const { file, dtype } = request;
  const said = request.format === undefined ? undefined : formatOfFile(request.format, file);
  const elsewhere = folderFormat(file, said);
  const bytes = await openPlace(file, opened, versions, said);
  opened(bytes);
  const format = said ?? elsewhere ?? (await formatOf(bytes, file));
  const contents = await openContents(format, bytes, { dtype: dtype ?? needed });
  if (contents.close !== undefined) opened({ close: () => contents.close!() });
  if (dtype !== undefined) checkSaid(bytes.name, contents, dtype);
  return { file, format, bytes, contents };
}

/** Opens the bytes of a file, or the folder that a URL names. `said`: its format, where that was said. */
export async function openPlace(
  file: string,
  opened: (one: { close(): Promise<void> }) => void,
  versions?: UrlVersions,
  said?: Format,
): Promise<OpenBytes> {
  const isFolder = folderFormat(file, said) !== undefined;
  return isFolder ? openFolderOfUrls(file, opened, versions) : openBytes(file, opened, versions);
}

/** The format of a folder that a URL names; undefined where it names a file, or is none. */
function folderFormat(file: string, said: Format | undefined): Format | undefined {
  if (!isUrl(file)) return undefined;
  const format = said ?? formatOfName(file) ?? formatOfFolderUrl(file);
  return format?.mark === undefined ? undefined : format;
}

/** Has a format read what is in a file. */
export async function openContents(format: Format, bytes: OpenBytes, about: OpenRequest): Promise<Contents> {
  if (format.open === undefined) {
    const message = `${bytes.name} is of the format '${format.name}', which is written and not read`;
    throw problem('WS5004', message, `files that are read end in ${endingsOf('open').join(' ')}`);
  }
  if (bytes.folder !== undefined && format.mark === undefined) throw isFolder(bytes.name);
  if (format.seeks !== undefined && format.mark === undefined && bytes.readAt === undefined) {
    const message = `a file of the format '${format.name}' cannot be read from ${bytes.name}, because ${format.seeks}`;
    throw problem('WS5004', message, 'save it to a file first');
  }
  try {
    return await format.open(bytes, about);
  } catch (cause) {
    if (cause instanceof WarpstageError) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw problem('WS5004', `${bytes.name} cannot be read as '${format.name}': ${why}`, undefined, cause);
  }
}

/** The source of the array that is wanted. `bytes`: those of the file. */
export async function sourceOf(
  file: string,
  format: Format,
  { arrays, heldBytes = 0 }: Contents,
  wanted: Wanted,
  bytes?: OpenBytes,
): Promise<ElementSource | UnitSource> {
  const array = arrayOf(file, format, arrays, wanted);
  const name = array.name === undefined ? nameOf(file) : `column '${array.name}' of ${nameOf(file)}`;
  const { dtype, nulls = 0, unlike } = array;
  if (dtype === undefined && unlike !== undefined) {
    throw problem('WS5005', `${name} holds ${array.stored}: ${unlike}`, correctRow);
  }
  if (dtype === undefined) {
    throw problem(
      'WS5005',
      `${name} holds ${array.stored}; numbers or booleans are needed`,
      'turn it into numbers first, for example into the positions of a list of its values',
    );
  }
  const elements = await elementsOf(name, array, wanted);
  const held = heldBytes + (bytes?.heldBytes ?? 0);
  if ('bytes' in elements) return new ElementSource(name, elements.bytes, dtype, array, wanted, held);
  const source = new UnitSource(name, elements.dtype ?? dtype, array, elements, wanted, held);
  if (nulls > 0 && wanted.nulls === undefined) {
    throw hasNulls(name, `${count(nulls)} of ${count(source.length ?? nulls)} rows`);
  }
  return source;
}

async function elementsOf(name: string, array: StoredArray, { element, convert }: Wanted): Promise<Elements> {
  try {
    return await array.elements({ element, convert });
  } catch (cause) {
    if (cause instanceof WarpstageError) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw problem('WS5003', `${name} cannot be read: ${why}`, 'is the file damaged?', cause);
  }
}

/** What a path is called in messages. */
function nameOf(file: string): string {
  if (isUrl(file)) return shownUrl(file);
  return file === '-' ? 'standard input' : file;
}

function arrayOf(
  file: string,
  format: Format,
  arrays: readonly StoredArray[],
  { column }: Wanted,
): StoredArray {
  const only = arrays.length === 1 ? arrays[0] : undefined;
  const array = only?.name === undefined ? only : undefined;
  const found = array ?? arrays.find(({ name }) => name === column);
  if (found !== undefined) return found;
  const names = arrays.map(({ name }) => name).join(', ');
  throw problem(
    'WS5005',
    `${nameOf(file)} has no column '${column}'`,
    arrays.length === 0
      ? `it is a file of the format '${format.name}' that holds nothing`
      : `its columns are ${names}; choose one with --column (column in the job)`,
  );
}

async function formatOf(bytes: OpenBytes, file: string): Promise<Format> {
  const named = formatOfName(file);
  if (bytes.folder !== undefined) {
    const format = named?.mark === undefined ? formatOfFolder(bytes.folder) : named;
    if (format !== undefined) return format;
    throw isFolder(bytes.name);
  }
  if (named !== undefined && named.name !== 'raw') return named;
  const known = named === undefined ? unsupportedName(file) : undefined;
  if (known !== undefined) throw refused(bytes.name, known, 'by its name');
  const beginning = await bytes.peek(beginningBytes);
  const begun = formatOfBeginning(beginning);
  const unsupported = unsupportedBeginning(beginning);
  if (named !== undefined) {
    // Called raw, it begins as something else all the same.
    if (begun !== undefined) throw misnamed(bytes.name, begun);
    if (unsupported !== undefined) throw refused(bytes.name, unsupported, 'by how it begins');
    return named;
  }
  if (begun !== undefined) return begun;
  const within = await compressedBeginning(beginning);
  if (within !== undefined) return within;
  if (unsupported !== undefined) throw refused(bytes.name, unsupported, 'by how it begins');
  // A URL has a name, also where only its end tells how long it is.
  if (bytes.size !== undefined || isUrl(file)) throw unknown(bytes.name);
  if (isText(beginning)) throw text(bytes.name);
  return formatNamed('raw');
}

/** The format of a compressed file, by how what is in it begins. */
async function compressedBeginning(beginning: Uint8Array): Promise<Format | undefined> {
  const compression = compressionOfBeginning(beginning);
  if (compression === undefined) return undefined;
  const format = formatOfBeginning(await unpackedBeginning(compression, beginning));
  return format && compressedFormat(format, compression);
}

function isFolder(name: string): Error {
  const cause = Object.assign(new Error(), { code: 'EISDIR' });
  return unreadable(name, cause, 'check the path; it is taken from the current directory');
}

const rawHint = "if it holds bare numbers, say so: --raw (format: 'raw' in a program)";

function refused(name: string, { what, hint }: Unsupported, how: string): Error {
  return problem('WS5004', `${name} is ${what} ${how}, which is not read`, `${hint(name)}; ${rawHint}`);
}

function misnamed(name: string, { name: format, endings }: Format): Error {
  return problem(
    'WS5004',
    `${name} begins as a ${endings[0]} file does, and is called one of bare numbers`,
    `rename it, or say format: '${format}' in a program; ${rawHint}`,
  );
}

function unknown(name: string): Error {
  return problem(
    'WS5004',
    `${name} is in no format that is known: neither its name nor how it begins tells one`,
    `${rawHint}, or rename it to end in .bin, or in its type (.f32, .u8); ` +
      `files that are read end in ${endingsOf('open').slice(0, 12).join(' ')}`,
  );
}

function text(name: string): Error {
  return problem(
    'WS5004',
    `${name} is text, which is not read`,
    `if it is a table, say so: --format csv, or ndjson (format: 'csv' in a program); ${rawHint}`,
  );
}

/** Whether bytes are UTF-8 without control characters. Numbers, as they lie in memory, hardly ever are. */
function isText(bytes: Uint8Array): boolean {
  if (bytes.length === 0 || bytes.some((byte) => byte < 9 || (byte > 13 && byte < 32))) return false;
  try {
    // A character may be cut off at the end.
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/** What was said of a file's type must be so, where the file says it itself. */
function checkSaid(name: string, { arrays }: Contents, dtype: Dtype): void {
  const [array] = arrays;
  if (arrays.length !== 1 || array!.dtype === undefined || array!.dtype === dtype) return;
  throw problem(
    'WS5005',
    `${name} holds ${array!.dtype}, and not ${dtype}, as was said`,
    'leave the type out: --dtype (dtype in a program) is for files of bare numbers, which do not say theirs',
  );
}
