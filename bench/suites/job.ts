// The main job, y = a*x + b over 4 GiB: file to file against `cp` of the same file and against itself with
// depth 1, each a process of its own; file to file against the slower of reading and writing such a file
// alone; and from one typed array to another against copying them alone. The size may be set with
// BENCH_GIB, the device with BENCH_DEVICE, and with BENCH_FOLDER a folder on the disk that is meant.

import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { type FileHandle, open as openFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open, run } from 'warpstage';
import { copiesFor } from '#warpstage/overlap/host-copies.js';
import { affine as affineJob } from '../../examples/affine.ts';
import type { Suite } from '../main.ts';
import { inTurn, median } from '../measure.ts';

const gib = Number(process.env.BENCH_GIB ?? 4);
const device = process.env.BENCH_DEVICE ?? 'cpu';

/** A .npy of so many GiB of f32, written a piece at a time. */
function writeNpy(file: string): number {
  const elements = Math.round(gib * 2 ** 28);
  const text = `{'descr': '<f4', 'fortran_order': False, 'shape': (${elements},), }`;
  const header = Buffer.alloc(128, ' ');
  header.write('\x93NUMPY\x01\x00', 'latin1');
  header.writeUInt16LE(118, 8);
  header.write(text, 10, 'latin1');
  header.write('\n', 127);
  const descriptor = openSync(file, 'w');
  writeSync(descriptor, header);
  const piece = Float32Array.from({ length: 2 ** 22 }, (_, index) => Math.fround(Math.sin(index)));
  for (let written = 0; written < elements; written += piece.length) {
    writeSync(descriptor, new Uint8Array(piece.buffer, 0, 4 * Math.min(piece.length, elements - written)));
  }
  closeSync(descriptor);
  return header.length + 4 * elements;
}

async function affine() {
  const folder = mkdtempSync(join(process.env.BENCH_FOLDER ?? tmpdir(), 'warpstage-job-'));
  const input = join(folder, 'in.npy');
  const output = join(folder, 'out.npy');
  const memory: number[] = [];
  const run =
    (...options: string[]) =>
    () => {
      const args = [
        'dist/cli/main.js',
        'run',
        'examples/affine.ts',
        input,
        output,
        '--set',
        'a=2',
        '--set',
        'b=1',
        '--device',
        device,
        '--json',
      ];
      const begin = performance.now();
      const report = JSON.parse(execFileSync(process.execPath, [...args, ...options], { encoding: 'utf8' }));
      const seconds = (performance.now() - begin) / 1000;
      if (options.length === 0) memory.push(report.peakResidentBytes);
      rmSync(output);
      return seconds;
    };
  const copy = () => {
    const begin = performance.now();
    execFileSync('cp', [input, output]);
    const seconds = (performance.now() - begin) / 1000;
    rmSync(output);
    return seconds;
  };
  try {
    const bytes = 2 * writeNpy(input);
    const names = { suite: 'job', work: 'affine', bytes };
    const rows = await inTurn(
      names,
      { 'warpstage run': run(), 'warpstage run --depth 1': run('--depth', '1'), cp: copy },
      3,
    );
    const [overlapped, serial] = rows;
    return [
      ...rows,
      { ...overlapped!, against: 'warpstage run --depth 1', ratio: serial!.seconds / overlapped!.seconds },
      {
        ...overlapped!,
        variant: 'peak resident memory',
        against: '600 MiB',
        ratio: (600 * 2 ** 20) / median(memory),
        bytes: median(memory),
      },
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * File to file beside what it takes to read such a file, and to write one; whichever takes longer bounds it.
 * Alone, both are done by dd, and by this process as a run does it: blocks of 16 MiB from page-locked memory. `run` is timed in
 * this process, on a device that is open; the command is timed whole.
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
    const bytes = 2 * writeNpy(input);
    const rows = await inTurn(
      { suite: 'job', work: 'disk', bytes },
      {
        [`run on ${device}`]: () =>
          written(() => run(affineJob, { input, output, settings: { a: 2, b: 1 }, device: opened })),
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
  const block = new Uint8Array(opened.allocPinned('u8', 2 ** 24).array.buffer);
  const parts = (array: Float32Array) =>
    Array.from({ length: Math.ceil(array.byteLength / block.length) }, (_, part) => {
      const begin = part * block.length;
      return new Uint8Array(array.buffer, begin, Math.min(block.length, array.byteLength - begin));
    });
  try {
    return await inTurn(
      { suite: 'job', work: 'arrays', bytes: 2 * input.byteLength },
      {
        [`run on ${device}`]: async () => {
          await run(affineJob, { input, output, settings: { a: 2, b: 1 }, device: opened });
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

export const suite: Suite = { affine, disk, arrays };
