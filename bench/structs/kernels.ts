// Kernels of the suite `structs`, each as it is written with records, with strides over one array of the same bytes, and
// with an array for each field. All texts say the same, operation for operation.

import { type Kernel, kernel, struct } from 'warpstage';

const point = struct({ x: 'f32', y: 'f32' });
const body = struct({ position: 'f32x3', mass: 'f32' });
const box = struct({ low: point, high: point });

const points = { to: point.array, from: point.readonlyArray } as const;
const flat = { to: 'f32[]', from: 'readonly f32[]' } as const;

const wholeOfStructs = kernel(points, ({ to, from }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i >= to.length) return;
  const p = from[i]!;
  to[i] = { x: 2 * p.x + p.y, y: p.y - p.x };
});

const wholeOfFlat = kernel({ ...flat, n: 'index' }, ({ to, from, n }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i >= n) return;
  const x = from[2 * i]!;
  const y = from[2 * i + 1]!;
  const y1 = y - x;
  to[2 * i] = 2 * x + y;
  to[2 * i + 1] = y1;
});

const wholeOfEach = kernel(
  { toX: 'f32[]', toY: 'f32[]', x: 'readonly f32[]', y: 'readonly f32[]' },
  ({ toX, toY, x, y }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    if (i >= toX.length) return;
    const px = x[i]!;
    const py = y[i]!;
    const y1 = py - px;
    toX[i] = 2 * px + py;
    toY[i] = y1;
  },
);

const fieldOfStructs = kernel(
  { out: 'f32[]', from: point.readonlyArray, a: 'f32' },
  ({ out, from, a }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    if (i < out.length) out[i] = from[i]!.y * a + 1;
  },
);

const fieldOfFlat = kernel({ out: 'f32[]', from: 'readonly f32[]', a: 'f32' }, ({ out, from, a }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i < out.length) out[i] = from[2 * i + 1]! * a + 1;
});

const setFieldOfStructs = kernel({ to: point.array, from: 'readonly f32[]' }, ({ to, from }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i < from.length) to[i]!.x = from[i]! * 3;
});

const setFieldOfFlat = kernel({ to: 'f32[]', from: 'readonly f32[]' }, ({ to, from }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i < from.length) to[2 * i] = from[i]! * 3;
});

const bodies = { to: body.array, from: body.readonlyArray, dt: 'f32' } as const;

const vectorOfStructs = kernel(bodies, ({ to, from, dt }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i >= to.length) return;
  const { position: p, mass } = from[i]!;
  const by = dt / mass;
  to[i] = { position: cuda.f32x3(p.x + p.y * by, p.y + p.z * by, p.z + p.x * by), mass };
});

const vectorOfFlat = kernel({ ...flat, n: 'index', dt: 'f32' }, ({ to, from, n, dt }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i >= n) return;
  const x = from[4 * i]!;
  const y = from[4 * i + 1]!;
  const z = from[4 * i + 2]!;
  const mass = from[4 * i + 3]!;
  const by = dt / mass;
  const x1 = x + y * by;
  const y1 = y + z * by;
  const z1 = z + x * by;
  to[4 * i] = x1;
  to[4 * i + 1] = y1;
  to[4 * i + 2] = z1;
  to[4 * i + 3] = mass;
});

const separate = {
  toX: 'f32[]',
  toY: 'f32[]',
  toZ: 'f32[]',
  toW: 'f32[]',
  x: 'readonly f32[]',
  y: 'readonly f32[]',
  z: 'readonly f32[]',
  w: 'readonly f32[]',
} as const;

const vectorOfEach = kernel({ ...separate, dt: 'f32' }, ({ toX, toY, toZ, toW, x, y, z, w, dt }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i >= toX.length) return;
  const [px, py, pz, mass] = [x[i]!, y[i]!, z[i]!, w[i]!];
  const by = dt / mass;
  const x1 = px + py * by;
  const y1 = py + pz * by;
  const z1 = pz + px * by;
  toX[i] = x1;
  toY[i] = y1;
  toZ[i] = z1;
  toW[i] = mass;
});

const nestedOfStructs = kernel(
  { to: box.array, from: box.readonlyArray, by: 'f32' },
  ({ to, from, by }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    if (i >= to.length) return;
    const { low, high } = from[i]!;
    const [dx, dy] = [(high.x - low.x) * by, (high.y - low.y) * by];
    to[i] = { low: { x: low.x - dx, y: low.y - dy }, high: { x: high.x + dx, y: high.y + dy } };
  },
);

const nestedOfFlat = kernel({ ...flat, n: 'index', by: 'f32' }, ({ to, from, n, by }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i >= n) return;
  const [x0, y0, x1, y1] = [from[4 * i]!, from[4 * i + 1]!, from[4 * i + 2]!, from[4 * i + 3]!];
  const [dx, dy] = [(x1 - x0) * by, (y1 - y0) * by];
  const [a, b, c, d] = [x0 - dx, y0 - dy, x1 + dx, y1 + dy];
  to[4 * i] = a;
  to[4 * i + 1] = b;
  to[4 * i + 2] = c;
  to[4 * i + 3] = d;
});

const nestedOfEach = kernel({ ...separate, by: 'f32' }, ({ toX, toY, toZ, toW, x, y, z, w, by }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i >= toX.length) return;
  const [x0, y0, x1, y1] = [x[i]!, y[i]!, z[i]!, w[i]!];
  const [dx, dy] = [(x1 - x0) * by, (y1 - y0) * by];
  const [a, b, c, d] = [x0 - dx, y0 - dy, x1 + dx, y1 + dy];
  toX[i] = a;
  toY[i] = b;
  toZ[i] = c;
  toW[i] = d;
});

const turns = 64;

/** A record that changes, beside three variables. */
const recordOfStructs = kernel({ out: 'f32[]', from: 'readonly f32[]' }, ({ out, from }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i >= out.length) return;
  const found = { sum: cuda.f32(0), most: cuda.f32(-1e30), at: 0 };
  for (let k = 0; k < 64; k++) {
    const value = from[i + k * 64]!;
    found.sum += value;
    if (value > found.most) {
      found.most = value;
      found.at = k;
    }
  }
  out[i] = found.sum + found.most * cuda.f32(found.at);
});

const recordOfFlat = kernel({ out: 'f32[]', from: 'readonly f32[]' }, ({ out, from }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i >= out.length) return;
  let sum = cuda.f32(0);
  let most = cuda.f32(-1e30);
  let at = 0;
  for (let k = 0; k < 64; k++) {
    const value = from[i + k * 64]!;
    sum += value;
    if (value > most) {
      most = value;
      at = k;
    }
  }
  out[i] = sum + most * cuda.f32(at);
});

/** Tiles of shared memory: each thread writes its record, reads its neighbour's and then those of a run alike. */
const sharedOfStructs = kernel(
  { out: 'f32[]', from: point.readonlyArray, point },
  ({ out, from, point }, cuda) => {
    const tile = cuda.sharedArray(point, 257);
    const i = cuda.thisGrid().threadRank();
    const t = cuda.threadIdx.x;
    if (t === 0) tile[256] = { x: 0, y: 0 };
    tile[t] = from[i]!;
    cuda.syncthreads();
    const next = tile[t + 1]!;
    let sum = next.x - next.y;
    for (let k = 0; k < 64; k++) sum += tile[k]!.x * next.x + tile[k]!.y;
    out[i] = sum;
  },
);

const sharedOfFlat = kernel({ out: 'f32[]', from: 'readonly f32[]' }, ({ out, from }, cuda) => {
  const tile = cuda.sharedArray('f32', 514);
  const i = cuda.thisGrid().threadRank();
  const t = cuda.threadIdx.x;
  if (t === 0) {
    tile[512] = 0;
    tile[513] = 0;
  }
  const x = from[2 * i]!;
  const y = from[2 * i + 1]!;
  tile[2 * t] = x;
  tile[2 * t + 1] = y;
  cuda.syncthreads();
  const nextX = tile[2 * (t + 1)]!;
  const nextY = tile[2 * (t + 1) + 1]!;
  let sum = nextX - nextY;
  for (let k = 0; k < 64; k++) sum += tile[2 * k]! * nextX + tile[2 * k + 1]!;
  out[i] = sum;
});

const sharedOfEach = kernel(
  { out: 'f32[]', x: 'readonly f32[]', y: 'readonly f32[]' },
  ({ out, x, y }, cuda) => {
    const tileX = cuda.sharedArray('f32', 257);
    const tileY = cuda.sharedArray('f32', 257);
    const i = cuda.thisGrid().threadRank();
    const t = cuda.threadIdx.x;
    if (t === 0) {
      tileX[256] = 0;
      tileY[256] = 0;
    }
    tileX[t] = x[i]!;
    tileY[t] = y[i]!;
    cuda.syncthreads();
    const nextX = tileX[t + 1]!;
    const nextY = tileY[t + 1]!;
    let sum = nextX - nextY;
    for (let k = 0; k < 64; k++) sum += tileX[k]! * nextX + tileY[k]!;
    out[i] = sum;
  },
);

export interface Work {
  readonly structs: Kernel;
  readonly flat: Kernel;
  /** Where an array for each field asks memory for the same bytes. */
  readonly separate?: Kernel;
  /** Numbers that a thread has of `from` and of what it writes: 1 is an array of its own kind. */
  readonly numbers: { readonly from: number; readonly to: number };
  readonly scalars?: Readonly<Record<string, number>>;
  /** Elements of `from` behind those of the threads. */
  readonly behind?: number;
  readonly times: number;
}

export const works: Readonly<Record<string, Work>> = {
  whole: {
    structs: wholeOfStructs,
    flat: wholeOfFlat,
    separate: wholeOfEach,
    numbers: { from: 2, to: 2 },
    times: 64,
  },
  'one field read': {
    structs: fieldOfStructs,
    flat: fieldOfFlat,
    numbers: { from: 2, to: 1 },
    scalars: { a: 3 },
    times: 64,
  },
  'one field written': {
    structs: setFieldOfStructs,
    flat: setFieldOfFlat,
    numbers: { from: 1, to: 2 },
    times: 64,
  },
  'vector field': {
    structs: vectorOfStructs,
    flat: vectorOfFlat,
    separate: vectorOfEach,
    numbers: { from: 4, to: 4 },
    scalars: { dt: 0.5 },
    times: 32,
  },
  nested: {
    structs: nestedOfStructs,
    flat: nestedOfFlat,
    separate: nestedOfEach,
    numbers: { from: 4, to: 4 },
    scalars: { by: 0.25 },
    times: 32,
  },
  'local record': {
    structs: recordOfStructs,
    flat: recordOfFlat,
    numbers: { from: 1, to: 1 },
    behind: turns * 64,
    times: 8,
  },
  'shared memory': {
    structs: sharedOfStructs,
    flat: sharedOfFlat,
    separate: sharedOfEach,
    numbers: { from: 2, to: 1 },
    times: 16,
  },
};
