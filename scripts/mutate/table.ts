// The table of a sweep, as Markdown: a row for each room, then what survived and what is equivalent.

import type { Result } from './results.ts';

export function tableOf(results: readonly Result[]): string {
  const rooms = [...new Set(results.map(({ room }) => room))].sort();
  const lines = [
    '| room | mutations | caught | survivors | equivalent |',
    '| ---- | --------- | ------ | --------- | ---------- |',
    ...rooms.map((name) =>
      rowOf(
        name,
        results.filter(({ room }) => room === name),
      ),
    ),
    rowOf('all', results),
  ];
  const survivors = results.filter(({ verdict }) => verdict === 'survived');
  const equivalents = results.filter(({ verdict }) => verdict === 'equivalent');
  if (survivors.length > 0) lines.push('', 'Survivors:', '', ...survivors.map(lineOf));
  if (equivalents.length > 0) lines.push('', 'Equivalent:', '', ...equivalents.map(lineOf));
  return `${lines.join('\n')}\n`;
}

function rowOf(name: string, results: readonly Result[]): string {
  const count = (verdict: Result['verdict']) => results.filter((result) => result.verdict === verdict).length;
  return `| ${name} | ${results.length} | ${count('caught')} | ${count('survived')} | ${count('equivalent')} |`;
}

function lineOf({ room, name, detail }: Result): string {
  return `- ${room}: ${name}. ${detail}`;
}
