// The text by which a journal recognises a declaration: two values have one text only if they are one value.

import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { valueText } from '#warpstage/overlap/journal/value-text.js';

const double = ({ v }: { v: number }) => v * 2;
const triple = ({ v }: { v: number }) => v * 3;

/** Values of which JSON, or `String`, writes several alike. */
const alike: readonly unknown[] = [
  ...[null, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 'NaN', 'null', 'Infinity'],
  ...[0, -0, 0n, '0', '-0', '0n', false, 'false', 1, 1n, '1n', true, 'true', [0], [-0], [0n], ['0']],
  ...[[], {}, '', '[]', '{}', [[]], [null], [undefined], ['null'], [1, 2], ['1, 2'], ['1', '2'], [[1], 2]],
  ...[{ a: 1 }, { a: '1' }, { a: 1n }, { 0: 1, 1: 2 }, [['a', 1]], { 'a": 1, "b': 2 }, { a: 1, b: 2 }],
  ...[double, triple, String(double), `function ${JSON.stringify(String(double))}`],
  ...[{ f: double }, { f: triple }, {}, { f: String(double) }],
  ...[new Uint8Array([1, 2]), new Int8Array([1, 2]), new Uint16Array([0x0201]), new Float32Array([1, 2])],
  ...[new Float32Array([0]), new Float32Array([-0]), new Float64Array([Number.NaN]), new Float64Array([0])],
  ...[
    new Uint8Array([0, 1, 2]).subarray(1, 2),
    new Uint8Array([0, 1, 2]).subarray(1),
    new Uint8Array(),
    new DataView(new ArrayBuffer(2)),
  ],
  ...[
    new Date(0),
    new Date(1),
    new Date(Number.NaN),
    /a/,
    /a/g,
    '/a/',
    new Map(),
    new Set(),
    new Map([[1, 2]]),
  ],
  ...[
    new Set([1, 2]),
    new Set([[1, 2]]),
    new Map([[1, 3]]),
    2 ** 53,
    2 ** 53 + 2,
    0.1,
    0.1 + 2 ** -56,
    5e-324,
  ],
];

function expectTold(one: unknown, other: unknown): void {
  const same = isDeepStrictEqual(one, other);
  if (same === (valueText(one) === valueText(other))) return;
  expect.fail(`${valueText(one)} and ${valueText(other)} are ${same ? 'one value' : 'two'}`);
}

test('values that are written alike elsewhere are distinguished', () => {
  for (const one of alike) for (const other of alike) expectTold(one, other);
});

const leaf = fc.oneof(fc.constantFrom(...alike), fc.double(), fc.bigInt(), fc.string());
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small' },
    leaf,
    fc.array(tie('tree'), { maxLength: 3 }),
    fc.dictionary(fc.string({ maxLength: 3 }), tie('tree'), { maxKeys: 3, noNullPrototype: true }),
  ),
}));

test('whatever is nested in what, another value has another text', () => {
  fc.assert(
    fc.property(tree, leaf, leaf, fc.constantFrom('array', 'field'), (around, one, other, place) => {
      const wrap = (value: unknown) => (place === 'array' ? [around, value] : { around, value });
      expectTold(wrap(one), wrap(other));
      expectTold(wrap(one), around);
      expect(valueText(wrap(one))).toBe(valueText(wrap(one)));
    }),
    { numRuns: Number(process.env.WARPSTAGE_RANDOM_RUNS ?? 500) },
  );
});

test('a field that is undefined is one that is not there', () => {
  expect(valueText({ nulls: undefined, column: 'x' })).toBe(valueText({ column: 'x' }));
});
