// What the command line is in a shell: help by name, completion, colours, terminals, exit codes, hints.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, describe, expect, test } from 'vitest';
import { codes, WarpstageError } from 'warpstage';
import { runCommandLine } from '#warpstage/cli/command-line.js';
import { exitCodeOfError, exitCodes } from '#warpstage/cli/exit-codes.js';
import { inCommandWords } from '#warpstage/cli/hints.js';
import { moves, showsColour } from '#warpstage/cli/terminal.js';
import { unsupportedName } from '#warpstage/formats/unsupported.js';
import { Folder, root, runHere } from './support.ts';

const folder = new Folder();
afterAll(() => folder.remove());

const { text: programHelp } = await runHere('--help');
const commands = [
  ...programHelp
    .split('\nCommands:\n')[1]!
    .split('\n\n')[0]!
    .matchAll(/^ {2}(\w+) /gm),
].map(([, name]) => name!);

describe('help', () => {
  test.each(commands)('of %s is that of --help after it', async (name) => {
    const [byName, byOption] = [await runHere('help', name), await runHere(name, '--help')];
    expect(byName).toEqual(byOption);
    expect(byName.text).toMatch(new RegExp(`^Usage: (warpstage )?${name}`));
  });

  test('without a command is that of the program, and a wrong name is wrong usage', async () => {
    expect((await runHere('help')).text).toBe(programHelp);
    const { code, stderr } = await runHere('help', 'runn');
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: "WS6001: unknown command 'runn'\n  hint: did you mean run?\n",
    });
    expect((await runHere('help', 'xyzzy')).stderr).toContain('the commands are `init`, `run`');
  });
});

describe('completion', () => {
  /** What bash offers for the last of the words. */
  const completed = async (...words: string[]) => {
    const { text } = await runHere('completion', 'bash');
    const line = `COMP_WORDS=(warpstage ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}; _warpstage; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return execFileSync('bash', ['-c', `${text}\n${line}`])
      .toString()
      .split('\n')
      .filter(Boolean);
  };

  test('in bash has commands, options and their values', async () => {
    expect(await completed('c')).toEqual(['check', 'calibrate', 'completion']);
    expect(await completed('emit', 'affine.ts', '--tar')).toEqual(['--target']);
    expect(await completed('emit', 'affine.ts', '--target', 'w')).toEqual(['wasm', 'wat']);
    expect(await completed('run', 'affine.ts', '--dtype', 'bf')).toEqual(['bf16']);
    expect(await completed('help', 'em')).toEqual(['emit']);
    expect(await completed('completion', '')).toEqual(['bash', 'zsh']);
    // What is none of these is a file, which bash completes itself.
    expect(await completed('run', 'aff')).toEqual([]);
  });

  test.each(['bash', 'zsh'])('in %s has every option of every command', async (shell) => {
    const { text } = await runHere('completion', shell);
    for (const name of commands) {
      const { text: help } = await runHere(name, '--help');
      const options = [...help.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map(([, option]) => option!);
      const line = text
        .split('\n')
        .find((one) => one.trim().startsWith(`${name}) `) && one.includes('--help'))!;
      expect(options.length).toBeGreaterThan(0);
      for (const option of options) expect(line).toContain(option);
    }
  });

  test('of another shell is wrong usage', async () => {
    expect(await runHere('completion', 'fish')).toMatchObject({ code: 2, text: '' });
  });
});

/** A stream that says it is a terminal. */
function terminalStream() {
  const stream = new PassThrough();
  return Object.assign(stream, {
    isTTY: true,
    columns: 80,
    hasColors: (environment?: NodeJS.ProcessEnv) => environment?.TERM !== 'no-colours',
  });
}

describe('a terminal', () => {
  test.each([
    [{}, true, false],
    [{ TERM: 'xterm' }, true, false],
    [{ TERM: 'dumb' }, false, false],
    [{ TERM: 'no-colours' }, false, false],
    [{ NO_COLOR: '1' }, false, false],
    [{ NO_COLOR: '' }, true, false],
    [{ FORCE_COLOR: '1' }, true, true],
    [{ FORCE_COLOR: '', TERM: 'dumb' }, true, true],
    [{ FORCE_COLOR: '3', NO_COLOR: '1' }, true, true],
    [{ FORCE_COLOR: '0' }, false, false],
    [{ FORCE_COLOR: 'false' }, false, false],
  ])('with %j: colours there %s, in a pipe %s', (environment, there, piped) => {
    expect(showsColour(terminalStream(), environment)).toBe(there);
    expect(showsColour(new PassThrough(), environment)).toBe(piped);
  });

  test('that is dumb draws nothing anew', () => {
    expect(moves(terminalStream(), { TERM: 'dumb' })).toBe(false);
    expect(moves(terminalStream(), { TERM: 'xterm' })).toBe(true);
    expect(moves(new PassThrough(), { TERM: 'xterm' })).toBe(false);
  });

  test.each([
    [
      ['run', 'examples/affine.ts', join(root, 'LICENSE'), '-'],
      'the output goes to the terminal, and is no text',
    ],
    [
      ['emit', 'examples/affine.ts', '--target', 'wasm'],
      'write it to a file with -o, or see it with --target wat',
    ],
  ])('is given no bytes: %j', async (argv, message) => {
    const [output, errors] = [terminalStream(), new PassThrough()];
    const code = await runCommandLine(argv, { input: new PassThrough(), output, errors });
    expect({ code, printed: output.read() }).toEqual({ code: 2, printed: null });
    expect(String(errors.read())).toContain(message);
  });
});

describe('exit codes', () => {
  test('are reported by help, and by the page that the one on jobs names', () => {
    expect(readFileSync(join(root, 'docs/jobs.md'), 'utf8')).toContain('[the table](cluster.md#exit-codes)');
    const page = readFileSync(join(root, 'docs/cluster.md'), 'utf8').replaceAll(/\s+/g, ' ');
    for (const [code, meaning] of Object.entries(exitCodes)) {
      expect(programHelp.replaceAll(/\s+/g, ' ')).toContain(` ${code} ${meaning}`);
      expect(page).toContain(`| ${code} | ${meaning} | `);
    }
  });

  test('are there for every error, and those of data, disk and time are their own', () => {
    const known = Object.keys(exitCodes).map(Number);
    for (const code of Object.keys(codes))
      expect(known).toContain(exitCodeOfError(code as keyof typeof codes));
    expect(exitCodeOfError('WS3001')).toBe(1);
  });

  test.each([
    [3, ['run', 'examples/affine.ts', 'no-such-file.npy', 'y.npy'], 'WS5003'],
    [3, ['run', 'examples/flights.ts', join(root, 'package.json')], 'WS'],
    [74, ['run', 'examples/mean.ts', 'LICENSE', '-q', '--trace', '/no-such-folder/t.html'], 'WS5006'],
    [2, ['run', 'examples/mean.ts', 'LICENSE', '--device', 'cuda:x'], 'WS4003'],
    [2, ['run', 'examples/affine.ts', 'LICENSE', 'y.raw', '--set', 'q=1'], 'WS5008'],
  ])('%i: %j', async (expected, argv, reported) => {
    const { code, stderr } = await runHere(...argv);
    expect(stderr).toMatch(new RegExp(`^${reported}`));
    expect({ code, stderr }).toMatchObject({ code: expected });
  });
});

describe('hints', () => {
  test.each(['s.jpg', 's.bmp', 's.mp4', 's.h5', 's.xlsx', 's.mat'])(
    'what is to be written in another language stays, for %s',
    (name) => {
      const unsupported = unsupportedName(name);
      expect(unsupported).toBeDefined();
      const hint = unsupported!.hint(name);
      const error = new WarpstageError({ code: 'WS5004', message: 'm', hint });
      expect(inCommandWords(error).hint).toBe(hint);
    },
  );

  test.each([
    ['install the NVIDIA driver, or open("cpu")', 'install the NVIDIA driver, or --device cpu'],
    [
      "start the process again, or go on with open('cpu')",
      'start the process again, or go on with --device cpu',
    ],
    [
      "run the kernel with open('cuda', { checked: true }), or `warpstage run --checked`: that tells the line",
      'run the kernel with --device cuda --checked: that tells the line',
    ],
    ['open one of cuda:0 to cuda:3', 'name one of them with --device: cuda:0 to cuda:3'],
    ['write it to a file, or run it without resume', 'write it to a file, or run it without --resume'],
    [
      'pass it, for example settings: { a: 1 }, or give it a default in the job',
      'pass it, for example --set a=1, or give it a default in the job',
    ],
    [
      'say what stands for a null in the job: inputs: { …: { nulls: 0 } }',
      'say what stands for a null with --nulls 0',
    ],
  ])('%s', (hint, reported) => {
    const error = new WarpstageError({ code: 'WS4003', message: 'm', hint });
    expect(inCommandWords(error).hint).toBe(reported);
  });

  test('what is not about an option stays', () => {
    const error = new WarpstageError({
      code: 'WS4003',
      message: 'm',
      hint: 'use smaller blocks and a larger grid',
    });
    expect(inCommandWords(error)).toBe(error);
  });

  test('a run that cannot be resumed says --resume', async () => {
    const { stderr } = await runHere(
      ...'run examples/affine.ts LICENSE y.npy --shard 1/2 --resume'.split(' '),
    );
    expect(stderr).toContain('hint: run it again without --resume');
  });
});
