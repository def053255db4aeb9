// The values that options take: counts, shapes, numbers and settings.

import { InvalidArgumentError } from 'commander';
import type { Extent3 } from '../kernel/types.ts';

/** Reads rows as a plain number; a size with a unit (`8M`) and `auto` are the job's to read. */
export function parseChunk(text: string): number | string {
  return /^[-+]?\d+$/.test(text) ? Number(text) : text;
}

/** Reads a whole number of at least 1. */
export function parseCount(text: string): number {
  const count = Number(text);
  if (!(/^\d+$/.test(text) && count >= 1 && Number.isSafeInteger(count))) {
    throw new InvalidArgumentError('It must be a whole number of at least 1.');
  }
  return count;
}

const secondsOf: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };
/** As long as timers run, in seconds. */
const longestTimer = 24 * 86_400;

/** Reads the n-th of t: `3/10`. */
export function parseShare(text: string): readonly [n: number, of: number] {
  const [, n, of] = /^(\d{1,6})\/(\d{1,6})$/.exec(text) ?? [];
  const share = [Number(n), Number(of)] as const;
  if (share[0] >= 1 && share[0] <= share[1]) return share;
  throw new InvalidArgumentError('It must be n/t, with n from 1 to t: 3/30 is the third of 30.');
}

/** Reads a duration in seconds: `90`, or `1h30m`. Seconds where no unit is said. */
export function parseDuration(text: string): number {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)([smhd])/g)];
  const whole = parts.map(([part]) => part).join('') === text && text !== '';
  const seconds = whole
    ? parts.reduce((sum, [, number, unit]) => sum + Number(number) * secondsOf[unit!]!, 0)
    : /^\d+(\.\d+)?$/.test(text)
      ? Number(text)
      : 0;
  if (seconds > 0 && seconds <= longestTimer) return seconds;
  throw new InvalidArgumentError('It must be a duration of 24 days at most, for example 90s, 20m or 1h30m.');
}

/** Reads a port to serve on. */
export function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port >= 1 && port < 2 ** 16) return port;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${2 ** 16 - 1}.`);
}

/** Reads the seed of random numbers. */
export function parseSeed(text: string): number {
  const seed = Number(text);
  if (/^\d+$/.test(text) && seed < 2 ** 32) return seed;
  throw new InvalidArgumentError(`It must be a whole number from 0 to ${2 ** 32 - 1}.`);
}

/** Reads the shape of a block: `256`, `16x16` or `8x8x4`, as large as devices allow. */
export function parseBlock(text: string): Extent3 {
  const [x = 0, y = 1, z = 1, ...more] = text
    .split('x')
    .map((part) => (/^\d+$/.test(part) ? Number(part) : 0));
  if (more.length > 0 || x < 1 || y < 1 || z < 1) {
    throw new InvalidArgumentError('It must be one to three whole numbers, for example 256 or 16x16.');
  }
  if (x > 1024 || y > 1024 || z > 64 || x * y * z > 1024) {
    throw new InvalidArgumentError('A block has at most 1024 threads, in 1024 x 1024 x 64.');
  }
  return [x, y, z];
}

/** Reads the position of a block in the grid: `3`, or `3,0,1`. */
export function parsePosition(text: string): Extent3 {
  const [x = -1, y = 0, z = 0, ...more] = text
    .split(',')
    .map((part) => (/^\d+$/.test(part) ? Number(part) : -1));
  if (more.length > 0 || Math.min(x, y, z) < 0) {
    throw new InvalidArgumentError('It must be one to three whole numbers, for example 0 or 3,0,1.');
  }
  return [x, y, z];
}

/** Reads any number that is one. */
export function parseNumber(text: string): number {
  const number = Number(text);
  if (text.trim() === '' || Number.isNaN(number)) throw new InvalidArgumentError('It must be a number.');
  return number;
}

/** Collects the values of a repeatable option. */
export function appendValue(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

/** Settings by name, as `--set a=2 --set fast=true` gives them. */
export type Settings = Readonly<Record<string, number | bigint | boolean>>;

/** Reads one `name=value` and adds it to those before it. The job checks names and ranges. */
export function addSetting(text: string, before: Settings = {}): Settings {
  const equals = text.indexOf('=');
  const name = text.slice(0, equals).trim();
  if (equals < 0 || name === '')
    throw new InvalidArgumentError('It must be name=value, for example --set a=2.');
  return { ...before, [name]: parseSetting(text.slice(equals + 1).trim()) };
}

function parseSetting(text: string): number | bigint | boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  if (/^-?\d+n$/.test(text)) return BigInt(text.slice(0, -1));
  const number = Number(text);
  if (text === '' || (Number.isNaN(number) && text.toLowerCase() !== 'nan')) {
    throw new InvalidArgumentError('The value must be a number, true or false.');
  }
  if (Math.abs(number) === Infinity && !/^[-+]?Infinity$/.test(text)) {
    throw new InvalidArgumentError('No number is as large; say Infinity if that is meant.');
  }
  return number;
}
