// Launches: modules loaded once, arguments packed as the entry's parameters lie in memory.
//
// What was packed for a piece of work is kept with it, so that a launch that is repeated copies a
// few bytes into the native memory that the driver reads, or none if it was the last one too.

import { WarpstageError } from '../../diagnostics/error.ts';
import { type Extent3, elementBytes } from '../../kernel/types.ts';
import { sharedAlignment } from '../../targets/cuda/generate.ts';
import type { Executable } from '../../targets/executable.ts';
import { DeviceMemoryArray } from '../arrays.ts';
import { gridTooLarge, threadsOf } from '../extents.ts';
import { kernelInWords, type LaunchWork } from '../launch.ts';
import type { ToldLaunch } from './channels.ts';
import { CooperativeLauncher } from './cooperative.ts';
import { type Driver, driverResults } from './driver.ts';
import { allocateNative, type NativeMemory } from './native.ts';

type CudaExecutable = Extract<Executable, { target: 'cuda' }>;

/** CUfunction_attribute */
const functionAttribute = { registers: 4, maxDynamicShared: 8 } as const;
/** What a block may have without asking for more. */
const plainShared = 48 * 1024;
/** The most that a kernel's parameters may take in all. */
const parameterBytes = 4096;
/** Before the parameters: five words of launch options, and the size of the parameters. */
const headBytes = 64;
const sizeOffset = 48;
/** CU_LAUNCH_PARAM_BUFFER_POINTER and CU_LAUNCH_PARAM_BUFFER_SIZE; 0 ends the list. */
const launchParameter = { pointer: 1, size: 2, end: 0 };

interface Loaded {
  readonly handle: number;
  /** Dynamic shared memory that was asked for. */
  shared: number;
}

interface Packed {
  readonly loaded: Loaded;
  readonly grid: Extent3;
  readonly block: Extent3;
  readonly parameters: Uint8Array;
  readonly sharedBytes: number;
  /** Where among the parameters the channel is, and behind it the launch's number; null for a kernel that tells nothing. */
  readonly channelAt: number | null;
}

export class Launcher {
  readonly #driver: Driver;
  readonly #functions = new WeakMap<CudaExecutable, Loaded>();
  readonly #packed = new WeakMap<LaunchWork, Packed>();
  readonly #modules: number[] = [];
  readonly #native: NativeMemory = allocateNative(headBytes + parameterBytes);
  readonly #cooperative: CooperativeLauncher;
  /** Whose parameters are in the native memory. */
  #last: Packed | null = null;

  constructor(driver: Driver) {
    this.#driver = driver;
    this.#cooperative = new CooperativeLauncher(driver);
    const { address, view } = this.#native;
    const words = [
      launchParameter.pointer,
      address + headBytes,
      launchParameter.size,
      address + sizeOffset,
      launchParameter.end,
    ];
    for (const [position, word] of words.entries()) view.setBigUint64(8 * position, BigInt(word), true);
  }

  /** Loads the kernel of a launch that comes later. */
  prepare(work: LaunchWork): void {
    this.#packed.set(work, this.#packed.get(work) ?? this.#pack(work));
  }

  /** `told`: of a kernel that tells something, its channel and number. */
  launch(work: LaunchWork, stream: number, told: ToldLaunch | null = null): void {
    let packed = this.#packed.get(work);
    if (packed === undefined) {
      packed = this.#pack(work);
      this.#packed.set(work, packed);
    }
    if (packed !== this.#last) {
      this.#native.bytes.set(packed.parameters, headBytes);
      this.#native.view.setUint32(sizeOffset, packed.parameters.length, true);
      this.#last = packed;
    }
    const { loaded, grid, block, sharedBytes, channelAt } = packed;
    if (channelAt !== null) {
      if (told === null) throw new TypeError(`${kernelInWords(work.name)} has nobody to tell`);
      this.#native.view.setBigUint64(headBytes + channelAt, BigInt(told.address), true);
      this.#native.view.setUint32(headBytes + channelAt + 8, told.number, true);
    }
    if (work.cooperative) {
      const whole = { handle: loaded.handle, grid, block, sharedBytes };
      const result = this.#cooperative.launch(whole, stream, this.#native.address);
      if (result !== driverResults.success) this.#refuse(work, packed, result);
      return;
    }
    const result = this.#driver.cuLaunchKernel(
      loaded.handle,
      grid[0],
      grid[1],
      grid[2],
      block[0],
      block[1],
      block[2],
      sharedBytes,
      stream,
      0,
      this.#native.address,
    );
    if (result !== driverResults.success) this.#refuse(work, packed, result);
  }

  #refuse(work: LaunchWork, packed: Packed, result: number): void {
    const { loaded, grid, block } = packed;
    if (result === driverResults.cooperativeLaunchTooLarge) {
      const most = this.#cooperative.mostBlocks({ ...packed, handle: loaded.handle });
      throw gridTooLarge(work.name, threadsOf(grid), threadsOf(block), most);
    }
    if (result === driverResults.launchOutOfResources) {
      const registers = [0];
      this.#driver.cuFuncGetAttribute(registers, functionAttribute.registers, loaded.handle);
      throw new WarpstageError({
        code: 'WS2003',
        message: `launch of ${kernelInWords(work.name)}: a block of ${block[0] * block[1] * block[2]} threads with ${registers[0]} registers each does not fit a multiprocessor`,
        hint: 'use smaller blocks and a larger grid',
      });
    }
    this.#driver.check(result, `launching ${kernelInWords(work.name)}`);
  }

  #load(executable: CudaExecutable): Loaded {
    let loaded = this.#functions.get(executable);
    if (loaded === undefined) {
      const driver = this.#driver;
      const module = [0];
      driver.check(
        driver.cuModuleLoadData(module, executable.image),
        `loading kernel \`${executable.entry}\``,
      );
      this.#modules.push(Number(module[0]));
      const handle = [0];
      driver.check(
        driver.cuModuleGetFunction(handle, module[0], executable.entry),
        `finding kernel \`${executable.entry}\``,
      );
      loaded = { handle: Number(handle[0]), shared: 0 };
      this.#functions.set(executable, loaded);
    }
    return loaded;
  }

  #pack(work: LaunchWork): Packed {
    const executable = work.executable as CudaExecutable;
    const loaded = this.#load(executable);
    const { parameters, sharedBytes, channelAt } = packParameters(work, executable);
    if (sharedBytes > Math.max(loaded.shared, plainShared)) {
      this.#driver.check(
        this.#driver.cuFuncSetAttribute(loaded.handle, functionAttribute.maxDynamicShared, sharedBytes),
        'asking for shared memory',
      );
      loaded.shared = sharedBytes;
    }
    const { block } = executable.program;
    return { loaded, grid: work.grid, block, parameters, sharedBytes, channelAt };
  }

  /** Unloads every module. */
  close(): void {
    for (const module of this.#modules) this.#driver.cuModuleUnload(module);
  }
}

/** The parameters as they lie in memory, and the bytes of dynamic shared memory. */
function packParameters(
  { values, shared }: LaunchWork,
  { program, shared: places, plainPointers, sites }: CudaExecutable,
): Pick<Packed, 'parameters' | 'sharedBytes' | 'channelAt'> {
  const bytes = new Uint8Array(16 * (program.parameters.length + program.sharedArrays.length + 1));
  const view = new DataView(bytes.buffer);
  let at = 0;
  const align = (bytes: number) => {
    at = Math.ceil(at / bytes) * bytes;
    const here = at;
    at += bytes;
    return here;
  };
  const index = (value: number) => {
    if (program.indexType === 'i64') setWide(view, align(8), value);
    else view.setInt32(align(4), value, true);
  };
  for (const [id, parameter] of program.parameters.entries()) {
    const value = values[id]!;
    if (value instanceof DeviceMemoryArray) {
      setWide(view, align(8), value.address);
      if (!plainPointers) index(value.length);
      continue;
    }
    if (parameter.kind === 'array') throw new TypeError(`no array for ${parameter.name}`);
    switch (parameter.type) {
      case 'bool':
        view.setUint8(align(1), value ? 1 : 0);
        break;
      case 'i32':
        view.setInt32(align(4), Number(value), true);
        break;
      case 'u32':
        view.setUint32(align(4), Number(value), true);
        break;
      case 'f32':
        view.setFloat32(align(4), Number(value), true);
        break;
      case 'f64':
        view.setFloat64(align(8), Number(value), true);
        break;
      default:
        view.setBigInt64(align(8), BigInt.asIntN(64, BigInt(value)), true);
    }
  }
  let end = 0;
  for (const [id, { element }] of program.sharedArrays.entries()) {
    const { length } = shared[id]!;
    const offset = Math.ceil(end / sharedAlignment) * sharedAlignment;
    end = offset + length * elementBytes[element];
    if (places[id] === null) {
      view.setUint32(align(4), offset, true);
      index(length);
    }
  }
  const channelAt = sites === undefined ? null : align(8);
  if (sites !== undefined) align(4);
  return { parameters: bytes.slice(0, at), sharedBytes: end, channelAt };
}

/** Writes an integer that a number holds exactly as 64 bits; faster than by way of a bigint. */
function setWide(view: DataView, at: number, value: number): void {
  view.setUint32(at, value >>> 0, true);
  view.setInt32(at + 4, Math.floor(value / 2 ** 32), true);
}
