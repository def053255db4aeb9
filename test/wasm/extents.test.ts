// Indices of dimensions, checked for all lanes at once against extents that the launch gives: random kernels over arrays
// of several dimensions give in lanes what the interpreter gives thread by thread, and what lies outside is found at its
// place, in its thread.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Kernel, kernel } from 'warpstage';
import { specialise } from '#warpstage/compiler/specialise.js';
import type { OptionalCpuPass } from '#warpstage/targets/legalise/cpu/passes.js';
import { wasmBytes } from '#warpstage/targets/wasm/compile.js';
import { randomRuns, type Tape, tapes } from '../differential/tape.ts';
import { interpreter } from '../support/interpreter.ts';
import { runProgram, type Target } from '../support/run-program.ts';
import { atLength } from '../support/thorough.ts';
import { wasm, wasmWithout } from '../support/wasm.ts';

const schema = {
  out: 'i32[]',
  to: 'i32[][]',
  across: 'f32[][]',
  from: 'readonly i32[][]',
  turned: 'readonly f32[][]',
  cube: 'readonly f32[][][]',
  bytes: 'readonly u8[][]',
  flat: 'readonly i32[]',
  n: 'index',
  m: 'index',
} as const;

/** The text of a kernel that stores a sum of what it reads at, and around, each thread's own place. */
class Writer {
  readonly #tape: Tape;
  #loops = 0;
  readonly #counters: string[] = [];

  constructor(tape: Tape) {
    this.#tape = tape;
  }

  kernel(): string {
    // One place for all threads, moved alike: no two write to the same.
    const [a, b, c, d] = [0, 1, 2, 3].map(() => this.#near());
    const end = this.#tape.pick([
      `to[y${a}][x${b}] = sum;`,
      `across[x${c}][y${d}] = sum;`,
      `to[y${a}][x${b}] = sum; across[x${c}][y${d}] = sum;`,
      `if (y${a} >= 0 && y${a} < to.length && x${b} >= 0 && x${b} < m) to[y${a}][x${b}] = sum;`,
      `if (x < m && y < n) to[y${a}][x${b}] = 1;`,
      `if (x < m && y < n) { to[y${a}][x${b}] = from[y][x] + from[y${c}][x${d}]; across[x][y] = turned[x][y]; }`,
      `if (y >= n || x >= m) return; to[y][x] = from[y][x] + cuda.i32(bytes[y${c}][x]);`,
      `if (y >= n - 1 || x >= m) return; to[y][x] = 5;`,
      `if (y < 1 || y >= n - 1 || x < 1 || x >= m - 1) return; to[y][x] = from[y - 1][x] + from[y][x + 1] + from[y + 1][x - 1];`,
      `for (let k = t.y; k < 4; k += cuda.blockDim.y) { if (x < m && k < n) sum += tile[k][t.x] + from[k][x] + cuda.i32(bytes[k][x]); } out[i] = sum;`,
      `for (let k = 0; k < n; k++) sum += from[k][x] * 3 + from[y][k]; out[i] = sum;`,
      `for (let k = 0; k < n; k++) { sum += from[k][x]; if ((k & 1) === 1) k++; } out[i] = sum;`,
      `for (let k = t.y; k < n; k += cuda.blockDim.y) { if (x < m && n > 4) sum += from[k][x] + cuda.i32(bytes[k][x]) + tile[3 - (k & 3)][0]; } out[i] = sum;`,
      `if (x < m && y < n) sum = from[n - 1 - y][x] + from[y][x] + cuda.i32(bytes[n - 1 - y][x]); out[i] = sum;`,
      `for (let k = 1; k < n; k += 2) { if ((k & 3) === 1) continue; sum += from[k][x]; } out[i] = sum;`,
      `for (let k = t.y; k < n; k += cuda.blockDim.y) sum += flat[k * m + x] + from[k][x]; out[i] = sum;`,
      `for (let k = t.y; k < n; k += cuda.blockDim.y) sum += flat[(n - 1 - k) * m + x]; out[i] = sum;`,
      `for (let k = t.y; k < 4; k += cuda.blockDim.y) sum += flat[(k + t.y) * m + t.x] + tile[k][t.x]; out[i] = sum;`,
    ]);
    return `({ out, to, across, from, turned, cube, bytes, flat, n, m }, cuda) => {
      const t = cuda.threadIdx;
      const x = cuda.blockIdx.x * cuda.blockDim.x + t.x;
      const y = cuda.blockIdx.y * cuda.blockDim.y + t.y;
      const i = (cuda.blockIdx.y * cuda.gridDim.x + cuda.blockIdx.x) * cuda.blockDim.x * cuda.blockDim.y
        + t.y * cuda.blockDim.x + t.x;
      const seen = flat.shaped([n, m], m);
      const tile = cuda.sharedArray('i32', [4, 36]);
      const own = cuda.localArray('i32', [2, 3]);
      for (let j = t.y; j < 4; j += cuda.blockDim.y) {
        for (let k = t.x; k < 36; k += cuda.blockDim.x) tile[j][k] = j * 50 + k;
      }
      for (let j = 0; j < 6; j++) own[j % 2][j % 3] = j * n;
      cuda.syncthreads();
      let sum = cuda.i32(i);
      ${this.#statements(0)}
      out[i] = sum;
      ${end}
    }`;
  }

  #near(): string {
    return this.#tape.pick(['', '', '', ' + 1', ' - 1']);
  }

  #statements(depth: number): string {
    const made: string[] = [];
    do made.push(this.#statement(depth));
    while (!this.#tape.ended && this.#tape.chance(1, 2));
    return made.join('\n');
  }

  #statement(depth: number): string {
    const tape = this.#tape;
    switch (tape.below(depth < 2 ? 8 : 3)) {
      case 3:
        return `if (${this.#test()}) { ${this.#statements(depth + 1)} }`;
      case 4:
        return `if (${this.#test()}) { ${this.#statements(depth + 1)} } else { ${this.#statements(depth + 1)} }`;
      case 5:
        return `sum = ${this.#test()} ? sum : sum + ${this.#read()};`;
      case 6:
      case 7: {
        this.#loops += 1;
        const k = `k${this.#loops}`;
        const rounds = tape.pick(['2', 'm - 37', 'n - 5', '(sum & 3)']);
        const first = tape.pick(['0', '1', '-1']);
        this.#counters.push(k);
        const body = this.#statements(depth + 1);
        this.#counters.pop();
        return `for (let ${k} = ${first}; ${k} < ${rounds}; ${k}++) { ${body} }`;
      }
      default:
        return `sum = sum * 3 + ${this.#read()};`;
    }
  }

  #test(): string {
    return this.#tape.pick([
      'x < m',
      'y < n && x < m',
      'y > 0',
      'x > 0',
      '(sum & 2) === 0',
      'n > 6',
      't.x < 9',
    ]);
  }

  #read(): string {
    const tape = this.#tape;
    const [y, x] = [this.#row(), this.#column()];
    return tape.pick([
      `from[${y}][${x}]`,
      `from[${y}][${x}]`,
      `cuda.i32(bytes[${y}][${x}])`,
      `cuda.i32(cube[${tape.pick(['0', '1', 'y', ...this.#counters])}][${y}][${x}])`,
      `seen[${y}][${x}]`,
      `cuda.i32(turned[${x}][${y}])`,
      `tile[${tape.pick(['t.y', '3', 't.x & 3', ...this.#counters])}][t.x${this.#near()}]`,
      `own[${tape.pick(['1', 't.x & 1', ...this.#counters])}][${tape.pick(['0', '2', 't.x % 3', ...this.#counters])}]`,
      `from[(sum & 3)][${x}]`,
      `from[${y}][(sum & 7)]`,
    ]);
  }

  #row(): string {
    return this.#tape.pick([
      `y${this.#near()}`,
      '0',
      ...this.#counters.map((k) => `y + ${k}`),
      ...this.#counters,
      'n - 1',
    ]);
  }

  #column(): string {
    return this.#tape.pick([
      `x${this.#near()}`,
      ...this.#counters.map((k) => `x + ${k}`),
      ...this.#counters,
      'm - 1',
      '0',
    ]);
  }
}

type Shape = readonly [x: number, y: number];

interface Launch {
  readonly block: Shape;
  readonly grid: Shape;
  readonly rows: number;
  readonly columns: number;
  readonly pitch: number;
}

const compiled = (text: string) => kernel(schema, new Function(`return ${text}`)()) as unknown as Kernel;

/** Arrays of rows x columns, each row at the pitch; `across` and `turned` the other way. */
function outcome(target: Target, given: Kernel, { block, grid, rows, columns, pitch }: Launch) {
  const { program } = specialise(given, {
    block: [...block, 1],
    indexType: 'i32',
    constants: {},
    functions: {},
  });
  const shape = (name: string, height: number, width: number, between: number) => ({
    [`${name}.rows`]: height,
    [`${name}.columns`]: width,
    [`${name}.pitch`]: between,
  });
  const length = rows * pitch;
  const out = new Int32Array(block[0] * block[1] * grid[0] * grid[1]);
  const to = new Int32Array(length).fill(-1);
  const across = new Float32Array(columns * (rows + 1)).fill(-2);
  const { fault, executable } = runProgram(target, program, {
    grid,
    arguments: {
      out,
      to,
      across,
      from: Int32Array.from({ length }, (_, i) => i * 7),
      turned: Float32Array.from(across, (_, i) => i * 13),
      cube: Float32Array.from({ length: 2 * length }, (_, i) => i * 5),
      // There is more of it than its rows take.
      bytes: Uint8Array.from({ length: length + pitch }, (_, i) => i * 3),
      flat: Int32Array.from({ length: rows * columns }, (_, i) => i * 11),
      n: rows,
      m: columns,
      ...shape('to', rows, columns, pitch),
      ...shape('across', columns, rows, rows + 1),
      ...shape('turned', columns, rows, rows + 1),
      ...shape('from', rows, columns, pitch),
      ...shape('bytes', rows, columns, pitch),
      ...shape('cube', rows, columns, pitch),
      'cube.planes': 2,
    },
  });
  return {
    fault,
    program: executable.program,
    results: fault === null ? [out, to, across].join('; ') : null,
  };
}

const blocks = [
  [32, 1],
  [16, 2],
  [8, 4],
  [20, 2],
  [7, 1],
] as const satisfies Shape[];

/** Extents near what the threads of a grid reach, now and then one less. */
const launches = fc
  .record({
    block: fc.constantFrom<Shape>(...blocks),
    grid: fc.constantFrom<Shape>([1, 1], [2, 1], [1, 2]),
    moreRows: fc.constantFrom(0, 2, 1, -1),
    moreColumns: fc.constantFrom(0, 2, 1, -1, 5),
    between: fc.constantFrom(0, 3, 1),
  })
  .map(({ block, grid, moreRows, moreColumns, between }) => {
    const rows = Math.max(block[1] * grid[1] + moreRows, 1);
    const columns = block[0] * grid[0] + moreColumns;
    return { block, grid, rows, columns, pitch: columns + between };
  });

const passes = ['extents', 'blocks', 'advance', 'ends'] as const;

type Answer = Pick<ReturnType<typeof outcome>, 'fault' | 'results'>;
const answers = new Map<string, Answer>();

/** What the interpreter says of a kernel: the targets are asked about the same ones. */
function expectedOf(text: string, random: Kernel, launch: Launch): Answer {
  const key = `${text} ${JSON.stringify(launch)}`;
  let expected = answers.get(key);
  if (expected === undefined) {
    const { fault, results } = outcome(interpreter('eager'), random, launch);
    expected = { fault, results };
    answers.set(key, expected);
  }
  return expected;
}

test.each([wasm, ...passes.map(wasmWithout), wasmWithout('bounds')])(
  'random kernels over dimensions, by $name',
  (target) => {
    const seen = { faults: 0, ended: 0 };
    const reached = new Map<OptionalCpuPass, number>();
    fc.assert(
      fc.property(tapes(40), launches, (tape, launch) => {
        const text = new Writer(tape).kernel();
        const random = compiled(text);
        const expected = expectedOf(text, random, launch);
        const actual = outcome(target, random, launch);
        // Which of a block's threads is the first to fail depends on the order in which they run.
        const placeOf = ({ fault }: Answer) => fault && { kind: fault.kind, block: fault.block };
        expect(placeOf(actual), text).toEqual(placeOf(expected));
        expect(actual.results, text).toEqual(expected.results);
        seen[expected.fault === null ? 'ended' : 'faults'] += 1;
        if (target !== wasm) return;
        const whole = wasmBytes(actual.program);
        for (const pass of passes) {
          const without = wasmBytes(actual.program, { without: [pass] });
          if (!Buffer.from(without).equals(whole)) reached.set(pass, (reached.get(pass) ?? 0) + 1);
        }
      }),
      randomRuns(atLength ? 120 : 60),
    );
    const runs = seen.faults + seen.ended;
    expect(seen.faults).toBeGreaterThan(runs / 8);
    expect(seen.ended).toBeGreaterThan(runs / 8);
    if (target !== wasm) return;
    expect(reached.get('extents')).toBeGreaterThan(runs / 2);
    for (const pass of passes) expect(reached.get(pass), pass).toBeGreaterThan(runs / 12);
  },
);

/** A block of 32 x 2 threads that store at their places what a text reads; arrays have an element for each of them. */
const reading = (
  read: string,
  write = 'to[y][x]',
) => `({ to, across, from, turned, cube, bytes, flat, n, m }, cuda) => {
  const { x, y } = cuda.threadIdx;
  const tile = cuda.sharedArray('i32', [2, 32]);
  const own = cuda.localArray('i32', [2, 32]);
  const list = cuda.localArray('i32', 66);
  const seen = flat.shaped([n, m], m);
  ${read}
  ${write} = x;
}`;

test.each([
  ['a row behind the last', 'to[0][x] = from[y + 1][x];', [0, 1]],
  ['a row before the first', 'to[0][x] = from[y - 1][x];', [0, 0]],
  ['a column behind the last', 'to[y][0] = from[y][x + 1];', [31, 0]],
  ['a column before the first', 'to[y][0] = from[y][x - 1];', [0, 0]],
  ['a column behind the last, whose element is there', 'to[y][x + 1] = from[1][x];', [31, 0]],
  ['a row before the first, whose element is there', 'to[y - 1][x + 1] = from[1][x];', [0, 0]],
  ['a column far behind the last', 'to[y][x + 2147483640] = 0;', [0, 0]],
  ['a plane behind the last', 'to[y][x] = cuda.i32(cube[y + 1][y][x]);', [0, 1]],
  ['a row of a plane behind the last', 'to[y][x] = cuda.i32(cube[0][y + 1][x]);', [0, 1]],
  ['a byte behind the last column', 'to[y][x] = cuda.i32(bytes[y][x + 1]);', [31, 0]],
  ['what the kernel gives a shape', 'to[y][x] = seen[y][x + 1];', [31, 0]],
  ['what reaches over the end of an array', 'to[y][x] = flat.shaped([n + 1, m], m)[y + 1][x];', [0, 1]],
  ['a shape beside one that is wider', 'to[y][x] = from[y][x] + flat.shaped([n, m - 1], m)[y][x];', [31, 0]],
  ['extents that differ from lane to lane', 'to[y][x] = flat.shaped([n, m - x], m)[y][x];', [16, 0]],
  ['an extent below zero', 'to[y][x] = flat.shaped([n - 40, m], m)[y][x];', [0, 0]],
  ['a dimension of one place', 'to[y][x] = flat.shaped([n, m - 31], m)[y][x];', [1, 0]],
  [
    'one place in rows that differ from lane to lane',
    'to[y][x] = flat.shaped([n, m - x - 4], m)[y][3];',
    [25, 0],
  ],
  ['rows that lie at one place', 'to[y][x] = flat.shaped([n, m], 0)[x][0];', [2, 0]],
  ['a part of a row', 'to[y][x] = from[1].subarray(3).shaped([n, m], m)[0][x];', [30, 0]],
  ['lanes side by side in rows that are not', 'to[y][x] = flat.shaped([40, m], 1)[2 * x][31 - x];', [20, 0]],
  ['every other column', 'to[y][0] = from[y][2 * x];', [16, 0]],
  ['every other column, by lanes together', 'to[y][x] = from[y][2 * x];', [16, 0]],
  ['shared memory', 'tile[y][x + 1] = 1;', [31, 0]],
  ['shared memory, row by row', 'tile[y + 1][x] = 1;', [0, 1]],
  ['a thread\u2019s own memory', 'own[y + 1][3] = 1;', [0, 1]],
  ['a thread\u2019s own memory, each at its own place', 'own[1][x + 1] = 1;', [31, 0]],
  ['rows that differ from lane to lane', 'across[x + 1][y] = 1;', [31, 0]],
  ['rows before the first, that differ from lane to lane', 'across[x - 1][y] = 1;', [0, 0]],
  ['columns of such rows', 'across[x][y + 1] = 1;', [0, 1]],
  [
    'one place as two',
    'const a = list.shaped([2, 33]); const b = list.shaped([2, 32]); to[y][x] = a[0][n + 30] + b[0][n + 30];',
    [0, 0],
  ],
  ['one place of a thread\u2019s own memory', 'list.shaped([n, m], 0)[x][0] = 1;', [2, 0]],
  ['what only some lanes go to', 'if (x > 20) to[y][x] = from[y][x + 1];', [31, 0]],
  ['what only some lanes choose', 'to[y][x] = x > 20 ? from[y][x + 1] : 0;', [31, 0]],
  ['a place that is computed', 'to[y][0] = from[y][(x * 5) % 37];', [7, 0]],
  ['a row that is computed', 'to[1][x] = from[(x * 5) % 7][x];', [1, 0]],
  [
    'what only some lanes do, in a row behind the last',
    'if (x < 20) to[y][x] = cuda.i32(bytes[y + 1][x]);',
    [0, 1],
  ],
  ['the second of two places of a lane', 'if (x < 20) to[y][x] = from[y][x] + from[y][x + 13];', [19, 0]],
  ['what other rows of the block do', 'if (x < m && n > 1) to[y][x] = from[y + 1][x];', [0, 1]],
  [
    'what other rows of the block do before the first',
    'if (x < m && n > 1) to[y][x] = from[1 - 2 * y][x];',
    [0, 1],
  ],
  [
    'turns of a loop that begins at a rank',
    'let s = 0; for (let k = y; k < 4; k += 2) { if (x < m && n > 1) s += from[k][x] + cuda.i32(bytes[k][x]); } to[y][x] = s;',
    [0, 0],
  ],
  [
    'what is known behind a branch alone',
    `let r = y; for (let k = 0; k < n; k++) r += 1;
    let s = 0; if (x < m && n > 1) s = from[y][x] + cuda.i32(bytes[y][x]) + from[r][x]; to[y][x] = s;`,
    [0, 0],
  ],
  [
    'turns of a loop over rows that begins at a rank',
    'let s = 0; for (let k = y; k < 3; k += 2) s += flat[k * m + x]; to[y][x] = s;',
    [0, 0],
  ],
  [
    'turns of a loop over rows up from the last',
    'let s = 0; for (let k = y; k < 3; k += 2) s += flat[(1 - k) * m + x]; to[y][x] = s;',
    [0, 0],
  ],
  [
    'what each row of a block begins further behind',
    'let s = 0; for (let k = y; k < 2; k += 2) s += flat[k * m + y * m + x]; to[y][x] = s;',
    [0, 1],
  ],
  [
    'what only another number moves from row to row',
    'let s = 0; for (let k = 0; k < 2; k++) s += flat[k + y * m + x]; to[y][x] = s;',
    [31, 1],
  ],
  [
    'a counter that is less than nothing in other threads',
    `const first = n * 1073741823 + 1; let s = 0;
    for (let k = first + y; k < 10; k += 2) s += flat[k - first + x]; to[y][x] = s;`,
    [0, 1],
  ],
  ['a loop over rows', 'for (let k = 0; k < n; k++) to[y][x] = from[y + k][x];', [0, 1]],
  ['a loop over columns', 'for (let k = 0; k < n; k++) to[y][0] = from[y][x + k];', [31, 0]],
  ['a loop that begins before the first', 'for (let k = -1; k < n; k++) to[k][x] = 1;', [0, 0]],
])('outside: %s', (_, text, thread) => {
  const given = compiled(reading(text));
  const launch = { block: [32, 2], grid: [1, 1], rows: 2, columns: 32, pitch: 33 } as const;
  const { fault } = outcome(interpreter('eager'), given, launch);
  expect(fault).toMatchObject({ kind: 'out-of-range', thread: [...thread, 0] });
  for (const target of [wasm, ...passes.map(wasmWithout), wasmWithout('bounds')])
    expect(outcome(target, given, launch).fault, target.name).toEqual(fault);
});
