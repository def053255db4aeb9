// Mutations of files that hold tables and archives: text, .npz, Parquet that is written, and what is compressed.

import { mutationsOf } from './mutation.ts';

export const mutations = [
  ...mutationsOf(
    'src/formats/http-bytes.ts',
    ['test/overlap/urls.test.ts'],
    [
      {
        name: 'ranges of another version are taken',
        from: 'const isSame = response.status === 206 && versionOf(response) === version;',
        to: 'const isSame = response.status === 206;',
        why: 'numbers of two versions are read as one file',
      },
      {
        name: 'a weak tag tells versions apart',
        from: "tag !== null && !tag.startsWith('W/') ? tag",
        to: 'tag !== null ? tag',
        why: 'bytes may change under it',
      },
      {
        name: 'what the network cuts off is not asked for again',
        from: 'return cause instanceof TypeError && cause.cause !== undefined;',
        to: 'return cause === null;',
        why: 'a connection that is lost once ends a run of hours',
      },
    ],
  ),
  ...mutationsOf(
    'src/formats/ranged-bytes.ts',
    ['test/overlap/urls.test.ts'],
    [
      {
        name: 'the part of a read that is not here begins where the read does',
        from: 'const from = begin + here.length;',
        to: 'const from = begin;',
        why: 'bytes are asked for twice, and lie at the wrong place',
      },
    ],
  ),
  ...mutationsOf(
    'src/formats/wav.ts',
    ['test/formats/wav.test.ts'],
    [
      {
        name: 'no byte follows a chunk of an odd length',
        from: 'const length = size + (size % 2);',
        to: 'const length = size;',
        why: 'the next chunk is read a byte early',
      },
      {
        name: 'no byte follows data of an odd length',
        from: '* dtypeBytes[element]) % 2',
        to: '* dtypeBytes[element]) * 0',
        why: 'the file is a byte shorter than its head says',
      },
    ],
  ),
  ...mutationsOf(
    'src/formats/wav-head.ts',
    ['test/formats/wav.test.ts'],
    [
      {
        name: 'long files say their sizes in 32 bits',
        from: 'const isWide = size > longest;',
        to: 'const isWide = false;',
        why: 'the length is that of another file',
      },
      {
        name: 'the head does not count the byte behind the data',
        from: 'bytes + (bytes % 2)',
        to: 'bytes',
        why: 'the file is a byte longer than its head says',
      },
    ],
  ),
  ...mutationsOf(
    'src/overlap/bind.ts',
    ['test/formats/wav.test.ts'],
    [
      {
        name: 'an output of fewer rows has the rate of its input',
        from: '? (rate! * out) / of : undefined',
        to: '? rate : undefined',
        why: 'sound is heard at another speed',
      },
    ],
  ),
  ...mutationsOf(
    'src/overlap/journal/facts.ts',
    ['test/formats/wav.test.ts'],
    [
      {
        name: 'a run goes on with another rate',
        from: 'rate === undefined ? format :',
        to: 'rate !== 0 ? format :',
        why: 'the head keeps the rate of the run before',
      },
    ],
  ),
  ...mutationsOf(
    'src/formats/png.ts',
    ['test/formats/png.test.ts'],
    [
      {
        name: 'a picture of any size is decoded',
        from: '(isInterlaced ? row * height : row) > mostBytes',
        to: 'false',
        why: 'a file of some bytes takes all memory',
      },
      {
        name: 'rows that are left out are not decoded',
        from: 'while (next < unit) await rows.read(rowsOf(next++));',
        to: 'next = unit;',
        why: 'a run that goes on gets the first rows again',
      },
      {
        name: 'colours that the transparency does not name are transparent',
        from: 'alphas[i] ?? opaque',
        to: 'alphas[i] ?? 0',
        why: 'most colours of a palette are lost where one is transparent',
      },
      {
        name: 'what comes behind the last row is not looked at',
        from: 'if (next * unitRows >= height) await rows.end();',
        to: '',
        why: 'a file that is cut off or has more rows is taken for whole',
      },
    ],
  ),
  ...mutationsOf(
    'src/formats/png-chunks.ts',
    ['test/formats/png.test.ts'],
    [
      {
        name: 'the checksums of chunks are not compared',
        from: '.readUInt32BE() !== sum',
        to: '.readUInt32BE() < 0',
        why: 'damage is read as pixels',
      },
    ],
  ),
  ...mutationsOf(
    'src/formats/png-rows.ts',
    ['test/formats/png.test.ts'],
    [
      {
        name: 'the corner is preferred to what is above',
        from: 'fromUp <= fromCorner ? up',
        to: 'fromUp < fromCorner ? up',
        why: 'one filter gives other pixels where two neighbours are as near',
      },
      {
        name: 'each unit begins as the first row does',
        from: 'this.#before = line;',
        to: 'if (row < rows - 1) this.#before = line;',
        why: 'rows are differences from others than those before them',
      },
    ],
  ),
  ...mutationsOf(
    'src/formats/tiff.ts',
    ['test/formats/tiff.test.ts'],
    [
      {
        name: 'big-endian rows are read as they lie in the file',
        from: '!picture.littleEndian && dtypeBytes[dtype] > 1',
        to: 'false',
        why: 'numbers have their bytes reversed',
      },
      {
        name: 'strips may lie anywhere and are read as one',
        from: 'offsets[i] !== offsets[0]! + i * stripBytes',
        to: 'false',
        why: 'rows come from elsewhere in the file',
      },
    ],
  ),
  ...mutationsOf(
    'src/formats/tiff-unpack.ts',
    ['test/formats/tiff.test.ts'],
    [
      {
        name: 'LZW codes get longer a code late',
        from: 'next + 1 >= 1 << width',
        to: 'next >= 1 << width',
        why: 'all that follows is read from the wrong bits',
      },
    ],
  ),
  ...mutationsOf(
    'src/formats/tiff-picture.ts',
    ['test/formats/tiff.test.ts'],
    [
      {
        name: 'memory is taken for rows of which nothing is there',
        from: 'picture.bytes[block]! * picture.unpacking.ratio < needed',
        to: 'false',
        why: 'a file of some bytes takes all memory',
      },
      {
        name: 'planes are all the first',
        from: '+ plane) * size',
        to: ') * size',
        why: 'a pixel has one of its numbers, and the others are 0',
      },
    ],
  ),
  ...mutationsOf(
    'src/formats/zarr-chunks.ts',
    ['test/formats/zarr.test.ts', 'test/formats/zarr-refused.test.ts'],
    [
      {
        name: 'an index is always at the end of its shard',
        from: 'file.part(atStart ? 0 : file.size - bytes, bytes)',
        to: 'file.part(file.size - bytes, bytes)',
        why: 'places of chunks are read from the numbers of others',
      },
      {
        name: 'a chunk may have fewer bytes than its numbers take',
        from: 'if (bytes.length !== numbers)',
        to: 'if (bytes.length > numbers)',
        why: 'a chunk that was cut off is filled up by zeros',
      },
      {
        name: 'what lies beside each other is copied at once also where only a part of it is wanted',
        from: 'if (counts[outer] !== extents[outer]) break;',
        to: '',
        why: 'chunks at the edge have their rows mixed up',
      },
    ],
  ),
  ...mutationsOf(
    'src/formats/zarr-codecs.ts',
    ['test/formats/zarr.test.ts', 'test/formats/zarr-refused.test.ts'],
    [
      {
        name: 'checksums are cut off and not compared',
        from: 'crc32c(data) !== sum',
        to: 'sum < 0',
        why: 'damage is read as numbers',
      },
      {
        name: 'gzip gives as much as it likes',
        from: '{ maxOutputLength: Math.max(1, most) }',
        to: '{ maxOutputLength: 2 ** 30 }',
        why: 'a chunk of some kilobytes takes all memory',
      },
    ],
  ),
  ...mutationsOf(
    'src/formats/zarr-files.ts',
    ['test/formats/zarr.test.ts', 'test/formats/zarr-refused.test.ts'],
    [
      {
        name: 'links lead anywhere',
        from: '!real.startsWith(root.endsWith(sep) ? root : root + sep)',
        to: 'root === real',
        why: 'a store that was downloaded shows files of its reader',
      },
    ],
  ),
  ...mutationsOf(
    'src/formats/zarr-array.ts',
    ['test/formats/zarr.test.ts', 'test/formats/zarr-refused.test.ts'],
    [
      {
        name: 'what is missing is zero',
        from: 'fillElements(bytes, fill);',
        to: '{}',
        why: 'chunks that stand for their fill value are read as others',
      },
    ],
  ),
  ...mutationsOf(
    'src/formats/zarr-writer.ts',
    ['test/formats/zarr.test.ts', 'test/formats/zarr-refused.test.ts'],
    [
      {
        name: 'any folder is replaced',
        from: 'if (other !== undefined) return',
        to: 'if (other === undefined) return',
        why: 'files of others are removed',
      },
    ],
  ),
  ...mutationsOf(
    'src/formats/tiff-head.ts',
    ['test/formats/tiff.test.ts'],
    [
      {
        name: 'offsets of 4 bytes reach everywhere',
        from: 'bytes + headBytes > longest',
        to: 'false',
        why: 'a picture of more than 4 GiB cannot be written',
      },
    ],
  ),
  ...mutationsOf(
    'src/formats/element-source.ts',
    ['test/formats/compressed.test.ts', 'test/formats/npz.test.ts'],
    [
      {
        name: 'what follows the last element is not read',
        from: 'if (this.#position === this.length) await this.#bytes.finish?.();',
        to: '',
        why: 'the checksum at the end of a compressed file is never compared',
      },
    ],
  ),
  ...mutationsOf(
    'src/formats/parquet-writer.ts',
    ['test/formats/parquet-out.test.ts'],
    [
      {
        name: 'floats of Parquet may have a dictionary',
        from: "this.#element.startsWith('f') ? ({ encoding: 'PLAIN' } as const) : {}",
        to: '{}',
        why: 'the dictionary takes -0 for 0',
      },
      {
        name: 'a column takes its neighbour',
        from: 'from[row * width + at]!',
        to: 'from[row * width]!',
        why: 'all columns of a row hold the first number',
      },
    ],
  ),
  ...mutationsOf(
    'src/formats/zip-entry.ts',
    ['test/formats/npz.test.ts'],
    [
      {
        name: 'a header moves the checksum of what follows by nothing',
        from: 'return (product(move, first) ^ second) >>> 0;',
        to: 'return (first ^ second) >>> 0;',
        why: 'other programs refuse the archive as damaged',
      },
    ],
  ),
  ...mutationsOf(
    'src/formats/text-blocks.ts',
    ['test/formats/text.test.ts'],
    [
      {
        name: 'a line end inside quotes ends a record',
        from: `if (!quoted || !text.includes('"')) return end;`,
        to: 'return end;',
        why: 'a field of two lines is cut where a block ends',
      },
    ],
  ),
  ...mutationsOf(
    'src/formats/text-table.ts',
    ['test/formats/text.test.ts'],
    [
      {
        name: 'a fraction is a whole number',
        from: 'const isWhole = Number.isSafeInteger(value) || isFloatType(dtype);',
        to: 'const isWhole = true;',
        why: 'a later row is rounded without a word',
      },
    ],
  ),
  ...mutationsOf(
    'src/formats/one-pass.ts',
    ['test/formats/text.test.ts'],
    [
      {
        name: 'columns that come once do not wait for each other',
        from: 'for (const column of this.#columns) give(column, rows);',
        to: 'for (const column of this.#columns.slice(0, 1)) give(column, rows);',
        why: 'all columns but the first lose their values',
      },
    ],
  ),
];
