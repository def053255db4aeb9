// The small words of the command line: settings, values as text, the rate that progress shows.

import { expect, test } from 'vitest';
import { Meter } from '#warpstage/cli/progress.js';
import { valueJson, valueText } from '#warpstage/cli/value-text.js';
import { addSetting, parseBlock, parseChunk, parseCount } from '#warpstage/cli/values.js';

test('settings add up; what is no number is refused, NaN is left to the job', () => {
  expect(addSetting('fast=true', addSetting('a=2e3', addSetting('a=1')))).toEqual({ a: 2000, fast: true });
  expect(addSetting('a=NaN')).toEqual({ a: Number.NaN });
  expect(() => addSetting('a')).toThrow('name=value');
  expect(() => addSetting('a=')).toThrow('a number, true or false');
  expect(() => addSetting('a=two')).toThrow('a number, true or false');
});

test('blocks, counts and chunks', () => {
  expect(parseBlock('256')).toEqual([256, 1, 1]);
  expect(parseBlock('8x8x4')).toEqual([8, 8, 4]);
  expect(() => parseBlock('16,16')).toThrow('16x16');
  expect(() => parseCount('0')).toThrow('at least 1');
  expect([parseChunk('8M'), parseChunk('4096'), parseChunk('0'), parseChunk('auto')]).toEqual([
    '8M',
    4096,
    0,
    'auto',
  ]);
});

test('a list of records is a table, in which records inside spread over columns', () => {
  const value = [
    { band: '0-499', flights: 1234567, mean: 8.123456, late: { '15': 3, '30': 1 } },
    { band: '500+', flights: 89, mean: 7, late: { '15': 10, '30': 2.5 } },
  ];
  expect(`\n${valueText(value)}`).toMatchInlineSnapshot(`
    "
      band     flights    mean  15   30
      0-499  1,234,567  8.1235   3    1
      500+          89       7  10  2.5"
  `);
  expect(valueText({ mean: 1 / 3, deviation: 2 })).toBe('     mean  deviation\n  0.33333          2');
  expect(valueText(new Float32Array([1, 2]))).toBe('Float32Array(2) [ 1, 2 ]');
  expect(valueText('plain')).toBe('plain');
});

test('JSON has typed arrays as lists', () => {
  expect(valueJson({ counts: new Int32Array([1, 2]), n: 2n ** 60n })).toBe(
    '{"counts":[1,2],"n":"1152921504606846976"}',
  );
});

test('the rate is that of the last seconds', () => {
  const meter = new Meter(0);
  expect(meter.rate(0, 0)).toBe(0);
  expect(meter.rate(100, 1000)).toBe(100);
  for (let second = 2; second <= 20; second++) meter.rate(100 + (second - 1) * 1000, second * 1000);
  expect(meter.rate(20_100, 21_000)).toBe(1000);
});
