// The device `cpu-native`: what runs really is the compiled library; it takes over between launches; it ends when it
// is told to; and it lets go of what it has loaded.

import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Device, kernel, type OpenOptions, open } from 'warpstage';
import { hasCompiler, nativeOfWidth } from '../support/native.ts';
import { runKernel } from '../support/run-kernel.ts';
import { atLength } from '../support/thorough.ts';

const axpy = kernel({ y: 'f32[]', x: 'readonly f32[]', a: 'f32' }, ({ y, x, a }, cuda) => {
  const i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x;
  if (i < y.length) y[i] = Math.min(a * x[i]! + y[i]!, Math.sin(x[i]!));
});

const forever = kernel({ y: 'i32[]' }, ({ y }) => {
  while (y[0] === 0) y[1] = y[1]! + 1;
});

const n = 1000;
const x = Float32Array.from({ length: n }, (_, i) => i / 7 - 50);

async function runAxpy(device: Device): Promise<{ readonly ranOn: string; readonly y: Float32Array }> {
  const y = new Float32Array(n);
  const [input, output] = [device.alloc('f32', n), device.alloc('f32', n)];
  const stream = device.defaultStream;
  stream.memcpyAsync(input, x);
  stream.memcpyAsync(output, x);
  const { ranOn } = stream.launch(axpy, { grid: 4, block: 256 }, { y: output, x: input, a: 1.5 });
  stream.memcpyAsync(y, output);
  await stream.synchronize();
  for (const array of [input, output]) array.free();
  return { ranOn, y };
}

/** What this process has loaded from a folder. */
function loadedFrom(folder: string): readonly string[] {
  const maps = readFileSync('/proc/self/maps', 'utf8');
  return [...new Set(maps.split('\n').flatMap((line) => line.match(/\/\S+\.so$/) ?? []))].filter((path) =>
    path.startsWith(folder),
  );
}

describe.runIf(hasCompiler && process.platform === 'linux')('cpu-native', () => {
  let folder: string;
  const before = process.env.WARPSTAGE_CACHE;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'warpstage-test-'));
    process.env.WARPSTAGE_CACHE = folder;
  });
  afterAll(() => {
    if (before === undefined) delete process.env.WARPSTAGE_CACHE;
    else process.env.WARPSTAGE_CACHE = before;
    rmSync(folder, { recursive: true });
  });
  const openNative = (options: OpenOptions = {}) => open('cpu-native', { threads: 2, ...options });

  test('WebAssembly runs until the library is there, which then runs, with the same results', async () => {
    await using cpu = await open('cpu', { threads: 1 });
    const { y: expected } = await runAxpy(cpu);
    await using device = await openNative();
    expect(device.properties).toMatchObject({ kind: 'cpu', name: expect.stringMatching(/, by cc /) });
    const first = await runAxpy(device);
    expect(first).toEqual({ ranOn: 'wasm (regions)', y: expected });
    expect(loadedFrom(folder)).toEqual([]);
    await expect
      .poll(async () => {
        const { ranOn, y } = await runAxpy(device);
        expect(y).toEqual(expected);
        return ranOn;
      })
      .toBe('native (regions)');
    expect((await runAxpy(device)).y).toEqual(expected);
    expect(loadedFrom(folder)).toHaveLength(1);
  });

  test('a device in a loop leaves nothing loaded', async () => {
    for (let i = 0; i < 5; i += 1) {
      await using device = await openNative({ compile: 'first' });
      expect((await runAxpy(device)).ranOn).toBe('native (regions)');
      expect(loadedFrom(folder)).toHaveLength(1);
    }
    await expect.poll(() => loadedFrom(folder)).toEqual([]);
  });

  test('only this user can read what is kept, and it is there once', () => {
    const files = readdirSync(join(folder, 'native'));
    expect(files).toEqual([expect.stringMatching(/^[0-9a-f]{40}\.so$/)]);
  });

  test('a kernel that never ends is cancelled, and the device goes on', async () => {
    await using device = await openNative({ compile: 'first' });
    const y = device.alloc('i32', 2);
    const stream = device.createStream();
    const controller = new AbortController();
    const { signal } = controller;
    expect(stream.launch(forever, { grid: 4, block: 32, signal }, { y }).ranOn).toMatch(/^native/);
    setTimeout(() => controller.abort(), 50);
    await expect(stream.synchronize()).rejects.toThrow('WS3004');
    expect((await runAxpy(device)).ranOn).toMatch(/^native/);
  });

  test('a process ends while a kernel runs that never does', async () => {
    const program = `
      import { kernel, open } from 'warpstage';
      const forever = kernel({ y: 'i32[]' }, ({ y }) => { while (y[0] === 0) y[1] = y[1] + 1; });
      const device = await open('cpu-native', { compile: 'first', threads: 2 });
      device.defaultStream.launch(forever, { grid: 4, block: 32 }, { y: device.alloc('i32', 2) });
      setTimeout(() => { console.log('ends'); process.exit(0); }, 100);
      await device.synchronize();`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
    expect(stdout).toBe('ends\n');
  });

  // Without the wait for threads to leave native code, one process of twenty is aborted by the package that calls it.
  test('a process ends at any time: while its threads load a library, and while its code calls JavaScript', async () => {
    const program = `
      import { kernel, open } from 'warpstage';
      const forever = kernel({ y: 'f32[]' }, ({ y }) => { while (y[0] === 0) y[1] = Math.sin(y[1]) + 1; });
      const device = await open('cpu-native', { compile: 'first', threads: 2 });
      device.defaultStream.launch(forever, { grid: 4, block: 32 }, { y: device.alloc('f32', 2) });
      setTimeout(() => { console.log('ends'); process.exit(0); }, Number(process.argv[1]));
      await device.synchronize();`;
    const endsAfter = (delay: number) =>
      promisify(execFile)(process.execPath, ['--input-type=module', '-e', program, String(delay)]);
    const delays = Array.from({ length: atLength ? 24 : 6 }, (_, i) => (i * 19) % 50);
    for (let i = 0; i < delays.length; i += 6) {
      for (const { stdout } of await Promise.all(delays.slice(i, i + 6).map(endsAfter)))
        expect(stdout).toBe('ends\n');
    }
  });

  test('a thread says that it is in native code, and that it has left it, also by an error', () => {
    const say = kernel({ y: 'i32[]' }, ({ y }) => {
      y[0] = 1;
      console.log('here');
    });
    const [, target] = nativeOfWidth[0]!;
    const stop = new Int32Array(new SharedArrayBuffer(8));
    const runWith = (print: () => void) =>
      runKernel(
        {
          ...target,
          createRunner: (executable, context) => target.createRunner(executable, { ...context, stop, print }),
        },
        say,
        { grid: 1, block: 1, arguments: { y: new Int32Array(1) } },
      );
    const inNative: number[] = [];
    runWith(() => inNative.push(stop[1]!));
    expect([...inNative, ...stop]).toEqual([1, 0, 0]);
    const refused = () => {
      throw new Error('nobody takes this line');
    };
    expect(() => runWith(refused)).toThrow('nobody takes this line');
    expect([...stop]).toEqual([0, 0]);
  });

  test('lines are printed and faults told as on the CPU', async () => {
    const say = kernel({ y: 'i32[]', at: 'i32' }, ({ y, at }, { threadIdx }) => {
      if (threadIdx.x === 3) console.log('thread', threadIdx.x, -1.5, at > 2 ** 20);
      y[threadIdx.x * at] = 1;
    });
    const told = async (name: 'cpu' | 'cpu-native') => {
      await using device = await open(name, { compile: 'first', threads: 1 });
      const lines: string[] = [];
      device.print = (line) => lines.push(line);
      const y = device.alloc('i32', 64);
      device.defaultStream.launch(say, { grid: 1, block: 64 }, { y, at: 1 });
      await device.synchronize();
      device.defaultStream.launch(say, { grid: 2, block: 64 }, { y, at: 5 });
      const failure = await device.synchronize().then(
        () => null,
        (error: Error) => error.message,
      );
      return { lines, failure };
    };
    const native = await told('cpu-native');
    expect(native).toEqual(await told('cpu'));
    expect(native).toMatchObject({
      lines: [expect.any(String), expect.any(String)],
      failure: expect.stringContaining('WS3001'),
    });
  });
});
