// The program of a pack: the sweep over mutants that were built elsewhere.

import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readOptions, sweepAndReport } from './command.ts';
import type { Mutant } from './mutants.ts';

const folder = dirname(fileURLToPath(import.meta.url));
const mutants = JSON.parse(readFileSync(join(folder, 'mutants.json'), 'utf8')) as Mutant[];
const options = readOptions(process.argv.slice(2));
await sweepAndReport(mutants, join(folder, 'tree'), join(folder, 'node_modules'), options);
