// `warpstage check --static`: what is wrong with the kernels of files, a line each, as compilers print it.
//
// Nothing of the files is run, so they may be any part of a project. The lines are for editors and CI; the same is
// there as JSON and as SARIF.

import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { checkText, type StaticCheck } from '../checker/static/check-text.ts';
import { type Issue, issueData, WarpstageError } from '../diagnostics/error.ts';
import { edited } from '../diagnostics/fix.ts';
import { packageVersion } from '../diagnostics/package-version.ts';
import type { CommandContext } from './command.ts';
import { usageError } from './failure.ts';
import { checkWritable, writeWhole } from './write-whole.ts';

export interface StaticOptions {
  readonly json?: boolean;
  readonly sarif?: string;
  /** Whether mistakes that can be mended in one way alone are. */
  readonly fix?: boolean;
}

/** Options that are of no use where nothing runs. */
const ofRuns = ['kernel', 'schedules', 'seed', 'delivery', 'steps', 'advice', 'set', 'stages'] as const;

/** Prints the mistakes of some files; the exit code is 1 if there are any. */
export async function checkStatically(
  paths: readonly string[],
  options: StaticOptions,
  { terminal, exit }: CommandContext,
): Promise<void> {
  const misplaced = ofRuns.find((name) => name in options);
  if (misplaced !== undefined) {
    throw usageError(`--${misplaced} is of launches, and --static runs none`, 'leave one of them out');
  }
  const files = paths.map((path) => resolve(path));
  for (const [position, file] of files.entries()) refuseMissing(file, paths[position]!);
  if (options.sarif !== undefined) await checkWritable(options.sarif, '--sarif', { reads: files });
  const mended = options.fix ? mend(files) : 0;
  const found = checkText(files, read);
  if (options.sarif !== undefined) await writeSarif(options.sarif, files[0]!, found);
  if (options.json) terminal.output.write(`${JSON.stringify(dataOf(found))}\n`);
  else terminal.output.write(textOf(found, mended));
  exit.code = found.issues.length === 0 ? 0 : 1;
}

function read(file: string): string | undefined {
  return existsSync(file) && statSync(file).isFile() ? readFileSync(file, 'utf8') : undefined;
}

function refuseMissing(file: string, name: string): void {
  if (read(file) !== undefined) return;
  throw new WarpstageError({
    code: 'WS5002',
    message: `there is no file ${name}`,
    hint: 'check the path; it is taken from the current directory',
  });
}

/** Mends in the files what can be mended in one way alone, each mistake once; how many were. */
function mend(files: readonly string[]): number {
  const tried = new Set<string>();
  let count = 0;
  for (;;) {
    const next = checkText(files, read).issues.find(
      (issue) => issue.fixes?.length === 1 && !tried.has(keyOf(issue)),
    );
    if (next === undefined) return count;
    tried.add(keyOf(next));
    const { edits } = next.fixes![0]!;
    const file = edits[0]!.file!;
    // A function of another file may be wrong for one kernel and right for others.
    if (!files.includes(file)) continue;
    writeFileSync(file, edited(readFileSync(file, 'utf8'), edits));
    count++;
  }
}

function keyOf({ code, message, location }: Issue): string {
  return [code, message, location?.file, location?.line].join(' ');
}

/** A line for each mistake, `file(line,column): error code: message. hint`, then what was looked at. */
function textOf({ kernels, issues, skipped }: StaticCheck, mended: number): string {
  const lines = issues.map((issue) => `${placeOf(issue)}: error ${issue.code}: ${sentenceOf(issue)}`);
  for (const { file, line, column } of skipped) {
    lines.push(
      `${inFolder(file)}(${line},${column}): info: not compiled, as its schema or function is made while the module runs`,
    );
  }
  if (mended > 0) lines.push(mended === 1 ? '1 mistake mended' : `${mended} mistakes mended`);
  const count = issues.length === 1 ? '1 mistake' : `${issues.length} mistakes`;
  const what = kernels === 1 ? '1 kernel' : `${kernels} kernels`;
  return `${[...lines, `${what} compiled: ${issues.length === 0 ? 'nothing is wrong' : count}`].join('\n')}\n`;
}

function placeOf({ location }: Issue): string {
  if (location?.file === undefined) return 'warpstage';
  return `${inFolder(location.file)}(${location.line},${location.column})`;
}

/** On one line, as editors read it. */
function sentenceOf({ message, hint }: Issue): string {
  return `${message}${hint === undefined ? '' : `. ${hint}`}`.replace(/\s*\n\s*/g, ' ');
}

/** The path from here; the whole one where that would lead out of the folder. */
function inFolder(file: string): string {
  const path = relative(process.cwd(), file);
  return path.startsWith('..') ? file : path;
}

function dataOf({ kernels, issues, skipped }: StaticCheck): object {
  return {
    verdict: issues.length === 0 ? 'clean' : 'findings',
    kernels,
    findings: issues.map(issueData),
    skipped,
  };
}

async function writeSarif(path: string, module: string, { issues }: StaticCheck): Promise<void> {
  const { sarifLog } = await import('./sarif.ts');
  const content = {
    version: packageVersion(),
    folder: process.cwd(),
    module,
    findings: issues,
    inconclusive: [],
  };
  await writeWhole(path, `${JSON.stringify(sarifLog(content), null, 2)}\n`);
}
