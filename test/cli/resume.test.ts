// `warpstage run --resume`: a process that is killed in the middle, one that is interrupted, and the next one,
// which goes on. A kernel that never ends stops the first at a place of its own, so that no timing is relied on.

import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readJournal } from '#warpstage/overlap/journal/text.js';
import { Folder, npy, numbers, outcomeOf, root, runHere, startWith } from './support.ts';

const folder = new Folder();
afterAll(() => folder.remove());

const x = numbers(20_000);
/** Where the kernel waits for ever if a variable of the environment says so. */
const held = 12_000;
let argv: (output: string) => string[];
beforeAll(async () => {
  const module = folder.file(
    'affine.ts',
    `
    import { job, kernel } from '${root}dist/index.js';
    export const affine = job({
      kernel: kernel({ y: 'f32[]', x: 'readonly f32[]', a: 'f32' }, ({ y, x, a }, cuda) => {
        const i = cuda.thisGrid().threadRank();
        if (cuda.blockDim.x === 64) for (;;) y[0] = x[0]!;
        if (i < y.length) y[i] = a * x[i]! + 1;
      }),
      inputs: { x: {} },
      outputs: { y: {} },
      settings: { a: 2 },
      launch: ({ rows, offset }) => ({
        grid: Math.ceil(rows / 256),
        block: offset >= Number(process.env.HELD_FROM ?? Infinity) ? 64 : 256,
      }),
    });
    `,
  );
  const input = folder.file('x.npy', npy(x));
  argv = (output) => ['run', module, input, output, '--chunk', '1000', '--resume'];
  const outcome = await runHere(...argv(folder.file('whole.npy')));
  expect(outcome.stderr).toContain('resumed: nothing; there was no former run to go on from');
}, 60_000);

/** Starts a run that does not come to its end, and waits until its journal counts chunks. */
async function startHeld(output: string) {
  const child = startWith(argv(output), 'pipe', { ...process.env, HELD_FROM: String(held) });
  const ended = outcomeOf(child);
  const journal = folder.file(`.${output.slice(folder.path.length + 1)}.journal`);
  const counted = () => {
    try {
      return readJournal(readFileSync(journal))?.lines.at(-1)?.noted.chunks ?? 0;
    } catch {
      return 0;
    }
  };
  await expect.poll(counted).toBeGreaterThan(0);
  return { child, ended };
}

async function expectGoneOn(output: string) {
  const { code, text, stderr } = await runHere(...argv(output), '--json', '--quiet');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const { report } = JSON.parse(text) as {
    report: Record<string, number> & { resumed: Record<string, number> };
  };
  expect(report.resumed.chunks).toBeGreaterThan(0);
  expect(report.resumed.chunks).toBeLessThanOrEqual(held / 1000);
  expect(report.chunks! + report.resumed.chunks!).toBe(x.length / 1000);
  expect(readFileSync(output).equals(readFileSync(folder.file('whole.npy')))).toBe(true);
  expect(folder.list().filter((name) => name.startsWith('.'))).toEqual([]);
}

describe('the run after one', () => {
  test('that was killed goes on; beside one that works it is refused', async () => {
    const output = folder.file('killed.npy');
    writeFileSync(output, 'from before');
    const { child, ended } = await startHeld(output);
    const beside = await runHere(...argv(output), '--quiet');
    expect(beside.code).toBe(75);
    expect(beside.stderr).toMatch(/^WS5011: \S+killed\.npy is being written by another process/);
    child.kill('SIGKILL');
    await ended;
    expect(readFileSync(output, 'utf8')).toBe('from before');
    const other = await runHere(...argv(output), '--set', 'a=3');
    // That does not pass: a script that tries again on 75 would do so for ever.
    expect(other.code).toBe(2);
    expect(other.stderr).toContain(
      "WS5013: the unfinished output is of another run: setting 'a' was 2, and is 3",
    );
    await expectGoneOn(output);
  });

  test('that was interrupted goes on, and whose command line was shown', async () => {
    const output = folder.file('interrupted.npy');
    const { child, ended } = await startHeld(output);
    child.kill('SIGINT');
    const { code, stderr } = await ended;
    expect(code).toBe(130);
    expect(stderr).toContain('WS5009: stopped before the end by Ctrl-C; what it has written is kept');
    expect(stderr).toMatch(/the first [\d,]+ rows of the output are kept: run it again with --resume/);
    await expectGoneOn(output);
  });
});

test('a run that reaches its deadline says so, and the next one comes to the end', async () => {
  const output = folder.file('late.npy');
  const late = (...more: readonly string[]) =>
    startWith([...argv(output), '--quiet', ...more], 'pipe', { ...process.env, HELD_FROM: '0' });
  const { code, stderr } = await outcomeOf(late('--deadline', '0.2s'));
  expect(stderr).toContain('WS5009: stopped before the end by its deadline; what it has written is kept');
  expect({ code, there: folder.list().includes('late.npy') }).toEqual({ code: 75, there: false });
  expect((await runHere(...argv(output), '--quiet', '--deadline', '1h')).code).toBe(0);
  expect(readFileSync(output).equals(readFileSync(folder.file('whole.npy')))).toBe(true);
});

test('--no-clobber keeps what is there, and --fsync writes what is not', async () => {
  const output = folder.file('there.npy', 'from before');
  const refused = await runHere(...argv(output), '--no-clobber');
  expect(refused.stderr).toContain('there.npy is there already, and is not to be overwritten');
  expect({ code: refused.code, content: readFileSync(output, 'utf8') }).toEqual({
    code: 74,
    content: 'from before',
  });
  const other = folder.file('new.npy');
  expect((await runHere(...argv(other), '--no-clobber', '--fsync', '--quiet')).code).toBe(0);
  expect(readFileSync(other).equals(readFileSync(folder.file('whole.npy')))).toBe(true);
});

test('what cannot be resumed is reported before anything is written', async () => {
  const { code, stderr } = await runHere(...argv('-'));
  expect(code).toBe(1);
  expect(stderr).toContain("WS5010: the run cannot be resumed: output 'y' goes to no file");
});

test('a reduction, which has no output, needs a name for its journal', async () => {
  const mean = (...more: string[]) =>
    runHere('run', `${root}examples/mean.ts`, folder.file('bytes.raw', Buffer.alloc(1000, 3)), ...more);
  const nameless = await mean('--resume');
  expect(nameless.code).toBe(1);
  expect(nameless.stderr).toContain('WS5010: the run cannot be resumed: it has no output');
  expect(nameless.stderr).toContain('name it: --journal sums');
  const before = folder.list();
  const named = await mean('--journal', folder.file('sums'), '--quiet');
  expect(named, named.stderr).toMatchObject({ code: 0, text: (await mean('--quiet')).text });
  expect(folder.list()).toEqual(before);
});
