// CSV and TSV files: columns of text with a row of names, or without.
//
// What splits rows into fields (csv-rows.ts, with Papa Parse) is loaded when a file is opened. An output has its
// parameter's name above it, and a column for each number of a row.

import type { Encoding, Format, OutputDescription } from './format.ts';
import { packageFile } from './package-file.ts';
import { columnsOf, encodeRows, heldByRows, nothingKept } from './text-rows.ts';

/** CSV and TSV files. */
export const csv: Format = {
  name: 'csv',
  endings: ['.csv', '.tsv'],
  columns: true,
  async open(file, { name = file.name }) {
    const { openCsv } = await import('./csv-rows.ts');
    return openCsv(file, separatorOf(name));
  },
  encode,
  get module() {
    return packageFile('formats/csv.js', import.meta.url);
  },
};

function encode(output: OutputDescription): Encoding {
  const separator = separatorOf(output.name) ?? ',';
  let width = 1;
  return {
    begin(shape) {
      const names = columnsOf(output, shape);
      width = names.length;
      return Buffer.from(`${names.map(quotedName).join(separator)}\n`);
    },
    encode: (elements) => encodeRows(elements, output.element, width, (row) => `${row.join(separator)}\n`),
    heldBytes: () => heldByRows,
    keep: () => nothingKept,
  };
}

/** A name as a field. */
function quotedName(name: string): string {
  return /[",;|\t\r\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name;
}

/** What separates fields by the name of a file; undefined where its text tells. */
function separatorOf(name: string): string | undefined {
  return /\.tsv$/i.test(name) ? '\t' : undefined;
}
