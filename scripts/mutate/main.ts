// npm run mutate -- [--jobs N] [--only PATTERN] [--results FOLDER] [--pack FILE]: changes the package in many
// small ways, one at a time, and expects a test to fail for each.
//
// Results are kept in FOLDER (.mutate) and hold until the mutation, its file or its tests change: a sweep that
// was stopped starts from there. --only takes those whose room, name or file has PATTERN (a regular expression).
// --pack writes a tar.xz with the built mutants, the tests and what they need: unpacked on another machine,
// `node mutate.mjs --jobs N` sweeps there, and needs Node alone. Exit status 1 where a mutant survives. A test that
// fails without a mutant decides nothing, and the table says of which mutants.

import { mutations } from '../../test/mutations/all.ts';
import { roomOf } from '../../test/mutations/mutation.ts';
import { isChosen, readOptions, sweepAndReport } from './command.ts';
import { makeMutants } from './mutants.ts';
import { pack } from './pack.ts';

const options = readOptions(process.argv.slice(2));
const chosen = mutations.filter((mutation) =>
  isChosen({ ...mutation, room: roomOf(mutation) }, options.only),
);
const mutants = await makeMutants(chosen);
if (options.pack !== null) await pack(mutants, options.pack);
else await sweepAndReport(mutants, '.', 'node_modules', options);
