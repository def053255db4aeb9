// The n-th operation of a device fails, for n = 1, 2, … until a run goes through: memory, page-locked memory, streams,
// copies and launches, once or from then on. After each, the output is what it was before or the whole new one, the
// run has ended, the device has all its memory back, and the next run goes on and gives equal bytes.

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Device, open, run, WarpstageError } from 'warpstage';
import { atLength } from '../support/thorough.ts';
import { works } from './accumulating-works.ts';
import { affine } from './jobs.ts';
import { namesIn, npyFile, temporaryDirectory } from './support.ts';

const rows = 1600;
type Method = (this: unknown, ...args: unknown[]) => unknown;

/** A device whose n-th operation fails, if `n` is set. */
class FaultyDevice {
  readonly device: Device;
  first = Infinity;
  last = Infinity;
  done = 0;

  constructor(device: Device) {
    this.device = device;
    for (const name of ['alloc', 'allocPinned']) this.#mayFail(device, name);
    this.#mayFail(device, 'createStream', (stream) => {
      for (const name of ['memcpyAsync', 'launch']) this.#mayFail(stream, name);
    });
  }

  #mayFail(owner: unknown, name: string, made: (result: unknown) => void = () => {}): void {
    const methods = owner as Record<string, Method>;
    const original = methods[name]!;
    const faults = this;
    methods[name] = function (...args) {
      faults.done++;
      if (faults.done >= faults.first && faults.done <= faults.last)
        throw new WarpstageError({ code: 'WS4001', message: `${name} fails` });
      const result = original.apply(this, args);
      made(result);
      return result;
    };
  }
}

test.each([
  ['once', false],
  ['from then on', true],
] as const)('when the n-th operation of a device fails %s', { timeout: 120_000 }, async (_, forEver) => {
  const folder = temporaryDirectory();
  const at = (name: string) => join(folder, name);
  writeFileSync(at('x.npy'), npyFile({ shape: [rows], data: Float32Array.from({ length: rows }) }));
  writeFileSync(
    at('a.npy'),
    npyFile({ descr: '<i4', shape: [rows], data: Int32Array.from({ length: rows }, (_, i) => i) }),
  );
  await using device = await open('cpu', { threads: 1, memory: 16 << 20 });
  const faulty = new FaultyDevice(device);
  const [traced, ofTraced] = works['a job with accumulators and an output']!(folder, [device]);
  for (const [work, options] of [
    [affine, { input: at('x.npy'), output: at('y.npy'), device, resume: true }],
    [traced, ofTraced],
  ] as const) {
    const cut = { ...options, chunk: 100, depth: 2 };
    const attempt = () => run(work as typeof affine, cut as never);
    const output = at('y.npy');
    rmSync(output, { force: true });
    await attempt();
    const whole = readFileSync(output);
    const { free } = device.memory;
    let failures = 0;
    for (let n = 1, passed = false; !passed; n += atLength ? 1 : 29) {
      writeFileSync(output, 'from before');
      Object.assign(faulty, { first: n, last: forEver ? Infinity : n, done: 0 });
      const error = await attempt().catch((reason: unknown) => reason);
      passed = faulty.done < n;
      Object.assign(faulty, { first: Infinity, last: Infinity });
      const left = readFileSync(output);
      if (error instanceof WarpstageError) {
        failures++;
        expect(error.code, `operation ${n}`).toBe('WS4001');
        expect(left.toString(), `operation ${n}`).toBe('from before');
      } else expect(left.equals(whole), `operation ${n}: ${error}`).toBe(true);
      expect(device.memory.free, `operation ${n}`).toBe(free);
      await attempt();
      expect(readFileSync(output).equals(whole), `operation ${n}`).toBe(true);
      expect(namesIn(folder).filter((name) => name.startsWith('.'))).toEqual([]);
    }
    // A copy in and a launch of each chunk are among them.
    expect(failures).toBeGreaterThan(atLength ? 32 : 1);
  }
});
