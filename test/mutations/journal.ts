// Mutations of the journal of a job, by which a run is resumed.

import { mutationsOf } from './mutation.ts';

const kept = ['test/formats/kept.test.ts'];
const resumed = ['test/overlap/resume-formats.test.ts'];

export const mutations = [
  ...mutationsOf(
    'src/overlap/journal/text.ts',
    ['test/overlap/journal-text.test.ts'],
    [
      {
        name: 'the check of a mark is not looked at',
        from: 'return check === checkOf(noted) ? noted : undefined;',
        to: 'return check === undefined ? undefined : noted;',
        why: 'a line that was half written, and then overwritten, counts as progress',
      },
      {
        name: 'the check leaves out the chunks',
        from: '.update([rows, chunks, ',
        to: '.update([rows, ',
        why: 'a damaged count of chunks is believed',
      },
      {
        name: 'marks may go back',
        from: 'noted.rows <= last.noted.rows',
        to: 'noted.rows < 0',
        why: 'a stale line after the last one shortens what was written',
      },
      {
        name: 'a line without its end counts',
        from: 'const noted = end === 0 ? undefined : notedOf(parse(bytes.subarray(last.end, end)));',
        to: 'const noted = notedOf(parse(bytes.subarray(last.end, end === 0 ? bytes.length : end)));',
        why: 'a line that was being written when the machine ended is believed',
      },
    ],
  ),
  ...mutationsOf(
    'src/overlap/journal/value-text.ts',
    ['test/overlap/value-text.test.ts'],
    [
      {
        name: 'minus zero is zero in a resume key',
        from: "return Object.is(value, -0) ? '-0' : String(value);",
        to: 'return String(value);',
        why: 'a resumed run mixes 1 / 0 and 1 / -0 in one output',
      },
      {
        name: 'functions are one in a resume key',
        from: 'return `function ${JSON.stringify(String(value))}`;',
        to: 'return `function`;',
        why: 'a run is resumed with another kernel',
      },
      {
        name: 'typed arrays have no type in a resume key',
        from: "return `${nameOf(value)} ${bytes.toString('hex')}`;",
        to: "return bytes.toString('hex');",
        why: 'the same bytes as another type resume the run',
      },
      {
        name: 'a view is its whole buffer in a resume key',
        from: 'Buffer.from(value.buffer, value.byteOffset, value.byteLength)',
        to: 'Buffer.from(value.buffer, 0, value.byteLength)',
        why: 'two parts of one buffer resume each other’s run',
      },
    ],
  ),
  ...mutationsOf(
    'src/overlap/journal/journal.ts',
    ['test/overlap/journal.test.ts', 'test/overlap/resume.test.ts', 'test/overlap/interruptions.test.ts'],
    [
      {
        name: 'the journal counts what is not on the disk',
        from: 'await Promise.all(this.#outputs.map((output) => output.sync()));',
        to: '',
        why: 'after a loss of power the output lacks what the journal says it has',
      },
      {
        name: 'the mark is taken after the flush',
        from: 'const { noted } = written;',
        to: 'const { noted } = this.#hasState ? written : this.#written;',
        why: 'rows that were written while the flush ran count as flushed',
      },
      {
        name: 'every line of the journal overwrites the last',
        from: 'this.#position += line.length;',
        to: '',
        why: 'a line that is cut takes the one before with it',
      },
      {
        name: 'a failed flush is not reported',
        from: 'if (this.#failure !== undefined) throw this.#failure.cause;\n    const sums =',
        to: 'const sums =',
        why: 'a full disk is noticed at the end, after hours',
      },
      {
        name: 'only the first output is locked',
        from: 'const release = await lockAll([...new Set([base, ...files])]);',
        to: 'const release = await lockAll(([...new Set([base, ...files])]).slice(0, 1));',
        why: 'two runs that share a second output write into each other',
        tests: ['test/overlap/journal.test.ts', 'test/overlap/resume.test.ts', 'test/overlap/lock.test.ts'],
      },
    ],
  ),
  ...mutationsOf(
    'src/overlap/journal/former.ts',
    ['test/overlap/journal.test.ts', 'test/overlap/resume.test.ts', 'test/overlap/interruptions.test.ts'],
    [
      {
        name: 'what is kept is not looked at',
        from: 'if (checksum.value !== sum) break;',
        to: 'if (sum === undefined) break;',
        why: 'a bit that changed on the disk is in the output',
      },
      {
        name: 'a partial output may be shorter than its journal says',
        from: 'if (sizes[i]! >= expected) continue;',
        to: 'if (sizes[i]! >= 0) continue;',
        why: 'the resumed output has a gap of zeros',
      },
      {
        name: 'a journal of another run is resumed',
        from: 'if (differences.length > 0) throw new WarpstageError(differences);',
        to: '',
        why: 'two settings are mixed in one output',
      },
    ],
  ),
  ...mutationsOf(
    'src/overlap/whole-run.ts',
    ['test/overlap/resume-state.test.ts'],
    [
      {
        name: 'a device without a chunk after a resume is left out',
        from: '(_, i) => i === 0 || i < begin.chunks || passed.shares[i]!.chunks > 0,',
        to: '(_, i) => i === 0 || passed.shares[i]!.chunks > 0,',
        why: 'what it found before the run was interrupted is not in the value',
      },
    ],
  ),
  ...mutationsOf('src/formats/arrow-writer.ts', kept, [
    {
      name: 'rows that are kept are written over by those of the next batch',
      from: 'if (this.#isKept) this.#rows = newArray(this.#element, this.#rows.length);',
      to: '',
      why: 'a run that goes on writes a batch of rows of two places',
    },
    {
      name: 'a file that is gone on with forgets where its batches are',
      from: 'this.#blocks.push(...blocks);',
      to: 'void blocks;',
      why: 'readers find the last rows of the file alone',
    },
  ]),
  ...mutationsOf('src/formats/parquet-writer.ts', kept, [
    {
      name: 'rows that are kept are written over by those of the next group',
      from: 'if (this.#isKept) this.#group = newArray(this.#element, groupLength * this.#names.length);',
      to: '',
      why: 'a run that goes on writes a group of rows of two places',
    },
    {
      name: 'groups that were written later are kept, too',
      from: 'row_groups.slice(0, groups)',
      to: 'row_groups.slice(0)',
      why: 'a run that goes on writes an index with groups twice',
    },
    {
      name: 'places of groups are counted from where the run goes on',
      from: 'this.#bytes.offset = offset;',
      to: 'void offset;',
      why: 'the index tells wrong places, and the file cannot be read',
    },
    {
      name: 'rows before are not counted',
      from: 'this.#file.num_rows = rows;',
      to: 'void rows;',
      why: 'the file says that it has fewer rows',
    },
  ]),
  ...mutationsOf('src/formats/compression.ts', resumed, [
    {
      name: 'whatever is compressed can be gone on with',
      from: 'const isKept = encode === undefined || keep !== undefined;',
      to: 'const isKept = keep !== null;',
      why: 'the rows before an interruption are missing in a picture',
    },
  ]),
  ...mutationsOf('src/overlap/journal/journal.ts', resumed, [
    {
      name: 'a line says how long files are when it is written',
      from: 'sizes: marks.map(({ bytes }) => bytes)',
      to: 'sizes: marks.map(({ bytes }) => bytes + 1)',
      why: 'a run goes on behind bytes that are of the next chunk',
    },
    {
      name: 'the state of an output is that of another',
      from: 'const state = ofOutputs[i];',
      to: 'const state = ofOutputs[0];',
      why: 'a table goes on with the rows of another',
    },
    {
      name: 'states that a former run left stay',
      from: 'if (this.#hasState || this.#saysSizes) await this.#states.remove();',
      to: 'if (this.#hasState) await this.#states.remove();',
      why: 'after a loss of power files stay beside the output that nobody needs',
    },
    {
      name: 'a state that is written has no checksum',
      from: 'sums.push(sumOf(state));',
      to: 'if (this.#hasState) sums.push(sumOf(state));',
      why: 'rows that a table had not written when the run ended are missing in it',
    },
  ]),
  ...mutationsOf('src/overlap/journal/former.ts', resumed, [
    {
      name: 'a line without its state counts',
      from: 'const there = state && (await sumsOfOthers(targets, partials, state));',
      to: 'const there = state === undefined ? [] : await sumsOfOthers(targets, partials, state);',
      why: 'a state that was damaged is left out, and the rows in it are missing',
    },
  ]),
  ...mutationsOf(
    'src/overlap/sinks/folder.ts',
    ['test/overlap/resume-stores.test.ts'],
    [
      {
        name: 'files of an unfinished store are not compared',
        from: 'return areThere && checksum.value === sum ? checksum : undefined;',
        to: 'return checksum;',
        why: 'a chunk that was damaged, or is missing, is in the store of the next run',
      },
      {
        name: 'what an unfinished store has too much stays',
        from: 'if (!whole.has(name)) await rm',
        to: 'if (name === "") await rm',
        why: 'the next run cannot write a file that is there, half as it may be',
      },
      {
        name: 'elements that no file has are not kept',
        from: 'this.#unit.set(state.tail);',
        to: '',
        why: 'there are zeros in a store that was resumed',
      },
      {
        name: 'the checksum of a store is of files that are still written',
        from: 'await this.#last.taken;\n    flushNames',
        to: 'flushNames',
        why: 'a journal counts files that are not there',
      },
    ],
  ),
  ...mutationsOf(
    'src/overlap/sinks/folder.ts',
    ['test/overlap/power-loss.test.ts'],
    [
      {
        name: 'a store that is replaced goes at once',
        from: 'if (this.#isFlushed) this.syncName();',
        to: '',
        why: 'after a loss of power there is neither the old store nor the new one',
      },
    ],
  ),
  ...mutationsOf('src/overlap/journal/text.ts', resumed, [
    {
      name: 'lines have no sizes',
      from: '...(sizes !== undefined && { sizes: sizes as readonly number[] }),',
      to: '',
      why: 'no line of a compressed output counts',
    },
  ]),
];
