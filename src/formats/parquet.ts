// Parquet files: columns, row group after row group.
//
// The decoders (parquet-file.ts) are loaded when a file is opened: most jobs have no tables, and start
// sooner without them.

import { problem } from '../diagnostics/problem.ts';
import { componentOf } from '../kernel/types.ts';
import type { Encoding, Format, OutputDescription } from './format.ts';
import { packageFile } from './package-file.ts';
import type { ColumnWriter } from './parquet-writer.ts';
import { columnsOf, heldByGroup, nothingKept } from './text-rows.ts';

/** Parquet files. */
export const parquet: Format = {
  name: 'parquet',
  endings: ['.parquet', '.pq'],
  columns: true,
  seeks: 'its index is at its end',
  probe: (beginning) => Buffer.from(beginning.subarray(0, 4)).toString('latin1') === 'PAR1',
  async open(file) {
    const { openParquet } = await import('./parquet-file.ts');
    return openParquet(file);
  },
  encode,
  get module() {
    return packageFile('formats/parquet.js', import.meta.url);
  },
};

/** A column of the parameter's name, several for rows of several numbers. */
function encode(output: OutputDescription): Encoding {
  const { name, element } = output;
  const component = componentOf(element);
  if (component !== element || component === 'bf16') {
    const message = `${name} would be a Parquet file, which cannot hold elements of ${element}`;
    throw problem('WS5012', message, 'write it as .npy, or have the kernel write numbers of another type');
  }
  let names: readonly string[] = [];
  let writer: Promise<ColumnWriter> | undefined;
  let made: ColumnWriter | undefined;
  const opened = () => {
    writer ??= import('./parquet-writer.ts').then(({ ColumnWriter }) => {
      made = new ColumnWriter(names, component);
      return made;
    });
    return writer;
  };
  return {
    begin(shape) {
      names = columnsOf(output, shape);
      return new Uint8Array();
    },
    encode: async (elements) => (await opened()).add(elements),
    heldBytes: (shape) => heldByGroup(2 ** 18, component, shape),
    keep: () => made?.keep() ?? nothingKept,
    async restore(state) {
      if (state.length > 0) (await opened()).restore(state);
    },
    end: async () => (await opened()).end(),
  };
}
