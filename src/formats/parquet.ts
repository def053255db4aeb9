// Parquet files: columns, row group after row group.
//
// The decoders (parquet-file.ts) are loaded when a file is opened: most jobs have no tables, and start
// sooner without them.

import type { Format } from './format.ts';
import { packageFile } from './package-file.ts';

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
  get module() {
    return packageFile('formats/parquet.js', import.meta.url);
  },
};
