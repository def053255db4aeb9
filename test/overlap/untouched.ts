// What tests of runs that fail share: a device and a directory, which after every test are as they were
// before it, and usable.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { type Device, open, type RunOptions, run } from 'warpstage';
import { affine } from './jobs.ts';
import { namesIn, npyFile, temporaryDirectory } from './support.ts';

/** The data of `x.npy` and `x.bin`. */
export const x = Float32Array.from({ length: 4000 }, (_, i) => i);

/** What every test begins with, and leaves. */
export class Untouched {
  #device!: Device;
  #directory!: string;
  #names!: string[];

  /** To be made once in a test file: its hooks are for that file's tests. */
  constructor() {
    beforeAll(async () => {
      this.#device = await open('cpu', { memory: 16 << 20, threads: 2 });
    });
    afterAll(() => this.#device.close());
    beforeEach(() => {
      this.#directory = temporaryDirectory();
      writeFileSync(this.at('x.bin'), new Uint8Array(x.buffer));
      writeFileSync(this.at('x.npy'), npyFile({ shape: [4000], data: x }));
      writeFileSync(this.at('y.npy'), 'from before');
      this.keep();
    });
    afterEach(async () => {
      const { device } = this;
      expect(namesIn(this.#directory)).toEqual(this.#names);
      expect(readFileSync(this.at('y.npy'), 'utf8')).toBe('from before');
      await expect.poll(() => device.memory.allocations, { message: 'arrays left on the device' }).toBe(0);
      expect(device.recorder).toBeNull();
      const { outputs } = await run(affine, { input: Float32Array.of(1, 2), device });
      expect([...outputs.y!]).toEqual([3, 5]);
    });
  }

  get device(): Device {
    return this.#device;
  }

  get directory(): string {
    return this.#directory;
  }

  readonly at = (name: string): string => join(this.#directory, name);

  /** What is in the directory now was there from the beginning. */
  readonly keep = (): void => {
    this.#names = namesIn(this.#directory);
  };

  /** Adds a file to what is there from the beginning. */
  readonly given = (name: string, contents: Uint8Array | string): string => {
    writeFileSync(this.at(name), contents);
    this.keep();
    return this.at(name);
  };

  /** Runs `affine` on the directory's files. */
  readonly attempt = (options: Partial<RunOptions>): Promise<unknown> =>
    run(affine, {
      input: this.at('x.npy'),
      output: this.at('y.npy'),
      device: this.#device,
      chunk: 100,
      ...options,
    });
}
