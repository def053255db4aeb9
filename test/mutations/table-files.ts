// Mutations of files of tables: Parquet and Arrow, their compression, and what is read of them by ranges.

import { mutationsOf } from './mutation.ts';

export const mutations = [
  ...mutationsOf(
    'src/formats/parquet-file.ts',
    ['test/formats/parquet.test.ts', 'test/overlap/parquet-columns.test.ts'],
    [
      {
        name: 'unsigned columns are signed',
        from: "return signed ? 'i32' : 'u32';",
        to: "return 'i32';",
        why: 'numbers from 2^31 on become negative',
      },
      {
        name: 'decimals are the integers that are stored',
        from: "if (converted === 'DECIMAL' || logical?.type === 'DECIMAL') return 'f64';\n",
        to: '',
        why: 'amounts are a hundred times too large',
      },
      {
        name: 'a pointer behind the end of the file is followed',
        from: 'if (!(begin >= 0 && begin + length <= this.size)) {',
        to: 'if (!(begin >= 0)) {',
        why: 'a damaged file asks for memory without end',
      },
    ],
  ),
  ...mutationsOf(
    'src/formats/parquet-runs.ts',
    ['test/formats/parquet.test.ts'],
    [
      {
        name: 'a run is as long as it says',
        from: 'const length = Math.min(left, head.value / 2);',
        to: 'const length = head.value / 2;',
        why: 'a damaged run counts further than its page has values',
        equivalent: 'to fill an array ends with the array, and so does the loop',
      },
      {
        name: 'a run of no values reads what is behind the page',
        from: 'if (begin + length > bytes.length) throw endsEarly();\n',
        to: '',
        why: 'what is missing of a damaged page is taken for numbers',
      },
    ],
  ),
  ...mutationsOf(
    'src/formats/arrow-file.ts',
    ['test/formats/arrow.test.ts'],
    [
      {
        name: 'an Arrow stream may end anywhere',
        from: "if (at === file.size) throw cutOff(file.name, 'it has no mark at its end');",
        to: 'if (at === file.size) break;',
        why: 'what a program that died has written passes for the whole',
      },
      {
        name: 'a body may lie behind the end of the file',
        from: 'if (at > file.size) throw',
        to: 'if (false) throw',
        why: 'the last batch of a file that was cut off is read as zeros',
        equivalent: 'the next message is looked for behind the end, and is not there',
      },
      {
        name: 'batches without rows end a stream',
        from: 'if (batch !== undefined && batch.length > 0)',
        to: 'if (batch !== undefined && batch.length >= 0)',
        why: 'what is behind an empty batch is lost',
        equivalent: 'a unit of no values is followed by the next one',
      },
    ],
  ),
  ...mutationsOf(
    'src/formats/arrow-column.ts',
    ['test/formats/arrow.test.ts'],
    [
      {
        name: 'bits are the wrong way round',
        from: '(i & 7)) & 1',
        to: '(7 - (i & 7))) & 1',
        why: 'nulls and booleans are those of other rows',
      },
      {
        name: 'decimals of Arrow have no point',
        from: 'const divisor = 10 ** scale;',
        to: 'const divisor = 1;',
        why: 'amounts are a hundred times too large',
      },
      {
        name: 'views have as many buffers as other columns',
        from: 'batch.views.slice(0, views).reduce((sum, more) => sum + more, buffer)',
        to: 'buffer',
        why: 'columns behind one of views hold its bytes',
      },
      {
        name: 'a buffer that is not compressed is unpacked',
        from: 'if (length === -1) return first(packed, needed);',
        to: '',
        why: 'buffers that compression would have made longer are refused',
      },
      {
        name: 'a buffer may be shorter than its rows',
        from: 'throw new Error(`a buffer has ${bytes.length} bytes, and ${needed} are needed`);',
        to: 'return bytes;',
        why: 'a damaged file gives values of others',
      },
    ],
  ),
  ...mutationsOf(
    'src/formats/arrow-schema.ts',
    ['test/formats/arrow.test.ts'],
    [
      {
        name: 'columns within columns take no place',
        from: '.tables(5)\n    .map(',
        to: '.tables(5)\n    .slice(0, 0)\n    .map(',
        why: 'columns behind a list hold its bytes',
      },
      {
        name: 'the codes of a dictionary are its values',
        from: '...(type.number !== undefined && !isCoded && { number: type.number }),',
        to: '...((type.number !== undefined || isCoded) && { number: type.number ?? { dtype: "i8", bits: 8 } }),',
        why: 'words are read as the places of words in a list',
      },
    ],
  ),
  ...mutationsOf(
    'src/formats/lz4.ts',
    ['test/formats/arrow.test.ts'],
    [
      {
        name: 'a repetition that overlaps itself is copied at once',
        from: 'if (distance >= repeated) output.copyWithin',
        to: 'if (true) output.copyWithin',
        why: 'runs of one value become something else',
      },
      {
        name: 'each block begins anew',
        from: 'else done = unpackBlock(block, output, done);',
        to: 'else done += unpackBlock(block, output.subarray(done), 0);',
        why: 'buffers of more than 64 KiB cannot be read',
      },
    ],
  ),
  ...mutationsOf(
    'src/formats/arrow-writer.ts',
    ['test/formats/arrow.test.ts'],
    [
      {
        name: 'a chunk is a batch',
        from: 'if (this.#held === this.#rows.length) this.#writeBatch();\n    }',
        to: 'if (this.#held === this.#rows.length) this.#writeBatch();\n    }\n    if (this.#held > 0) this.#writeBatch();',
        why: 'the bytes of an output depend on the chunks',
      },
      {
        name: 'all columns are the first',
        from: 'rows[row * width + at]!',
        to: 'rows[row * width]!',
        why: 'the numbers of a row are all the first',
      },
    ],
  ),
  ...mutationsOf(
    'src/formats/byte-ranges.ts',
    ['test/formats/arrow.test.ts'],
    [
      {
        name: 'what is left out ends with a range',
        from: 'this.#taken -= length;',
        to: 'this.#taken = 0;',
        why: 'a run that goes on reads other rows',
      },
      {
        name: 'a range is read from its beginning again',
        from: 'begin + this.#taken',
        to: 'begin',
        why: 'chunks that end within a batch are followed by its beginning',
      },
    ],
  ),
];
