// The names of the passes that bring a program down to what a CPU runs.

/** To regions, in their order; to states, the first three. */
export const cpuPasses = ['warps', 'prepare', 'structure', 'affine', 'regions', 'block'] as const;
export type CpuPass = (typeof cpuPasses)[number];

/** Those that only make the program better: the rest of the way is right without them. */
export const optionalCpuPasses = ['structure', 'affine'] as const satisfies readonly CpuPass[];
export type OptionalCpuPass = (typeof optionalCpuPasses)[number];
