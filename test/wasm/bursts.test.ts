// Loops that lanes leave one by one, some turns of which go between two tests: WebAssembly gives what the interpreter gives, with this
// pass and without it, whatever the count of turns, and whatever lanes share.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Kernel, kernel } from 'warpstage';
import { specialise } from '#warpstage/compiler/specialise.js';
import { explainWasm, wasmBytes } from '#warpstage/targets/wasm/compile.js';
import { randomRuns, type Tape, tapes } from '../differential/tape.ts';
import { interpreter } from '../support/interpreter.ts';
import { runKernel } from '../support/run-kernel.ts';
import { bitsOf, type Target } from '../support/run-program.ts';
import { wasm, wasmWithout } from '../support/wasm.ts';

const schema = { out: 'f32[]', counts: 'i32[]', x: 'readonly f32[]', limit: 'i32' } as const;
type Block = readonly [number, number, number];
const blocks: readonly Block[] = [
  [32, 1, 1],
  [16, 2, 1],
  [40, 1, 1],
  [8, 4, 1],
];
const threads = 40;

/** A loop over two values, with up to four that it only reads, a count of its own and one that lanes may share. */
function looping(tape: Tape): string {
  const test = () =>
    tape.pick([
      'a * a + b * b < 900',
      'a < 40',
      'b > -30',
      'Math.abs(a - q) < 25',
      'shared < 23',
      '(steps & 31) !== 29',
    ]);
  const statement = (): string =>
    tape.pick([
      'a = a + b * p;',
      'b = b - a * q;',
      'a = b < r ? a + s : a * cuda.f32(0.5);',
      'b = b * 2 + q;',
      '{ const c = a * a - b * b; b = a * b + s; a = c * cuda.f32(0.25); }',
      `if (a > b) { b = b + r; ${tape.chance(1, 3) ? 'wins++;' : ''} } else { a = a - p; }`,
      `if (${test()}) { a = a + 1; } else { ${tape.pick(['break', 'continue', 'b = a'])}; }`,
      'inner: { if (b > s) break inner; a = a + cuda.f32(wins); }',
      'a = a + cuda.f32(shared);',
      'wins = wins + (steps & 3);',
      'bound = bound - 1;',
    ]);
  const body = Array.from({ length: 1 + tape.below(4) }, statement).join(' ');
  const start = tape.below(7) - 3;
  const most = tape.pick(['limit', 'limit', 'bound', String(tape.below(30)), '64']);
  const by = /[a-z]/.test(most) ? tape.pick([1, 1, 2]) : 1 + tape.below(3);
  const asked = [`steps < ${most}`, test()];
  if (tape.chance(1, 2)) asked.reverse();
  if (tape.chance(1, 3)) asked.splice(asked.indexOf(`steps < ${most}`) === 0 ? 1 : 0, 1);
  const step = `steps += ${by}`;
  const loops = [
    `for (; ${asked.join(' && ')}; ${step}, shared++) { ${body} }`,
    `for (; ; ${step}) { shared = shared + 1; if (!(${asked.join(' && ')}) || steps >= 90) break; ${body} }`,
    `do { ${step}; shared++; ${body} } while (${asked.join(' && ')} && steps < 90);`,
  ];
  const loop = tape.pick([loops[0]!, loops[0]!, ...loops]);
  // Not all of its values are read behind it.
  const results = tape.pick(['a + b + cuda.f32(wins)', 'a', 'cuda.f32(wins)']);
  return `({ out, counts, x, limit }, cuda) => {
    const t = cuda.thisThreadBlock().threadRank();
    const [p, q, r, s] = [x[t], x[t + 1] * cuda.f32(0.5), x[t + 2], x[t + 3]];
    let [a, b] = [x[t + 4], cuda.f32(0.5)];
    let [steps, wins, shared, bound] = [${start}, 0, 0, limit];
    ${tape.chance(1, 4) ? `if (t !== 5) { ${loop} }` : `${loop}`}
    out[t] = ${results};
    ${tape.pick(['counts[t] = steps;', 'counts[t] = steps;', ''])}
    ${tape.chance(1, 6) ? 'counts[t] = counts[t] + shared;' : ''}
  }`;
}

function outcome(target: Target, text: string, block: Block, limit: number) {
  const [out, counts] = [new Float32Array(threads), new Int32Array(threads)];
  const x = Float32Array.from({ length: threads + 4 }, (_, i) => ((Math.imul(i, 40_503) >> 3) % 64) / 32);
  const { fault } = runKernel(target, compiled(text), {
    grid: 1,
    block,
    arguments: { out, counts, x, limit },
  });
  expect(fault, text).toBeNull();
  return `${bitsOf(out)} ${counts}`;
}

const compiled = (text: string) => kernel(schema, new Function(`return ${text}`)()) as unknown as Kernel;

function programOf(text: string, block: Block) {
  return specialise(compiled(text), {
    block,
    indexType: 'i32',
    constants: {},
    functions: {},
    cooperative: false,
  }).program;
}

const goesInBursts = (text: string, block: Block = [32, 1, 1]) =>
  explainWasm(programOf(text, block)).done.some((each) => each.startsWith('bursts:'));

test.each([wasm, ...(['bursts', 'rounds', 'dead', 'flight'] as const).map(wasmWithout)])(
  'random loops, by $name',
  (target) => {
    let [runs, bursts] = [0, 0];
    fc.assert(
      fc.property(
        tapes(40),
        fc.constantFrom(...blocks),
        fc.constantFrom(0, 1, 7, 8, 9, 13, 30, 63, -4),
        (tape, block, limit) => {
          const text = looping(tape);
          const expected = outcome(interpreter('eager'), text, block, limit);
          expect(outcome(target, text, block, limit), text).toBe(expected);
          runs += 1;
          if (target === wasm && goesInBursts(text, block)) bursts += 1;
        },
      ),
      randomRuns(60),
    );
    if (target === wasm) expect(bursts).toBeGreaterThan(runs / 10);
  },
);

/** When a point leaves, in so many turns; each does at last. */
const leaving = (loop: string, after = '') => `({ out, counts, x, limit }, cuda) => {
  const t = cuda.threadIdx.x;
  const [p, q] = [x[t] + 1, x[t + 1] * cuda.f32(0.5)];
  let [a, b, steps] = [cuda.f32(0), cuda.f32(0), 0];
  ${loop.replace('BODY', 'const next = a * a - b * b + p; b = 2 * a * b + q; a = next;')}
  counts[t] = steps;
  ${after}
}`;

test('turns are as many as a limit says, which may be a literal or a value of the launch', () => {
  for (const most of ['limit', '0', '1', '8', '9', '10', '11', '12', '13', '64', '65']) {
    const text = leaving(`while (a * a + b * b <= 4000 && steps < ${most}) { BODY steps++; }`, 'out[t] = a;');
    expect(goesInBursts(text), most).toBe(true);
    for (const limit of most === 'limit'
      ? [-(2 ** 31), -1, 0, 1, 7, 8, 9, 11, 12, 13, 14, 2 ** 31 - 1]
      : [0]) {
      const expected = outcome(interpreter('eager'), text, [32, 1, 1], limit);
      expect(outcome(wasm, text, [32, 1, 1], limit), `${most} ${limit}`).toBe(expected);
    }
  }
});

test('a limit that comes nearer is no count', () => {
  const text = leaving(
    'let bound = limit; while (a * a + b * b <= 4000 && steps < bound) { BODY steps++; bound = bound - 1; }',
  );
  const expected = outcome(interpreter('eager'), text, [32, 1, 1], 8);
  expect(outcome(wasm, text, [32, 1, 1], 8)).toBe(expected);
});

test('bursts are for loops that do nothing but compute, and gain vectors by it', () => {
  const plain = 'while (steps < 9 && a * a + b * b <= 4) { BODY steps++; }';
  expect(goesInBursts(leaving(plain))).toBe(true);
  expect(
    goesInBursts(leaving('for (let k = 0; k < limit; k++) { if (a * a + b * b > 4) break; BODY steps++; }')),
  ).toBe(true);
  // There is no room for more than two vectors in a row of eight.
  expect(goesInBursts(leaving(plain), [8, 4, 1])).toBe(false);
  // What they read may not be there, or what they do may be another loop.
  expect(goesInBursts(leaving(plain.replace('steps++', 'steps++; a = a + x[t + steps]')))).toBe(false);
  expect(
    goesInBursts(leaving(plain.replace('steps++', 'steps++; for (let k = 0; k < limit; k++) a = a * p'))),
  ).toBe(false);
  // Where bursts would gain vectors, what they read has to be there too.
  const adding = (what: string) =>
    leaving(`while (steps < 9 && a <= 4) { a = a * p + q; steps++; a = a + ${what}; }`);
  expect(goesInBursts(adding('p'))).toBe(true);
  expect(goesInBursts(adding('x[t]'))).toBe(false);
  const [text, block] = [leaving(plain), [32, 1, 1] as const];
  const lengths = [[], ['bursts'] as const].map(
    (without) => wasmBytes(programOf(text, block), { without }).length,
  );
  expect(lengths[0]).toBeGreaterThan(lengths[1]!);
});

test('values of 64 bits go in bursts by pairs', () => {
  const text = leaving(
    'while (a * a + b * b <= 90 && steps < limit) { BODY steps++; }',
    'out[t] = cuda.f32(a);',
  )
    .replace('[x[t] + 1, x[t + 1] * cuda.f32(0.5)]', '[cuda.f64(x[t]), cuda.f64(x[t + 1]) * 0.3]')
    .replace('[cuda.f32(0), cuda.f32(0), 0]', '[cuda.f64(0), cuda.f64(0), 0]');
  expect(goesInBursts(text)).toBe(true);
  const expected = outcome(interpreter('eager'), text, [32, 1, 1], 30);
  expect(outcome(wasm, text, [32, 1, 1], 30)).toBe(expected);
});

test('a load that a loop does not make takes no register of it', () => {
  const chained = kernel({ out: 'f32[]', x: 'readonly f32[]', n: 'i32' }, ({ out, x, n }, cuda) => {
    const t = cuda.threadIdx.x;
    let sum = cuda.f32(0);
    for (let turn = 0; turn < n; turn++) {
      let a = x[turn * 64 + t]!;
      for (let step = 0; step < n; step++) a = a * cuda.f32(0.5) + x[step * 64 + t]!;
      sum = sum + a;
      out[turn * 64 + t] = sum;
    }
  }) as unknown as Kernel;
  const options = {
    block: [64, 1, 1],
    indexType: 'i32',
    constants: {},
    functions: {},
    cooperative: false,
  } as const;
  const { done } = explainWasm(specialise(chained, options).program);
  // One that goes from turn to turn, and one that is loaded; those around it are two loads otherwise.
  expect(done).toContain('flight: 2 values of a loop at a time');
});
