// Mutations of `formats` and of the half-precision numbers: conversions, headers, the order of bytes.

import { mutationsOf } from './mutation.ts';

export const mutations = [
  ...mutationsOf(
    'src/kernel/half.ts',
    ['test/types/halves.test.ts', 'test/formats/conversions.test.ts'],
    [
      {
        name: 'bf16 rounds ties up',
        from: '(magnitude + 0x7fff + ((magnitude >>> 16) & 1)) >>> 16',
        to: '(magnitude + 0x8000) >>> 16',
        why: 'half of all ties differ from the hardware by a bit',
      },
      {
        name: 'f16 rounds ties down',
        from: 'magnitude - 0x38000000 + 0xfff + ((magnitude >>> 13) & 1)',
        to: 'magnitude - 0x38000000 + 0xfff',
        why: 'half of all ties differ from the hardware by a bit',
      },
      {
        name: 'f16 becomes infinite too late',
        from: 'if (magnitude >= 0x47800000) return sign | 0x7c00;',
        to: 'if (magnitude > 0x47800000) return sign | 0x7c00;',
        why: '65536 would be a NaN of f16',
        equivalent: 'at 65536 exactly, the last line gives 0x7c00 as well: the carry fills the exponent',
      },
      {
        name: 'a NaN of bf16 keeps its upper bits',
        from: 'if (isUnordered) return sign | 0x7fc0;\n    return',
        to: 'return',
        why: 'a NaN whose bits are all in the lower half becomes infinite',
      },
      {
        name: 'subnormal numbers of f16 begin one exponent later',
        from: 'if (magnitude < 0x38800000)',
        to: 'if (magnitude < 0x38000000)',
        why: 'the greatest subnormal numbers are rounded as normal ones',
      },
    ],
  ),
  ...mutationsOf(
    'src/formats/dtype.ts',
    ['test/formats/conversions.test.ts'],
    [
      {
        name: 'fractions round half away from zero',
        from: 'return value < 0 ? value - 2 ** 52 + 2 ** 52 : value + 2 ** 52 - 2 ** 52;',
        to: 'return Math.sign(value) * Math.floor(Math.abs(value) + 0.5);',
        why: '0.5 becomes 1, where IEEE 754 and CUDA give 0',
      },
      {
        name: 'floats of 2^52 and more are rounded by the sum as well',
        from: 'if (!(Math.abs(value) < 2 ** 52)) return value;\n',
        to: '',
        why: 'odd integers from 2^52 on lose their last bit',
      },
      {
        name: 'f32 overflows half a step late',
        from: 'f32: 2 ** 128 - 2 ** 103,',
        to: 'f32: 2 ** 128,',
        why: 'a value that rounds to infinity is stored without a word',
      },
      {
        name: 'integers become f32 exactly, unchecked',
        from: "if (!isFloat(from) && conversion === 'exact') {",
        to: "if (!isFloat(from) && conversion !== 'exact') {",
        why: '16777217 becomes 16777216 without a word',
      },
      {
        name: 'i16 holds 32768',
        from: 'i16: [-(2 ** 15), 2 ** 15 - 1],',
        to: 'i16: [-(2 ** 15), 2 ** 15],',
        why: 'a value that does not fit wraps to the least one',
      },
      {
        name: 'NaN is an integer',
        from: 'if (!(value >= least && value <= greatest)) return i;',
        to: 'if (value < least || value > greatest) return i;',
        why: 'a NaN becomes 0 without a word',
      },
      {
        name: 'bf16 counts as wider than f16',
        from: 'const holds = floats[from][0] <= floats[to][0] && floats[from][1] <= floats[to][1];',
        to: 'const holds = floats[from][1] <= floats[to][1];',
        why: 'f16 would be read as bf16 exactly, though its fractions are rounded',
      },
      {
        name: 'every bool is what its byte is',
        from: 'block[i] = bytes[begin + i] === 0 ? 0 : 1;',
        to: 'block[i] = bytes[begin + i]!;',
        why: 'a byte of 255, which NumPy calls true, becomes 255',
      },
    ],
  ),
  ...mutationsOf(
    'src/formats/integers64.ts',
    ['test/formats/conversions.test.ts'],
    [
      {
        name: 'low words of 64-bit integers are signed',
        from: 'const low = words[2 * i]! >>> 0;',
        to: 'const low = words[2 * i]!;',
        why: 'an integer whose bit 31 is set is off by 2^32',
      },
      {
        name: 'an integer that is rounded twice keeps no odd bit',
        from: '(low & mask) === 0 ? 0 : 2 ** left',
        to: '0',
        why: 'a value just above a tie rounds down to f32',
      },
      {
        name: 'a 64-bit integer of the other sign always fits',
        from: '(signed ? BigInt.asIntN(64, value) : BigInt.asUintN(64, value)) !== value',
        to: 'BigInt.asUintN(64, value) !== BigInt.asUintN(64, value)',
        why: '-1 becomes 2^64 - 1 without a word',
      },
      {
        name: 'only safe integers count as exact',
        from: 'inexact < 0 && BigInt(value) !== (BigInt(high) << 32n) + BigInt(low)',
        to: 'inexact < 0',
        why: '2^60, which a f64 holds, is refused',
      },
    ],
  ),
  ...mutationsOf(
    'src/formats/npy-header.ts',
    ['test/formats/npy.test.ts'],
    [
      {
        name: 'the length of a header is big-endian',
        from: 'let length = prefix[8]! | (prefix[9]! << 8);',
        to: 'let length = prefix[9]! | (prefix[8]! << 8);',
        why: 'no file of NumPy can be read',
      },
      {
        name: 'versions 2 and 3 have two more bytes than they say',
        from: 'start = 12;',
        to: 'start = 10;',
        why: 'every position in a message about such a file is wrong',
      },
      {
        name: 'the length of a long header has 24 bits',
        from: 'length += more[0]! * 2 ** 16 + more[1]! * 2 ** 24;',
        to: 'length += more[0]! * 2 ** 16;',
        why: 'a damaged header of 16 MiB is taken for a short one',
      },
      {
        name: 'big-endian elements are read as they are',
        from: "if (order === '>' && dtypeBytes[dtype] > 1) {",
        to: "if (order === '>' && dtypeBytes[dtype] > 8) {",
        why: 'every value is wrong, and exit status 0',
      },
      {
        name: 'columns are read as rows',
        from: 'if (fortran && length > 0 && shape.filter((extent) => extent > 1).length > 1) {',
        to: 'if (fortran && length > 0 && shape.filter((extent) => extent > 1).length > 2) {',
        why: 'a matrix of two dimensions is read transposed, and exit status 0',
      },
      {
        name: 'a written header is aligned to 16 bytes',
        from: 'Math.ceil((10 + room) / 64) * 64',
        to: 'Math.ceil((10 + room) / 16) * 16',
        why: 'the elements lie where NumPy cannot map them aligned to 64 bytes, as the format demands',
      },
      {
        name: 'a shape may be larger than any file',
        from: 'if (!Number.isSafeInteger(length)) throw malformed',
        to: 'if (Number.isNaN(length)) throw malformed',
        why: 'a length beyond 2^53 is calculated with as if it were exact',
      },
      {
        name: 'a tuple of one is written without its comma',
        from: "shape.length === 1 ? ',' : ''",
        to: "''",
        why: 'NumPy reads the shape as a number and refuses the file',
      },
    ],
  ),
  ...mutationsOf(
    'src/formats/bytes.ts',
    ['test/overlap/sources.test.ts'],
    [
      {
        name: 'the second half of a read begins where the first does',
        from: 'parts.push(this.readAt(into.subarray(half), position + half));',
        to: 'parts.push(this.readAt(into.subarray(half), position));',
        why: 'every read of 2 MiB and more holds its first half twice',
      },
      {
        name: 'a short read ends a file',
        from: '        done += bytesRead;\n',
        to: '        done += bytesRead;\n        if (done < wanted) break;\n',
        why: 'where the system returns fewer bytes than asked for, the rest is lost',
        tests: ['test/overlap/sources.test.ts', 'test/overlap/run.test.ts'],
        equivalent:
          'for a regular file the system returns all bytes up to the end of the file or 2 GiB, more than any read asks for',
      },
      {
        name: 'a slice of a file begins at the file',
        from: 'end - begin, this.#begin + begin)',
        to: 'end - begin, begin)',
        why: 'a slice of a slice reads other bytes',
      },
    ],
  ),
  ...mutationsOf(
    'src/formats/stream-bytes.ts',
    ['test/overlap/sources.test.ts'],
    [
      {
        name: 'a stream drops what is left of a piece',
        from: 'this.#rest = this.#rest.subarray(taken.length);',
        to: 'this.#rest = new Uint8Array();',
        why: 'bytes are lost wherever a piece is longer than what is asked for',
      },
      {
        name: 'a peek at a stream is a read',
        from: 'this.#rest = whole;',
        to: '',
        why: 'the bytes by which a format is recognised are lost',
      },
    ],
  ),
  ...mutationsOf(
    'src/formats/element-source.ts',
    ['test/formats/conversions.test.ts', 'test/overlap/sources.test.ts'],
    [
      {
        name: 'a skip moves no position',
        from: '    this.#position += skipped;\n',
        to: '',
        why: 'the positions in messages, and the end of the input, are wrong after a skip',
        tests: ['test/overlap/resume.test.ts', 'test/overlap/sources.test.ts'],
      },
      {
        name: 'a converted read ends after one piece',
        from: 'if (bytes < scratch.length) break;',
        to: 'break;',
        why: 'a chunk of more than 1 MiB is only begun',
      },
      {
        name: 'a file that shrinks while it is read just ends',
        from: 'if (got < asked && this.length !== undefined) throw this.endedEarly(this.#position + got);',
        to: '',
        why: 'an output lacks rows, and exit status 0',
      },
      {
        name: 'bytes that are no whole element are dropped',
        from: 'if (bytes % width === 0) return bytes / width;',
        to: 'return Math.floor(bytes / width);',
        why: 'a file that was cut is read as if it were whole',
      },
    ],
  ),
  ...mutationsOf(
    'src/formats/unit-source.ts',
    ['test/formats/registered.test.ts', 'test/overlap/parquet-columns.test.ts'],
    [
      {
        name: 'a skip leaves out a unit too many',
        from: 'while (left > 0 && lengths !== undefined && left >=',
        to: 'while (left >= 0 && lengths !== undefined && left >=',
        why: 'a resumed run reads from the wrong row',
        tests: [
          'test/overlap/parquet-columns.test.ts',
          'test/formats/registered.test.ts',
          'test/overlap/resume.test.ts',
        ],
        equivalent: 'with nothing left only a unit of no rows is left out, which has nothing to read',
      },
      {
        name: 'a skip begins a unit it should end in',
        from: 'this.#position += elements - left;',
        to: 'this.#position += elements;',
        why: 'a skip behind the end counts rows that are not there',
      },
      {
        name: 'nulls are zero',
        from: '        if (nulls === undefined) throw this.#firstNull();\n        block[i] = nulls;',
        to: '        block[i] = nulls ?? 0;',
        why: 'missing values are counted as zeros, and exit status 0',
      },
      {
        name: 'decoded bools are the wrong way round',
        from: 'block[i] = value === true ? 1 : 0;',
        to: 'block[i] = value === true ? 0 : 1;',
        why: 'each value of a column of booleans is its opposite',
      },
      {
        name: 'a unit may have other values than it says',
        from: 'if (length !== undefined && values.length !== length) {',
        to: 'if (length !== undefined && values.length < length) {',
        why: 'a damaged file shifts all rows that follow',
      },
    ],
  ),
  ...mutationsOf(
    'src/formats/threaded-source.ts',
    ['test/formats/registered.test.ts', 'test/overlap/parquet-columns.test.ts'],
    [
      {
        name: 'a decoding thread writes to the start of shared memory',
        from: 'shared === buffer ? into.byteOffset : 0',
        to: '0',
        why: 'a chunk overwrites another that is still computed on',
      },
      {
        name: 'the failure of a decoding thread is heard by its next request only',
        from: '    this.#settle?.(error);\n  }\n}',
        to: '  }\n}',
        why: 'a run waits for ever for a thread that has died',
      },
    ],
  ),
  ...mutationsOf(
    'src/formats/registry.ts',
    ['test/formats/registered.test.ts', 'test/formats/never-misread.test.ts'],
    [
      {
        name: 'the first ending that fits decides',
        from: 'if (ending.length <= longest || !name.endsWith(ending)) continue;',
        to: 'if (longest > 0 || !name.endsWith(ending)) continue;',
        why: 'a registered .x.bin is read as .bin, bare numbers',
      },
    ],
  ),
  ...mutationsOf(
    'src/formats/open-file.ts',
    ['test/formats/never-misread.test.ts'],
    [
      {
        name: 'a file called .bin is bare numbers, however it begins',
        from: 'if (begun !== undefined) throw misnamed(bytes.name, begun);',
        to: '',
        why: 'the header of a .npy file is read as numbers',
      },
      {
        name: 'text from a pipe is bare numbers',
        from: 'if (isText(beginning)) throw text(bytes.name);',
        to: '',
        why: 'digits are read as the bytes that they are',
      },
      {
        name: 'what was said of a type is not checked',
        from: 'if (arrays.length !== 1 || array!.dtype === undefined || array!.dtype === dtype) return;',
        to: 'return;',
        why: 'a wrong --dtype of a .npy file is ignored in silence',
        tests: ['test/formats/never-misread.test.ts', 'test/formats/npy.test.ts'],
      },
    ],
  ),
];
