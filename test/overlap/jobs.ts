// Small jobs of every kind, and what they compute in plain JavaScript.

import { job, kernel, sequence } from 'warpstage';

export const affine = job({
  kernel: kernel(
    { y: 'f32[]', x: 'readonly f32[]', a: 'f32', b: 'f32' },
    ({ y, x, a, b }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      if (i < y.length) y[i] = a * x[i]! + b;
    },
    { name: 'affine' },
  ),
  inputs: { x: {} },
  outputs: { y: {} },
  settings: { a: 2, b: { default: 1, minimum: -100, maximum: 100 } },
});

/** Sums of neighbours, with a halo of `before` and `after`. */
export const neighbours = (before: number, after: number, edge: 'zero' | 'clamp') =>
  job({
    kernel: kernel(
      { y: 'i32[]', x: 'readonly i32[]', reach: 'index' },
      ({ y, x, reach }, cuda) => {
        const i = cuda.thisGrid().threadRank();
        if (i >= y.length) return;
        let sum = 0;
        for (let k = 0; k <= reach; k++) sum += x[i + k]! * (k + 1);
        y[i] = sum;
      },
      { name: 'neighbours' },
    ),
    inputs: { x: { halo: [before, after], edge } },
    outputs: { y: {} },
    settings: { reach: before + after },
  });

export function neighboursInJavaScript(x: Int32Array, before: number, after: number, edge: 'zero' | 'clamp') {
  return x.map((_, i) => {
    let sum = 0;
    for (let k = -before; k <= after; k++) {
      const nearest = Math.max(0, Math.min(x.length - 1, i + k));
      sum += (edge === 'zero' && nearest !== i + k ? 0 : x[nearest]!) * (k + before + 1);
    }
    return sum;
  });
}

/** `group` rows of `width` become one row of their sums, and `copies` rows of counts. */
export const groups = (group: number, copies: number, remainder: 'error' | 'drop' | 'partial') =>
  job({
    kernel: kernel(
      {
        sums: 'i32[]',
        places: 'i32[]',
        x: 'readonly i32[]',
        width: 'index',
        group: 'index',
        copies: 'index',
        start: 'index',
        n: 'index',
      },
      ({ sums, places, x, width, group, copies, start, n }, cuda) => {
        const g = cuda.thisGrid().threadRank();
        if (g * group >= n) return;
        for (let column = 0; column < width; column++) {
          let sum = 0;
          for (let row = g * group; row < Math.min(n, (g + 1) * group); row++)
            sum += x[row * width + column]!;
          sums[g * width + column] = sum;
        }
        for (let k = 0; k < copies; k++) places[g * copies + k] = start + g * group;
      },
      { name: 'groups' },
    ),
    inputs: { x: { width: 'width' } },
    outputs: { sums: { ratio: [1, group], width: 'width' }, places: { ratio: [copies, group] } },
    settings: { group, copies },
    offset: 'start',
    rows: 'n',
    remainder,
  });

export function groupsInJavaScript(
  x: Int32Array,
  width: number,
  group: number,
  copies: number,
  partial: boolean,
) {
  const rows = x.length / width;
  const count = partial ? Math.ceil(rows / group) : Math.floor(rows / group);
  const sums = Int32Array.from({ length: count * width }, (_, i) => {
    const [g, column] = [Math.floor(i / width), i % width];
    let sum = 0;
    for (let row = g * group; row < Math.min(rows, (g + 1) * group); row++) sum += x[row * width + column]!;
    return sum;
  });
  return {
    sums,
    places: Int32Array.from({ length: count * copies }, (_, i) => Math.floor(i / copies) * group),
  };
}

/** Counts and extremes of two columns. */
export const statistics = job({
  kernel: kernel(
    {
      counts: 'i32[]',
      least: 'f64[]',
      sums: 'f64[]',
      trail: 'i32[]',
      a: 'readonly i32[]',
      b: 'readonly f64[]',
      bins: 'constant index = 4',
    },
    ({ counts, least, sums, trail, a, b, bins }, cuda) => {
      const grid = cuda.thisGrid();
      const block = cuda.thisThreadBlock();
      const g = block.groupIndex().x;
      for (let i = grid.threadRank(); i < a.length; i += grid.size()) {
        cuda.atomicAdd(counts, a[i]! & (bins - 1), 1);
        least[g] = Math.min(least[g]!, b[i]!);
        sums[2 * g] = sums[2 * g]! + b[i]!;
        sums[2 * g + 1] = sums[2 * g + 1]! + 1;
      }
      if (grid.threadRank() === 0) {
        for (let i = 0; i < a.length; i++) trail[0] = Math.imul(trail[0]!, 31) + a[i]!;
      }
    },
    { name: 'statistics' },
  ),
  inputs: { a: {}, b: { column: 'b' } },
  accumulators: {
    counts: { length: 'bins' },
    least: { per: 'block', combine: 'min' },
    sums: { per: 'block', length: 2 },
    trail: { initial: 7 },
  },
  launch: { grid: 3, block: 8 },
  finish: ({ counts, least, sums, trail }, { rows, settings }) => ({
    counts: [...counts],
    least: least[0]!,
    mean: sums[0]! / rows,
    seen: sums[1]!,
    trail: trail[0]!,
    rows,
    settings,
  }),
});

const centre = job({
  kernel: kernel(
    { y: 'f64[]', x: 'readonly f64[]', mean: 'f64' },
    ({ y, x, mean }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      if (i < y.length) y[i] = x[i]! - mean;
    },
    { name: 'centre' },
  ),
  inputs: { x: {} },
  outputs: { y: {} },
  settings: { mean: {} },
});

export const mean = job({
  kernel: kernel(
    { sum: 'f64[]', x: 'readonly f64[]' },
    ({ sum, x }, cuda) => {
      const b = cuda.thisThreadBlock().groupIndex().x;
      for (let i = cuda.thisGrid().threadRank(); i < x.length; i += cuda.thisGrid().size())
        sum[b] = sum[b]! + x[i]!;
    },
    { name: 'mean' },
  ),
  inputs: { x: {} },
  accumulators: { sum: { per: 'block' } },
  launch: { grid: 2, block: 4 },
  finish: ({ sum }, { rows }) => sum[0]! / rows,
});

/** Every element less the mean of all. */
export const centred = sequence([mean, { job: centre, settings: (value) => ({ mean: value }) }]);

/** y = table[x]; the table comes from a file, a function or the job. */
export const lookUp = job({
  kernel: kernel(
    { y: 'f32[]', x: 'readonly u8[]', table: 'readonly f32[]', scale: 'readonly f32[]', columns: 'index' },
    ({ y, x, table, scale, columns }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      if (i < x.length)
        for (let c = 0; c < columns; c++) y[i * columns + c] = table[x[i]! * columns + c]! * scale[0]!;
    },
    { name: 'lookUp' },
  ),
  inputs: { x: {} },
  outputs: { y: { width: 'columns' } },
  arrays: {
    table: { operand: true, width: 'columns' },
    scale: ({ lengths, settings }) => Float32Array.of(lengths.table! / Number(settings.columns)),
  },
});

/** Sums of two rows, and of three. */
export const twosAndThrees = job({
  kernel: kernel(
    { twos: 'i32[]', threes: 'i32[]', x: 'readonly i32[]' },
    ({ twos, threes, x }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      if (i < twos.length) twos[i] = x[2 * i]! + x[2 * i + 1]!;
      if (i < threes.length) threes[i] = x[3 * i]! + x[3 * i + 1]! + x[3 * i + 2]!;
    },
    { name: 'twosAndThrees' },
  ),
  inputs: { x: {} },
  outputs: { twos: { ratio: [1, 2] }, threes: { ratio: [1, 3] } },
  remainder: 'drop',
});
