// Mutations of pieces: how a range is cut for threads, how long a launch over files may be, and what threads read and write.

import { mutationsOf } from './mutation.ts';

export const mutations = [
  ...mutationsOf(
    'src/overlap/pieces.ts',
    ['test/overlap/pieces.test.ts'],
    [
      {
        name: 'a shorter last piece reads from the beginning',
        from: 'const before = firstRow * rowBytes(input);',
        to: 'const before = 0;',
        why: 'the last rows are computed from the first ones',
      },
      {
        name: 'pieces keep rows that belong together apart',
        from: 'Math.floor(bytes / bytesOfRow / granularity) * granularity',
        to: 'Math.floor(bytes / bytesOfRow)',
        why: 'a group of rows is cut, and each half gives a row',
      },
      {
        name: 'rows that see their neighbours go in pieces',
        from: '|| inputs.some(({ halo, beside }) => halo + beside > 0)',
        to: '',
        why: 'the neighbours of a piece are not read',
      },
      {
        name: 'a launch that grows leaves pieces out',
        from: 'done += pieces;\n        const event',
        to: 'done += atOnce;\n        const event',
        why: 'rows of a large output are never written',
      },
      {
        name: 'pieces stay long however long the kernel takes',
        from: 'if (milliseconds < kernelTime.tooLong) return null;',
        to: 'if (milliseconds !== -1) return null;',
        why: 'threads wait for the one that has the last piece',
      },
      {
        name: 'shorter pieces begin where longer ones would have ended',
        from: 'row += done * some;',
        to: 'row += Math.max(1, whole) * some;',
        why: 'rows behind those that turned out to take long are never written',
      },
      {
        name: 'shorter pieces keep rows that belong together apart',
        from: 'Math.max(1, Math.floor(rows / parts / granularity)) * granularity',
        to: 'Math.max(1, Math.floor(rows / parts))',
        why: 'a group of rows is cut, and each half gives a row',
      },
      {
        name: 'what failed in a file is not looked at',
        from: 'throw failure === null ? error : ',
        to: 'if (failure === null || failure.file >= 0) throw error; throw ',
        why: 'a full disk is said to be a defect of the package',
      },
    ],
  ),
  ...mutationsOf(
    'src/runtime/cpu/piece-runner.ts',
    ['test/overlap/pieces.test.ts'],
    [
      {
        name: 'every piece begins with the first row',
        from: 'row.first + piece * row.rows',
        to: 'row.first',
        why: 'a kernel that asks which rows it has gets the wrong ones',
      },
      {
        name: 'a later launch begins with the first piece again',
        from: 'let piece = before + first; piece < before + end',
        to: 'let piece = first; piece < end',
        why: 'the first pieces are written several times, and the others never',
      },
    ],
  ),
  ...mutationsOf(
    'src/runtime/cpu/piece-launch.ts',
    ['test/runtime/places-of-pieces.test.ts'],
    [
      {
        name: 'two outputs take the place of one input',
        from: 'if (pair !== undefined) free.delete(pair.input);',
        to: '',
        why: 'the second output is written over the first one',
      },
      {
        name: 'an output takes the place of an input of another length',
        from: 'free.get(input)?.bytes === bytes',
        to: 'free.has(input)',
        why: 'it is written over what lies behind',
      },
      {
        name: 'a grid of two dimensions has one place for two arrays',
        from: ' && grid[1] * grid[2] === 1',
        to: '',
        why: 'blocks that differ in y alone have the same indices',
      },
    ],
  ),
  ...mutationsOf(
    'src/overlap/pieces.ts',
    ['test/overlap/pieces.test.ts'],
    [
      {
        name: 'rows that fill no group go in pieces',
        from: 'rows % granularity !== 0 || ',
        to: '',
        why: 'the last group is computed from rows that are not there',
      },
      {
        name: 'accumulators go in pieces',
        from: 'if (accumulators.length > 0 || ',
        to: 'if (',
        why: 'each piece sums on its own',
      },
      {
        name: 'a launch of the job’s own goes in pieces',
        from: "typeof definition.launch === 'function' || ",
        to: '',
        why: 'a launch that somebody wrote for chunks is asked for pieces',
      },
      {
        name: 'pieces may take more memory than chunks',
        from: 'Math.min(goodBytes, pieceBytes.most, mostBytes)',
        to: 'Math.min(goodBytes, pieceBytes.most)',
        why: 'a run with a limit takes more than it',
      },
      {
        name: 'threads for which memory leaves little go in pieces',
        from: 'if (pieceBytes.least > mostBytes) return null;',
        to: '',
        why: 'pieces are shorter than pays',
      },
      {
        name: 'the last piece is written at the beginning',
        from: 'position: position + bytesOf(firstRow)',
        to: 'position',
        why: 'the first rows are those of the last piece',
      },
      {
        name: 'a file ends early by what is missing of its last piece',
        from: 'Math.floor(((before + bytes) / rowBytes(input)) * input.width)',
        to: 'Math.floor((bytes / rowBytes(input)) * input.width)',
        why: 'a message says that a file ends long before it does',
      },
      {
        name: 'arrays of pieces are kept',
        from: 'for (const array of bound) array.free();',
        to: '',
        why: 'each job leaves memory behind',
      },
      {
        name: 'progress counts marks and not rows',
        from: 'context.onRows(pieces * rows);',
        to: 'context.onRows(pieces);',
        why: 'progress stands still while the job runs',
      },
      {
        name: 'the last piece is not counted',
        from: 'pieces += done;\n      row',
        to: 'pieces += whole === 0 ? 0 : done;\n      row',
        why: 'a report counts a piece too few',
      },
    ],
  ),
  ...mutationsOf(
    'src/overlap/pieces.ts',
    ['test/overlap/keep.test.ts'],
    [
      {
        name: 'rows that are left out go from file to file',
        from: 'if (definition.keep !== undefined) return null;',
        to: '',
        why: 'a large file is written whole, with its mask nowhere',
        equivalent: 'the mask has no place in a file, and all outputs must have one',
      },
    ],
  ),
];
