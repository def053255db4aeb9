// Lanes that part: random branches, loops of different lengths, jumps and stores inside each other, of which some
// lanes of a vector take part and some do not; WebAssembly gives in lanes what the interpreter gives thread by thread.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Kernel, kernel } from 'warpstage';
import { wasmBytes } from '#warpstage/targets/wasm/compile.js';
import { randomRuns, type Tape, tapes } from '../differential/tape.ts';
import { interpreter } from '../support/interpreter.ts';
import { withRelaxedSimd } from '../support/relaxed-simd.ts';
import { runKernel } from '../support/run-kernel.ts';
import type { Target } from '../support/run-program.ts';
import { atLength } from '../support/thorough.ts';
import { wasm, wasmWithout } from '../support/wasm.ts';

const outputs = {
  out: 'i32[]',
  other: 'i32[]',
  kept: 'i32[]',
  bytes: 'u8[]',
  words: 'i16[]',
  wide: 'f64[]',
} as const;
const schema = { ...outputs, x: 'readonly i32[]', divisor: 'i32', n: 'i32' } as const;

/** The text of a kernel all of whose lanes' ways can be masked: it accesses each thread's own elements alone. */
class Writer {
  readonly #tape: Tape;
  readonly #jumps: boolean;
  #loops = 0;
  /** Variables of the loops around, which end with them. */
  readonly #ofLoops: string[] = [];
  /** The labels of the loops and blocks around, by whether a round of theirs can be ended. */
  readonly #around: { readonly label: string; readonly isLoop: boolean }[] = [];

  constructor(tape: Tape, jumps: boolean) {
    this.#tape = tape;
    this.#jumps = jumps;
  }

  kernel(): string {
    return `({ out, other, kept, bytes, words, wide, x, divisor, n }, cuda) => {
      const t = cuda.threadIdx.x;
      const i = cuda.blockIdx.x * cuda.blockDim.x + t;
      let a = x[i];
      let b = x[i + 1];
      let p = cuda.i32(1);
      let d = wide[i];
      ${this.#jumps ? this.#loop(0) : ''}
      ${this.#statements(0)}
      out[i] = a * 31 + b;
      other[i] = p;
      wide[i] = wide[i] + d;
    }`;
  }

  #statements(depth: number): string {
    const statements: string[] = [];
    do statements.push(this.#statement(depth));
    while (!this.#tape.ended && this.#tape.chance(depth === 0 ? 5 : 3, 6));
    return statements.join('\n');
  }

  #statement(depth: number): string {
    const tape = this.#tape;
    const name = tape.pick(['a', 'b', 'p', ...this.#ofLoops]);
    if (this.#jumps && this.#around.length > 0 && tape.chance(1, 4)) return this.#jump();
    if (this.#jumps && depth < 3 && tape.chance(1, 8)) return this.#agreed(depth);
    if (this.#jumps && depth < 3 && tape.chance(1, 12)) {
      this.#loops += 1;
      const label = `b${this.#loops}`;
      return `${label}: { ${this.#within({ label, isLoop: false }, depth)} }`;
    }
    if (tape.chance(1, 8)) {
      const wide = tape.pick([
        'd = d + a;',
        'd = 1.5 * d - p;',
        'd = b < a ? d : d * 0.25;',
        'wide[i] = d - b;',
      ]);
      return wide;
    }
    switch (tape.below(depth < 3 ? 9 : 5)) {
      case 0:
      case 1:
        return `${name} = ${name} ${tape.pick(['+', '-', '|', '^', '*', '&'])} ${this.#value()};`;
      case 2:
        return `${name} = ${this.#value()};`;
      case 3:
      case 4:
        return `${tape.pick(['kept', 'other', 'bytes', 'words'])}[i] = ${this.#value()};`;
      case 5:
      case 6:
        return `if (${this.#test()}) { ${this.#statements(depth + 1)} }`;
      case 7:
        return `if (${this.#test()}) { ${this.#statements(depth + 1)} } else { ${this.#statements(depth + 1)} }`;
      default:
        return this.#loop(depth);
    }
  }

  /** Of a few rounds: as many as a value says, or while a test holds. */
  #loop(depth: number): string {
    this.#loops += 1;
    const round = `r${this.#loops}`;
    const label = `l${this.#loops}`;
    const more = this.#tape.pick([
      `${round} < (a & 7)`,
      `${round} < t % 5`,
      `${round} < 4 && ${this.#test()}`,
    ]);
    if (this.#tape.chance(1, 2)) return this.#for(depth, label, round, more);
    // A variable of the loop's own: nobody reads it behind the loop.
    const own = `q${this.#loops}`;
    const first = this.#value();
    this.#ofLoops.push(own);
    const loop = this.#for(depth, label, round, `${more} && ${own} !== 77`);
    this.#ofLoops.pop();
    return `let ${own} = cuda.i32(${first});\n${loop}`;
  }

  #for(depth: number, label: string, round: string, more: string): string {
    const body = this.#within({ label, isLoop: true }, depth);
    return `${this.#jumps ? `${label}: ` : ''}for (let ${round} = 0; ${more}; ${round}++) { ${body} }`;
  }

  #within(around: { readonly label: string; readonly isLoop: boolean }, depth: number): string {
    this.#around.push(around);
    let statements = this.#statements(depth + 1);
    // In the middle, where it is neither a loop's test nor its end.
    if (this.#jumps) statements += `\n${this.#jump()}\n${this.#statements(depth + 1)}`;
    this.#around.pop();
    return statements;
  }

  /** Out of a loop or a block, or to the next round, now and then for all threads. */
  #jump(): string {
    const { label, isLoop } = this.#tape.pick(this.#around);
    const verb = isLoop && this.#tape.chance(1, 2) ? 'continue' : 'break';
    const before = this.#tape.chance(1, 3) ? `kept[i] = ${this.#value()};` : '';
    return `if (${this.#test()}) { ${before} ${verb} ${label}; }`;
  }

  /** A loop that all who are there leave together, with a variable that is the same for them. */
  #agreed(depth: number): string {
    const tape = this.#tape;
    this.#loops += 1;
    const [own, round] = [`u${this.#loops}`, `r${this.#loops}`];
    const [loop, whole] = [`l${this.#loops}`, `b${this.#loops}`];
    const test = tape.pick([
      `cuda.blockIdx.x === ${round}`,
      `${round} === ${tape.below(3)}`,
      `${own} > 4`,
      'n > 5',
    ]);
    const jump = tape.pick([`break ${loop}`, `continue ${loop}`, `break ${whole}`]);
    const inside = tape.chance(1, 2)
      ? this.#within({ label: loop, isLoop: true }, depth)
      : `${own} = ${own} + 2;`;
    return `let ${own} = cuda.i32(cuda.blockIdx.x);
    ${whole}: {
      ${loop}: for (let ${round} = 0; ${round} < 3; ${round}++) {
        if (${test}) { ${own} = ${own} + cuda.i32(${round}); ${jump}; }
        ${inside}
      }
      ${own} = ${own} * 5 + 1;
    }
    a = a ^ ${own};`;
  }

  #test(): string {
    const tape = this.#tape;
    const few = tape.below(4);
    return tape.pick([
      `(t & 3) !== ${few}`,
      `(t & 3) === ${few}`,
      `(a & 3) !== ${few}`,
      `b < a`,
      '(p & 4) === 0',
      'd > b',
    ]);
  }

  #value(): string {
    const tape = this.#tape;
    return tape.pick([
      'a',
      'b',
      'p',
      ...this.#ofLoops,
      't',
      `${1 + tape.below(9)}`,
      `(a >> ${1 + tape.below(9)})`,
      // Where it is asked for, there is a quotient.
      'cuda.i32(cuda.f32(d))',
      'words[i]',
      'bytes[i]',
      '(divisor === 0 ? a : Math.trunc(n / divisor))',
    ]);
  }
}

function outcome(target: Target, given: Kernel, block: number, divisor: number) {
  const length = 2 * block;
  const [out, other, kept] = [1, 2, 3].map((first) => new Int32Array(length).fill(first));
  const bytes = new Uint8Array(length).fill(200);
  const words = new Int16Array(length).fill(-300);
  const wide = Float64Array.from({ length }, (_, i) => i / 3 - 4);
  const x = Int32Array.from({ length: length + 1 }, (_, i) => (i * 2_654_435_761) >> (i % 32));
  const { fault, executable } = runKernel(target, given, {
    grid: 2,
    block,
    arguments: { out: out!, other: other!, kept: kept!, bytes, words, wide, x, divisor, n: 100 },
  });
  return { fault, executable, results: [out, other, kept, bytes, words, wide].join('; ') };
}

const once = <T>(run: () => T): T => run();

test.each([
  ['part', false, wasm],
  ['part, with relaxed SIMD', false, { ...wasm, name: 'relaxed' }],
  ['jump', true, wasm],
  ['part, without the pass that counts what loops carry', false, wasmWithout('flight')],
  ['jump, without the pass for it', true, wasmWithout('jumps')],
  ['jump, without the pass for what they read no more', true, wasmWithout('dead')],
])('random kernels whose lanes %s', (_, jumps, target) => {
  let vectorised = 0;
  let runs = 0;
  fc.assert(
    fc.property(tapes(60), fc.constantFrom(8, 4, 16, 23), fc.constantFrom(0, 7), (tape, block, divisor) => {
      const text = new Writer(tape, jumps).kernel();
      const random = kernel(schema, new Function(`return ${text}`)()) as unknown as Kernel;
      const expected = outcome(interpreter('eager'), random, block, divisor);
      const actual = (target.name === 'relaxed' ? withRelaxedSimd : once)(() =>
        outcome(target, random, block, divisor),
      );
      expect([actual.fault, expected.fault], text).toEqual([null, null]);
      expect(actual.results, text).toBe(expected.results);
      runs += 1;
      if (actual.executable.target === 'wasm' && actual.executable.vectorised) vectorised += 1;
    }),
    randomRuns(atLength ? 120 : 60),
  );
  if (target === wasm) expect(vectorised).toBeGreaterThan(runs / 2);
});

test('a loop has as many vectors under way as what goes from turn to turn leaves room for', () => {
  const stepping = kernel(schema, ({ out, x, n }, cuda) => {
    const i = cuda.threadIdx.x;
    let [a, b] = [x[i]!, 1];
    // What these hold is gone when a turn ends.
    for (let turn = 0; turn < (a & n); turn++) {
      const c = a + 3 * b;
      const d = c ^ (a << 2);
      const e = d - (c >> 1);
      const f = e * d;
      a = f + c;
      b = f - e;
    }
    out[i] = a + b;
  });
  const run = (target: Target) => outcome(target, stepping as unknown as Kernel, 16, 1);
  const [all, without] = [run(wasm), run(wasmWithout('flight'))];
  expect([all.results, without.results]).toEqual(Array(2).fill(run(interpreter('eager')).results));
  const lengthOf = ({ executable }: ReturnType<typeof run>) =>
    wasmBytes(executable.program, { without: executable === all.executable ? [] : ['flight'] }).length;
  expect(lengthOf(all)).toBeGreaterThan(lengthOf(without));
});

test('lanes that have left a loop keep what is read behind it, and no more', () => {
  const leaving = kernel(schema, ({ out, other, x, n }, cuda) => {
    const i = cuda.threadIdx.x;
    let [a, b, turns] = [x[i]! & 63, 1, 0];
    while (a > 1 && turns < n) {
      b = b * 3 + a;
      a = (a & 1) === 1 ? 3 * a + 1 : a >> 1;
      turns++;
    }
    out[i] = turns;
    other[i] = b;
  });
  const run = (target: Target) => outcome(target, leaving as unknown as Kernel, 16, 1);
  const expected = run(interpreter('eager')).results;
  expect([run(wasm).results, run(wasmWithout('dead')).results]).toEqual([expected, expected]);
  const { program } = run(wasm).executable;
  const lengths = [[], ['dead'] as const].map((without) => wasmBytes(program, { without }).length);
  expect(lengths[0]).toBeLessThan(lengths[1]!);
});

test('lanes of the other branch keep what a loop changes', () => {
  const branching = kernel(schema, ({ out, x }, cuda) => {
    const i = cuda.threadIdx.x;
    let q = x[i]! & 255;
    let a = 0;
    if ((q & 1) === 0) {
      while (q > 3) {
        q >>= 1;
        a++;
      }
    } else {
      a = q;
    }
    out[i] = a;
  });
  const [found, expected] = [wasm, interpreter('eager')].map(
    (target) => outcome(target, branching as unknown as Kernel, 16, 1).results,
  );
  expect(found).toBe(expected);
});

test('what lanes agree on stays as it is when all of them have left together', () => {
  const leaving = kernel(schema, ({ out, other, x }, cuda) => {
    const t = cuda.threadIdx.x;
    const i = cuda.blockIdx.x * cuda.blockDim.x + t;
    // For all threads of a block it ends in the same turn, by the return.
    const search = (turns: number): number => {
      for (let turn = 0; turn < turns; turn++) {
        if (turn === cuda.blockIdx.x) return 40 + turn;
      }
      return -1;
    };
    let [found, turns] = [0, 0];
    if (t >= 3) {
      found = cuda.i32(search(3));
      let turn = cuda.index(0);
      for (; turn < 3; turn++) if (turn === cuda.blockIdx.x) break;
      turns = cuda.i32(turn);
    }
    out[i] = found + x[i]!;
    other[i] = turns;
  });
  const run = (target: Target) => outcome(target, leaving as unknown as Kernel, 16, 1);
  const lanes = run(wasm);
  expect(lanes.executable).toMatchObject({ vectorised: true });
  expect(lanes.results).toBe(run(interpreter('eager')).results);
});
