// NumPy's .npz files: a ZIP archive of .npy files, stored or deflated, each an array of its name.
//
// What reads archives (npz-archive.ts, with yauzl) is loaded when one is opened. Outputs are stored, as numpy.savez makes
// them: one is an archive by itself, several are parts of one.

import type { Archive, Encoding, Format, OutputDescription } from './format.ts';
import { u64 } from './little-endian.ts';
import { npyHeader } from './npy-header.ts';
import { descriptorBytes, indexOf, StoredEntry } from './zip-entry.ts';

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
  archive,
};

function encode(output: OutputDescription): Encoding {
  const all = archive();
  const part = all.part(output);
  let bytes = 0;
  return {
    ...part,
    begin(shape) {
      const begin = part.begin!(shape);
      bytes = begin.length;
      return begin;
    },
    encode(elements) {
      bytes += elements.byteLength;
      return part.encode!(elements);
    },
    keep() {
      const state = Buffer.concat([part.keep!()(), u64(bytes)]);
      return () => state;
    },
    restore(state) {
      void part.restore!(state);
      bytes = Number(Buffer.from(state).readBigUInt64LE(state.length - 8));
    },
    async end(shape) {
      const end = await part.end!(shape);
      return Buffer.concat([end, all.index([0], bytes + end.length)]);
    },
  };
}

function archive(): Archive {
  const records: ((at: number) => Uint8Array)[] = [];
  return {
    endBytes: descriptorBytes,
    part({ parameter, element }) {
      const entry = new StoredEntry(`${parameter}.npy`);
      const position = records.length;
      records.push(() => new Uint8Array());
      return {
        needsShape: true,
        begin: (shape) => Buffer.concat([entry.begin(), npyHeader(element, shape)]),
        encode(elements) {
          const bytes = new Uint8Array(elements.buffer, elements.byteOffset, elements.byteLength);
          entry.add(bytes);
          return bytes;
        },
        keep() {
          const state = entry.keep();
          return () => state;
        },
        restore: (state) => entry.restore(state),
        end(shape) {
          const head = npyHeader(element, shape);
          records[position] = (at) => entry.record(head, at);
          return entry.descriptor(head);
        },
      };
    },
    index: (places, end) =>
      indexOf(
        records.map((record, i) => record(places[i]!)),
        end,
      ),
  };
}
