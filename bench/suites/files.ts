// A job beside what moving its data alone takes: from file to file beside reading and writing such a file, and
// from one typed array to another beside copying them. `run` is timed in this process, on a device that
// is open. The size may be set with BENCH_GIB, the device with BENCH_DEVICE, and with BENCH_FOLDER a folder on the
// disk that is meant.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { type FileHandle, open as openFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open, run } from 'warpstage';
import { copiesFor } from '#warpstage/overlap/host-copies.js';
import { affine } from '../../examples/affine.ts';
import type { Suite } from '../main.ts';
import { inTurn } from '../measure.ts';
import { writeNpy } from '../npy.ts';

const gib = Number(process.env.BENCH_GIB ?? 2);
const device = process.env.BENCH_DEVICE ?? 'cuda';

/**
 * Beside what it takes to read such a file, and to write one; whichever takes longer bounds it. Alone, both
 * are done by dd, and by this process as a run does it, in blocks of 16 MiB of page-locked memory. The
 * command is timed as a whole.
 */
async function disk() {
  const folder = mkdtempSync(join(process.env.BENCH_FOLDER ?? tmpdir(), 'warpstage-job-'));
  const [input, output] = [join(folder, 'in.npy'), join(folder, 'out.npy')];
  const settings = ['--set', 'a=2', '--set', 'b=1', '--device', device, '--quiet'];
  const timed = (program: string, ...rest: string[]) => {
    const begin = performance.now();
    execFileSync(program, rest, { stdio: 'ignore' });
    return (performance.now() - begin) / 1000;
  };
  const written = async (write: () => unknown) => {
    const begin = performance.now();
    const seconds = await write();
    const whole = (performance.now() - begin) / 1000;
    rmSync(output);
    return typeof seconds === 'number' ? seconds : whole;
  };
  const opened = await open(device);
  const block = opened.allocPinned('u8', 2 ** 24);
  const eachBlock = async (path: string, flags: string, move: (file: FileHandle, at: number) => unknown) => {
    const begin = performance.now();
    const file = await openFile(path, flags);
    for (let at = 0; at < gib * 2 ** 30; at += block.length) await move(file, at);
    await file.close();
    return (performance.now() - begin) / 1000;
  };
  try {
    const bytes = 2 * writeNpy(input, gib);
    const rows = await inTurn(
      { suite: 'files', work: 'disk', bytes },
      {
        [`run on ${device}`]: () =>
          written(() => run(affine, { input, output, settings: { a: 2, b: 1 }, device: opened })),
        [`warpstage run on ${device}, the whole process`]: () =>
          written(() =>
            timed(
              process.execPath,
              'dist/cli/main.js',
              'run',
              'examples/affine.ts',
              input,
              output,
              ...settings,
            ),
          ),
        'the slower of reading and writing alone in Node': async () => {
          const into = block.array;
          const reading = await eachBlock(input, 'r', (file, at) => file.read(into, 0, into.length, at));
          const writing = await written(() =>
            eachBlock(output, 'w', (file, at) => file.write(into, 0, into.length, at)),
          );
          return Math.max(reading, writing);
        },
        'the slower of reading and writing alone by dd': async () => {
          const reading = timed('dd', `if=${input}`, 'of=/dev/null', 'bs=16M');
          const count = `count=${Math.round(gib * 64)}`;
          const writing = await written(() => timed('dd', 'if=/dev/zero', `of=${output}`, 'bs=16M', count));
          return Math.max(reading, writing);
        },
      },
      5,
    );
    const [whole, , alone] = rows;
    return [...rows, { ...whole!, against: alone!.variant, ratio: alone!.seconds / whole!.seconds }];
  } finally {
    await opened.close();
    rmSync(folder, { recursive: true });
  }
}

/** From one typed array to another, beside copying the one into page-locked memory and the other out of it, and nothing else. */
async function arrays() {
  const opened = await open(device);
  const elements = Math.round(gib * 2 ** 28);
  const [input, output] = [new Float32Array(elements).fill(1), new Float32Array(elements).fill(2)];
  const copy = copiesFor([{ name: device, device: opened }]);
  const block = opened.allocPinned('u8', 2 ** 24).array;
  const parts = (array: Float32Array) =>
    Array.from({ length: Math.ceil(array.byteLength / block.length) }, (_, part) => {
      const begin = part * block.length;
      return new Uint8Array(array.buffer, begin, Math.min(block.length, array.byteLength - begin));
    });
  try {
    return await inTurn(
      { suite: 'files', work: 'arrays', bytes: 2 * input.byteLength },
      {
        [`run on ${device}`]: async () => {
          await run(affine, { input, output, settings: { a: 2, b: 1 }, device: opened });
          if (output[elements - 1] !== 3) throw new Error('the result is wrong');
        },
        'copying in and out alone': async () => {
          for (const part of parts(input)) await copy(block.subarray(0, part.length), part);
          for (const part of parts(output)) await copy(part, block.subarray(0, part.length));
        },
      },
      5,
    );
  } finally {
    await opened.close();
  }
}

export const suite: Suite = { disk, arrays };
