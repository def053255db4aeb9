// Runs in a process of their own: standard input and output, signals, and a process that ends by
// itself when its run has.

import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { namesIn, temporaryDirectory } from './support.ts';

const program = `
  import { job, kernel, run } from 'warpstage';
  const negate = job({
    kernel: kernel({ y: 'i32[]', x: 'readonly i32[]' }, ({ y, x }, cuda) => {
      const i = cuda.thisGrid().threadRank();
      if (i < y.length) y[i] = -x[i];
    }),
    inputs: { x: {} },
    outputs: { y: {} },
  });
  const [input, output] = process.argv.slice(1);
  const onProgress = ({ rows }) => process.send?.(rows);
  try {
    const { report } = await run(negate, { input, output, chunk: 1000, onProgress });
    console.error('rows', report.rows);
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
`;

function start(input: string, output: string) {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, input, output], {
    stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
  });
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null; errors: string }>(
    (resolve) => {
      let errors = '';
      child.stderr!.on('data', (text: Buffer) => {
        errors += String(text);
      });
      child.on('close', (code, signal) => resolve({ code, signal, errors: errors.trim() }));
    },
  );
  return { child, ended };
}

const x = Int32Array.from({ length: 50_000 }, (_, i) => i);
const bytes = Buffer.from(x.buffer);

test('from standard input to standard output', async () => {
  const { child, ended } = start('-', '-');
  const pieces: Buffer[] = [];
  child.stdout!.on('data', (piece: Buffer) => pieces.push(piece));
  child.stdin!.end(bytes);
  expect(await ended).toEqual({ code: 0, signal: null, errors: 'rows 50000' });
  const y = Buffer.concat(pieces);
  expect(y.equals(Buffer.from(x.map((value) => 0 - value).buffer))).toBe(true);
});

test('to a reader that goes away', async () => {
  const path = join(temporaryDirectory(), 'x.bin');
  writeFileSync(path, bytes);
  const { child, ended } = start(path, '-');
  child.stdout!.destroy();
  const { code, errors } = await ended;
  expect(code).toBe(1);
  expect(errors).toContain('WS5006: standard output cannot be written: its reader went away');
});

test('that a signal ends leaves nothing', async () => {
  const directory = temporaryDirectory();
  const { child, ended } = start('-', join(directory, 'y.bin'));
  child.stdin!.write(bytes.subarray(0, 100_000));
  await new Promise((resolve) => child.once('message', resolve));
  expect(namesIn(directory)).toHaveLength(1);
  child.kill('SIGINT');
  expect(await ended).toEqual({ code: null, signal: 'SIGINT', errors: '' });
  expect(namesIn(directory)).toEqual([]);
});
