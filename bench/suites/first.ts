// What a kernel takes before it is as fast as it gets: the call of its first launch, in which it is compiled, by a process that
// has launched nothing yet and by one that has; and behind that call, in the latter, this launch to its end, against later ones.
// And launches of a kernel that does nothing, to their end. Each in a process of its own, one thread unless said, medians of five.

import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import type { First } from '../cpu/first.ts';
import { works } from '../cpu/works.ts';
import type { Suite } from '../main.ts';
import { median, type Row } from '../measure.ts';

const program = resolve(import.meta.dirname, '../cpu/first.ts');

function measured<T>(...args: readonly string[]): T[] {
  return Array.from({ length: 5 }, () => {
    const text = execFileSync(process.execPath, [...process.execArgv, program, ...args], {
      encoding: 'utf8',
    });
    return JSON.parse(text) as T;
  });
}

async function firstOf(work: string): Promise<Row[]> {
  const [cold, warm] = [measured<First>('cold', work), measured<First>('warm', work)];
  const of = (name: keyof First) => median(warm.map((each) => each[name]));
  const row = (variant: string, seconds: number) => ({
    ...{ suite: 'first', work, variant, against: 'a later launch', bytes: 0 },
    ...{ ratio: of('steady') / seconds, seconds },
  });
  return [
    row("its call, a process's first", median(cold.map(({ call }) => call))),
    row('its call', of('call')),
    row('behind its call', median(warm.map(({ first, call }) => first - call))),
    row('a later launch', of('steady')),
  ];
}

async function empty(): Promise<Row[]> {
  const counts = [...new Set([1, 2, availableParallelism()])].filter(
    (count) => count <= availableParallelism(),
  );
  const times = counts.map((count) =>
    median(measured<{ readonly seconds: number }>('empty', `${count}`).map(({ seconds }) => seconds)),
  );
  return counts.map((count, position) => ({
    ...{ suite: 'first', work: 'empty', variant: `threads: ${count}`, against: 'threads: 1', bytes: 0 },
    ...{ ratio: times[0]! / times[position]!, seconds: times[position]! },
  }));
}

export const suite: Suite = {
  empty,
  ...Object.fromEntries(Object.keys(works).map((work) => [work, () => firstOf(work)])),
};
