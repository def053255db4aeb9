// Mutations of `overlap`: sinks, windows, lists and the choice of cuts.

import { mutationsOf } from './mutation.ts';

export const mutations = [
  ...mutationsOf(
    'src/overlap/outputs.ts',
    ['test/overlap/afterwards.test.ts'],
    [
      {
        name: 'what an abort began is not waited for',
        from: 'this.#interrupted = this.#interrupted.then(async () => {',
        to: 'this.#interrupted = Promise.resolve().then(async () => {',
        why: 'a run that was stopped still closes and removes files when its promise is settled',
      },
    ],
  ),
  ...mutationsOf(
    'src/overlap/sinks/file.ts',
    ['test/overlap/sinks.test.ts', 'test/overlap/resume.test.ts'],
    [
      {
        name: 'each piece of a file is written at its beginning',
        from: '    this.#position += bytes.length;\n',
        to: '',
        why: 'the output holds the last chunk alone',
      },
      {
        name: 'a short write loses the rest',
        from: '    done += bytesWritten;\n',
        to: '    done = bytes.length;\n    void bytesWritten;\n',
        why: 'a full pipe or disk leaves a gap in the output',
        tests: ['test/overlap/sinks.test.ts', 'test/overlap/failures.test.ts'],
      },
      {
        name: 'a resumed file keeps what is behind its mark',
        from: 'await file.truncate(begin);',
        to: 'if (begin < 0) await file.truncate(begin);',
        why: 'an output is longer than its input where the last chunk is shorter than what was half written',
      },
      {
        name: 'a resumed file begins anew',
        from: 'sink.#position = begin;',
        to: 'sink.#position = 0;',
        why: 'the resumed half overwrites the first one',
      },
      {
        name: 'a failed output stays',
        from: 'await rm(this.#temporary, { force: true }).catch(() => {});\n    dropUnfinished(this.#temporary);\n  }\n\n  async #rewriteBeginning',
        to: 'dropUnfinished(this.#temporary);\n  }\n\n  async #rewriteBeginning',
        why: 'each run that fails leaves a file',
      },
      {
        name: 'the header of a file keeps the length that was guessed',
        from: 'if (encoding.needsShape && !shapeKnown) await this.#rewriteBeginning(encoding, shape);',
        to: '',
        why: 'NumPy reads no rows of the output of a pipe',
      },
      {
        name: 'a replaced file gets the modes of a new one',
        from: 'const mode = partial === undefined ? (modeBefore ?? 0o666) : ownMode;',
        to: 'const mode = partial === undefined ? 0o666 : ownMode;',
        why: 'a private output is readable by everybody after it was written again',
      },
    ],
  ),
  ...mutationsOf(
    'src/overlap/sinks/memory.ts',
    ['test/overlap/sinks.test.ts', 'test/overlap/run.test.ts'],
    [
      {
        name: 'a given array may be too short',
        from: 'if (position + data.length > array.length) {',
        to: 'if (position > array.length) {',
        why: 'the end of the output is lost in silence',
      },
      {
        name: 'a grown array forgets what it had',
        from: '        setElements(larger, array);\n',
        to: '',
        why: 'an output whose length is not known begins with zeros',
      },
    ],
  ),
  ...mutationsOf(
    'src/overlap/window.ts',
    ['test/overlap/window.test.ts', 'test/overlap/resume.test.ts'],
    [
      {
        name: 'a window forgets a row of its halo',
        from: 'this.#carry = into.slice(core * stride, (before + available) * stride);',
        to: 'this.#carry = into.slice((core + 1) * stride, (before + available) * stride);',
        why: 'each chunk but the first sees its rows shifted',
      },
      {
        name: 'the row beyond the end is the one before the last',
        from: 'before + core + after, before + available - 1);',
        to: 'before + core + after, before + available - 2);',
        why: 'the last row of an output with a clamped edge is wrong',
      },
      {
        name: 'a skip leaves out the halo',
        from: 'const kept = Math.min(before, rows);',
        to: 'const kept = 0;',
        why: 'the first rows of a resumed output see no rows before them',
      },
    ],
  ),
  ...mutationsOf(
    'src/overlap/tuner.ts',
    ['test/overlap/tuner.test.ts'],
    [
      {
        name: 'a trial that is slower is kept',
        from: 'if (gain < worthKeeping)',
        to: 'if (gain > worthKeeping)',
        why: 'a run goes on with the worse of two cuts',
      },
      {
        name: 'every cut is worth a trial',
        from: 'best === undefined || best.gain < worthTrying',
        to: 'best === undefined',
        why: 'runs that are well cut are cut anew',
      },
      {
        name: 'halves are no multiple of what they must be',
        from: 'return Math.max(1, Math.floor(rows / granularity)) * granularity;',
        to: 'return Math.max(1, Math.floor(rows));',
        why: 'a chunk ends in the middle of what a kernel takes as one',
      },
      {
        name: 'chunks of any size are tried',
        from: 'cut.chunkRows === chunkRows || cut.chunkBytes >= leastBytes',
        to: 'cut.chunkRows === chunkRows || cut.chunkBytes >= 0',
        why: 'chunks of some kilobytes are tried, which cost more than they bring',
      },
      {
        name: 'a short run is tuned',
        from: 'rows - this.#given >= leastRounds * this.depth * this.#cut.chunkRows',
        to: 'rows - this.#given >= 0',
        why: 'a run is over before the trial pays',
      },
      {
        name: 'chunks in flight are counted beyond what fits',
        from: '(greatestDepth === null || wanted <= greatestDepth)',
        to: '(greatestDepth === null || wanted <= greatestDepth + 1)',
        why: 'a run takes more memory than it was given',
      },
    ],
  ),
  ...mutationsOf(
    'src/overlap/predict.ts',
    ['test/overlap/predict.test.ts'],
    [
      {
        name: 'a stage begins before the one before it has ended',
        from: 'time = Math.max(time, free[stage]) + fixed + perByte * size;',
        to: 'time = free[stage] + fixed + perByte * size;',
        why: 'predictions are faster than any schedule',
      },
      {
        name: 'the fixed cost of a chunk is what is left of a byte',
        from: 'fixed: Math.max(0, large.time - perByte * large.bytes), perByte',
        to: 'fixed: Math.max(0, large.time - perByte * small.bytes), perByte',
        why: 'small chunks seem to cost far more than they do',
      },
      {
        name: 'the slowest cut within a hundredth is taken',
        from: 'tried.find(({ wall }) => wall <= fastest * 1.01)!',
        to: 'tried.findLast(({ wall }) => wall <= fastest * 1.01)!',
        why: 'the plan takes more memory than it needs',
      },
      {
        name: 'a warm-up counts for each row of the rest',
        from: 'const full = marks.slice(Math.max(0, Math.min(2 * depth, marks.length - 2)));',
        to: 'const full = marks;',
        why: 'predicted walls are too long by the slow start, many times over',
      },
    ],
  ),
  ...mutationsOf(
    'src/overlap/slot.ts',
    ['test/overlap/run.test.ts', 'test/overlap/wide-types.test.ts'],
    [
      {
        name: 'arrays of a slot overlap',
        from: 'ends[role] = offset + capacity * bytesOf(element);',
        to: 'ends[role] = offset + capacity;',
        why: 'the second input of a chunk overwrites the first',
      },
    ],
  ),
  ...mutationsOf(
    'src/overlap/list-source.ts',
    ['test/overlap/file-lists.test.ts'],
    [
      {
        name: 'the next file goes on in another chunk',
        from: 'if (read < wanted.length) await this.#next();',
        to: 'if (read < wanted.length) {\n        await this.#next();\n        break;\n      }',
        why: 'what a file ends with is taken for the end of all',
      },
      {
        name: 'a file that ends with a request is left out of a skip',
        from: 'if (this.#part === undefined && length <= left) {',
        to: 'if (this.#part === undefined && length < left) {',
        why: 'a run that is resumed opens a file of which it needs nothing',
        equivalent: 'that file is opened and left out whole, and the next one is read from its beginning',
      },
      {
        name: 'files without a length are left out whole',
        from: 'const { length = Infinity } = this.#files',
        to: 'const { length = 0 } = this.#files',
        why: 'a run that is resumed over texts begins behind their end',
      },
      {
        name: 'a file may become another before its turn',
        from: "throw problem('WS5003', `${file.file} changed",
        to: "problem('WS5003', `${file.file} changed",
        why: 'rows are taken for others, and found wrong at the end only',
      },
      {
        name: 'rows of any shape follow one another',
        from: 'if (sameShape(first.shape?.slice(1), other.shape?.slice(1))) return;',
        to: 'return;',
        why: 'rows of four numbers are cut into rows of two',
      },
      {
        name: 'numbers of any type follow one another',
        from: 'if (first.dtype !== other.dtype) {',
        to: 'if (false) {',
        why: 'files that belong to different data pass for one',
      },
      {
        name: 'a file stays open behind its end',
        from: 'await (await this.#part)!.close();\n    this.#part = undefined;',
        to: 'this.#part = undefined;',
        why: 'a list of a thousand files is too many',
      },
    ],
  ),
  ...mutationsOf(
    'src/files/by-count.ts',
    ['test/overlap/file-lists.test.ts'],
    [
      {
        name: 'names are in the order of their characters',
        from: '(i % 2 === 1 ? x.length - y.length : 0) || ',
        to: '',
        why: 'part 10 is read before part 2',
      },
    ],
  ),
  ...mutationsOf(
    'src/overlap/file-lists.ts',
    ['test/overlap/file-lists.test.ts'],
    [
      {
        name: 'a name with brackets is always a pattern',
        from: '|| (await isThere(path))',
        to: '',
        why: 'x[1].npy stands for x1.npy',
      },
    ],
  ),
  ...mutationsOf(
    'src/overlap/kept-rows.ts',
    ['test/overlap/keep.test.ts'],
    [
      {
        name: 'rows that are kept stay where they were',
        from: 'if (end !== first) data.copyWithin(end * width, first * width, row * width);',
        to: '',
        why: 'the first rows are written, whichever were kept',
      },
      {
        name: 'rows of several numbers move as one number',
        from: 'data.copyWithin(end * width, first * width, row * width)',
        to: 'data.copyWithin(end, first, row)',
        why: 'rows are made of numbers of others',
      },
    ],
  ),
  ...mutationsOf(
    'src/overlap/loop.ts',
    ['test/overlap/keep.test.ts'],
    [
      {
        name: 'what says which rows are kept is written',
        from: 'return mask === undefined ? all : keptRows(all, mask);',
        to: 'return all;',
        why: 'a filter leaves all rows in its outputs',
      },
      {
        name: 'a chunk of which nothing is kept is written',
        from: 'if (outputs.length > 0 && kept !== 0) {',
        to: 'if (outputs.length > 0) {',
        why: 'who takes parts gets some that are empty',
      },
    ],
  ),
  ...mutationsOf(
    'src/overlap/bind.ts',
    ['test/overlap/keep.test.ts'],
    [
      {
        name: 'a header says the rows of the input',
        from: 'const shapeKnown = kept !== undefined && definition.keep === undefined;',
        to: 'const shapeKnown = kept !== undefined;',
        why: 'a .npy file announces rows that were left out',
      },
    ],
  ),
  ...mutationsOf(
    'src/overlap/journal/resume-run.ts',
    ['test/overlap/keep.test.ts'],
    [
      {
        name: 'a journal counts rows that were left out',
        from: 'sizeOf(elementsOf(kept ?? rows))',
        to: 'sizeOf(elementsOf(rows))',
        why: 'a filter that was stopped cannot go on',
      },
    ],
  ),
];
