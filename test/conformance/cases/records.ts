// Records: arrays of them in all kinds of memory, their fields, and vectors of three numbers and of bytes.

import { deviceFunction, kernel, struct } from 'warpstage';
import { type Cases, integers } from '../case.ts';

const node = struct({ start: 'i32', count: 'i32' });

/** Breadth first: a level goes on for as long as a thread has found a node of the next one. */
const levels = kernel(
  { nodes: node.readonlyArray, edges: 'readonly i32[]', level: 'i32[]' },
  ({ nodes, edges, level }, cuda) => {
    const block = cuda.thisThreadBlock();
    const t = block.threadRank();
    let found = true;
    for (let now = 0; cuda.syncthreadsOr(found); now++) {
      found = false;
      for (let i = t; i < nodes.length; i += block.size()) {
        if (cuda.atomicLoad(level, i) !== now) continue;
        const { start, count } = nodes[i]!;
        for (let at = start; at < start + count; at++) {
          if (cuda.atomicCAS(level, edges[at]!, -1, now + 1) === -1) found = true;
        }
      }
    }
  },
);

/** A ring of 40 nodes, each with an edge to the next and one to that seven further on. */
const ring = Array.from({ length: 40 }, (_, i) => [(i + 1) % 40, (i + 7) % 40]);
const distances = () => {
  const found = new Int32Array(40).fill(-1);
  found[0] = 0;
  for (let now = 0, left = true; left; now++) {
    left = false;
    for (const [i, next] of ring.entries()) {
      for (const to of found[i] === now ? next : []) {
        if (found[to] === -1) [found[to], left] = [now + 1, true];
      }
    }
  }
  return found;
};

const box = struct({ low: 'i16x2', high: 'i16x2' });
const item = struct({ kind: 'u8', weight: 'f64', box, colour: 'u8x3', id: 'i32' });

const area = deviceFunction(
  { low: 'i16x2', high: 'i16x2' },
  ({ low, high }) => (high.x - low.x) * (high.y - low.y),
);

/** Records are staged by the block, changed in shared memory, exchanged as a whole, and kept by a thread. */
const grown = kernel(
  { out: item.array, items: item.readonlyArray, areas: 'i32[]', item, area },
  ({ out, items, areas, item, area }, cuda) => {
    const block = cuda.thisThreadBlock();
    const t = block.threadRank();
    const begin = block.groupIndex().x * block.size();
    const staged = cuda.sharedArray(item, block.size());
    const own = cuda.localArray(item, 2);
    const pipeline = cuda.makePipeline(block, cuda.pipelineSharedState('block', 1));
    pipeline.producerAcquire();
    cuda.memcpyAsync(block, staged, items.subarray(begin), block.size(), pipeline);
    pipeline.producerCommit();
    pipeline.consumerWait();
    staged[t]!.box.high.x += 2;
    staged[t]!.kind += 250;
    staged[t]!.colour = cuda.add(staged[t]!.colour, 1);
    block.sync();
    own[t % 2] = staged[block.size() - 1 - t]!;
    const kept = own[t % 2]!;
    kept.weight *= kept.id > 103 ? 2 : 1;
    areas[begin + t] = area(kept.box);
    if (t > 0) out[begin + t] = kept;
    else out[begin] = { ...kept, id: -1, box: { low: kept.box.high, high: kept.box.low } };
    pipeline.consumerRelease();
  },
);

const items = Array.from({ length: 16 }, (_, i) => ({
  kind: i,
  weight: i / 4,
  box: { low: { x: -i, y: 1 }, high: { x: 10, y: 5 + i } },
  colour: { x: 255, y: i, z: 3 * i },
  id: 100 + i,
}));
const grownItems = items.map((_, i) => {
  const t = i % 8;
  const from = items[i - t + 7 - t]!;
  const { low } = from.box;
  const high = { x: 12, y: from.box.high.y };
  const { x, y, z } = from.colour;
  return {
    kind: (from.kind + 250) % 256,
    weight: from.weight * (from.id > 103 ? 2 : 1),
    box: t === 0 ? { low: high, high: low } : { low, high },
    colour: { x: (x + 1) % 256, y: y + 1, z: z + 1 },
    id: t === 0 ? -1 : from.id,
  };
});

/** What a kernel writes of records, field by field: the padding stays as it was. */
const packedOver = (records: typeof items) => item.pack(records);

const body = struct({ position: 'f32x3', mass: 'f32' });

/** One step of n bodies, tile by tile, as in GPU Gems 3: positions with masses, and velocities of three numbers. */
const step = kernel(
  { bodies: body.readonlyArray, moved: body.array, velocity: 'f32x3[]', dt: 'f32', body },
  ({ bodies, moved, velocity, dt, body }, cuda) => {
    const block = cuda.thisThreadBlock();
    const i = cuda.thisGrid().threadRank();
    const tile = cuda.sharedArray(body, block.size());
    const own = bodies[i]!;
    let force = cuda.f32x3(0, 0, 0);
    for (let first = 0; first < bodies.length; first += block.size()) {
      tile[block.threadRank()] = bodies[first + block.threadRank()]!;
      block.sync();
      for (let j = 0; j < block.size(); j++) {
        const apart = cuda.subtract(tile[j]!.position, own.position);
        const squared = cuda.dot(apart, apart) + 0.25;
        force = cuda.add(force, cuda.multiply(apart, tile[j]!.mass / (squared * Math.sqrt(squared))));
      }
      block.sync();
    }
    velocity[i] = cuda.add(velocity[i]!, cuda.multiply(force, dt));
    moved[i] = { position: cuda.add(own.position, cuda.multiply(velocity[i]!, dt)), mass: own.mass };
  },
);

const bodies = Array.from({ length: 16 }, (_, i) => ({
  position: { x: i, y: (i * 5) % 16, z: (i * 3) % 7 },
  mass: 1 + (i % 3),
}));

const stepped = () => {
  const f = Math.fround;
  const [dt, velocity] = [f(0.125), new Float32Array(48)];
  const moved = bodies.map(({ position: p, mass }, i) => {
    const force = [0, 0, 0];
    for (const other of bodies) {
      const apart = [f(other.position.x - p.x), f(other.position.y - p.y), f(other.position.z - p.z)];
      const [x, y, z] = apart as [number, number, number];
      const squared = f(f(f(f(x * x) + f(y * y)) + f(z * z)) + 0.25);
      const factor = f(other.mass / f(squared * f(Math.sqrt(squared))));
      for (const [k, one] of apart.entries()) force[k] = f(force[k]! + f(one * factor));
    }
    for (const [k, one] of force.entries()) velocity[3 * i + k] = f(f(one * dt));
    const [x, y, z] = [p.x, p.y, p.z].map((one, k) => f(one + f(velocity[3 * i + k]! * dt)));
    return { position: { x: x!, y: y!, z: z! }, mass };
  });
  return { velocity, moved: body.pack(moved) };
};

/** A mean of 3x3 pixels of four bytes each, through a tile with a border. */
const blurred = kernel(
  { out: 'u8x4[]', pixels: 'readonly u8x4[]', width: 'index', height: 'index' },
  ({ out, pixels, width, height }, cuda) => {
    const block = cuda.thisThreadBlock();
    const tile = cuda.sharedArray('u8x4', [6, 10]);
    const image = pixels.shaped([height, width]);
    const left = (cuda.blockIdx.x % Math.ceil(width / 8)) * 8;
    const top = Math.trunc(cuda.blockIdx.x / Math.ceil(width / 8)) * 4;
    for (let i = block.threadRank(); i < 60; i += block.size()) {
      const y = Math.min(Math.max(top + Math.trunc(i / 10) - 1, 0), height - 1);
      const x = Math.min(Math.max(left + (i % 10) - 1, 0), width - 1);
      tile[Math.trunc(i / 10)]![i % 10] = image[y]![x]!;
    }
    block.sync();
    const [y, x] = [Math.trunc(block.threadRank() / 8), block.threadRank() % 8];
    let sum = cuda.i32x4(0, 0, 0, 0);
    for (let dy = 0; dy < 3; dy++) {
      for (let dx = 0; dx < 3; dx++) {
        const p = tile[y + dy]![x + dx]!;
        sum = cuda.add(sum, cuda.i32x4(p.x, p.y, p.z, p.w));
      }
    }
    if (top + y < height && left + x < width) {
      const mean = (n: number) => Math.trunc((n + 4) / 9);
      out.shaped([height, width])[top + y]![left + x] = cuda.u8x4(
        mean(sum.x),
        mean(sum.y),
        mean(sum.z),
        mean(sum.w),
      );
    }
  },
);

const [width, height] = [12, 7];
const pixels = Uint8Array.from({ length: 4 * width * height }, (_, i) => (i * i * 7 + i) % 256);
const means = pixels.map((_, at) => {
  const [c, x, y] = [at % 4, Math.floor(at / 4) % width, Math.floor(at / 4 / width)];
  let sum = 4;
  for (const dy of [-1, 0, 1]) {
    for (const dx of [-1, 0, 1]) {
      const row = Math.min(Math.max(y + dy, 0), height - 1);
      sum += pixels[4 * (row * width + Math.min(Math.max(x + dx, 0), width - 1)) + c]!;
    }
  }
  return Math.floor(sum / 9);
});

const { velocity, moved } = stepped();

export const recordCases: Cases = [
  {
    name: 'a breadth-first search over records of nodes',
    kernel: levels,
    grid: 1,
    block: 32,
    data: {
      nodes: node.pack(ring.map((_, i) => ({ start: 2 * i, count: 2 }))),
      edges: Int32Array.from(ring.flat()),
      level: integers(40, (i) => (i === 0 ? 0 : -1)),
    },
    expected: { level: distances() },
  },
  {
    name: 'records with records and vectors in them, in all kinds of memory',
    kernel: grown,
    grid: 2,
    block: 8,
    data: { out: new Uint8Array(16 * item.bytes), items: item.pack(items), areas: new Int32Array(16) },
    expected: {
      out: packedOver(grownItems),
      areas: integers(16, (i) => {
        const from = items[i - (i % 8) + 7 - (i % 8)]!.box;
        return (12 - from.low.x) * (from.high.y - from.low.y);
      }),
    },
  },
  {
    name: 'a step of n bodies with vectors of three',
    kernel: step,
    grid: 2,
    block: 8,
    data: {
      bodies: body.pack(bodies),
      moved: new Uint8Array(16 * body.bytes),
      velocity: new Float32Array(48),
      dt: 0.125,
    },
    expected: { velocity, moved },
  },
  {
    name: 'a mean of pixels of four bytes',
    kernel: blurred,
    grid: 4,
    block: 32,
    data: { out: new Uint8Array(pixels.length), pixels, width, height },
    expected: { out: means },
  },
];
