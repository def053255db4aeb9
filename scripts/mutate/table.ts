// The table of a sweep, as Markdown: a row for each room, then what survived, is equivalent or was not decided.

import type { Result, Verdict } from './results.ts';

const columns: readonly Verdict[] = ['caught', 'survived', 'equivalent', 'undecided'];

const lists: readonly (readonly [title: string, verdict: Verdict])[] = [
  ['Survivors', 'survived'],
  ['Not decided, since a test fails on this machine without them', 'undecided'],
  ['Equivalent', 'equivalent'],
];

export function tableOf(results: readonly Result[]): string {
  const rooms = [...new Set(results.map(({ room }) => room))].sort();
  const lines = [
    '| room | mutations | caught | survivors | equivalent | undecided |',
    '| ---- | --------- | ------ | --------- | ---------- | --------- |',
    ...rooms.map((name) =>
      rowOf(
        name,
        results.filter(({ room }) => room === name),
      ),
    ),
    rowOf('all', results),
  ];
  for (const [title, verdict] of lists) {
    const listed = results.filter((result) => result.verdict === verdict);
    if (listed.length > 0) lines.push('', `${title}:`, '', ...listed.map(lineOf));
  }
  return `${lines.join('\n')}\n`;
}

function rowOf(name: string, results: readonly Result[]): string {
  const counts = columns.map((verdict) => results.filter((result) => result.verdict === verdict).length);
  return `| ${[name, results.length, ...counts].join(' | ')} |`;
}

function lineOf({ room, name, detail }: Result): string {
  return `- ${room}: ${name}. ${detail}`;
}
