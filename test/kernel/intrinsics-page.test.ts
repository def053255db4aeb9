// docs/intrinsics.md and src/kernel/forms-*.ts are made of the interfaces that users see:
// `npx vitest run test/kernel -u` writes them anew.

import { expect, test } from 'vitest';
import { argumentTypes, type IntrinsicSource, intrinsicsOf, receivers } from '../support/intrinsics.ts';

const sections: Readonly<Record<string, string>> = {
  cuda: 'The second parameter of a kernel',
  grid: 'A grid: `cuda.thisGrid()`',
  block: 'A block: `cuda.thisThreadBlock()`',
  tile: 'A tile: `cuda.tiledPartition(group, size)`',
  coalesced: 'Any threads of a warp: `cuda.labeledPartition(group, label)`',
  subset: 'Threads of a block, of any warps: `cuda.binaryPartition(block, predicate)`',
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

const cell = (text: string) => text.replaceAll('|', '\\|');

function row({ signatures, cuda, doc }: IntrinsicSource): readonly string[] {
  return [signatures.map((each) => `\`${cell(each)}\``).join('<br>'), cell(cuda), `${cell(doc)}.`];
}

/** A table as the formatter of this project writes it. */
function table(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((cells) => cells[column]!.length)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`;
  const [head, ...body] = rows;
  return [line(head!), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)];
}

test('the page is that of the interfaces', async () => {
  const lines = [
    '# Intrinsics',
    '',
    'Everything that a kernel may say beyond plain JavaScript, the types that it takes and gives, and its equivalent in CUDA C++. How numbers, arrays and statements work is described in [language.md](language.md). This page is made of the interfaces that an editor shows, `src/kernel/cuda*.ts`.',
    '',
    'What waits or signals says so: at a _barrier_ all of them meet; _signals_ never wait, and let others go on; _waits_ are for the signals of others.',
    '',
    ...table([
      ['type of an argument', 'what it takes'],
      ...[...argumentTypes].map(([name, text]) => [`\`${name}\``, cell(text)]),
    ]),
  ];
  for (const [receiver, heading] of Object.entries(sections)) {
    const rows = intrinsicsOf(receiver).map(row);
    lines.push('', `## ${heading}`, '', ...table([['here', 'CUDA', 'what it does'], ...rows]));
  }
  expect(Object.keys(receivers)).toEqual(Object.keys(sections));
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('../../docs/intrinsics.md');
});

/** The text of a value as the formatter of this project writes it, in lines of up to 110 characters. */
function literal(value: unknown, indent: string, used: number): string {
  if (value === null || typeof value === 'string') {
    if (value === null) return 'null';
    return value.includes("'") ? JSON.stringify(value) : `'${value}'`;
  }
  const isList = Array.isArray(value);
  const entries = isList ? value.map((each) => ['', each]) : Object.entries(value as object);
  const [open, close] = isList ? '[]' : '{}';
  const key = (name: string) => (isList ? '' : /^\w+$/.test(name) ? `${name}: ` : `'${name}': `);
  const flat = entries.map(([name, each]) => key(name) + literal(each, '', 0)).join(', ');
  const line = isList || flat === '' ? `${open}${flat}${close}` : `${open} ${flat} ${close}`;
  // A list of several objects with several entries each has a line for each.
  const spread = isList && value.length > 1 && value.every((each) => Object.keys(each).length > 1);
  if (!spread && !line.includes('\n') && used + line.length + 1 <= 110) return line;
  const inner = `${indent}  `;
  const lines = entries.map(([name, each]) => {
    const head = `${inner}${key(name)}`;
    return `${head}${literal(each, inner, head.length)},`;
  });
  return `${open}\n${lines.join('\n')}\n${indent}${close}`;
}

/** The text of a file of src/kernel with the forms of some receivers. */
function formsText(head: string, constant: string, of: readonly string[]): string {
  const forms = of.flatMap((receiver) =>
    intrinsicsOf(receiver).map(({ member, forms }) => {
      const value = forms === null ? null : forms.map((form) => Object.fromEntries(form));
      return [`${receiver}.${member}`, value] as const;
    }),
  );
  const declared = `export const ${constant} = `;
  return `// ${head}, by name; null for a property. Made of the interfaces in cuda*.ts:
// \`npx vitest run test/kernel -u\` writes it anew.

import type { Form } from './intrinsics.ts';

${declared}${literal(Object.fromEntries(forms), '', declared.length)} as const satisfies Readonly<Record<string, readonly Form[] | null>>;
`;
}

test('the forms that calls are checked by are those of the interfaces', async () => {
  const members = Object.keys(receivers).filter((receiver) => receiver !== 'cuda');
  const ofCuda = formsText('What each intrinsic of `cuda` takes', 'cudaForms', ['cuda']);
  await expect(ofCuda).toMatchFileSnapshot('../../src/kernel/forms-cuda.ts');
  const ofMembers = formsText("What each member of a kernel's objects takes", 'memberForms', members);
  await expect(ofMembers).toMatchFileSnapshot('../../src/kernel/forms-members.ts');
});
