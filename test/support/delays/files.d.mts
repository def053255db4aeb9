export const delayed: readonly string[];
export const delayedAtLength: readonly string[];
