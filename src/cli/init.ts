// `warpstage init`: a project that runs and is tested at once.

import { access, mkdir } from 'node:fs/promises';
import { basename, join, relative, resolve } from 'node:path';
import type { Command } from 'commander';
import { unwritable } from '../diagnostics/problem.ts';
import { type CommandContext, examplesText, newCommand } from './command.ts';
import { usageError } from './failure.ts';
import { projectFiles } from './project-files.ts';
import { writeWhole } from './write-whole.ts';

/** The command `init`. */
export function initCommand(context: CommandContext): Command {
  return newCommand('init', context)
    .summary('make a project with a kernel, a job, data and a test')
    .description(
      'Makes a project: a kernel and a job, a small data file and a test under the checker. Files that are there stay as they are: ' +
        'if one has the name of a new one, nothing is written.',
    )
    .argument('[folder]', 'where the project is made', '.')
    .option(
      '--package <spec>',
      'what the project depends on as warpstage: a version, or the path of a packed tarball',
    )
    .addHelpText('after', examplesText(['warpstage init my-project', 'npm create warpstage my-project']))
    .action(async (folder: string, options: { readonly package?: string }) => {
      await writeProject(folder, options.package);
      context.terminal.output.write(nextSteps(folder));
    });
}

async function writeProject(folder: string, spec: string | undefined): Promise<void> {
  const files = projectFiles(packageName(folder), dependency(folder, spec));
  for (const name of files.keys()) {
    const path = join(folder, name);
    if (!(await isThere(path))) continue;
    const hint = 'name a new folder, for example `warpstage init my-project`';
    throw usageError(`${path} is there already`, hint);
  }
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    throw unwritable(folder, error);
  }
  for (const [name, content] of files) await writeWhole(join(folder, name), content);
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** A name that npm takes, like the folder's. */
function packageName(folder: string): string {
  const name = basename(resolve(folder))
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  return name === '' || name === 'warpstage' ? 'my-project' : name;
}

/** A path of a tarball counts from the project; anything else is npm's to understand. */
function dependency(folder: string, spec: string | undefined): string | undefined {
  if (spec === undefined || !/\.t(ar\.)?gz$/.test(spec) || /^[a-z]+:/.test(spec)) return spec;
  return `file:${relative(resolve(folder), resolve(spec))}`;
}

function nextSteps(folder: string): string {
  const enter = resolve(folder) === process.cwd() ? [] : [`cd ${folder}`];
  const steps = [
    ...enter,
    'npm install',
    'npm start      # streams data.npy through the kernel',
    'npm test       # the types, the results, and the kernel under the checker',
  ];
  return `Made a project in ${folder}. Next:\n\n${steps.map((step) => `  ${step}\n`).join('')}`;
}
