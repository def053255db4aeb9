// Mutations of objects of S3: which version is read, when one is there, and what is left of one that is not.

import { mutationsOf } from './mutation.ts';

const objects = ['test/overlap/s3.test.ts'];

const faults = ['test/overlap/s3-faults.test.ts'];

export const mutations = [
  ...mutationsOf('src/overlap/journal/journal.ts', faults, [
    {
      name: 'an upload that nobody goes on with stays open',
      from: 'if ((found?.mark.rows ?? 0) === 0) await forgetOthers(targets, states);',
      to: '',
      why: 'a store keeps the parts of each killed run, and has them paid for',
    },
    {
      name: 'an upload is known when the first rows are',
      from: 'await this.#states.write(0, pack([nothing, ...states]));',
      to: '',
      why: 'that of a run which was killed in its first second stays open',
    },
  ]),
  ...mutationsOf('src/formats/s3-bytes.ts', objects, [
    {
      name: 'a later range is asked for whatever the version',
      from: '...(known && { IfMatch: known.version })',
      to: '...(known && {})',
      why: 'a store gives bytes of another version, which are thrown away when they are here',
    },
    {
      name: 'a range of another version is taken from a store that does not look',
      from: 'known !== undefined && (version !== known.version || bytes !== known.bytes)',
      to: 'known !== undefined && bytes !== known.bytes',
      why: 'numbers of two versions are read as one object',
    },
    {
      name: 'an answer that breaks off is not asked for again',
      from: 'throw signal.aborted ? cause : new BrokenOff(cause);',
      to: 'throw cause;',
      why: 'a connection that is lost once ends a run of hours',
    },
  ]),
  ...mutationsOf('src/formats/s3-client.ts', objects, [
    {
      name: 'a refusal passes on what the store says',
      from: "return say(own, [why, 'check the name, and who may use it']);",
      to: "return say(own, [`${why} ${String((cause as Error).message)}`, 'check the name, and who may use it']);",
      why: 'what was signed, and by whom, is written to logs',
    },
  ]),
  ...mutationsOf('src/overlap/sinks/upload.ts', faults, [
    {
      name: 'a run that is stopped does not wait for the upload that it has asked for',
      from: "'CreateMultipartUploadCommand',\n        {},\n        stop.signal,",
      to: "'CreateMultipartUploadCommand',\n        {},\n        signal,",
      why: 'an upload stays open that nobody knows',
    },
  ]),
  ...mutationsOf('src/overlap/sinks/upload.ts', objects, [
    {
      name: 'an upload is completed over an object that came meanwhile',
      from: "const condition = overwrite ? {} : { IfNoneMatch: '*' };",
      to: "const condition = overwrite ? {} : { IfNoneMatch: '' };",
      why: 'a piece of another run, or a file that was to be kept, is lost',
    },
    {
      name: 'parts that have not arrived are not waited for',
      from: 'await Promise.all(this.#flying);\n    this.#check();',
      to: 'await Promise.resolve();\n    this.#check();',
      why: 'an object lacks its last parts, or a journal counts what the store does not have',
    },
    {
      name: 'an upload whose last answer is lost is a failure',
      from: 'if (!(await this.#isComplete(cause))) throw cause;',
      to: 'throw cause;',
      why: 'an output is there, and the run says that it is not',
    },
  ]),
  ...mutationsOf('src/overlap/sinks/s3.ts', objects, [
    {
      name: 'an upload that failed stays open',
      from: 'this.#options.kept === undefined ? this.#upload.abort() : this.#upload.halt()',
      to: 'this.#upload.halt()',
      why: 'parts that nobody sees are paid for until somebody looks for them',
    },
    {
      name: 'a run goes on whatever parts the store has',
      from: 'if (upload.parts.every(isSame)) return true;',
      to: 'if (upload.parts.length >= 0) return true;',
      why: 'a run that computes for hours is refused at its end',
    },
    {
      name: 'the first part goes before it is known what it begins with',
      from: 'if (this.#sealed === 1 && this.#holdsFirst) {',
      to: 'if (this.#sealed === 0 && this.#holdsFirst) {',
      why: 'a table has a header of another length than it has',
    },
  ]),
  ...mutationsOf('src/overlap/journal/journal.ts', objects, [
    {
      name: 'an upload of which nothing is kept is left open',
      from: 'await Promise.all(this.#outputs.map((output) => output.discard?.()));',
      to: 'await Promise.all([]);',
      why: 'no journal names it, and its parts are paid for',
    },
  ]),
  ...mutationsOf(
    'src/overlap/sinks/s3-folder.ts',
    ['test/overlap/s3-stores.test.ts'],
    [
      {
        name: 'a store of objects is complete whatever became of them',
        from: 'return [...this.#tags].every(([name, tag]) => there.get(name)?.version === tag);',
        to: 'return there.size >= 0;',
        why: 'a store has a zarr.json, and chunks of another run, or none, which are read as zeros',
      },
      {
        name: 'a run that fails removes what another has created',
        from: 'found?.Metadata?.[runKey] === this.#run',
        to: 'found !== undefined',
        why: 'a store that is whole loses chunks, which are read as zeros',
      },
      {
        name: 'a run that is stopped breaks off what is on its way',
        from: 'await this.#halt();',
        to: 'this.#stop.abort();',
        why: 'objects are created when nobody removes them any more',
      },
    ],
  ),
];
