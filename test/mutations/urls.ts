// Mutations of URLs that are read more than once: of which version they are, and what is written down of them.

import { mutationsOf } from './mutation.ts';

const again = ['test/overlap/urls-again.test.ts'];

export const mutations = [
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
];
