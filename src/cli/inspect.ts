// `warpstage info` and `warpstage head`: what is in a file, and how its elements begin.
//
// A file is opened as a job would open it, so that what these commands show is what a kernel gets, and what they
// refuse is what a run refuses.

import type { Command } from 'commander';
import { firstValues, type StoredValue } from '../formats/first-values.ts';
import { lengthOf, type StoredArray } from '../formats/format.ts';
import { type OpenedFile, openFile } from '../formats/open-file.ts';
import { formatBytes, formatCount } from '../timeline/quantities.ts';
import { type Column, tableLines } from '../timeline/table.ts';
import { asGiven, type FileOptions } from './assign-files.ts';
import { type CommandContext, examplesText, fileOptions, newCommand } from './command.ts';
import { listNames, usageError } from './failure.ts';
import { loadModule } from './load-module.ts';
import { widthOf } from './terminal.ts';
import { valueJson } from './value-text.ts';
import { appendValue, parseCount } from './values.ts';

interface InspectOptions extends FileOptions {
  readonly import?: string;
  readonly json?: boolean;
}

interface HeadOptions extends InspectOptions {
  readonly rows: number;
  readonly column?: readonly string[];
}

/** Numbers of a row that are shown. */
const shownWidth = 12;

/** The command `info`. */
export function infoCommand(context: CommandContext): Command {
  return inspecting(newCommand('info', context))
    .summary('say what is in files')
    .description('Says what is in files, as a job would read them: format, types, shapes, columns.')
    .argument('<files...>', 'the files; `-` is standard input')
    .addHelpText('after', examplesText(['warpstage info x.npy', 'warpstage info flights.parquet --json']))
    .action(async (files: string[], options: InspectOptions) => {
      const { output } = context.terminal;
      const described: ReturnType<typeof facts>[] = [];
      for (const file of files) {
        described.push(await withFile(file, options, async (opened) => facts(opened)));
      }
      const text = options.json
        ? `${valueJson(described)}\n`
        : described.map((one) => describe(one)).join('\n');
      output.write(text);
    });
}

/** The command `head`. */
export function headCommand(context: CommandContext): Command {
  return inspecting(newCommand('head', context))
    .summary('show the first elements of a file')
    .description('Shows the first rows of a file as a table, as they are stored.')
    .argument('<file>', 'the file; `-` is standard input')
    .option('-n, --rows <count>', 'how many rows', parseCount, 10)
    .option('--column <name>', 'show this column (repeatable; default: all of numbers)', appendValue)
    .addHelpText(
      'after',
      examplesText(['warpstage head x.npy', 'warpstage head flights.parquet --column delay -n 5']),
    )
    .action(async (file: string, options: HeadOptions) => {
      const { output } = context.terminal;
      const rows = await withFile(file, options, (opened) => firstRows(opened, options));
      output.write(
        options.json ? `${valueJson(rows.map(asJson))}\n` : `${rowsText(rows, widthOf(output))}\n`,
      );
    });
}

/** The options that both have. */
function inspecting(command: Command): Command {
  return command
    .addOption(fileOptions.raw())
    .addOption(fileOptions.format())
    .addOption(fileOptions.dtype())
    .option('--import <module>', 'load a module first, which registers formats')
    .option('--json', 'print it as JSON');
}

async function withFile<T>(
  file: string,
  { dtype, import: module, ...said }: InspectOptions,
  use: (opened: OpenedFile) => Promise<T>,
): Promise<T> {
  if (module !== undefined) await loadModule(module);
  const toClose: { close(): Promise<void> }[] = [];
  try {
    const request = { ...asGiven(file, said), ...(dtype === undefined ? {} : { dtype }) };
    return await use(await openFile(request, undefined, (one) => toClose.unshift(one)));
  } finally {
    await Promise.allSettled(toClose.map((one) => one.close()));
  }
}

function facts({ file, format, bytes: { size }, contents }: OpenedFile) {
  return {
    file,
    format: format.name,
    ...(size === undefined ? {} : { bytes: size }),
    ...contents.facts,
    arrays: contents.arrays.map((array) => ({
      ...(array.name === undefined ? {} : { name: array.name }),
      ...(array.dtype === undefined ? {} : { type: array.dtype }),
      stored: array.stored,
      ...(array.shape === undefined ? {} : { shape: array.shape }),
      ...(lengthOf(array) === undefined ? {} : { count: lengthOf(array) }),
      ...(array.nulls === undefined ? {} : { nulls: array.nulls }),
    })),
  };
}

type Facts = ReturnType<typeof facts>;

function describe({ file, format, bytes, arrays, ...more }: Facts): string {
  const lines = [`${file}: ${format}${bytes === undefined ? '' : `, ${formatBytes(bytes)}`}`];
  const [only] = arrays;
  const rows: (readonly [string, string])[] = [];
  if (arrays.length === 1 && only!.name === undefined) {
    rows.push(['type', only!.type === undefined ? typeToName : typeText(only!)]);
    if (only!.shape !== undefined) rows.push(['shape', `(${only!.shape.join(', ')})`]);
    if (only!.type !== undefined) {
      rows.push(['count', only!.count === undefined ? 'known at its end' : formatCount(only!.count)]);
    }
  }
  for (const [name, value] of Object.entries(more)) rows.push([name, String(value)]);
  const width = Math.max(0, ...rows.map(([name]) => name.length));
  lines.push(...rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`));
  if (only?.name !== undefined) lines.push(...tableLines(columnsOfTable, arrays));
  return `${lines.join('\n')}\n`;
}

const typeToName = "not said: it is the kernel's, or that of --dtype";

function typeText({ type, stored }: Facts['arrays'][number]): string {
  return type === stored ? type : `${type} (${stored})`;
}

const columnsOfTable: readonly Column<Facts['arrays'][number]>[] = [
  { heading: 'column', align: 'left', cell: ({ name }) => name! },
  { heading: 'type', align: 'left', cell: ({ type }) => type ?? 'no number' },
  { heading: 'stored', align: 'left', cell: ({ stored }) => stored },
  { heading: 'count', cell: ({ count }) => (count === undefined ? '' : formatCount(count)) },
  { heading: 'nulls', cell: ({ nulls }) => (nulls === undefined ? '' : formatCount(nulls)) },
];

/** A row: the values of its columns by name, or of one array by position. */
type Row = ReadonlyMap<string, StoredValue>;

async function firstRows({ file, contents }: OpenedFile, { rows, column }: HeadOptions): Promise<Row[]> {
  const found: Map<string, StoredValue>[] = [];
  const arrays = chosenArrays(file, contents.arrays, column);
  const widths = arrays.map((array) => (array.name === undefined ? widthOfRow(array) : 1));
  // All begin before one is read: what comes from a pipe goes by once.
  const first = await Promise.all(arrays.map((array, i) => firstValues(array, rows * widths[i]!)));
  for (const [i, array] of arrays.entries()) {
    const width = widths[i]!;
    const values = first[i]!;
    for (const [position, value] of values.entries()) {
      const row = Math.floor(position / width);
      found[row] ??= new Map();
      found[row].set(array.name ?? String(position % width), value);
    }
  }
  return found;
}

function widthOfRow({ shape = [] }: StoredArray): number {
  return Math.max(
    1,
    shape.slice(1).reduce((product, extent) => product * extent, 1),
  );
}

function chosenArrays(
  file: string,
  arrays: readonly StoredArray[],
  names: readonly string[] | undefined,
): readonly StoredArray[] {
  const numbers = arrays.filter(({ dtype }) => dtype !== undefined);
  if (numbers.length === 0) {
    throw usageError(
      `the type of the elements of ${file} is not known`,
      `name it, for example --dtype f32, or let its name end in it: x.f32`,
    );
  }
  return (
    names?.map((name) => {
      const array = numbers.find((one) => one.name === name);
      if (array !== undefined) return array;
      const known = numbers.flatMap((one) => one.name ?? []);
      throw usageError(
        `--column ${name}: ${file} has no column of numbers of that name`,
        known.length === 0 ? 'it has no columns' : `its columns of numbers are ${listNames(known)}`,
      );
    }) ?? numbers
  );
}

function rowsText(rows: readonly Row[], width: number): string {
  const names = [...(rows[0]?.keys() ?? [])];
  const shown = names.slice(0, shownWidth);
  const numbered = rows.map((row, position) => ({ row, position }));
  const columns: Column<(typeof numbered)[number]>[] = [
    { heading: 'row', cell: ({ position }) => String(position) },
    ...shown.map((name) => ({
      heading: names.length === 1 && name === '0' ? 'value' : name,
      cell: ({ row }: (typeof numbered)[number]) => valueText(row.get(name)),
    })),
  ];
  const lines = tableLines(columns, numbered, width, 2);
  if (rows.length === 0) return '  no rows';
  const left = names.length - shown.length;
  return left > 0 ? [...lines, `  and ${formatCount(left)} more in each row`].join('\n') : lines.join('\n');
}

function valueText(value: StoredValue | undefined): string {
  if (value === undefined) return '';
  if (value === null) return 'null';
  if (typeof value !== 'number' || Number.isInteger(value)) return String(value);
  return String(Number(value.toPrecision(7)));
}

/** A row of columns as an object, one of an array as a list, or as its only number. */
function asJson(row: Row): unknown {
  const entries = [...row].map(([name, value]) => [name, plain(value)] as const);
  if (!row.has('0')) return Object.fromEntries(entries);
  return entries.length === 1 ? entries[0]![1] : entries.map(([, value]) => value);
}

/** A bigint that a number holds as that number. */
function plain(value: StoredValue): StoredValue {
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value;
}
