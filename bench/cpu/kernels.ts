// The kernels of the suite `cpu`, as a user writes them: no hint says how a CPU should run them.

import { deviceFunction, kernel } from 'warpstage';

const multiplyAdds = deviceFunction({ out: 'f32[]', staged: 'readonly f32[]' }, ({ out, staged }, cuda) => {
  const t = cuda.thisThreadBlock().threadRank();
  let x = staged[t]!;
  for (let step = 0; step < 64; step++) x = x * cuda.f32(0.999) + cuda.f32(0.001);
  out[t] = x;
});

/** 64 dependent multiplications and additions of what a pipeline stages. */
export const chain = kernel(
  {
    output: 'f32[]',
    input: 'readonly f32[]',
    batchCount: 'index',
    stagesCount: 'constant index = 2',
    compute: multiplyAdds,
  },
  ({ output, input, batchCount, stagesCount, compute }, cuda) => {
    const grid = cuda.thisGrid();
    const block = cuda.thisThreadBlock();
    const shared = cuda.sharedArray('f32', stagesCount * block.size());
    const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', stagesCount));
    const first = (batch: number) => block.groupIndex().x * block.size() + grid.size() * batch;
    for (let batch = 0, next = 0; batch < batchCount; ++batch) {
      for (; next < batchCount && next < batch + stagesCount; ++next) {
        pipeline.producerAcquire();
        const stage = shared.subarray((next % stagesCount) * block.size());
        cuda.memcpyAsync(block, stage, input.subarray(first(next)), block.size(), pipeline);
        pipeline.producerCommit();
      }
      pipeline.consumerWait();
      compute({
        out: output.subarray(first(batch)),
        staged: shared.subarray((batch % stagesCount) * block.size()),
      });
      pipeline.consumerRelease();
    }
  },
);

/** The same without staging, whose multiplications and additions may be fused. */
export const fusedChain = kernel(
  { output: 'f32[]', input: 'readonly f32[]', batchCount: 'index' },
  ({ output, input, batchCount }, cuda) => {
    const grid = cuda.thisGrid();
    for (let batch = 0; batch < batchCount; batch++) {
      const i = batch * grid.size() + grid.threadRank();
      let x = input[i]!;
      for (let step = 0; step < 64; step++) x = x * cuda.f32(0.999) + cuda.f32(0.001);
      output[i] = x;
    }
  },
  { fma: true },
);

/** The sums of 17 neighbours; the input has eight more elements at either end. */
export const stencil = kernel({ output: 'f32[]', input: 'readonly f32[]' }, ({ output, input }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const shared = cuda.sharedArray('f32', block.size() + 16);
  const first = block.groupIndex().x * block.size();
  shared[t + 8] = input[first + t + 8]!;
  if (t < 8) {
    shared[t] = input[first + t]!;
    shared[block.size() + 8 + t] = input[first + block.size() + 8 + t]!;
  }
  block.sync();
  let sum = 0;
  for (let k = 0; k <= 16; k++) sum += shared[t + k]!;
  output[first + t] = sum;
});

/** The product of two matrices of `n` rows, which follow each other in `input`, in tiles of 16 by 16. */
export const product = kernel(
  { output: 'f32[]', input: 'readonly f32[]', n: 'index' },
  ({ output, input, n }, cuda) => {
    const { x, y } = cuda.threadIdx;
    const a = cuda.sharedArray('f32', 256);
    const b = cuda.sharedArray('f32', 256);
    const second = input.subarray(n * n);
    const row = cuda.blockIdx.y * 16 + y;
    const column = cuda.blockIdx.x * 16 + x;
    let sum = 0;
    for (let step = 0; step < n; step += 16) {
      a[y * 16 + x] = input[row * n + step + x]!;
      b[y * 16 + x] = second[(step + y) * n + column]!;
      cuda.syncthreads();
      for (let k = 0; k < 16; k++) sum += a[y * 16 + k]! * b[k * 16 + x]!;
      cuda.syncthreads();
    }
    output[row * n + column] = sum;
  },
);

/** How many steps Collatz' sequence takes to 1, 1000 at most. */
export const collatz = kernel({ output: 'i32[]', input: 'readonly u32[]' }, ({ output, input }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i >= output.length) return;
  let x = input[i]!;
  let steps = 0;
  while (x > 1 && steps < 1000) {
    x = (x & 1) === 1 ? 3 * x + 1 : x >>> 1;
    steps++;
  }
  output[i] = steps;
});

/** The sum of what each block takes. */
export const reduction = kernel({ output: 'f32[]', input: 'readonly f32[]' }, ({ output, input }, cuda) => {
  const grid = cuda.thisGrid();
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const shared = cuda.sharedArray('f32', block.size());
  let sum = 0;
  for (let i = grid.threadRank(); i < input.length; i += grid.size()) sum += input[i]!;
  shared[t] = sum;
  block.sync();
  for (let half = block.size() >> 1; half > 0; half >>= 1) {
    if (t < half) shared[t] = shared[t]! + shared[t + half]!;
    block.sync();
  }
  if (t === 0) output[block.groupIndex().x] = shared[0]!;
});

/** How often each of 256 bytes occurs. */
export const histogram = kernel({ output: 'u32[]', input: 'readonly u8[]' }, ({ output, input }, cuda) => {
  const grid = cuda.thisGrid();
  const t = cuda.threadIdx.x;
  const bins = cuda.sharedArray('u32', 256);
  bins[t] = 0;
  cuda.syncthreads();
  for (let i = grid.threadRank(); i < input.length; i += grid.size()) cuda.atomicAdd(bins, input[i]!, 1);
  cuda.syncthreads();
  cuda.atomicAdd(output, t, bins[t]!);
});

/** The transpose of `n` rows, in tiles of 32 by 32 that a block of 32 by 8 threads moves. */
export const transposition = kernel(
  { output: 'f32[]', input: 'readonly f32[]', n: 'index' },
  ({ output, input, n }, cuda) => {
    const tile = cuda.sharedArray('f32', 32 * 33);
    const { x, y } = cuda.threadIdx;
    const [left, top] = [cuda.blockIdx.x * 32, cuda.blockIdx.y * 32];
    for (let j = y; j < 32; j += 8) tile[j * 33 + x] = input[(top + j) * n + left + x]!;
    cuda.syncthreads();
    for (let j = y; j < 32; j += 8) output[(left + j) * n + top + x] = tile[x * 33 + j]!;
  },
);

export const axpy = kernel({ output: 'f64[]', input: 'readonly f64[]' }, ({ output, input }, cuda) => {
  const i = cuda.thisGrid().threadRank();
  if (i < output.length) output[i] = 1.5 * input[i]! + output[i]!;
});

/** The forces between bodies (x, y, z, mass), a block's worth of which is staged at a time. */
export const bodies = kernel({ output: 'f32[]', input: 'readonly f32[]' }, ({ output, input }, cuda) => {
  const block = cuda.thisThreadBlock();
  const size = block.size();
  const t = block.threadRank();
  const i = cuda.thisGrid().threadRank();
  const shared = cuda.sharedArray('f32', 4 * size);
  const [x, y, z] = [input[4 * i]!, input[4 * i + 1]!, input[4 * i + 2]!];
  let ax = 0;
  let ay = 0;
  let az = 0;
  for (let first = 0; first < cuda.thisGrid().size(); first += size) {
    for (let k = 0; k < 4; k++) shared[4 * t + k] = input[4 * (first + t) + k]!;
    block.sync();
    for (let j = 0; j < size; j++) {
      const dx = shared[4 * j]! - x;
      const dy = shared[4 * j + 1]! - y;
      const dz = shared[4 * j + 2]! - z;
      const inverse = 1 / Math.sqrt(dx * dx + dy * dy + dz * dz + 0.01);
      const force = shared[4 * j + 3]! * inverse * inverse * inverse;
      ax += force * dx;
      ay += force * dy;
      az += force * dz;
    }
    block.sync();
  }
  output[3 * i] = ax;
  output[3 * i + 1] = ay;
  output[3 * i + 2] = az;
});

/** When each point of the Mandelbrot set's neighbourhood leaves, in 256 steps at most. */
export const mandelbrot = kernel(
  { output: 'i32[]', columns: 'i32', rows: 'i32' },
  ({ output, columns, rows }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    if (i >= output.length) return;
    const x = cuda.i32(i % columns);
    const y = cuda.i32(Math.trunc(i / columns));
    const real = cuda.f32(-2.2) + (cuda.f32(x) * 3) / cuda.f32(columns);
    const imaginary = cuda.f32(-1.2) + (cuda.f32(y) * cuda.f32(2.4)) / cuda.f32(rows);
    let a = cuda.f32(0);
    let b = cuda.f32(0);
    let step = 0;
    while (a * a + b * b < 4 && step < 256) {
      const next = a * a - b * b + real;
      b = 2 * a * b + imaginary;
      a = next;
      step++;
    }
    output[i] = step;
  },
);

/** Whole warps have a role: the first half of a block stages what the second half computes with. */
export const partitioned = kernel(
  { output: 'i32[]', input: 'readonly i32[]', batchCount: 'index', stagesCount: 'constant index = 2' },
  ({ output, input, batchCount, stagesCount }, cuda) => {
    const block = cuda.thisThreadBlock();
    const size = Math.trunc(block.size() / 2);
    const role = block.threadRank() < size ? 'producer' : 'consumer';
    const t = block.threadRank() % size;
    const shared = cuda.sharedArray('i32', stagesCount * size);
    const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', stagesCount), role);
    const first = (batch: number) => size * (cuda.gridDim.x * batch + cuda.blockIdx.x);
    if (role === 'producer') {
      for (let batch = 0; batch < batchCount; batch++) {
        pipeline.producerAcquire();
        const stage = shared.subarray((batch % stagesCount) * size);
        cuda.memcpyAsync(stage.subarray(t), input.subarray(first(batch) + t), 1, pipeline);
        pipeline.producerCommit();
      }
    } else {
      for (let batch = 0; batch < batchCount; batch++) {
        pipeline.consumerWait();
        output[first(batch) + t] = shared[(batch % stagesCount) * size + t]! * 3 + 1;
        pipeline.consumerRelease();
      }
    }
  },
);

/** Each block sorts 512 elements by 256 threads. */
export const bitonic = kernel({ output: 'i32[]', input: 'readonly i32[]' }, ({ output, input }, cuda) => {
  const block = cuda.thisThreadBlock();
  const t = block.threadRank();
  const keys = cuda.sharedArray('i32', 512);
  const first = block.groupIndex().x * 512;
  keys[t] = input[first + t]!;
  keys[t + 256] = input[first + t + 256]!;
  block.sync();
  for (let size = 2; size <= 512; size *= 2) {
    for (let stride = size >> 1; stride > 0; stride >>= 1) {
      const low = 2 * t - (t & (stride - 1));
      const [x, y] = [keys[low]!, keys[low + stride]!];
      const up = (low & size) === 0;
      keys[low] = up ? Math.min(x, y) : Math.max(x, y);
      keys[low + stride] = up ? Math.max(x, y) : Math.min(x, y);
      block.sync();
    }
  }
  output[first + t] = keys[t]!;
  output[first + t + 256] = keys[t + 256]!;
});

/** The mean of 3 by 3 neighbours of an image of 3 channels, `n` pixels wide and with a border of one more. */
export const blur = kernel(
  { output: 'u8[]', input: 'readonly u8[]', n: 'index' },
  ({ output, input, n }, cuda) => {
    const i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x;
    const y = cuda.blockIdx.y;
    if (i >= 3 * n) return;
    const pitch = 3 * (n + 2);
    let sum = 0;
    for (let row = 0; row < 3; row++) {
      for (let pixel = 0; pixel < 3; pixel++) sum += input[(y + row) * pitch + i + 3 * pixel]!;
    }
    output[y * 3 * n + i] = (sum * 7282) >> 16;
  },
);
