#!/usr/bin/env node
// The program `warpstage`. Everything is in command-line.ts, which tests call too.
//
// It is loaded after Node was asked to keep what it compiles, where it can (from 22.1): in a folder of this
// user's own, as Node runs what it finds there.

import nodeModule from 'node:module';
import { cacheFolder } from '../files/cache-folders.ts';
import { runElsewhere } from './restart.ts';

const elsewhere = await runElsewhere();
if (elsewhere !== null) process.exit(elsewhere);

const { enableCompileCache } = nodeModule as { enableCompileCache?(folder: string): unknown };
const compiled = enableCompileCache && cacheFolder('v8');
if (compiled) enableCompileCache(compiled);
const { processTerminal, runCommandLine } = await import('./command-line.ts');
// A reader that goes away cancels the command (interrupt.ts); any other failure of standard output is reported.
let failure: NodeJS.ErrnoException | undefined;
process.stdout.on('error', (error) => {
  failure ??= error;
});
// Progress and reports are lost with standard error (a full disk of logs, a reader that went away): the work is not.
process.stderr.on('error', () => {});
let code = await runCommandLine(process.argv.slice(2), processTerminal());
// What was printed is out before the process ends; a timer or handle that a module left open does not hold it.
await Promise.all([process.stdout, process.stderr].map((s) => new Promise((done) => s.write('', done))));
if (code === 0 && failure !== undefined && failure.code !== 'EPIPE') {
  const { unwritable } = await import('../diagnostics/problem.ts');
  const { reportFailure } = await import('./failure.ts');
  code = reportFailure(
    unwritable('standard output', failure),
    process.argv.includes('--json'),
    processTerminal(),
  );
}
process.exit(code);
