// The main job, file to file: y = a*x + b over a 4 GiB .npy, against `cp` of the same file and
// against itself with depth 1, each a process of its own; and against the slower of reading and writing
// such a file alone. The size may be set with BENCH_GIB, the device with BENCH_DEVICE, and with
// BENCH_FOLDER a folder on the disk that is meant.

import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

/** File to file beside what the disk takes to read such a file, and to write one; whichever takes longer bounds it. */
async function disk() {
  const folder = mkdtempSync(join(process.env.BENCH_FOLDER ?? tmpdir(), 'warpstage-job-'));
  const [input, output] = [join(folder, 'in.npy'), join(folder, 'out.npy')];
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
  ];
  const timed = (program: string, ...rest: string[]) => {
    const begin = performance.now();
    execFileSync(program, rest, { stdio: 'ignore' });
    return (performance.now() - begin) / 1000;
  };
  const job = () => {
    const seconds = timed(process.execPath, ...args, '--device', device, '--quiet');
    rmSync(output);
    return seconds;
  };
  const either = () => {
    const read = timed('dd', `if=${input}`, 'of=/dev/null', 'bs=16M');
    const write = timed('dd', 'if=/dev/zero', `of=${output}`, 'bs=16M', `count=${Math.round(gib * 64)}`);
    rmSync(output);
    return Math.max(read, write);
  };
  try {
    const bytes = 2 * writeNpy(input);
    return await inTurn(
      { suite: 'job', work: 'disk', bytes },
      { [`warpstage run on ${device}`]: job, 'the slower of reading and writing alone': either },
      3,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export const suite: Suite = { affine, disk };
