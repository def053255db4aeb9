// The names of the passes that bring a program down to what a CPU runs.

/** To regions, in their order but for the last; where threads wait for one another, the first three and that. */
export const cpuPasses = ['warps', 'prepare', 'structure', 'affine', 'regions', 'block', 'cohorts'] as const;
export type CpuPass = (typeof cpuPasses)[number];

/**
 * What lanes of a vector do beyond the plainest, as WebAssembly is written from the program (wasm/simd): they jump out
 * of loops one by one, access elements of 8 and 16 bits together, compute f64 two in a vector, and use instructions of
 * relaxed SIMD where the engine has them.
 */
export const lanePasses = ['jumps', 'narrow', 'pairs', 'relaxed'] as const;
export type LanePass = (typeof lanePasses)[number];

/** Those that only make the program better: the rest of the way is right without them. */
export const optionalCpuPasses = ['structure', 'affine', ...lanePasses] as const satisfies readonly (
  | CpuPass
  | LanePass
)[];
export type OptionalCpuPass = (typeof optionalCpuPasses)[number];
