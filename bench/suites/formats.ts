// Formats beside their codecs alone: a job that copies numbers from a file of a format to bare elements, or the other way,
// beside what a program takes that decodes the same bytes, or encodes the same numbers, at once and in memory. Both have their
// files in memory (BENCH_FOLDER, /dev/shm). A row of memory has the peak of the whole command, beside that on bare elements.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync, inflateRawSync } from 'node:zlib';
import * as flechette from '@uwdata/flechette';
import * as fastPng from 'fast-png';
import { decompress } from 'fzstd';
import { parquetRead } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { parquetWriteBuffer } from 'hyparquet-writer';
import Papa from 'papaparse';
import { type Job, open, run } from 'warpstage';
import type { Suite } from '../main.ts';
import { inTurn, type Row } from '../measure.ts';
import { f32, u8 } from './formats-job.ts';

const rounds = 3;
const width = 2048;
const elements = width * 4096;
/** Numbers of three digits and eighths, in no order. */
const numbers = Float32Array.from({ length: elements }, (_, i) => (Math.imul(i, 0x9e3779b1) >>> 19) / 8);
const bytes = new Uint8Array(numbers.map((value) => value & 255));
const copies = { f32, u8 };

/** How a format's codec is used by itself, and what the job has for it. */
interface Measured {
  readonly element?: 'u8';
  readonly decode?: (file: Buffer) => unknown;
  readonly encode?: () => unknown;
}

const arrowColumn = () => flechette.columnFromArray(numbers, flechette.float32());

const formats: Readonly<Record<string, Measured>> = {
  npz: {
    // Behind the head of the only entry, its name and what else is said of it.
    decode: (file) => inflateRawSync(file.subarray(30 + file.readUInt16LE(26) + file.readUInt16LE(28))),
  },
  csv: {
    decode: (file) => Papa.parse<string[]>(file.toString()).data.map(([field]) => Number(field)),
    encode: () => Buffer.from(`x\n${numbers.join('\n')}\n`),
  },
  ndjson: {
    decode: (file) =>
      file
        .toString()
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).x as number),
    encode: () => Buffer.from(Array.from(numbers, (x) => `${JSON.stringify({ x })}\n`).join('')),
  },
  parquet: {
    decode: (file) => {
      const whole = Uint8Array.from(file).buffer;
      return parquetRead({ file: whole, compressors, columns: ['x'], onChunk: () => {} });
    },
    encode: () =>
      new Uint8Array(parquetWriteBuffer({ columnData: [{ name: 'x', data: numbers, type: 'FLOAT' }] })),
  },
  arrow: {
    decode: (file) => (flechette.tableFromIPC(file).getChild('x') as { toArray(): unknown }).toArray(),
    encode: () => flechette.tableToIPC(flechette.tableFromColumns({ x: arrowColumn() }), { format: 'file' }),
  },
  'f32.gz': { decode: (file) => gunzipSync(file), encode: () => gzipSync(numbers) },
  'f32.zst': { decode: (file) => decompress(file) },
  png: {
    element: 'u8',
    decode: (file) => fastPng.decode(file),
    encode: () => fastPng.encode({ width, height: 4096, channels: 1, depth: 8, data: bytes }),
  },
  wav: { decode: (file) => new Float32Array(Uint8Array.from(file.subarray(44)).buffer) },
};

/** A file of a format that others read as well: written by the job where it can. */
async function make(format: string, folder: string, bare: string): Promise<string> {
  const path = join(folder, `x.${format}`);
  if (format === 'wav') {
    const head = Buffer.alloc(44);
    head.write('RIFF', 0);
    head.writeUInt32LE(36 + numbers.byteLength, 4);
    head.write('WAVEfmt ', 8);
    for (const [value, at] of [
      [16, 16],
      [44_100, 24],
      [176_400, 28],
    ] as const)
      head.writeUInt32LE(value, at);
    for (const [value, at] of [
      [3, 20],
      [1, 22],
      [4, 32],
      [32, 34],
    ] as const)
      head.writeUInt16LE(value, at);
    head.write('data', 36);
    head.writeUInt32LE(numbers.byteLength, 40);
    writeFileSync(path, Buffer.concat([head, new Uint8Array(numbers.buffer)]));
  } else if (format === 'png') writeFileSync(path, formats.png!.encode!() as Uint8Array);
  else if (format === 'npz') {
    const code =
      'import numpy, sys; numpy.savez_compressed(sys.argv[2], x=numpy.fromfile(sys.argv[1], "<f4"))';
    execFileSync('python3', ['-c', code, bare, path]);
  } else if (format === 'f32.zst') execFileSync('zstd', ['-qf', bare, '-o', path]);
  else await run(copies.f32, { input: bare, output: path });
  return path;
}

async function measure(format: string): Promise<Row[]> {
  const { element = 'f32', decode, encode } = formats[format]!;
  const folder = mkdtempSync(join(process.env.BENCH_FOLDER ?? '/dev/shm', 'warpstage-formats-'));
  const device = await open('cpu', { threads: 2 });
  const data = element === 'u8' ? bytes : numbers;
  const bare = join(folder, `bare.${element}`);
  const out = join(folder, `out.${element}`);
  try {
    writeFileSync(bare, data);
    const path = await make(format, folder, bare);
    const job = copies[element] as Job;
    const names = { suite: 'formats', work: format, bytes: data.byteLength };
    const rows: Row[] = [];
    if (decode !== undefined) {
      const variants = {
        'read by a job': () => run(job, { input: path, output: out, device }),
        'decoded alone': async () => void (await decode(readFileSync(path))),
      };
      rows.push(...(await inTurn(names, variants, rounds)));
    }
    // A picture has rows of pixels, which bare elements do not say.
    if (encode !== undefined && format !== 'png') {
      const written = join(folder, `out.${format}`);
      const variants = {
        'written by a job': () => run(job, { input: bare, output: written, device }),
        'encoded alone': async () => writeFileSync(written, (await encode()) as Uint8Array),
      };
      rows.push(...(await inTurn(names, variants, rounds)));
    }
    if (decode !== undefined && encode !== undefined && element === 'f32') {
      const again = join(folder, `again.${format}`);
      const variants = {
        'read and written by a job': () => run(job, { input: path, output: again, device }),
        'decoded and encoded alone': async () => {
          await decode(readFileSync(path));
          writeFileSync(again, (await encode()) as Uint8Array);
        },
      };
      rows.push(...(await inTurn(names, variants, rounds)));
    }
    const peak = (input: string) => {
      const module = join(import.meta.dirname, 'formats-job.ts');
      const args = ['dist/cli/main.js', 'run', module, input, out, '--job', element, '--json'];
      const { peakResidentBytes } = JSON.parse(
        execFileSync(process.execPath, args, { encoding: 'utf8' }),
      ) as {
        readonly peakResidentBytes: number;
      };
      return peakResidentBytes;
    };
    const [own, least] = [peak(path), peak(bare)];
    const memory = { ...names, variant: 'peak of the command', against: 'peak on bare elements' };
    rows.push({ ...memory, ratio: least / own, seconds: 0, bytes: own });
    return rows;
  } finally {
    await device.close();
    rmSync(folder, { recursive: true });
  }
}

export const suite: Suite = Object.fromEntries(
  Object.keys(formats).map((format) => [format, () => measure(format)]),
);
