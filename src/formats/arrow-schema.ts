// The columns of Arrow data: what each holds, and where its parts are in a record batch.
//
// A batch has a node for each column and each of its children, in their order, and some buffers for each by its type.
// Columns of numbers are read; of the others only how many nodes and buffers they take is known.

import type { Dtype } from './dtype.ts';
import type { FlatTable } from './flat-table.ts';

/** How the numbers of a column are stored. */
export interface ArrowNumber {
  readonly dtype: Dtype;
  /** Bits of a value. */
  readonly bits: number;
  /** Of decimals: their digits behind the point. */
  readonly scale?: number;
}

/** A column. */
export interface ArrowColumn {
  readonly name: string;
  /** Its type in Arrow's words. */
  readonly stored: string;
  /** Absent where it is none of numbers. */
  readonly number?: ArrowNumber;
  /** Nodes and buffers of columns before it, and how many of these have as many more buffers as a batch says. */
  readonly node: number;
  readonly buffer: number;
  readonly views: number;
}

/** More are no table's; and columns within columns, no deeper. */
const mostFields = 100_000;
const deepest = 64;

/** What a column takes of a batch. */
interface Layout {
  readonly nodes: number;
  readonly buffers: number;
  readonly views: number;
}

/** The columns that a schema says. */
export function columnsOfSchema(schema: FlatTable): ArrowColumn[] {
  if (schema.short(0) !== 0) throw new Error('its numbers are big-endian, and little-endian ones are read');
  const left = { fields: mostFields };
  let before: Layout = { nodes: 0, buffers: 0, views: 0 };
  return schema.tables(1).map((field) => {
    const type = typeOf(field);
    const isCoded = field.has(4);
    const column = {
      name: field.text(0),
      stored: isCoded ? `dictionary of ${type.stored}` : type.stored,
      ...(type.number !== undefined && !isCoded && { number: type.number }),
      node: before.nodes,
      buffer: before.buffers,
      views: before.views,
    };
    before = sum(before, layoutOf(field, left, 0));
    return column;
  });
}

function sum(a: Layout, b: Layout): Layout {
  return { nodes: a.nodes + b.nodes, buffers: a.buffers + b.buffers, views: a.views + b.views };
}

function layoutOf(field: FlatTable, left: { fields: number }, depth: number): Layout {
  if (--left.fields < 0 || depth > deepest) throw new Error('it has too many columns');
  // The values of a dictionary are elsewhere; here are their places.
  if (field.has(4)) return { nodes: 1, buffers: 2, views: 0 };
  const { buffers, views = 0 } = typeOf(field);
  return field
    .tables(5)
    .map((child) => layoutOf(child, left, depth + 1))
    .reduce(sum, { nodes: 1, buffers, views });
}

interface Type {
  readonly stored: string;
  readonly number?: ArrowNumber;
  readonly buffers: number;
  readonly views?: number;
}

const timeUnits = ['s', 'ms', 'us', 'ns'];
const unitOf = (type: FlatTable, otherwise: number) => timeUnits[type.short(0, otherwise)] ?? '?';

/** What a field holds, by the number of its type. */
function typeOf(field: FlatTable): Type {
  const type = field.table(3);
  const code = field.byte(2);
  const simple = (stored: string, buffers: number): Type => ({ stored, buffers });
  const number = (stored: string, dtype: Dtype, bits: number): Type => ({
    ...{ stored, number: { dtype, bits }, buffers: 2 },
  });
  if (type === undefined) throw new Error('a column has no type');
  switch (code) {
    case 1:
      return simple('null', 0);
    case 2: {
      const bits = type.int(0);
      const dtype = `${type.byte(1) === 0 ? 'u' : 'i'}${bits}`;
      if (![8, 16, 32, 64].includes(bits)) throw new Error(`a column has integers of ${bits} bits`);
      return number(`${type.byte(1) === 0 ? 'u' : ''}int${bits}`, dtype as Dtype, bits);
    }
    case 3: {
      const [stored, dtype, bits] = floats[type.short(0)] ?? [];
      if (stored === undefined) throw new Error('a column has floats of no known kind');
      return number(stored, dtype!, bits!);
    }
    case 4:
      return simple('binary', 3);
    case 5:
      return simple('utf8', 3);
    case 6:
      return number('bool', 'bool', 1);
    case 7:
      return decimal(type.int(0), type.int(1), type.int(2, 128));
    case 8:
      return type.short(0, 1) === 0 ? number('date32', 'i32', 32) : number('date64', 'i64', 64);
    case 9: {
      const bits = type.int(1, 32);
      if (bits !== 32 && bits !== 64) throw new Error(`a column has times of ${bits} bits`);
      return number(`time${bits}[${unitOf(type, 1)}]`, bits === 32 ? 'i32' : 'i64', bits);
    }
    case 10:
      return number(`timestamp[${unitOf(type, 0)}]`, 'i64', 64);
    case 18:
      return number(`duration[${unitOf(type, 1)}]`, 'i64', 64);
    case 14:
      return simple('union', type.short(0) === 0 ? 1 : 2);
    case 23:
    case 24:
      return { stored: code === 23 ? 'binary_view' : 'utf8_view', buffers: 2, views: 1 };
    default: {
      const [stored, buffers] = others[code] ?? [];
      if (stored === undefined) throw new Error(`a column is of the type ${code}, which is not known`);
      return simple(stored, buffers!);
    }
  }
}

const floats = [
  ['halffloat', 'f16', 16],
  ['float', 'f32', 32],
  ['double', 'f64', 64],
] as const;

/** Types of no numbers, with how many buffers they have. */
const others: Readonly<Record<number, readonly [stored: string, buffers: number]>> = {
  11: ['interval', 2],
  12: ['list', 2],
  13: ['struct', 1],
  15: ['fixed_size_binary', 2],
  16: ['fixed_size_list', 1],
  17: ['map', 2],
  19: ['large_binary', 3],
  20: ['large_utf8', 3],
  21: ['large_list', 2],
  22: ['run_end_encoded', 0],
  25: ['list_view', 3],
  26: ['large_list_view', 3],
};

function decimal(precision: number, scale: number, bits: number): Type {
  if (![32, 64, 128, 256].includes(bits)) throw new Error(`a column has decimals of ${bits} bits`);
  return {
    ...{ stored: `decimal${bits}(${precision}, ${scale})`, buffers: 2 },
    number: { dtype: 'f64', bits, scale },
  };
}
