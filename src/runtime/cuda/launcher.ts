// Launches: modules loaded once, arguments packed as the entry's parameters lie in memory.
//
// What was packed for a piece of work is kept with it, so that a launch that is repeated copies a
// few bytes into the native memory that the driver reads, and only its arguments if it was the last one too.

import { WarpstageError } from '../../diagnostics/error.ts';
import type { Extent3 } from '../../kernel/types.ts';
import type { Executable } from '../../targets/executable.ts';
import { gridTooLarge, threadsOf } from '../extents.ts';
import { kernelInWords, type LaunchWork } from '../launch.ts';
import type { ReportingLaunch } from './channels.ts';
import type { Context } from './context.ts';
import { CooperativeLauncher } from './cooperative.ts';
import { type Driver, driverResults } from './driver.ts';
import { allocateNative, type NativeMemory } from './native.ts';
import { type Parameters, packParameters, setArguments } from './parameters.ts';

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

interface Packed extends Parameters {
  readonly loaded: Loaded;
  readonly values: LaunchWork['values'];
  readonly grid: Extent3;
  readonly block: Extent3;
}

export class Launcher {
  readonly #driver: Driver;
  readonly #context: Pick<Context, 'use' | 'lost'>;
  readonly #functions = new WeakMap<CudaExecutable, Loaded>();
  readonly #packed = new WeakMap<LaunchWork, Packed>();
  /** Modules that are loaded: each until its executable can be launched no more. A command in flight holds its own. */
  readonly #modules = new Set<number>();
  readonly #unreachable = new FinalizationRegistry<number>((module) => this.#unload(module));
  readonly #native: NativeMemory = allocateNative(headBytes + parameterBytes);
  readonly #cooperative: CooperativeLauncher;
  /** Whose parameters are in the native memory, and with which arguments. */
  #last: Packed | null = null;
  #values: LaunchWork['values'] = [];

  constructor(driver: Driver, context: Pick<Context, 'use' | 'lost'>) {
    this.#driver = driver;
    this.#context = context;
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
    this.#packedOf(work);
  }

  /** What was packed for a launch, or for the one that it repeats with other arguments. */
  #packedOf(work: LaunchWork): Packed {
    const bound = work.variantOf ?? work;
    let packed = this.#packed.get(bound);
    if (packed === undefined) {
      packed = this.#pack(bound);
      this.#packed.set(bound, packed);
    }
    return packed;
  }

  /** `reporting`: of a kernel that reports something, its channel and number. */
  launch(work: LaunchWork, stream: number, reporting: ReportingLaunch | null = null): void {
    const packed = this.#packedOf(work);
    if (packed !== this.#last) {
      this.#native.bytes.set(packed.bytes, headBytes);
      this.#native.view.setUint32(sizeOffset, packed.bytes.length, true);
      this.#last = packed;
      this.#values = packed.values;
    }
    if (work.values !== this.#values) {
      setArguments(this.#native.view, headBytes, packed, work.values);
      this.#values = work.values;
    }
    const { loaded, grid, block, sharedBytes, channelAt } = packed;
    if (channelAt !== null) {
      if (reporting === null) throw new TypeError(`${kernelInWords(work.name)} has nobody to tell`);
      this.#native.view.setBigUint64(headBytes + channelAt, BigInt(reporting.address), true);
      this.#native.view.setUint32(headBytes + channelAt + 8, reporting.number, true);
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
      this.#modules.add(Number(module[0]));
      this.#unreachable.register(executable, Number(module[0]));
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
    const parameters = packParameters(work, executable);
    const { sharedBytes } = parameters;
    if (sharedBytes > Math.max(loaded.shared, plainShared)) {
      this.#driver.check(
        this.#driver.cuFuncSetAttribute(loaded.handle, functionAttribute.maxDynamicShared, sharedBytes),
        'asking for shared memory',
      );
      loaded.shared = sharedBytes;
    }
    const { block } = executable.program;
    return { ...parameters, loaded, values: work.values, grid: work.grid, block };
  }

  /** Of a GPU that has stopped nothing can be given back. */
  #unload(module: number): void {
    if (!this.#modules.delete(module) || this.#context.lost) return;
    this.#context.use();
    this.#driver.cuModuleUnload(module);
  }

  /** Unloads every module. */
  close(): void {
    for (const module of this.#modules) this.#unload(module);
  }
}
