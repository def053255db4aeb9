// NumPy's .npz files: a ZIP archive of .npy files, stored or deflated, each an array of its name.
//
// What reads archives (npz-archive.ts, with yauzl) is loaded when one is opened. An output is an archive of one array,
// stored, as numpy.savez makes it.

import type { Encoding, Format, OutputDescription } from './format.ts';
import { npyHeader } from './npy-header.ts';
import { StoredEntry } from './zip-entry.ts';

/** NumPy's .npz files. */
export const npz: Format = {
  name: 'npz',
  endings: ['.npz'],
  columns: true,
  seeks: 'its index is at its end',
  async open(file) {
    const { openNpz } = await import('./npz-archive.ts');
    return openNpz(file);
  },
  encode,
};

function encode({ parameter, element }: OutputDescription): Encoding {
  const entry = new StoredEntry(`${parameter}.npy`);
  return {
    needsShape: true,
    begin: (shape) => Buffer.concat([entry.begin(), npyHeader(element, shape)]),
    encode(elements) {
      const bytes = new Uint8Array(elements.buffer, elements.byteOffset, elements.byteLength);
      entry.add(bytes);
      return bytes;
    },
    end: (shape) => entry.end(npyHeader(element, shape)),
  };
}
