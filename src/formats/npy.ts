// NumPy's .npy files: a header (npy-header.ts), and then elements as they lie in memory.

import type { OpenBytes } from './bytes.ts';
import { dtypeBytes } from './dtype.ts';
import { truncated } from './element-source.ts';
import type { Contents, Format } from './format.ts';
import { hasNpyMagic, npyHeader, readNpyHeader } from './npy-header.ts';

/** NumPy's .npy files. */
export const npy: Format = {
  name: 'npy',
  endings: ['.npy'],
  probe: hasNpyMagic,
  open,
  encode: ({ element }) => ({ begin: (shape) => npyHeader(element, shape), needsShape: true }),
};

async function open(file: OpenBytes): Promise<Contents> {
  const { dtype, shape, length, headerBytes, descr, version } = await readNpyHeader(file);
  const actual = (file.size ?? Infinity) - headerBytes;
  if (actual < length * dtypeBytes[dtype]) throw truncated(file.name, shape, dtype, actual);
  return {
    arrays: [{ stored: descr, dtype, shape, elements: () => ({ bytes: file }) }],
    facts: { version: `${version}.0` },
  };
}
