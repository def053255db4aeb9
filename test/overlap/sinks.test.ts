import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Checksum } from '#warpstage/files/checksum.js';
import { npy } from '#warpstage/formats/npy.js';
import { readNpyHeader } from '#warpstage/formats/npy-header.js';
import type { TypedArray } from '#warpstage/overlap/job.js';
import { MemoryBytes } from '#warpstage/overlap/memory-bytes.js';
import { openFileSink } from '#warpstage/overlap/sinks/file.js';
import { arraySink } from '#warpstage/overlap/sinks/memory.js';
import { expectFailure, namesIn, temporaryDirectory } from './support.ts';

const options = {
  encoding: {},
  shape: [6],
  shapeKnown: true,
  fsync: true,
  overwrite: true,
  signal: undefined,
} as const;

const npyOfFloats = npy.encode!({ name: 'y.npy', parameter: 'y', element: 'f32' });

const first = Float32Array.of(1, 2, 3, 4);
const second = Float32Array.of(5, 6);

async function writeTo(path: string, more: object = {}, data: readonly TypedArray[] = [first, second]) {
  const sink = await openFileSink(path, { ...options, ...more });
  try {
    for (const part of data) await sink.write(part);
    await sink.finish([data.reduce((sum, part) => sum + part.length, 0)]);
    sink.publish();
  } catch (error) {
    await sink.abandon();
    throw error;
  }
}

const floatsIn = (bytes: Buffer) => [
  ...new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)),
];

describe('an array of the caller', () => {
  test('is filled from its beginning, and may be longer', async () => {
    const array = new Float32Array(8);
    const sink = arraySink('y', 'f32', array);
    for (const part of [first, second]) await sink.write(part);
    expect([...array]).toEqual([1, 2, 3, 4, 5, 6, 0, 0]);
    expect([...sink.result()]).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test.each([0, 3, 4, 5])('of %i elements is too short for six', async (length) => {
    const sink = arraySink('y', 'f32', new Float32Array(length));
    const fill = async () => {
      for (const part of [first, second]) await sink.write(part);
    };
    await expectFailure(
      fill(),
      'WS5006',
      `has ${length} elements, and the output has more`,
      'leave the output',
    );
  });
});

describe('a file', () => {
  test('is cleared of what killed runs left, and of nothing else', async () => {
    const directory = temporaryDirectory();
    const path = join(directory, 'y.bin');
    const sink = await openFileSink(path, options);
    const own = namesIn(directory)[0]!;
    const [dead, parent] = [spawnSync('true').pid, process.ppid];
    const left = own.replace(`-${process.pid}-`, `-${dead}-`);
    const kept = [
      own,
      own.replace(`-${process.pid}-`, `-${parent}-`),
      left.replace(/[0-9a-f]{8}-/, '00000000-'),
      `${left}.bak`,
      left.replace(/[0-9a-f]{8}\.partial/, '01234567.partial'),
    ];
    const ofAnother = left.replace('.y.bin.', '.z.bin.');
    for (const name of [left, ofAnother, ...kept.slice(1, -1)]) writeFileSync(join(directory, name), '');
    symlinkSync(temporaryDirectory(), join(directory, kept.at(-1)!));
    const folder = left.replace(/[0-9a-f]{8}\.partial/, '89abcdef.partial');
    mkdirSync(join(directory, folder));
    writeFileSync(join(directory, folder, 'c.0'), '');
    await writeTo(path);
    expect(namesIn(directory)).toEqual([...kept, 'y.bin'].sort());
    await sink.abandon();
  });

  test('that is removed while it is written is reported as that', async () => {
    const directory = temporaryDirectory();
    const path = join(directory, 'y.bin');
    const sink = await openFileSink(path, options);
    await sink.write(first);
    rmSync(join(directory, namesIn(directory)[0]!));
    await expectFailure(
      sink.finish([4]),
      'WS5006',
      /y\.bin cannot be completed: .*\.y\.bin\.\S+\.partial, where it was written, was removed meanwhile/,
      'run it again',
    );
    await sink.abandon();
    expect(namesIn(directory)).toEqual([]);
  });

  test('takes no place that another file took meanwhile, where it is not to overwrite', async () => {
    const directory = temporaryDirectory();
    const path = join(directory, 'y.bin');
    await writeTo(path, { overwrite: false });
    expect(floatsIn(readFileSync(path))).toEqual([1, 2, 3, 4, 5, 6]);
    rmSync(path);
    const sink = await openFileSink(path, { ...options, overwrite: false });
    await sink.write(first);
    await sink.finish([4]);
    writeFileSync(path, 'of another program');
    expect(() => sink.publish()).toThrow(/y\.bin is there already, and is not to be overwritten/);
    await sink.abandon();
    expect(readFileSync(path, 'utf8')).toBe('of another program');
    expect(namesIn(directory)).toEqual(['y.bin']);
  });

  test('appears when it is complete, and not before', async () => {
    const directory = temporaryDirectory();
    const path = join(directory, 'y.bin');
    const sink = await openFileSink(path, options);
    await sink.write(first);
    expect(namesIn(directory)).toEqual([
      expect.stringMatching(/^\.y\.bin\.[0-9a-f]{8}-\d+-[0-9a-f]{8}\.partial$/),
    ]);
    await sink.write(second);
    await sink.finish([6]);
    sink.publish();
    expect(namesIn(directory)).toEqual(['y.bin']);
    expect(floatsIn(readFileSync(path))).toEqual([1, 2, 3, 4, 5, 6]);
    await sink.abandon();
    expect(namesIn(directory)).toEqual(['y.bin']);
  });

  test('that is abandoned leaves what was there before', async () => {
    const directory = temporaryDirectory();
    const path = join(directory, 'y.bin');
    writeFileSync(path, 'before');
    const sink = await openFileSink(path, options);
    await sink.write(first);
    await sink.abandon();
    await sink.abandon();
    expect(namesIn(directory)).toEqual(['y.bin']);
    expect(readFileSync(path, 'utf8')).toBe('before');
  });

  test('that replaces another keeps its mode, and goes through links', async () => {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, 'real'));
    const target = join(directory, 'real', 'y.bin');
    writeFileSync(target, 'before', { mode: 0o640 });
    symlinkSync(target, join(directory, 'link.bin'));
    await writeTo(join(directory, 'link.bin'));
    expect(floatsIn(readFileSync(target))).toEqual([1, 2, 3, 4, 5, 6]);
    expect(statSync(target).mode & 0o777).toBe(0o640);
    expect(namesIn(join(directory, 'real'))).toEqual(['y.bin']);
  });

  test.each([[true], [false]])('of format .npy says its shape (known before: %s)', async (shapeKnown) => {
    const path = join(temporaryDirectory(), 'y.npy');
    await writeTo(path, { encoding: npyOfFloats, shape: shapeKnown ? [6] : [0], shapeKnown });
    const bytes = readFileSync(path);
    const header = await readNpyHeader(new MemoryBytes('y.npy', bytes));
    expect(header).toMatchObject({ dtype: 'f32', shape: [6] });
    expect(floatsIn(bytes.subarray(header.headerBytes))).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test('that goes on from a mark drops what stands behind it', async () => {
    const directory = temporaryDirectory();
    const [path, kept] = [join(directory, 'y.bin'), join(directory, 'y.bin.partial')];
    const longer = Float32Array.of(...first, 7, 8, 9, 10);
    writeFileSync(kept, new Uint8Array(longer.buffer), { mode: 0o600 });
    const partial = { path: kept, bytes: first.byteLength, checksum: new Checksum() };
    await writeTo(path, { partial }, [second]);
    expect(floatsIn(readFileSync(path))).toEqual([...first, ...second]);
  });

  test('may have no elements', async () => {
    const path = join(temporaryDirectory(), 'y.bin');
    await writeTo(path, { shape: [0] }, []);
    expect(statSync(path).size).toBe(0);
  });

  test('in a directory that does not exist is refused', async () => {
    const path = join(temporaryDirectory(), 'no', 'y.bin');
    await expectFailure(
      writeTo(path),
      'WS5006',
      `${path} cannot be written: its directory does not exist`,
      'its directory exists',
    );
  });

  test('that is a directory is refused', async () => {
    const directory = temporaryDirectory();
    await expectFailure(writeTo(directory), 'WS5006', `${directory} cannot be written: it is a directory`);
    expect(namesIn(directory)).toEqual([]);
  });

  test('where nothing may be written is refused', async () => {
    // Not even root creates files here.
    await expectFailure(
      writeTo('/sys/y.bin'),
      'WS5006',
      /\/sys\/y\.bin cannot be written: permission is denied/,
    );
  });

  test('on a full disk is refused, and nothing of it is left', async () => {
    const directory = temporaryDirectory();
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', directory]);
    if (mounted.status !== 0) return; // Mounting is not permitted here; /dev/full below stands in.
    onTestFinished(() => void execFileSync('umount', [directory]));
    const large = new Float32Array(1 << 16);
    const path = join(directory, 'y.bin');
    await expectFailure(
      writeTo(path, {}, [large]),
      'WS5006',
      `${path} cannot be written: no space is left on its device`,
    );
    expect(namesIn(directory)).toEqual([]);
  });
});

describe('what is no regular file', () => {
  test('is written directly', async () => {
    await writeTo('/dev/null');
    expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
  });

  test('reports a full device', async () => {
    await expectFailure(
      writeTo('/dev/full'),
      'WS5006',
      '/dev/full cannot be written: no space is left on its device',
    );
  });

  test('as .npy must know its shape', async () => {
    const unknown = { encoding: npyOfFloats, shapeKnown: false };
    await expectFailure(
      writeTo('/dev/null', unknown),
      'WS5006',
      'its header comes first',
      'write raw elements',
    );
  });

  test('may be a named pipe, which waits for its reader', async () => {
    const pipe = join(temporaryDirectory(), 'pipe');
    execFileSync('mkfifo', [pipe]);
    const reader = spawn('sh', ['-c', `sleep 0.1; cat ${pipe}`]);
    const pieces: Buffer[] = [];
    reader.stdout.on('data', (piece: Buffer) => pieces.push(piece));
    const closed = new Promise((resolve) => reader.on('close', resolve));
    const large = Float32Array.from({ length: 100_000 }, (_, i) => i);
    await writeTo(pipe, {}, [large]);
    await closed;
    expect(floatsIn(Buffer.concat(pieces))).toEqual([...large]);
  });

  test('whose reader goes away is reported', async () => {
    const pipe = join(temporaryDirectory(), 'pipe');
    execFileSync('mkfifo', [pipe]);
    const reader = spawn('sh', ['-c', `head -c 100 ${pipe} > /dev/null`]);
    const closed = new Promise((resolve) => reader.on('close', resolve));
    const large = new Float32Array(1 << 20);
    await expectFailure(
      writeTo(pipe, {}, [large]),
      'WS5006',
      `${pipe} cannot be written: its reader went away`,
    );
    await closed;
  });

  test('that has no reader stops waiting when the run is stopped', async () => {
    const pipe = join(temporaryDirectory(), 'pipe');
    execFileSync('mkfifo', [pipe]);
    const controller = new AbortController();
    const opened = openFileSink(pipe, { ...options, signal: controller.signal });
    controller.abort();
    await expectFailure(opened, 'WS5006', `${pipe} cannot be written`);
  });
});

describe('a process that ends before its file is complete', () => {
  const script = (ending: string) => `
    import { openFileSink } from '#warpstage/overlap/sinks/file.js';
import { arraySink } from '#warpstage/overlap/sinks/memory.js';
    const sink = await openFileSink(process.argv[1], ${JSON.stringify({ ...options, signal: undefined })});
    await sink.write(new Float32Array(1000));
    ${ending}
  `;

  async function end(ending: string, signal?: NodeJS.Signals) {
    const directory = temporaryDirectory();
    const child = spawn(process.execPath, [
      '--input-type=module',
      '-e',
      script(ending),
      join(directory, 'y.bin'),
    ]);
    const closed = new Promise<[number | null, NodeJS.Signals | null]>((resolve) =>
      child.on('close', (code, by) => resolve([code, by])),
    );
    if (signal !== undefined) {
      await new Promise((resolve) => child.stdout.once('data', resolve));
      expect(namesIn(directory)).toHaveLength(1);
      child.kill(signal);
    }
    return { ended: await closed, left: namesIn(directory) };
  }

  const wait = "console.log('ready'); setInterval(() => {}, 1000);";

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('by %s leaves nothing', async (signal) => {
    expect(await end(wait, signal)).toEqual({ ended: [null, signal], left: [] });
  });

  test('by a signal that the program handles leaves nothing either', async () => {
    const handled = `process.on('SIGINT', () => process.exit(3)); ${wait}`;
    expect(await end(handled, 'SIGINT')).toEqual({ ended: [3, null], left: [] });
  });

  test.each([
    ['process.exit(4)', 4],
    ["throw new Error('mishap')", 1],
  ])('by %s leaves nothing', async (ending, code) => {
    expect(await end(ending)).toEqual({ ended: [code, null], left: [] });
  });
});
