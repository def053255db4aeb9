// Where the address space is limited, a device is smaller and has fewer threads; where it fits none, an error says so,
// and the commands run in a process in which it does.

import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canTest, sizeThatFits, untrapped } from '#warpstage/runtime/cpu/address-space.js';
import { lostThread } from '#warpstage/runtime/cpu/errors.js';
import { outcomeOf } from '../cli/support.ts';

const GiB = 2 ** 30;
const timeout = 60_000;

test('a device fits what is left, and has no less where more is left', () => {
  const wanted = fc.record({
    memory: fc.integer({ min: 2 ** 26, max: 4 * GiB }),
    staging: fc.integer({ min: 2 ** 26, max: 4 * GiB }),
    threads: fc.integer({ min: 1, max: 64 }),
    addressType: fc.constantFrom('i32', 'i64'),
  });
  const space = fc.integer({ min: 0, max: 128 * GiB });
  fc.assert(
    fc.property(wanted, space, space, fc.boolean(), (size, left, more, hasGuards) => {
      const fits = sizeThatFits(size, left, hasGuards);
      const larger = sizeThatFits(size, left + more, hasGuards);
      if (fits === null) return;
      // What V8 was seen to reserve for two memories.
      const guarded = size.addressType === 'i64' ? 32 * GiB : 20 * GiB;
      const isGuarded = hasGuards || size.addressType === 'i64';
      const memories = isGuarded ? guarded : fits.memory + fits.staging;
      // What V8 was seen to take for a thread, and two threads copy.
      expect(memories + (fits.threads + 2) * 590 * 2 ** 20).toBeLessThan(left);
      for (const key of ['memory', 'staging', 'threads'] as const) {
        expect(fits[key]).toBeLessThanOrEqual(size[key]);
        expect(fits[key]).toBeGreaterThan(0);
      }
      expect(larger!.threads).toBeGreaterThanOrEqual(fits.threads);
    }),
  );
});

/** A process with so many GiB of address space. */
function limited(space: number, args: readonly string[]) {
  const command = `ulimit -v ${space * 2 ** 20}; exec "$0" "$@"`;
  return outcomeOf(spawn('sh', ['-c', command, process.execPath, ...args], { stdio: 'pipe' }));
}

const program = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const script = `
  import { kernel, open } from 'warpstage';
  const fill = kernel({ y: 'f32[]' }, ({ y }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    if (i < y.length) y[i] = i;
  });
  try {
    const device = await open('cpu', { threads: 2 });
    const y = device.alloc('f32', 1000);
    device.defaultStream.launch(fill, { grid: 4, block: 256 }, { y });
    const result = new Float32Array(1000);
    device.defaultStream.memcpyAsync(result, y);
    await device.synchronize();
    await device.close();
    console.log(result[999], device.properties.totalGlobalMemory < 2 ** 32 - 2 ** 16);
  } catch (error) {
    console.log(error.code, error.issues[0].hint);
  }`;
const inProcess = ['--input-type=module', '-e', script];

describe.runIf(process.platform === 'linux')('in a process with 7 GiB of address space', () => {
  test('the device is an error, which says what helps', { timeout }, async () => {
    const { stdout } = await limited(7, inProcess);
    expect(String(stdout)).toMatch(
      canTest() ? `WS4001 set the environment variable NODE_OPTIONS=${untrapped}` : /^WS4001 raise/,
    );
  });

  test.runIf(canTest())('whose code tests its accesses, the device is smaller', { timeout }, async () => {
    const { stdout, stderr } = await limited(7, [untrapped, ...inProcess]);
    expect([String(stdout), stderr]).toEqual(['999 true\n', '']);
  });

  test.runIf(canTest())(
    'a command does what it does elsewhere, and ends with its exit code',
    { timeout },
    async () => {
      const devices = await limited(7, [program, 'devices']);
      expect(String(devices.stdout)).toMatch(/^ {2}memory +(?:[1-3]\.\d+ GiB|\d{3} MiB)$/m);
      expect(devices.code).toBe(0);
      expect((await limited(7, [program, 'nosuch'])).code).toBe(2);
    },
  );
});

test('an engine whose thread could not start says which limits there are', () => {
  const lost = lostThread('compute', 'Error: Worker initialization failure: EMFILE');
  expect(lost.issues[0]!.hint).toBe(
    'the process may have no more threads, files or memory: raise its limit (ulimit -n, -u or -v), or open the device with fewer `threads`',
  );
  expect(lostThread('compute', 'it ended by itself').issues[0]!.hint).toContain('a new thread');
});
