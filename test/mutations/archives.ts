// Mutations of files that hold several outputs: where their parts lie, and when the file is complete.

import { mutationsOf } from './mutation.ts';

const archives = ['test/overlap/archives.test.ts', 'test/overlap/archives-again.test.ts'];

export const mutations = [
  ...mutationsOf('src/overlap/sinks/archive.ts', archives, [
    {
      name: 'a file is complete with its first part',
      from: 'if (++this.#finished < this.#parts.length) return;',
      to: 'if (++this.#finished > 1) return;',
      why: 'the index says of the other parts what they do not have yet',
    },
    {
      name: 'a part begins where the elements of the one before end',
      from: 'begin + head + bytes + this.#archive.endBytes',
      to: 'begin + head + bytes',
      why: 'what stands behind a part is written over the next',
    },
    {
      name: 'parts of unknown length are written one over the other',
      from: 'own === undefined ? begin! + head : 0,',
      to: 'own === undefined ? begin! + head : 8,',
      why: 'an array of a stream has other numbers than were computed',
    },
    {
      name: 'what waits for its place stays',
      from: 'await own?.abandon();',
      to: '',
      why: 'each run leaves as many bytes as its outputs have beside them',
    },
    {
      name: 'only the file itself is removed when a run fails',
      from: '[this.#file, ...this.#parts.flatMap(({ own }) => own ?? [])]',
      to: '[this.#file]',
      why: 'a run that fails leaves files that nobody knows',
    },
    {
      name: 'a part that waits for another run begins anew',
      from: 'this.bytes = own.mark().bytes;',
      to: '',
      why: 'a resumed archive ends before its last numbers',
    },
    {
      name: 'the checksum of a part forgets what a former run has written',
      from: 'if (kept.state !== undefined) await encoding.restore?.(kept.state);',
      to: '',
      why: 'a resumed archive is damaged',
    },
    {
      name: 'checksums are of nothing',
      from: 'sums.update(buffer);',
      to: 'void sums;',
      why: 'verify says of a file that is whole that all of it was added',
    },
  ]),
  ...mutationsOf('src/formats/zip-entry.ts', archives, [
    {
      name: 'a part beyond 4 GiB begins at its place in 32 bits',
      from: 'const isFar = at >= inWide;',
      to: 'const isFar = at < 0;',
      why: 'large archives cannot be read',
    },
  ]),
  ...mutationsOf('src/overlap/shards/sink.ts', archives, [
    {
      name: 'pieces of several outputs have one name',
      from: 'piece.together === undefined ? output : placeOfPart(output, piece.parameter)',
      to: 'output',
      why: 'each machine finds that its piece is there already, and is another one',
    },
  ]),
  ...mutationsOf(
    'src/overlap/shards/merge-note.ts',
    ['test/overlap/merge-again.test.ts'],
    [
      {
        name: 'a piece that the output does not have is removed',
        from: 'if (note.checks[keyOf(piece)] !== checkOf(piece)) return undefined;',
        to: '',
        why: 'what was computed is lost, and the output is of former numbers',
      },
      {
        name: 'an output that is gone counts as put together',
        from: 'if (note === undefined || !(await isThere(output))) return undefined;',
        to: 'if (note === undefined) return undefined;',
        why: 'the last pieces are removed, and the numbers are nowhere',
      },
    ],
  ),
  ...mutationsOf(
    'src/overlap/shards/merge.ts',
    ['test/overlap/merge-again.test.ts'],
    [
      {
        name: 'pieces are removed before it is noted',
        from: 'await noteMerged(output.file, merged, pieces, { fsync, signal });',
        to: '',
        why: 'a merge that was stopped waits for pieces that are no more',
      },
    ],
  ),
  ...mutationsOf(
    'src/overlap/shards/piece-files.ts',
    ['test/overlap/merge-again.test.ts'],
    [
      {
        name: 'a piece that cannot be looked at stays open',
        from: 'await file.close().catch(() => {});',
        to: '',
        why: 'a process that goes on runs out of files',
      },
    ],
  ),
  ...mutationsOf(
    'src/overlap/journal/journal.ts',
    ['test/overlap/nth-fault.test.ts'],
    [
      {
        name: 'a journal that cannot be closed fails a run that is over',
        from: 'async remove(): Promise<void> {\n    await this.#file.close().catch(() => {});',
        to: 'async remove(): Promise<void> {\n    await this.#file.close();',
        why: 'outputs that are there are said to be none, and their lock stays',
      },
    ],
  ),
  ...mutationsOf('src/overlap/shards/merge.ts', archives, [
    {
      name: 'parts of a file may be of different works',
      from: 'read.map(([piece]) => piece!),',
      to: 'read.map(() => read[0]![0]!),',
      why: 'an archive holds arrays of two runs over different numbers',
    },
  ]),
  ...mutationsOf('src/overlap/journal/journal.ts', archives, [
    {
      name: 'parts stay when their file has its name',
      from: 'for (const path of [...this.#parts, this.#path])',
      to: 'for (const path of [this.#path])',
      why: 'each resumed run leaves as many bytes as its outputs have beside them',
    },
    {
      name: 'several outputs of one file wait in one',
      from: 'return JSON.stringify([path, part]);',
      to: 'return path;',
      why: 'an array has the numbers of another one',
    },
  ]),
  ...mutationsOf('src/overlap/check-outputs.ts', archives, [
    {
      name: 'any file may be given for several outputs',
      from: 'format.archive === undefined || files.findIndex',
      to: 'files.findIndex',
      why: 'an output takes the place of another, and nobody is told',
    },
  ]),
  ...mutationsOf('src/cli/assign-files.ts', archives, [
    {
      name: 'a command has a file for each output',
      from: 'const isEach = fits(roles.outputs.length) || !holdsAll || !fits(1);',
      to: 'const isEach = fits(roles.outputs.length) || !holdsAll || fits(1);',
      why: 'what a program can write a command cannot',
    },
  ]),
];
