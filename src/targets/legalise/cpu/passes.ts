// The names of the passes that bring a program down to what a CPU runs.

/** To regions, in their order but for the last two; where threads wait for one another, the first four and those. */
export const cpuPasses = [
  'warps',
  'prepare',
  'structure',
  'unroll',
  'zip',
  'affine',
  'slices',
  'regions',
  'anew',
  'block',
  'counts',
  'cohorts',
] as const;
export type CpuPass = (typeof cpuPasses)[number];

/**
 * What is done beyond the plainest as WebAssembly is written from the program. Lanes of a vector (wasm/simd) jump out of
 * loops one by one, count turns that all of them have as one, go through several turns between two tests whether any of them is left, access elements of 8 and 16 bits together, compute what fits into 16 bits eight in a vector and f64 two, use instructions of relaxed
 * SIMD where the engine has them, and do atomic operations without a result one after the other. A test
 * that compares what grows from lane to lane is answered by the ends of a group where they can, and groups are wide where loops
 * stride over memory. Where only the first threads of a block have something to do, or something more at a region's end, the others are not asked. Indices that
 * lie side by side in memory are read where lanes need them one by one, and so do
 * they divide integers. A group has as many vectors under way as its loops' values leave registers for, and rows of a block go together where they load alike, and branches in straight code keep an engine from loading everything first. Lanes that have left
 * a loop keep only what is read behind it, and unsigned numbers are compared by what an engine has. Indices are not checked where what is known of them shows that they are inside (wasm/memory);
 * those of dimensions are checked for all lanes at once, against their extents. What lies evenly apart, such as a field of
 * records, is loaded and stored as vectors whose parts change places. What is tested behind a branch is tested for a block of
 * threads first, and addresses in loops go on from turn to turn. Blocks take turns at a loop that strides over the grid.
 */
export const writingPasses = [
  'turns',
  'jumps',
  'rounds',
  'bursts',
  'narrow',
  'halves',
  'pairs',
  'relaxed',
  'atomics',
  'ends',
  'wide',
  'prefix',
  'direct',
  'divisions',
  'flight',
  'jam',
  'near',
  'dead',
  'unsigned',
  'bounds',
  'extents',
  'strides',
  'blocks',
  'advance',
  'borrow',
  'ahead',
] as const;
export type WritingPass = (typeof writingPasses)[number];

/** Those that only make the program better: the rest of the way is right without them. */
export const optionalCpuPasses = [
  'structure',
  'unroll',
  'zip',
  'affine',
  'slices',
  'anew',
  ...writingPasses,
] as const satisfies readonly (CpuPass | WritingPass)[];
export type OptionalCpuPass = (typeof optionalCpuPasses)[number];
