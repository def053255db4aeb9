// The header of NumPy's .npy files, versions 1 to 3: reading and writing.
//
// A magic string, the version, the header's length, and then a literal of a Python dictionary
// with exactly three keys. It says everything that we need, and what we cannot read is named
// together with the line of Python that mends it.

import { count, problem } from '../diagnostics/problem.ts';
import { type ElementType, elementBytes } from '../kernel/types.ts';
import type { ByteReader } from './bytes.ts';
import { type Dtype, dtypeBytes } from './dtype.ts';

/** What a header says. */
export interface NpyHeader {
  readonly dtype: Dtype;
  readonly shape: readonly number[];
  /** Product of the shape. */
  readonly length: number;
  /** Bytes before the first element. */
  readonly headerBytes: number;
}

const magic = '\x93NUMPY';
const formatHint = 'write it with numpy.save, or name the format: raw files end in .bin';

const dtypes: Readonly<Record<string, Dtype>> = {
  b1: 'bool',
  i1: 'i8',
  u1: 'u8',
  i2: 'i16',
  u2: 'u16',
  i4: 'i32',
  u4: 'u32',
  i8: 'i64',
  u8: 'u64',
  f2: 'f16',
  f4: 'f32',
  f8: 'f64',
};

/** Whether bytes begin as a .npy file does. */
export function hasNpyMagic(bytes: Uint8Array): boolean {
  return latin1(bytes.subarray(0, 6)) === magic;
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
  if (length > 1 << 20) throw malformed(name, `its length is given as ${count(length)} bytes`);
  const text = await exactly(bytes, length);
  if (text.length < length) throw truncatedHeader(name, start + text.length, start + length);
  return parseHeader(name, latin1(text), start + length);
}

/** The bytes of a header for elements of a type. Every shape of the same rank gives as many. */
export function npyHeader(element: ElementType, shape: readonly number[]): Uint8Array {
  const code = Object.keys(dtypes).find((one) => dtypes[one] === element);
  if (code === undefined) {
    throw problem(
      'WS5006',
      `a .npy file cannot hold ${element}: NumPy has no such type`,
      `write it raw, to a file that ends in .bin, or let the kernel write f32`,
    );
  }
  const order = elementBytes[element] === 1 ? '|' : '<';
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

function parseHeader(name: string, text: string, headerBytes: number): NpyHeader {
  const descr = /'descr':\s*('([^']*)'|\[)/.exec(text);
  const fortran = /'fortran_order':\s*(True|False)/.exec(text);
  const extents = /'shape':\s*\(([\d,\sL]*)\)/.exec(text);
  if (descr === null || fortran === null || extents === null) {
    throw malformed(name, "it lacks 'descr', 'fortran_order' or 'shape'");
  }
  const shape = extents[1]!
    .split(',')
    .map((extent) => extent.replace('L', '').trim())
    .filter((extent) => extent !== '')
    .map(Number);
  const length = shape.reduce((product, extent) => product * extent, 1);
  if (!Number.isSafeInteger(length)) throw malformed(name, `the shape (${shape.join(', ')}) is too large`);
  const dtype = parseDescr(name, descr[2]);
  if (fortran[1] === 'True' && shape.filter((extent) => extent > 1).length > 1) {
    throw problem(
      'WS5004',
      `${name} is stored column by column (fortran_order), and is read row by row`,
      `save it row by row: numpy.save('${name}', numpy.ascontiguousarray(x))`,
    );
  }
  return { dtype, shape, length, headerBytes };
}

function parseDescr(name: string, descr: string | undefined): Dtype {
  if (descr === undefined) {
    const hint = "save one field: numpy.save('x.npy', x['field'])";
    throw problem('WS5004', `${name} holds records of several fields; elements of one type are read`, hint);
  }
  const [, order, code] = /^([<>|=]?)(.*)$/.exec(descr)!;
  const dtype = dtypes[code!];
  if (dtype === undefined) {
    const known = Object.keys(dtypes).join(' ');
    const hint = "convert it first: numpy.save('x.npy', x.astype('<f4'))";
    throw problem(
      'WS5004',
      `${name} has elements of type '${descr}'; the types that are read are ${known}`,
      hint,
    );
  }
  if (order === '>' && dtypeBytes[dtype] > 1) {
    throw problem(
      'WS5004',
      `${name} has big-endian elements ('${descr}'), and little-endian ones are read`,
      `save it little-endian: numpy.save('${name}', x.astype('<${code}'))`,
    );
  }
  return dtype;
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

function latin1(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}
