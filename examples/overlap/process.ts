import { kernel } from 'warpstage';

/**
 * Adds 1 to every element, the long way: sqrt(sin² + cos²). It takes about as long as the copies, which
 * shows an overlap best.
 *
 * Source: "How to Overlap Data Transfers in CUDA C/C++", NVIDIA Developer Blog, `kernel`.
 */
export const process = kernel({ a: 'f32[]', offset: 'index' }, ({ a, offset }, cuda) => {
  const i = offset + cuda.thisGrid().threadRank();
  const x = cuda.f32(i);
  const s = Math.sin(x);
  const c = Math.cos(x);
  a[i] = a[i]! + Math.sqrt(s * s + c * c);
});
