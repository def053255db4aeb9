// The elements of a Zarr array in their order, in units of whole bands.
//
// A band is what lies side by side: where chunks have an extent of 1 first, as many first places as that; then the rows of
// one chunk, with all that belongs to these rows. Its chunks are read side by side, and put in its rows. Units have several
// bands where these are small, so that there are never many units, whatever an array says of its extents.

import { problem } from '../diagnostics/problem.ts';
import { decodeHalf } from '../kernel/half.ts';
import { dtypeBytes } from './dtype.ts';
import type { DecodedValues, ElementsInUnits } from './format.ts';
import { viewElements } from './typed-arrays.ts';
import { type Chunks, partOf, placesIn } from './zarr-chunks.ts';
import type { ZarrArray } from './zarr-metadata.ts';

/** Elements of a unit, where a band has no more. */
const unitElements = 2 ** 20;
const mostUnits = 2 ** 20;
/** Of a unit. */
const mostBytes = 2 ** 30;
/** Chunks that are read side by side. */
const atOnce = 8;

/** How an array is cut into bands. */
interface Bands {
  /** The extents before this one have one place in a band. */
  readonly axis: number;
  /** Bands of each such place, and how many there are of them. */
  readonly each: number;
  readonly all: number;
  /** Elements from one place of the axis to the next. */
  readonly row: number;
  /** Rows of a band, and of all. */
  readonly rows: number;
  readonly extent: number;
}

/** The elements of an array. Throws WS5004 where its bands are too large. */
export function elementsOf(array: ZarrArray, chunks: Chunks): ElementsInUnits {
  const { name, dtype } = array;
  const bands = bandsOf(array.shape, chunks.grain);
  const size = dtypeBytes[dtype];
  const ofBand = bands.row * Math.min(bands.rows, bands.extent);
  const perUnit = Math.max(
    1,
    Math.floor(unitElements / Math.max(1, ofBand)),
    Math.ceil(bands.all / mostUnits),
  );
  const unit = Math.min(perUnit, bands.all) * ofBand;
  if (!(unit * size <= mostBytes)) {
    throw problem(
      'WS5004',
      `${name} has ${bands.all} times ${bands.rows} rows of ${bands.row} elements side by side, which are more than ${mostBytes / 2 ** 20} MiB at once`,
      'write it with chunks of fewer rows',
    );
  }
  const ofEach = array.shape
    .slice(bands.axis + 1)
    .reduce((product, one, i) => product * Math.ceil(one / chunks.grain[bands.axis + 1 + i]!), 1);
  const inUnit = Math.max(1, Math.min(perUnit, bands.all) * ofEach);
  const before = (band: number) =>
    (Math.floor(band / bands.each) * bands.extent +
      Math.min((band % bands.each) * bands.rows, bands.extent)) *
    bands.row;
  const endOf = (unit: number) => Math.min((unit + 1) * perUnit, bands.all);
  return {
    lengths: Array.from(
      { length: Math.ceil(bands.all / perUnit) },
      (_, unit) => before(endOf(unit)) - before(unit * perUnit),
    ),
    decodingBytes: 2 * unit * size + Math.min(atOnce, inUnit) * chunks.bytesOfOne,
    async decode(unit) {
      const first = unit * perUnit;
      const bytes = new Uint8Array((before(endOf(unit)) - before(first)) * size);
      await fillBands(array, chunks, bands, { bytes, first, end: endOf(unit), before });
      return valuesOf(array, bytes);
    },
  };
}

function bandsOf(shape: readonly number[], grain: readonly number[]): Bands {
  const found = grain.findIndex((extent) => extent > 1);
  const axis = Math.max(0, found < 0 ? grain.length - 1 : found);
  // A scalar is a row of one element.
  const [extent = 1, rows = 1] = [shape[axis], grain[axis]];
  const row = shape.slice(axis + 1).reduce((product, one) => product * one, 1);
  const places = shape.slice(0, axis).reduce((product, one) => product * one, 1);
  const each = row === 0 ? 0 : Math.ceil(extent / rows);
  return { axis, each, all: places * each, row, rows, extent };
}

interface Wanted {
  readonly bytes: Uint8Array;
  readonly first: number;
  readonly end: number;
  /** Elements before a band. */
  readonly before: (band: number) => number;
}

/** Puts the chunks of bands, and what stands for those that are missing, where they belong. */
async function fillBands(array: ZarrArray, chunks: Chunks, bands: Bands, wanted: Wanted): Promise<void> {
  const { shape, fill, name } = array;
  const { bytes, first, end, before } = wanted;
  if (fill?.some((byte) => byte !== 0)) fillElements(bytes, fill);
  const { axis, each, rows, extent } = bands;
  const across = shape.slice(axis + 1).map((one, i) => Math.ceil(one / chunks.grain[axis + 1 + i]!));
  const steps = shape.map((_, i) =>
    i < axis ? 0 : shape.slice(i + 1).reduce((product, one) => product * one, 1),
  );
  const reading = new Set<Promise<void>>();
  try {
    for (let band = first; band < end; band++) {
      const lead = leadOf(shape.slice(0, axis), Math.floor(band / each));
      const row = band % each;
      const view = {
        bytes,
        begin: before(band) - before(first),
        steps,
        counts: shape.map((one, i) => (i < axis ? 1 : i > axis ? one : Math.min(rows, extent - row * rows))),
      };
      for (const place of placesIn(across)) {
        const own = shape.length === 0 ? [] : [...lead, row, ...place];
        const part = partOf(
          view,
          own.map((at, i) => (i <= axis ? 0 : at)),
          chunks.grain,
        );
        const read = chunks.read(own, part).then((isThere) => {
          if (!isThere && fill === undefined) throw missing(name, own);
        });
        // Its error is that of who waits for all.
        read.catch(() => {});
        const done = read.finally(() => reading.delete(done));
        done.catch(() => {});
        reading.add(done);
        if (reading.size >= atOnce) await Promise.race(reading);
      }
    }
    await Promise.all(reading);
  } finally {
    // Nothing writes to these bytes behind what has failed.
    await Promise.allSettled(reading);
  }
}

function leadOf(extents: readonly number[], position: number): number[] {
  const place: number[] = [];
  for (let i = extents.length - 1, left = position; i >= 0; i--) {
    place[i] = left % extents[i]!;
    left = Math.floor(left / extents[i]!);
  }
  return place;
}

function fillElements(bytes: Uint8Array, fill: Uint8Array): void {
  bytes.set(fill.subarray(0, bytes.length));
  for (let done = fill.length; done < bytes.length; done *= 2) bytes.copyWithin(done, 0, done);
}

function valuesOf({ dtype }: ZarrArray, bytes: Uint8Array): DecodedValues {
  const count = bytes.length / dtypeBytes[dtype];
  if (dtype === 'bool') return bytes.map((byte) => Number(byte !== 0));
  const values = viewElements(dtype, bytes.buffer, bytes.byteOffset, count);
  return dtype === 'f16' || dtype === 'bf16'
    ? Float32Array.from(values as Uint16Array, (bits) => decodeHalf(dtype, bits))
    : values;
}

function missing(name: string, place: readonly number[]): Error {
  return problem(
    'WS5003',
    `${name} has no chunk (${place.join(', ')}), and no fill_value says what stands for it`,
    'copy or download it again',
  );
}
