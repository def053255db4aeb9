// A format as Zarr, but with chunks of a few rows, so that small outputs have many of them.

import { type Format, registerFormat } from 'warpstage';
import { zarr } from '#warpstage/formats/zarr.js';
import { zarrFolder } from '#warpstage/formats/zarr-writer.js';

/** Bytes of a chunk, whatever a row has. */
export const bytesOfChunk = 105 * 40;

const small: Format = {
  ...zarr,
  ...{ name: 'small', endings: ['.small'] },
  encode(output) {
    const folder = zarrFolder({ ...output, name: output.name.replace(/small$/, 'zarr') });
    return { folder: { ...folder, unitBytes: () => bytesOfChunk } };
  },
};

/** Makes names that end in `.small` be of it. */
export function registerSmall(): void {
  registerFormat(small);
}
