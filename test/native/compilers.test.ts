// What goes wrong with compilers and with libraries on disk: each is an error that says so, or is made anew; nothing that
// was damaged is run. The compilers here are scripts around the system's own.

import { execFile } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { kernel, open, type WarpstageError } from 'warpstage';
import { findCompiler } from '#warpstage/runtime/cpu/native/compiler.js';
import { libraryName } from '#warpstage/runtime/cpu/native/libraries.js';
import { hasCompiler } from '../support/native.ts';
import { atLength, partOf } from '../support/thorough.ts';

const double = kernel({ y: 'i32[]' }, ({ y }, { threadIdx }) => {
  y[threadIdx.x] = y[threadIdx.x]! * 2 + 1;
});
const triple = kernel({ y: 'i32[]' }, ({ y }, { threadIdx }) => {
  y[threadIdx.x] = y[threadIdx.x]! * 3 + 1;
});

async function run(of = double, compile: 'aside' | 'first' = 'first') {
  await using device = await open('cpu-native', { compile, threads: 1 });
  const y = device.alloc('i32', 32);
  const { ranOn } = device.defaultStream.launch(of, { grid: 1, block: 32 }, { y });
  const result = new Int32Array(32);
  device.defaultStream.memcpyAsync(result, y);
  await device.synchronize();
  expect(result).toEqual(new Int32Array(32).fill(1));
  return ranOn;
}

const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.fail('nothing went wrong'),
    (error: WarpstageError) => error.issues[0]!,
  );

describe.runIf(hasCompiler && process.platform === 'linux')('compilers', () => {
  let folder: string;
  const before = { ...process.env };
  const native = () => join(folder, 'cache', 'native');
  const kept = (ending = '.so') =>
    existsSync(native()) ? readdirSync(native()).filter((file) => file.endsWith(ending)) : [];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'warpstage-test-'));
    process.env.WARPSTAGE_CACHE = join(folder, 'cache');
  });
  afterEach(() => {
    for (const name of ['WARPSTAGE_CACHE', 'WARPSTAGE_CC'] as const) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
    rmSync(folder, { recursive: true });
  });

  /** A compiler that does `what` where it is to make a library, and otherwise is the system's. It counts the libraries. */
  function compiler(what: string, name = 'compiler'): void {
    const path = join(folder, name);
    writeFileSync(
      path,
      `#!/bin/sh\ncase "$*" in *-shared*) echo x >> ${folder}/calls; ${what};; esac\nexec cc "$@"\n`,
    );
    chmodSync(path, 0o755);
    process.env.WARPSTAGE_CC = path;
  }
  const calls = () =>
    existsSync(join(folder, 'calls')) ? readFileSync(join(folder, 'calls'), 'utf8').length / 2 : 0;

  test('no compiler is an error of open, and never another device', async () => {
    process.env.WARPSTAGE_CC = join(folder, 'nothing');
    expect(await failureOf(open('cpu-native'))).toMatchObject({
      code: 'WS4003',
      message: expect.stringContaining(`WARPSTAGE_CC names ${folder}/nothing, which cannot be run`),
    });
    const path = process.env.PATH;
    delete process.env.WARPSTAGE_CC;
    process.env.PATH = folder;
    const failure = await failureOf(open('cpu-native')).finally(() => {
      process.env.PATH = path;
    });
    expect(failure).toMatchObject({
      code: 'WS4003',
      message: "the device 'cpu-native' needs a compiler of C, and none of cc, clang, gcc can be run",
      hint: "install one (apt install gcc, or xcode-select --install), or use open('cpu')",
    });
  });

  test('Windows is refused', async () => {
    const { platform } = process;
    Object.defineProperty(process, 'platform', { value: 'win32' });
    const failure = await failureOf(open('cpu-native')).finally(() => {
      Object.defineProperty(process, 'platform', { value: platform });
    });
    expect(failure).toMatchObject({ code: 'WS4003', hint: "use open('cpu')" });
  });

  test('an option that it has no use for is refused', async () => {
    expect(await failureOf(open('cpu-native', { target: 'interpreter' }))).toMatchObject({ code: 'WS4007' });
    expect(await failureOf(open('cpu-native', { compile: 'never' as 'first' }))).toMatchObject({
      code: 'WS4007',
    });
  });

  test('what a compiler says is told with the text, by the launch', async () => {
    compiler('echo "out of registers" >&2; exit 1');
    const failure = await failureOf(run());
    expect(failure).toMatchObject({ code: 'WS1016', message: expect.stringContaining('out of registers') });
    const [text] = kept('.c');
    const hint = "the text is the file; use open('cpu'), or another compiler by WARPSTAGE_CC";
    expect(failure.hint).toBe(hint.replace('the file', join(native(), text!)));
    expect(readFileSync(join(native(), text!), 'utf8')).toContain('ws_export_run');
  });

  test.runIf(atLength)(
    'beside the program it is told by the next launch, or when the device is closed',
    async () => {
      compiler('echo "out of registers" >&2; exit 1');
      await expect(async () => {
        await using device = await open('cpu-native', { threads: 1 });
        const y = device.alloc('i32', 32);
        for (;;) {
          device.defaultStream.launch(double, { grid: 1, block: 32 }, { y });
          await device.synchronize();
        }
      }).rejects.toThrow('out of registers');
      const device = await open('cpu-native', { threads: 1 });
      device.defaultStream.launch(double, { grid: 1, block: 32 }, { y: device.alloc('i32', 32) });
      await device.synchronize();
      await expect.poll(calls).toBe(2);
      // Its end is heard a little later than its call.
      await expect.poll(() => kept('.c').length).toBe(1);
      await new Promise((resolve) => setTimeout(resolve, 200));
      await expect(device.close()).rejects.toThrow('out of registers');
    },
  );

  test.runIf(atLength)('a library that cannot be loaded is an error', async () => {
    compiler('while [ "$1" != -o ]; do shift; done; echo nonsense > "$2"; exit 0');
    expect(await failureOf(run())).toMatchObject({
      code: 'WS4003',
      message: expect.stringMatching(/^the compiled library \S+\.so cannot be loaded: /),
      hint: expect.stringContaining('WARPSTAGE_CACHE='),
    });
  });

  test('a kernel is compiled once, and again for another text or another compiler', async () => {
    compiler(':');
    expect(await run()).toMatch(/^native/);
    expect(await run()).toMatch(/^native/);
    expect(calls()).toBe(1);
    await run(triple);
    expect(calls()).toBe(2);
    expect(kept()).toHaveLength(2);
  });

  test('the name of a library depends on its text, and on all that the compiler says', async () => {
    const { identity } = await findCompiler({});
    const names = [
      libraryName(identity, 'text'),
      libraryName(identity, 'text '),
      libraryName(`${identity} `, 'text'),
      libraryName(identity.replace('-ffp-contract=off', '-ffp-contract=fast'), 'text'),
      libraryName(identity.replace(/__SSE2__|__ARM_NEON/, '__AVX9__'), 'text'),
    ];
    expect(new Set(names).size).toBe(names.length);
    expect(identity).toMatch(/-O2/);
    expect(identity).toMatch(/#define __VERSION__/);
  });

  const damages: Readonly<Record<string, (path: string, other: string) => void>> = {
    'cut off': (path) => writeFileSync(path, readFileSync(path).subarray(0, -1)),
    changed: (path) => {
      const bytes = readFileSync(path);
      bytes[bytes.length >> 1]! ^= 1;
      writeFileSync(path, bytes);
    },
    'that of another kernel': (path, other) => copyFileSync(other, path),
    empty: (path) => writeFileSync(path, ''),
    'writable by others': (path) => chmodSync(path, 0o666),
    'a link': (path) => {
      renameSync(path, `${path}.elsewhere`);
      symlinkSync(`${path}.elsewhere`, path);
    },
  };
  test.each(partOf(Object.entries(damages), 1))('a library that is %s is made anew', async (_, damage) => {
    compiler(':');
    await run(triple);
    const [other] = kept();
    await run();
    const [own] = kept().filter((file) => file !== other);
    const whole = readFileSync(join(native(), own!));
    damage(join(native(), own!), join(native(), other!));
    expect(await run()).toMatch(/^native/);
    expect(calls()).toBe(3);
    // To the byte, but for what a linker may number anew.
    expect(readFileSync(join(native(), own!)).length).toBe(whole.length);
    expect(await run()).toMatch(/^native/);
    expect(calls()).toBe(3);
  });

  test.runIf(atLength)('two processes compile the same kernel at once', async () => {
    compiler('sleep 0.2');
    const program = `
      import { kernel, open } from 'warpstage';
      const double = kernel({ y: 'i32[]' }, ({ y }, { threadIdx }) => { y[threadIdx.x] = y[threadIdx.x] * 2 + 1; });
      const device = await open('cpu-native', { compile: 'first', threads: 1 });
      const { ranOn } = device.defaultStream.launch(double, { grid: 1, block: 32 }, { y: device.alloc('i32', 32) });
      await device.synchronize();
      console.log(ranOn);
      await device.close();`;
    const once = () => promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
    const [one, other] = await Promise.all([once(), once()]);
    expect(one.stdout).toMatch(/^native/);
    expect(other.stdout).toBe(one.stdout);
    expect(readdirSync(native())).toHaveLength(1);
  });

  test.runIf(atLength)('nothing is kept where nothing is to be', async () => {
    process.env.WARPSTAGE_CACHE = '';
    compiler(':');
    expect(await run()).toMatch(/^native/);
    expect(existsSync(join(folder, 'cache'))).toBe(false);
  });

  test('without koffi it is an error of open', async () => {
    const program = `
      import Module from 'node:module';
      const resolve = Module._resolveFilename;
      Module._resolveFilename = (name, ...rest) => resolve(name === 'koffi' ? 'koffi-that-is-not-here' : name, ...rest);
      const { open } = await import('warpstage');
      await open('cpu-native').catch(({ message }) => console.log(message));`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
    expect(stdout).toContain(
      "WS4003: the device 'cpu-native' needs the package koffi, and it cannot be loaded",
    );
    expect(stdout).toContain('npm install koffi');
  });
});
