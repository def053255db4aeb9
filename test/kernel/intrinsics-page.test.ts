// docs/intrinsics.md is made of the table of intrinsics: `npx vitest run -u test/kernel` writes it anew.

import { expect, test } from 'vitest';
import { type Form, type Intrinsic, intrinsics } from '#warpstage/kernel/intrinsics.js';

const sections: Readonly<Record<string, string>> = {
  cuda: 'The second parameter of a kernel',
  grid: 'A grid: `cuda.thisGrid()`',
  block: 'A block: `cuda.thisThreadBlock()`',
  tile: 'A tile: `cuda.tiledPartition(group, size)`',
  thread: 'A thread: `cuda.thisThread()`',
  array: 'An array',
  pipeline: 'A pipeline: `cuda.makePipeline(…)`',
  cg: 'Copies, reductions and scans of a group: `cuda.cg`',
  barrier: 'A barrier: `cuda.barrier(group, expected, completion)`',
  barriers: 'An array of barriers: `cuda.barrierArray(group, count, expected, completion)`',
  Math: 'Math',
  Number: 'Number',
  BigInt: 'BigInt',
  console: 'console',
};

const orders = {
  signals: 'never waits, and signals others',
  waits: 'waits for others',
  barrier: 'a barrier',
} as const;

function formText(member: string, form: Form): string {
  const args = Object.entries(form).map(([name, kind]) => {
    if (kind.endsWith('...')) return `...${name}`;
    return kind.endsWith('?') ? `${name}?` : name;
  });
  return `\`${member}(${args.join(', ')})\``;
}

function row(name: string, { forms, cuda, doc, synchronises, involves }: Intrinsic): string[] {
  const member = name.slice(name.indexOf('.') + 1);
  const spelt =
    forms === undefined ? `\`${member}\`` : forms.map((form) => formText(member, form)).join('<br>');
  const order =
    synchronises === undefined ? '' : ` (${orders[synchronises]}${involves ? `: the ${involves}` : ''})`;
  const cell = (text: string) => text.replaceAll('|', '\\|');
  return [cell(spelt), `\`${cell(cuda)}\``, `${cell(doc.replace(/\.$/, ''))}${order}.`];
}

/** A table as the formatter of this project writes it. */
function table(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((cells) => cells[column]!.length)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`;
  const [head, ...body] = rows;
  return [line(head!), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)];
}

test('the page is that of the table', async () => {
  const lines = [
    '# Intrinsics',
    '',
    'Everything that a kernel may say beyond plain JavaScript, and its equivalent in CUDA C++. How numbers, arrays and statements work is described in [language.md](language.md). This page is made of the one table that the compiler reads, `src/kernel/intrinsics.ts`.',
  ];
  for (const [receiver, heading] of Object.entries(sections)) {
    const entries = Object.entries<Intrinsic>(intrinsics).filter(([name]) => name.startsWith(`${receiver}.`));
    const rows = entries.map(([name, intrinsic]) => row(name, intrinsic));
    lines.push('', `## ${heading}`, '', ...table([['here', 'CUDA', 'what it does'], ...rows]));
  }
  expect(Object.keys(intrinsics).every((name) => name.slice(0, name.indexOf('.')) in sections)).toBe(true);
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('../../docs/intrinsics.md');
});
