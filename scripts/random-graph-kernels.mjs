// The kernels of random graphs of work, and the one that sums up what a graph has left.

/** The kernels of the graphs. `kernel` is that of warpstage. */
export function kernelsBy(kernel) {
  const arrays = { y: 'f32[]', x: 'readonly f32[]', n: 'index', rounds: 'index' };
  return {
    each: kernel(
      arrays,
      ({ y, x }, cuda) => {
        const i = cuda.thisGrid().threadRank();
        y[i] = x[i] * 0.5 + 1;
      },
      { name: 'each' },
    ),
    strided: kernel(
      arrays,
      ({ y, x, n }, cuda) => {
        const grid = cuda.thisGrid();
        for (let k = grid.threadRank(); k < n; k += grid.size()) y[k] = x[k] * 0.5 + y[k] * 0.25;
      },
      { name: 'strided' },
    ),
    chain: kernel(
      arrays,
      ({ y, x, rounds }, cuda) => {
        const i = cuda.thisGrid().threadRank();
        let a = x[i];
        for (let k = 0; k < rounds; ++k) a = a * 0.5 + 1;
        y[i] = a;
      },
      { name: 'chain' },
    ),
    parallel: kernel(
      arrays,
      ({ y, x, rounds }, cuda) => {
        const i = cuda.thisGrid().threadRank();
        let a = x[i];
        let b = a * 0.25;
        let c = a * 0.125;
        let d = a * 0.0625;
        for (let k = 0; k < rounds; ++k) {
          a = a * 0.5 + 1;
          b = b * 0.5 + 2;
          c = c * 0.5 + 3;
          d = d * 0.5 + 4;
        }
        y[i] = a + b + c + d;
      },
      { name: 'parallel' },
    ),
    heavy: kernel(
      arrays,
      ({ y, x, rounds }, cuda) => {
        const i = cuda.thisGrid().threadRank();
        let a = x[i];
        for (let k = 0; k < rounds; ++k) {
          const s = Math.sin(a);
          const c = Math.cos(a);
          a = Math.sqrt(s * s + c * c) + a * 0.25;
        }
        y[i] = a;
      },
      { name: 'heavy' },
    ),
    tile: kernel(
      arrays,
      ({ y, x, rounds }, cuda) => {
        const block = cuda.thisThreadBlock();
        const values = cuda.sharedArray('f32', block.size());
        const i = cuda.thisGrid().threadRank();
        const at = block.threadRank();
        const next = (at + 1) % block.size();
        values[at] = x[i];
        for (let k = 0; k < rounds; ++k) {
          cuda.syncthreads();
          const mean = values[at] * 0.5 + values[next] * 0.25;
          cuda.syncthreads();
          values[at] = mean;
        }
        y[i] = values[at];
      },
      { name: 'tile' },
    ),
    walk: kernel(
      arrays,
      ({ y, x, n, rounds }, cuda) => {
        const i = cuda.thisGrid().threadRank();
        let at = i;
        let sum = 0.0;
        for (let k = 0; k < rounds; ++k) {
          const value = x[at];
          sum = sum * 0.5 + value;
          // The next place is known only when the value is.
          at = at + 4099 + (value < 0.25 ? 1 : 0);
          if (at >= n) at -= n;
          if (at >= n) at = i;
        }
        y[i] = sum;
      },
      { name: 'walk' },
    ),
    take: kernel(
      { y: 'f32[]', x: 'readonly f32[]' },
      ({ y, x }, cuda) => {
        const i = cuda.thisGrid().threadRank();
        y[i] = y[i] * 0.5 + x[i] * 0.25;
      },
      { name: 'take' },
    ),
    /** What an array holds, in so many sums that no order of threads changes. */
    digest: kernel(
      { out: 'f64[]', x: 'readonly f32[]', n: 'index' },
      ({ out, x, n }, cuda) => {
        const grid = cuda.thisGrid();
        let sum = 0.0;
        for (let k = grid.threadRank(); k < n; k += grid.size()) sum += x[k] * ((k % 1021) + 1);
        out[grid.threadRank()] = sum;
      },
      { name: 'digest' },
    ),
  };
}
