// What the guide's kernels do with the data that they stage. The guide leaves `compute` open;
// here it is simple enough to be checked by eye, and a launch may pass another one.

import { deviceFunction } from 'warpstage';

/** Each thread transforms its own element of the staged batch. */
export const compute = deviceFunction({ out: 'i32[]', staged: 'readonly i32[]' }, ({ out, staged }, cuda) => {
  const t = cuda.thisThreadBlock().threadRank();
  out[t] = staged[t]! * 3 + 1;
});

/** The same of one element, for the kernel whose consumers take one element each. */
export const computeElement = deviceFunction({ out: 'i32[]', staged: 'i32' }, ({ out, staged }) => {
  out[0] = staged * 3 + 1;
});
