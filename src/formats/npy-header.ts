// The header of NumPy's .npy files, versions 1 to 3: reading and writing.
//
// A magic string, the version, the header's length, and then a literal of a Python dictionary
// (python-literal.ts) with exactly three keys. Whatever is wrong with it is refused, and what cannot be
// read is named together with the line of Python that mends it.

import { count } from '../diagnostics/count.ts';
import { problem } from '../diagnostics/problem.ts';
import { bytesOf } from '../kernel/layout.ts';
import type { ElementType } from '../kernel/types.ts';
import type { ByteReader } from './bytes.ts';
import { type Dtype, dtypeBytes } from './dtype.ts';
import { type PythonValue, parsePythonLiteral } from './python-literal.ts';
import { pythonText } from './python-text.ts';

/** What a header says. */
export interface NpyHeader {
  readonly dtype: Dtype;
  readonly shape: readonly number[];
  /** Product of the shape. */
  readonly length: number;
  /** Bytes before the first element. */
  readonly headerBytes: number;
  /** The type in NumPy's words: `<f4`. */
  readonly descr: string;
  /** Of the format: 1, 2 or 3. */
  readonly version: number;
}

const magic = '\x93NUMPY';
const formatHint = 'write it with numpy.save, or name the format: raw files end in .bin';
/** Longer ones are no headers: NumPy itself refuses those of over 10,000 bytes by default. */
const longest = 1 << 20;

/** By NumPy's codes. */
const dtypes: ReadonlyMap<string, Dtype> = new Map<string, Dtype>([
  ['b1', 'bool'],
  ['i1', 'i8'],
  ['u1', 'u8'],
  ['i2', 'i16'],
  ['u2', 'u16'],
  ['i4', 'i32'],
  ['u4', 'u32'],
  ['i8', 'i64'],
  ['u8', 'u64'],
  ['f2', 'f16'],
  ['f4', 'f32'],
  ['f8', 'f64'],
]);

/** Whether bytes begin as a .npy file does. */
export function hasNpyMagic(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.subarray(0, 6)).toString('latin1') === magic;
}

/** Reads the header from the beginning of a file or stream, and leaves it at the first element. */
export async function readNpyHeader(bytes: ByteReader): Promise<NpyHeader> {
  const { name } = bytes;
  const prefix = await exactly(bytes, 10);
  if (prefix.length === 0)
    throw problem('WS5003', `${name} is empty; a .npy file has at least a header`, formatHint);
  if (!hasNpyMagic(prefix)) {
    throw problem('WS5004', `${name} is no .npy file: it does not begin as one`, formatHint);
  }
  if (prefix.length < 10) throw truncatedHeader(name, prefix.length, 10);
  const version = prefix[6]!;
  if (version < 1 || version > 3) {
    throw problem(
      'WS5004',
      `${name} has version ${version} of the .npy format; 1 to 3 are known`,
      formatHint,
    );
  }
  let length = prefix[8]! | (prefix[9]! << 8);
  let start = 10;
  if (version > 1) {
    const more = await exactly(bytes, 2);
    if (more.length < 2) throw truncatedHeader(name, 10 + more.length, 12);
    length += more[0]! * 2 ** 16 + more[1]! * 2 ** 24;
    start = 12;
  }
  if (length > longest) throw malformed(name, `its length is given as ${count(length)} bytes`);
  const text = await exactly(bytes, length);
  if (text.length < length) throw truncatedHeader(name, start + text.length, start + length);
  const encoding = version === 3 ? 'utf8' : 'latin1';
  return { ...parseHeader(name, Buffer.from(text).toString(encoding)), headerBytes: start + length, version };
}

/** The bytes of a header for elements of a type. Every shape of the same rank gives as many. */
export function npyHeader(element: ElementType, shape: readonly number[]): Uint8Array {
  const code = [...dtypes].find(([, dtype]) => dtype === element)?.[0];
  if (code === undefined) {
    throw problem(
      'WS5006',
      `a .npy file cannot hold ${element}: NumPy has no such type`,
      `write it raw, to a file that ends in .bin, or let the kernel write f32`,
    );
  }
  const order = bytesOf(element) === 1 ? '|' : '<';
  const extents = `(${shape.join(', ')}${shape.length === 1 ? ',' : ''})`;
  const text = `{'descr': '${order}${code}', 'fortran_order': False, 'shape': ${extents}, }`;
  // Room for the largest extents, so that a header can be written before the shape is known.
  const room = 80 + 18 * shape.length;
  const total = Math.ceil((10 + room) / 64) * 64;
  const bytes = new Uint8Array(total).fill(0x20);
  bytes.set([0x93, ...new TextEncoder().encode('NUMPY'), 1, 0, (total - 10) & 255, (total - 10) >> 8]);
  bytes.set(new TextEncoder().encode(text), 10);
  bytes[total - 1] = 0x0a;
  return bytes;
}

function parseHeader(name: string, text: string): Omit<NpyHeader, 'headerBytes' | 'version'> {
  const header = literalOf(name, text);
  const keys = header instanceof Map ? [...header.keys()].sort().join(', ') : undefined;
  if (!(header instanceof Map) || keys !== 'descr, fortran_order, shape') {
    const has = keys === undefined ? 'is no dictionary' : `has ${keys || 'none'}`;
    throw malformed(name, `it must have the keys descr, fortran_order and shape, and ${has}`);
  }
  const shape = shapeOf(name, header.get('shape')!);
  const length = shape.reduce((product, extent) => product * extent, 1);
  if (!Number.isSafeInteger(length)) throw malformed(name, `the shape (${shape.join(', ')}) is too large`);
  const descr = header.get('descr')!;
  const dtype = parseDescr(name, descr);
  const fortran = header.get('fortran_order');
  if (typeof fortran !== 'boolean') throw malformed(name, 'its fortran_order is neither True nor False');
  if (fortran && length > 0 && shape.filter((extent) => extent > 1).length > 1) {
    throw problem(
      'WS5004',
      `${name} is stored column by column (fortran_order), and is read row by row`,
      `save it row by row: numpy.save(${pythonText(name)}, numpy.ascontiguousarray(x))`,
    );
  }
  return { dtype, shape, length, descr: String(descr) };
}

function literalOf(name: string, text: string): PythonValue {
  try {
    return parsePythonLiteral(text);
  } catch (cause) {
    throw malformed(name, (cause as SyntaxError).message);
  }
}

function shapeOf(name: string, value: PythonValue): readonly number[] {
  const isExtent = (one: PythonValue): one is number =>
    typeof one === 'number' && Number.isSafeInteger(one) && one >= 0;
  if (Array.isArray(value) && value.every(isExtent)) return value;
  throw malformed(name, 'its shape is no tuple of whole numbers');
}

/** Of a list of fields, each a tuple that begins with its name, or with a title and the name. */
function firstField(descr: PythonValue): string {
  const [first] = Array.isArray(descr) ? (descr as readonly PythonValue[]) : [];
  const [named] = Array.isArray(first) ? (first as readonly PythonValue[]) : [];
  const name = Array.isArray(named) ? (named as readonly PythonValue[])[1] : named;
  return typeof name === 'string' && name !== '' ? name : 'field';
}

function parseDescr(name: string, descr: PythonValue): Dtype {
  if (typeof descr !== 'string') {
    const hint = `save one field: numpy.save(${pythonText(name)}, x[${pythonText(firstField(descr))}])`;
    throw problem('WS5004', `${name} holds records of several fields; elements of one type are read`, hint);
  }
  const order = /^[<>|=]/.exec(descr)?.[0];
  const code = descr.slice(order?.length ?? 0);
  const dtype = dtypes.get(code);
  if (dtype === undefined) {
    const known = [...dtypes.keys()].join(' ');
    const hint = `convert it first: numpy.save(${pythonText(name)}, x.astype('<f4'))`;
    throw problem(
      'WS5004',
      `${name} has elements of type ${inWords(descr)}; the types that are read are ${known}`,
      hint,
    );
  }
  if (order === '>' && dtypeBytes[dtype] > 1) {
    throw problem(
      'WS5004',
      `${name} has big-endian elements ('${descr}'), and little-endian ones are read`,
      `save it little-endian: numpy.save(${pythonText(name)}, x.astype('<${code}'))`,
    );
  }
  return dtype;
}

/** A type as a message shows it: in one line, and not a whole page of it. */
function inWords(descr: string): string {
  const line = JSON.stringify(descr).slice(1, -1);
  return `'${line.length > 40 ? `${line.slice(0, 40)}…` : line}'`;
}

function malformed(name: string, why: string): Error {
  return problem('WS5004', `the header of ${name} cannot be understood: ${why}`, formatHint);
}

function truncatedHeader(name: string, actual: number, expected: number): Error {
  const hint = 'copy or download it again';
  return problem(
    'WS5003',
    `${name} is truncated: its header takes ${expected} bytes, and ${actual} are there`,
    hint,
  );
}

async function exactly(bytes: ByteReader, length: number): Promise<Uint8Array> {
  const into = new Uint8Array(length);
  return into.subarray(0, await bytes.read(into));
}
