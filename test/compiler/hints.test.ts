// Hints are code: what one says to write, put in place of what it underlines, compiles.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { WarpstageError } from 'warpstage';
import type { Issue } from '#warpstage/diagnostics/error.js';
import type { Schema } from '#warpstage/kernel/schema.js';
import { randomRuns, type Tape, tapes } from '../differential/tape.ts';
import { atLength } from '../support/thorough.ts';
import { compile, kernelOf } from './support.ts';

const schema = {
  y: 'f32[]',
  d: 'f64[]',
  h: 'i32[]',
  b: 'u8[]',
  v: 'f32x2[]',
  n: 'index',
  i: 'i32',
  u: 'u32',
  f: 'f32',
} as const;

const body = (statements: string) => `({ ${Object.keys(schema).join(', ')} }, cuda) => { ${statements} }`;

function issuesOf(statements: string): readonly Issue[] {
  try {
    compile(kernelOf(schema, body(statements)));
  } catch (error) {
    if (!(error instanceof WarpstageError)) throw error;
    return error.issues;
  }
  return [];
}

/** The statements with what an issue underlines replaced. */
function mended(statements: string, { location }: Issue, code: string): string {
  const { text, line, column, length } = location!;
  const whole = body(statements);
  const lines = text.split('\n');
  const start = lines.slice(0, line - 1).join('\n').length + Math.min(1, line - 1) + column - 1;
  const at = start - text.indexOf(whole) - whole.indexOf(statements);
  return statements.slice(0, at) + code + statements.slice(at + length);
}

/** What a hint says to write, each way by itself. */
function ways({ hint }: Issue): readonly string[] {
  const [, all] = /(?:^|and )write (.*)$/.exec(hint!)!;
  return all!.split(', or ').map((way) => way.replace(/ for (integer division|a float)$/, ''));
}

describe('a division of two integers', () => {
  test.each([
    [
      'const q = (b[i] - 128) / 128.0; y[0] = q * f;',
      'Math.trunc((b[i] - 128) / 128.0)',
      'cuda.f32(b[i] - 128) / 128.0',
    ],
    ['const q = i / (n + 1); y[0] = q * f;', 'Math.trunc(i / (n + 1))', 'cuda.f32(i) / (n + 1)'],
    ['const q = i / -n; y[0] = q * f;', 'Math.trunc(i / -n)', 'cuda.f32(i) / (-n)'],
    ['const q = (h[1], i) / 3; y[0] = q * f;', 'Math.trunc((h[1], i) / 3)', 'cuda.f32((h[1], i)) / 3'],
    ['const q = i /* all */ /\n  n; y[0] = q * f;', 'Math.trunc(i / n)', 'cuda.f32(i) / n'],
    ['y[i / 2] = 1;', 'Math.trunc(i / 2)'],
    ['h[0] = n / 2;', 'Math.trunc(n / 2)'],
    ['b[0] /= i - 1;', 'b[0] = Math.trunc(b[0] / (i - 1))'],
    ['let k = i; k /= 2; h[0] = k;', 'k = Math.trunc(k / 2)'],
    ['let k = i; k = k / 2; h[0] = k;', 'Math.trunc(k / 2)'],
  ])('%s', (statements, ...expected) => {
    const [issue, ...more] = issuesOf(statements);
    expect(more).toEqual([]);
    expect(issue!.code).toBe('WS1005');
    expect(ways(issue!)).toEqual(expected);
    for (const way of expected) expect(issuesOf(mended(statements, issue!, way))).toEqual([]);
  });

  test('whatever is divided, both ways compile', () => {
    const operand = (tape: Tape, depth: number): string => {
      if (depth === 0) return tape.pick(['i', 'n', 'b[i]', '2', 'h.length', '-1', 'cuda.threadIdx.x']);
      const [a, c] = [operand(tape, depth - 1), operand(tape, depth - 1)];
      return tape.pick([
        () => a,
        () => `(${a} + ${c})`,
        () => `${a} * ${c}`,
        () => `(${a} - ${c})`,
        () => `(- ${a})`,
        () => `(i > 2 ? ${a} : ${c})`,
        () => `Math.max(${a}, ${c})`,
        () => `( ${a} | ${c} )`,
        () => `(${a},  ${c})`,
        () => `h[ ${a} ]`,
        () => `Math.trunc((${a}) / (${c}))`,
      ])();
    };
    fc.assert(
      fc.property(tapes(40), (tape) => {
        const statements = `const q = ${operand(tape, 2)} / (${operand(tape, 2)} | i); y[0] = q * f;`;
        const [issue] = issuesOf(statements).filter(({ code }) => code === 'WS1005');
        for (const way of ways(issue!)) {
          expect(issuesOf(mended(statements, issue!, way)), `${statements} ${issue!.hint}`).toEqual([]);
        }
      }),
      randomRuns(atLength ? 60 : 30),
    );
  });

  test.each([
    ['stored to an f32 array', 'y[0] = i / 2;'],
    ['stored to an f64 array', 'd[0] = n / (i + 1);'],
    ['added to an element', 'y[0] += i / 2;'],
    ['stored twice', 'y[0] = y[1] = i / 2;'],
    ['a component', 'v[0].x = i / 2; v[1] = cuda.f32x2(i / 2, n / 3);'],
    ['combined with a float', 'const q = i / n * f; y[0] = q;'],
    ['combined with a fraction', 'const q = 0.5 + i / 3; y[0] = q;'],
    ['compared with a float', 'if (i / n < 0.5) y[0] = 1;'],
    ['chosen with a float', 'y[0] = i > 2 ? i / n : f;'],
    ['passed to Math', 'y[0] = Math.sqrt(i / n) + Math.atan2(i / n, f) + Math.hypot(i / n, 3);'],
    ['cast', 'const q = cuda.f32(i / n) + cuda.f64(i / 2); d[0] = q; h[0] = cuda.i32(i / 3);'],
    ['given to a float variable', 'let q = 0.5; q = i / n; y[0] = q;'],
    ['given to a variable that is used as a float', 'let q = 0; if (n > 0) q = i / n; y[0] = q;'],
    ['added atomically', 'cuda.atomicAdd(y, 0, i / n);'],
    ['given to a float that is found out later', 'let s = 0; s += i / n; s += f; y[0] = s;'],
  ])('is one of floats where it is %s', (_, statements) => {
    expect(issuesOf(statements)).toEqual([]);
  });
});

describe('a question for what is missing', () => {
  test.each([
    ['const t = y[i]; if (t === undefined) y[0] = 1;', "'t' is never undefined", 'write false'],
    [
      'if (y[i] === undefined) y[0] = 1;',
      "'y[i]' is never undefined: an access outside of 'y' ends the launch",
      'write i >= y.length',
    ],
    [
      'if (undefined !== y[i + 1]) y[0] = 1;',
      "'y[i + 1]' is never undefined: an access outside of 'y' ends the launch",
      'write (i + 1) < y.length',
    ],
    [
      'if (y[i] != null) y[0] = 1;',
      "'y[i]' is never undefined: an access outside of 'y' ends the launch",
      'write i < y.length',
    ],
    ['if (f == null) y[0] = 1;', "'f' is never undefined", 'write false'],
    ['if (void 0 !== f) y[0] = 1;', "'f' is never undefined", 'write true'],
    [
      'y[0] = y[n] ?? 9;',
      "'y[n]' is never undefined: an access outside of 'y' ends the launch",
      'write (n < y.length ? y[n] : 9)',
    ],
    ['y[0] = f ?? i + 1;', "'f' is never undefined", 'write f'],
    ['y[0] = 2 * (undefined ?? f);', "this asks whether 'undefined' is undefined", 'write f'],
    ['y[0] = y?.[1];', "'?.' asks whether something is undefined, and in a kernel nothing is", 'write y[1]'],
    [
      'y[0] = y?.length + v[0]?.x;',
      "'?.' asks whether something is undefined, and in a kernel nothing is",
      'write y.length',
    ],
    ['y?.[0];', "'?.' asks whether something is undefined, and in a kernel nothing is", 'write y[0]'],
    [
      'const g = (x) => x; y[0] = g?.(f);',
      "'?.' asks whether something is undefined, and in a kernel nothing is",
      'write g(f)',
    ],
  ])('%s', (statements, message, hint) => {
    const [issue] = issuesOf(statements);
    expect(issue).toMatchObject({ code: 'WS1006', message, hint });
    const rest = issuesOf(mended(statements, issue!, ways(issue!)[0]!));
    // A second one in the statement was not reported yet.
    expect(rest.filter((one) => !one.message.startsWith("'?.'"))).toEqual([]);
  });

  test.each([
    ['let best; if (i > 2) best = i; y[0] = best === undefined ? -1 : best;', '!hasBest'],
    ['let best; if (i > 2) best = i; if (best !== undefined) y[0] = best;', 'hasBest'],
    ['let best = undefined; if (i > 2) best = f; if (best != null) y[0] = best;', 'hasBest'],
    ['let best; if (i > 2) best = i; y[0] = best ?? -1;', '(hasBest ? best : (-1))'],
    ['let best; if (i > 2) best = i; best ??= 4; y[0] = best;', 'best = hasBest ? best : 4'],
  ])('%s', (statements, code) => {
    const [issue, ...more] = issuesOf(statements);
    expect(more).toEqual([]);
    expect(issue).toMatchObject({
      code: 'WS1006',
      message: "'best' is never undefined: it is 0 until it is assigned",
      hint: `note in a variable whether it is assigned: let hasBest = false, and write ${code}`,
    });
    expect(issuesOf(`let hasBest = false; hasBest = i > 2; ${mended(statements, issue!, code)}`)).toEqual([]);
  });

  test('a parameter that may be left out has a default', () => {
    const asked = 'const g = (x, by) => x * (by ?? 2); y[0] = g(f) + g(f, 3);';
    expect(issuesOf(asked)[0]).toMatchObject({
      message: "a kernel does not ask whether the parameter 'by' is given",
      hint: 'give the parameter a default: by = 2',
    });
    expect(issuesOf('const g = (x, by = 2) => x * by; y[0] = g(f) + g(f, 3);')).toEqual([]);
    const compared = 'const g = (x, by) => by === undefined ? x : x * by; y[0] = g(f) + g(f, 3);';
    expect(issuesOf(compared)[0]).toMatchObject({ hint: 'give the parameter a default instead: by = 0' });
  });

  test('a value that turns out to be undefined', () => {
    const statements = 'const nothing = () => {}; const x = nothing(); if (x === f) y[0] = 1;';
    expect(issuesOf(statements)).toMatchObject([{ code: 'WS1006', message: "'x' is never undefined" }]);
  });
});

describe('a captured name', () => {
  test.each([
    ['y[0] = gain * f;', 'gain', ['f32', 'constant f32']],
    ['y[0] = table[i];', 'table', ['readonly f32[]']],
    ['y[0] = table.length;', 'table', ['readonly f32[]']],
    ['for (let k = 0; k < table.length; k++) y[k] = table[k];', 'table', ['readonly f32[]']],
    ['out[i] = f;', 'out', ['f32[]']],
    ['out[i] += f;', 'out', ['f32[]']],
    ['out[i]++;', 'out', ['f32[]']],
  ])('%s: what the hint adds to the schema compiles', (statements, name, expected) => {
    const [issue, ...more] = issuesOf(statements);
    expect(more).toEqual([]);
    expect(issue!.code).toBe('WS1002');
    const entries = [...issue!.hint!.matchAll(/(\w+): '([^']+)'/g)];
    expect(entries.map(([, entry, type]) => [entry, type])).toEqual(expected.map((type) => [name, type]));
    for (const type of expected) {
      const wider: Schema = { ...schema, [name]: type };
      const text = `({ ${Object.keys(wider).join(', ')} }, cuda) => { ${statements} }`;
      const constants = type.startsWith('constant') ? { [name]: 2 } : {};
      expect(() => compile(kernelOf(wider, text), { constants })).not.toThrow();
    }
  });
});
