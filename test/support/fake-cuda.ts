// The driver and NVRTC of fake-cuda.c, compiled and put in the place of the machine's own.
//
// To be called before anything opens a GPU in this process.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type * as Koffi from 'koffi';
import { restoreEnvironment } from './environment.ts';
import { hasTool } from './tools.ts';

/** Whether a C compiler is here. */
export const canFake: boolean = hasTool('cc');

export interface FakeCuda {
  /** Where the library is. */
  readonly path: string;
  /** A folder for the cache of this test. */
  readonly folder: string;
  readonly reset: () => void;
  /** A function fails with this result, after so many successes. */
  readonly fail: (name: string, result: number, successes: number) => void;
  /** Every call fails from now on. */
  readonly lose: (result: number) => void;
  /** The next launch fails: the number of a site, rank and block of the thread, four values. */
  readonly fault: (
    site: number,
    rank: number,
    block: number,
    ...values: [number, number, number, number]
  ) => void;
  /** The next launch prints so many lines, each of one value, which counts from 0. */
  readonly print: (lines: number, site: number) => void;
  /** The next line that is printed is only begun, until it is finished. */
  readonly beginLine: () => void;
  readonly finishLine: () => void;
  /** Whether the last launch that reported something, or the one so many before it, is to end: 1 or 0. */
  readonly cancelled: (before: number) => number;
  readonly version: (version: number) => void;
  readonly devices: (count: number) => void;
  readonly memory: (bytes: number) => void;
  /** No allocation is larger, whatever is said to be free. */
  readonly largest: (bytes: number) => void;
  /**
   * From now on streams take time, so many microseconds an operation, in an order among them by the seed; and what
   * may wait for the context waits for them. 0: everything is done at once again.
   */
  readonly lag: (microseconds: number, seed: number) => void;
  /** Every call takes its thread so many nanoseconds. */
  readonly busy: (nanoseconds: number) => void;
  /** Streams that take time begin nothing while this is 1; 0: they go on. */
  readonly pause: (isPaused: number) => void;
  /**
   * From now on a log is kept of what streams are given, so many entries at most, four words each: the kind (1 a recorded
   * event, 2 a wait for one, 3 a set of bytes, 4 a launch, 5 a copy, 6 a graph), the stream, and the event and which of its recordings, the
   * number of bytes, the last word of a launch's parameters, the addresses of a copy, or a graph.
   */
  readonly log: (address: number, most: number) => void;
  /** Its entries by now. */
  readonly logged: () => number;
  /** NVRTC's minor version. */
  readonly nvrtc: (minor: number) => void;
  readonly launches: () => number;
  /** Calls of functions that may fail, all that issue work among them. */
  readonly calls: () => number;
  /** How many of them were of other threads than the one that reset it last. */
  readonly asides: () => number;
  /** Graphs that were made to be launched, and not given back. */
  readonly graphs: () => number;
  /** Modules that were loaded, and not unloaded. */
  readonly modules: () => number;
  /**
   * The last launch as the driver got it, in so many bytes: nine words of 64 bits (a hash of the code, grid and block in
   * three dimensions each, dynamic shared memory, bytes of parameters), and the parameters.
   */
  readonly launched: (bytes: Uint8Array, size: number) => void;
  readonly compiles: () => number;
  /** Stretches of the host's memory that were page-locked. */
  readonly locks: () => number;
  /** And unlocked again. */
  readonly unlocks: () => number;
  /** Compute capability times ten. */
  readonly capability: (number: number) => void;
  /** Starting the driver and making a context take so many milliseconds each. */
  readonly slow: (milliseconds: number) => void;
  /** How often a context was retained and not released. */
  readonly retained: () => number;
  /** What is of CUPTI is as it was at first. */
  readonly cuptiReset: () => void;
  readonly cuptiVersion: (version: number) => void;
  /** CUPTI refuses to switch records on. */
  readonly cuptiRefuse: () => void;
  /** So many of the next records are lost. */
  readonly cuptiDrop: (records: number) => void;
  /** Buffers that are not full are given back only by force. */
  readonly cuptiHold: () => void;
  /** A buffer is full after so many records. */
  readonly cuptiMost: (records: number) => void;
  /** Takes it away; the environment is as it was before. */
  readonly remove: () => void;
}

export function installFakeCuda(): FakeCuda {
  const environment = { ...process.env };
  const folder = mkdtempSync(join(tmpdir(), 'warpstage-fake-'));
  const path = join(folder, 'libfake.so');
  const source = fileURLToPath(new URL('./fake-cuda.c', import.meta.url));
  execFileSync('cc', ['-O1', '-w', '-shared', '-fPIC', '-pthread', '-o', path, source]);
  process.env.WARPSTAGE_DRIVER = path;
  process.env.WARPSTAGE_NVRTC = path;
  process.env.WARPSTAGE_CUPTI = path;
  process.env.WARPSTAGE_CACHE = join(folder, 'cache');
  const koffi = createRequire(import.meta.url)('koffi') as typeof Koffi;
  const library = koffi.load(path);
  const bound = (name: string, result: string, ...parameters: string[]) =>
    library.func(`fake_${name}`, result, parameters) as unknown as (...args: unknown[]) => never;
  return {
    path,
    folder,
    reset: bound('reset', 'void'),
    fail: bound('fail', 'void', 'const char *', 'int', 'int'),
    lose: bound('lose', 'void', 'int'),
    fault: bound('fault', 'void', 'int', 'int', 'int', 'double', 'double', 'double', 'double'),
    print: bound('print', 'void', 'int', 'int'),
    beginLine: bound('begin_line', 'void'),
    finishLine: bound('finish_line', 'void'),
    cancelled: bound('cancelled', 'int', 'int'),
    version: bound('version', 'void', 'int'),
    devices: bound('devices', 'void', 'int'),
    memory: bound('memory', 'void', 'double'),
    largest: bound('largest', 'void', 'double'),
    lag: bound('lag', 'void', 'int', 'int'),
    busy: bound('busy', 'void', 'int'),
    pause: bound('pause', 'void', 'int'),
    log: bound('log', 'void', 'uint64_t', 'int'),
    logged: bound('logged', 'int'),
    nvrtc: bound('nvrtc', 'void', 'int'),
    launches: bound('launches', 'int'),
    calls: bound('calls', 'int'),
    asides: bound('asides', 'int'),
    graphs: bound('graphs', 'int'),
    modules: bound('modules', 'int'),
    launched: bound('launched', 'void', '_Out_ uint8_t *', 'int'),
    compiles: bound('compiles', 'int'),
    locks: bound('locks', 'int'),
    unlocks: bound('unlocks', 'int'),
    capability: bound('capability', 'void', 'int'),
    slow: bound('slow', 'void', 'int'),
    retained: bound('retained', 'int'),
    cuptiReset: bound('cupti_reset', 'void'),
    cuptiVersion: bound('cupti_version', 'void', 'int'),
    cuptiRefuse: bound('cupti_refuse', 'void'),
    cuptiDrop: bound('cupti_drop', 'void', 'int'),
    cuptiHold: bound('cupti_hold', 'void'),
    cuptiMost: bound('cupti_most', 'void', 'int'),
    remove: () => {
      restoreEnvironment(environment);
      rmSync(folder, { recursive: true });
    },
  };
}
