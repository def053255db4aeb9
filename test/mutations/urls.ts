// Mutations of URLs that are read more than once: of which version they are, and what is written down of them.

import { mutationsOf } from './mutation.ts';

const again = ['test/overlap/urls-again.test.ts'];
const stores = ['test/formats/zarr-urls.test.ts'];
const storesAgain = ['test/overlap/store-urls.test.ts'];

const faults = ['test/overlap/url-faults.test.ts'];

export const mutations = [
  ...mutationsOf('src/formats/http-bytes.ts', faults, [
    {
      name: 'a server that says when to ask again is asked before',
      from: 'pause = Math.max(pause, wanted);',
      to: '',
      why: 'a server that is busy for some seconds ends a run of hours',
    },
    {
      name: 'a server is waited for as long as it likes',
      from: ' || wanted > longestPause',
      to: '',
      why: 'a run stands still for a day, and says nothing',
    },
    {
      name: 'a server that wants fewer requests has refused for ever',
      from: ' || status === 429 || status === 408',
      to: '',
      why: 'a limit of requests ends a run of hours, and no scheduler tries it again',
    },
  ]),
  ...mutationsOf('src/formats/url-versions.ts', again, [
    {
      name: 'a URL that is opened again may be of another version',
      from: 'before.version !== now.version || before.bytes !== now.bytes',
      to: 'before.bytes < 0',
      why: 'passes of one job, or a list that was looked at, are of different numbers',
    },
    {
      name: 'a URL without a version is read again',
      from: 'if (!this.#isNeeded(url) && !this.#known.has(url)) return;',
      to: 'if (!this.#known.has(url)) return;',
      why: 'a run goes on behind rows of which nobody knows whether the rest is of the same file',
    },
  ]),
  ...mutationsOf('src/overlap/whole-run.ts', again, [
    {
      name: 'each pass takes whatever version there is',
      from: 'return (url) => paths.has(url);',
      to: 'return (url) => paths.size < 0 && paths.has(url);',
      why: 'a sequence begins over a server without versions, and fails when its first pass has run',
    },
  ]),
  ...mutationsOf('src/overlap/url-inputs.ts', again, [
    {
      name: 'the query does not count where a time tells the version',
      from: "if (version.startsWith('\"') || query === '') return `version ${version}`;",
      to: 'if (query.length >= 0) return `version ${version}`;',
      why: 'two files that one path has by their queries, and that are equally old, are taken for one',
    },
    {
      name: 'the query counts where a tag tells the version',
      from: "if (version.startsWith('\"') || query === '')",
      to: "if (query === '')",
      why: 'a URL that is signed anew cannot be gone on with',
    },
  ]),
  ...mutationsOf('src/overlap/shards/input-stamps.ts', again, [
    {
      name: 'pieces of other versions of a URL are put together',
      from: 'return words(a) === words(b) ? undefined',
      to: 'return words(a) !== words(b) ? undefined',
      why: 'an output is of two versions of its input',
    },
  ]),
  ...mutationsOf('src/overlap/journal/resume-run.ts', again, [
    {
      name: 'a journal knows a URL by its name alone',
      from: 'urlFact(from.file, kind, version)',
      to: 'urlFact(from.file, kind, { bytes: 0, version: \'""\' })',
      why: 'a run goes on over another version than that of the rows before',
    },
  ]),
  ...mutationsOf('src/overlap/outputs.ts', again, [
    {
      name: 'checksums have the URLs of inputs as they were given',
      from: 'isUrl(path) ? shownUrl(path) : resolve(path)',
      to: 'isUrl(path) ? path : resolve(path)',
      why: 'a token is written to a file that is given away with the output',
    },
  ]),
  ...mutationsOf('src/overlap/verify.ts', again, [
    {
      name: 'a URL that is not written down whole is asked for',
      from: "if (!url.endsWith('?…'))",
      to: "if (url !== '')",
      why: 'verify says of some other answer of the server that the input has changed',
    },
  ]),
  ...mutationsOf('src/formats/http-bytes.ts', stores, [
    {
      name: 'a chunk that is refused is a missing one',
      from: 'cause.status === 404',
      to: 'cause.status >= 400',
      why: 'where a token has run out, all chunks are what stands for missing ones',
    },
  ]),
  ...mutationsOf('src/formats/http-folder.ts', stores, [
    {
      name: 'a chunk that was missing may be there later',
      from: 'this.#versions?.found(url, nothing);',
      to: '',
      why: 'passes of a sequence read two states of a store',
    },
    {
      name: 'names in a store are taken for more than names',
      from: '.map(encodeURIComponent)',
      to: '',
      why: 'an array whose name has a question mark is another file',
    },
  ]),
  ...mutationsOf('src/formats/folder-files.ts', stores, [
    {
      name: 'arrays of a group lie outside of it',
      from: "!['', '.', '..'].includes(name)",
      to: "name !== ''",
      why: 'a store has a worker read what its caller may not',
    },
  ]),
  ...mutationsOf('src/formats/s3-folder.ts', stores, [
    {
      name: 'objects of a store are of any version',
      from: 'this.#stop, known)',
      to: 'this.#stop)',
      why: 'chunks of two states of a store are read as one',
    },
  ]),
  ...mutationsOf(
    'src/formats/version-of-all.ts',
    [...stores, ...storesAgain],
    [
      {
        name: 'a store is known by its names and lengths',
        from: 'JSON.stringify([path, size, version])',
        to: 'JSON.stringify([path, size])',
        why: 'a run goes on over another store than that of the rows before',
      },
    ],
  ),
  ...mutationsOf('src/formats/http-folder.ts', storesAgain, [
    {
      name: 'a chunk that is missing has no version',
      from: 'versions.found(url, nothing);\n    } finally',
      to: '} finally',
      why: 'a store with missing chunks is never known again',
    },
  ]),
];
