// Boxes of bytes: the shape that every copy comes down to.
//
// A box is `depth` planes of `height` rows of `width` bytes. On each side of a copy the rows lie
// a pitch apart and the planes a larger one. A plain copy is a box of one row.

/** How much is copied: bytes of a row, rows of a plane, planes. */
export interface Box {
  readonly width: number;
  readonly height: number;
  readonly depth: number;
}

/** How a box lies in memory: bytes from one row, and from one plane, to the next. */
export interface Layout {
  readonly row: number;
  readonly plane: number;
}

/** Bytes of a box. */
export function boxBytes(box: Box): number {
  return box.width * box.height * box.depth;
}

/** The layout of a box without gaps. */
export function denseLayout(box: Box): Layout {
  return { row: box.width, plane: box.width * box.height };
}

function isDense(box: Box, layout: Layout): boolean {
  return (
    (box.height === 1 || layout.row === box.width) &&
    (box.depth === 1 || layout.plane === box.width * box.height)
  );
}

/** A box of one row if both sides are without gaps, else the box itself. */
export function flattened(box: Box, one: Layout, other: Layout): Box {
  if (!isDense(box, one) || !isDense(box, other)) return box;
  return { width: boxBytes(box), height: 1, depth: 1 };
}

/** Copies a box. Within one buffer a row may overlap its own destination. */
export function copyBox(
  destination: Uint8Array,
  to: Layout & { readonly offset: number },
  source: Uint8Array,
  from: Layout & { readonly offset: number },
  box: Box,
): void {
  const { width, height, depth } = flattened(box, to, from);
  const within = destination.buffer === source.buffer && destination.byteOffset === source.byteOffset;
  for (let z = 0; z < depth; ++z) {
    for (let y = 0; y < height; ++y) {
      const begin = from.offset + z * from.plane + y * from.row;
      const target = to.offset + z * to.plane + y * to.row;
      if (within) destination.copyWithin(target, begin, begin + width);
      else destination.set(source.subarray(begin, begin + width), target);
    }
  }
}

/** Bytes that are set one by one before the rest is copied from them: small enough for a first-level cache. */
const seedBytes = 16384;

/** Sets bytes; several times as fast as `fill`, which goes byte by byte over shared memory. */
export function fillBytes(bytes: Uint8Array, begin: number, end: number, byte: number): void {
  const seedEnd = Math.min(end, begin + seedBytes);
  bytes.fill(byte, begin, seedEnd);
  for (let at = seedEnd; at < end; at += seedBytes) {
    bytes.copyWithin(at, begin, Math.min(seedEnd, begin + end - at));
  }
}
