// Rows of text under headings, in columns of even width: plain ASCII without lines.

/** One column of a table. */
export interface Column<T> {
  readonly heading: string;
  /** Default: to the right, as figures are. */
  readonly align?: 'left' | 'right';
  cell(row: T): string;
}

/** The lines of a table. While they are longer than `width`, the last column is left out, down to `least` columns. */
export function tableLines<T>(
  columns: readonly Column<T>[],
  rows: readonly T[],
  width = Infinity,
  least = 1,
): string[] {
  for (let count = columns.length; ; count--) {
    const shown = columns.slice(0, count);
    const cells = [
      shown.map((column) => column.heading),
      ...rows.map((row) => shown.map((column) => column.cell(row))),
    ];
    const widths = shown.map((_, i) => Math.max(...cells.map((line) => line[i]!.length)));
    const total = widths.reduce((sum, columnWidth) => sum + columnWidth + 2, 0);
    if (total <= width || count <= least) {
      return cells.map((line) =>
        `  ${line.map((cell, i) => pad(cell, widths[i]!, shown[i]!)).join('  ')}`.trimEnd(),
      );
    }
  }
}

function pad(cell: string, width: number, column: Pick<Column<never>, 'align'>): string {
  return column.align === 'left' ? cell.padEnd(width) : cell.padStart(width);
}
