// Kernels of the suite `shapes`, each as it is written with arrays of two dimensions and with flattened indices.
// Both texts say the same, test for test.

import { type Kernel, kernel } from 'warpstage';

const size = { rows: 'index', columns: 'index' } as const;
const images = { to: 'f32[][]', from: 'readonly f32[][]' } as const;
const flat = { to: 'f32[]', from: 'readonly f32[]', ...size, pitch: 'index' } as const;

const copyShaped = kernel(images, ({ to, from }, cuda) => {
  const x = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x;
  const y = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y;
  if (y >= to.length || x >= to[y]!.length) return;
  to[y]![x] = 2 * from[y]![x]!;
});

const copyFlattened = kernel(flat, ({ to, from, rows, columns, pitch }, cuda) => {
  const x = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x;
  const y = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y;
  if (y >= rows || x >= columns) return;
  to[y * pitch + x] = 2 * from[y * pitch + x]!;
});

const stencilShaped = kernel(images, ({ to, from }, cuda) => {
  const x = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x;
  const y = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y;
  if (y < 1 || y >= from.length - 1 || x < 1 || x >= from[y]!.length - 1) return;
  to[y]![x] =
    0.2 * (from[y]![x]! + from[y]![x - 1]! + from[y]![x + 1]! + from[y - 1]![x]! + from[y + 1]![x]!);
});

const stencilFlattened = kernel(flat, ({ to, from, rows, columns, pitch }, cuda) => {
  const x = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x;
  const y = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y;
  if (y < 1 || y >= rows - 1 || x < 1 || x >= columns - 1) return;
  to[y * pitch + x] =
    0.2 *
    (from[y * pitch + x]! +
      from[y * pitch + x - 1]! +
      from[y * pitch + x + 1]! +
      from[(y - 1) * pitch + x]! +
      from[(y + 1) * pitch + x]!);
});

/** Each thread writes to a column. */
const transposedShaped = kernel(images, ({ to, from }, cuda) => {
  const x = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x;
  const y = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y;
  if (y >= from.length || x >= from[y]!.length) return;
  to[x]![y] = from[y]![x]!;
});

const transposedFlattened = kernel(flat, ({ to, from, rows, columns, pitch }, cuda) => {
  const x = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x;
  const y = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y;
  if (y >= rows || x >= columns) return;
  to[x * pitch + y] = from[y * pitch + x]!;
});

/** Through a tile of shared memory, whose rows are one element longer than what is in them. Blocks of 32 x 8 threads. */
const tiledShaped = kernel(images, ({ to, from }, cuda) => {
  const tile = cuda.sharedArray('f32', [32, 33]);
  const { x: tx, y: ty } = cuda.threadIdx;
  const [left, top] = [cuda.blockIdx.x * 32, cuda.blockIdx.y * 32];
  for (let row = ty; row < 32; row += 8) {
    if (top + row < from.length && left + tx < from[0]!.length) tile[row]![tx] = from[top + row]![left + tx]!;
  }
  cuda.syncthreads();
  for (let row = ty; row < 32; row += 8) {
    if (left + row < to.length && top + tx < to[0]!.length) to[left + row]![top + tx] = tile[tx]![row]!;
  }
});

const tiledFlattened = kernel(flat, ({ to, from, rows, columns, pitch }, cuda) => {
  const tile = cuda.sharedArray('f32', 32 * 33);
  const { x: tx, y: ty } = cuda.threadIdx;
  const [left, top] = [cuda.blockIdx.x * 32, cuda.blockIdx.y * 32];
  for (let row = ty; row < 32; row += 8) {
    if (top + row < rows && left + tx < columns) tile[row * 33 + tx] = from[(top + row) * pitch + left + tx]!;
  }
  cuda.syncthreads();
  for (let row = ty; row < 32; row += 8) {
    if (left + row < columns && top + tx < rows) to[(left + row) * pitch + top + tx] = tile[tx * 33 + row]!;
  }
});

/** Squares a matrix. */
const productShaped = kernel(images, ({ to, from }, cuda) => {
  const x = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x;
  const y = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y;
  if (y >= to.length || x >= to[y]!.length) return;
  let sum = cuda.f32(0);
  for (let k = 0; k < from.length; k++) sum += from[y]![k]! * from[k]![x]!;
  to[y]![x] = sum;
});

const productFlattened = kernel(flat, ({ to, from, rows, columns, pitch }, cuda) => {
  const x = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x;
  const y = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y;
  if (y >= rows || x >= columns) return;
  let sum = cuda.f32(0);
  for (let k = 0; k < rows; k++) sum += from[y * pitch + k]! * from[k * pitch + x]!;
  to[y * pitch + x] = sum;
});

/** Squares a matrix, by tiles of shared memory. Blocks of 16 x 16 threads, which divide the matrix. */
const tiledProductShaped = kernel(images, ({ to, from }, cuda) => {
  const a = cuda.sharedArray('f32', [16, 16]);
  const b = cuda.sharedArray('f32', [16, 16]);
  const { x: tx, y: ty } = cuda.threadIdx;
  const [x, y] = [cuda.blockIdx.x * 16 + tx, cuda.blockIdx.y * 16 + ty];
  let sum = cuda.f32(0);
  for (let first = 0; first < from.length; first += 16) {
    a[ty]![tx] = from[y]![first + tx]!;
    b[ty]![tx] = from[first + ty]![x]!;
    cuda.syncthreads();
    for (let k = 0; k < 16; k++) sum += a[ty]![k]! * b[k]![tx]!;
    cuda.syncthreads();
  }
  to[y]![x] = sum;
});

const tiledProductFlattened = kernel(flat, ({ to, from, rows, pitch }, cuda) => {
  const a = cuda.sharedArray('f32', 256);
  const b = cuda.sharedArray('f32', 256);
  const { x: tx, y: ty } = cuda.threadIdx;
  const [x, y] = [cuda.blockIdx.x * 16 + tx, cuda.blockIdx.y * 16 + ty];
  let sum = cuda.f32(0);
  for (let first = 0; first < rows; first += 16) {
    a[ty * 16 + tx] = from[y * pitch + first + tx]!;
    b[ty * 16 + tx] = from[(first + ty) * pitch + x]!;
    cuda.syncthreads();
    for (let k = 0; k < 16; k++) sum += a[ty * 16 + k]! * b[k * 16 + tx]!;
    cuda.syncthreads();
  }
  to[y * pitch + x] = sum;
});

export interface Work {
  readonly shaped: Kernel;
  readonly flattened: Kernel;
  readonly block: readonly [number, number];
  /** Elements of a tile that a block has, in each direction. */
  readonly tile: readonly [number, number];
  readonly size: number;
  readonly times: number;
}

const image = { block: [64, 4], tile: [64, 4], size: 2048, times: 4 } as const;

export const works: Readonly<Record<string, Work>> = {
  copy: { ...image, shaped: copyShaped, flattened: copyFlattened },
  stencil: { ...image, shaped: stencilShaped, flattened: stencilFlattened },
  transposition: { ...image, size: 1024, shaped: transposedShaped, flattened: transposedFlattened },
  'tiled transposition': {
    shaped: tiledShaped,
    flattened: tiledFlattened,
    block: [32, 8],
    tile: [32, 32],
    size: 1024,
    times: 4,
  },
  product: { ...image, size: 384, times: 1, shaped: productShaped, flattened: productFlattened },
  'tiled product': {
    shaped: tiledProductShaped,
    flattened: tiledProductFlattened,
    block: [16, 16],
    tile: [16, 16],
    size: 384,
    times: 1,
  },
};
