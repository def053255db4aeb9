// What options take, to the edges of their ranges.

import { describe, expect, test } from 'vitest';
import {
  addSetting,
  parseBlock,
  parseChunk,
  parseCount,
  parseNumber,
  parsePort,
  parsePosition,
  parseSeed,
} from '#warpstage/cli/values.js';

describe('an option', () => {
  test.each([
    ['a count', parseCount, ['1', '4096'], ['0', '-1', '1.5', '1e3', '', '9007199254740993']],
    ['a port', parsePort, ['1', '65535'], ['0', '65536', 'http']],
    ['a seed', parseSeed, ['0', '4294967295'], ['4294967296', '-1', '1.5']],
    [
      'a block',
      parseBlock,
      ['1', '1024', '32x32', '16x1x64'],
      ['0', '1025', '33x32', '1x1x65', '2x2x2x2', 'x'],
    ],
    ['a position', parsePosition, ['0', '3,0,1'], ['-1', '1,2,3,4', 'a']],
    ['a number', parseNumber, ['0', '-1.5', '1e3'], ['', ' ', 'x', 'NaN']],
  ])('%s is taken in its range, and nowhere else', (_, parse, taken, refused) => {
    for (const text of taken) expect(() => parse(text), text).not.toThrow();
    for (const text of refused) expect(() => parse(text), text).toThrow(/must be|at most 1024/);
  });

  test('a block and a position have three extents', () => {
    expect([parseBlock('8x4'), parsePosition('3')]).toEqual([
      [8, 4, 1],
      [3, 0, 0],
    ]);
  });

  test('a chunk is rows, or a size with its unit', () => {
    expect([parseChunk('4096'), parseChunk('8M'), parseChunk('auto')]).toEqual([4096, '8M', 'auto']);
  });

  test.each([
    ['a=2', { a: 2 }],
    ['a=true', { a: true }],
    ['a=-3n', { a: -3n }],
    ['a=NaN', { a: Number.NaN }],
    ['a=-Infinity', { a: Number.NEGATIVE_INFINITY }],
  ])('a setting %s is that value', (text, settings) => {
    expect(addSetting(text)).toEqual(settings);
  });

  test.each(['a', '=2', 'a=', 'a=two', 'a=1e999'])('a setting %s is refused', (text) => {
    expect(() => addSetting(text)).toThrow();
  });
});
