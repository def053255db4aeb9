// The values that options take: sizes, counts and settings.

import { InvalidArgumentError } from 'commander';

const unitBytes: Readonly<Record<string, number>> = { '': 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 };

/** Reads `8M`, `512K`, `1.5GiB` or plain bytes. */
export function parseSize(text: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?$/i.exec(text.trim());
  const bytes = match ? Math.round(Number(match[1]) * unitBytes[match[2]!.toLowerCase()]!) : Number.NaN;
  if (!(bytes >= 1 && Number.isSafeInteger(bytes))) {
    throw new InvalidArgumentError('It must be a size of at least one byte, for example 8M, 512K or 65536.');
  }
  return bytes;
}

/** Reads a whole number of at least 1. */
export function parseCount(text: string): number {
  const count = Number(text);
  if (!(/^\d+$/.test(text) && count >= 1 && Number.isSafeInteger(count))) {
    throw new InvalidArgumentError('It must be a whole number of at least 1.');
  }
  return count;
}

/** Settings by name, as `--set a=2 --set fast=true` gives them. */
export type Settings = Readonly<Record<string, number | boolean>>;

/** Reads one `name=value` and adds it to those before it. The job checks names and ranges. */
export function addSetting(text: string, before: Settings = {}): Settings {
  const equals = text.indexOf('=');
  const name = text.slice(0, equals).trim();
  if (equals < 0 || name === '')
    throw new InvalidArgumentError('It must be name=value, for example --set a=2.');
  return { ...before, [name]: parseSetting(text.slice(equals + 1).trim()) };
}

function parseSetting(text: string): number | boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  const number = Number(text);
  if (text === '' || (Number.isNaN(number) && text.toLowerCase() !== 'nan')) {
    throw new InvalidArgumentError('The value must be a number, true or false.');
  }
  return number;
}
