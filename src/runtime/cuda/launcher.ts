// Launches: modules loaded once, arguments packed as the entry's parameters lie in memory.
//
// What was packed for a piece of work is kept with it, and launches that repeat it with other arguments use it too.

import { WarpstageError } from '../../diagnostics/error.ts';
import type { Executable } from '../../targets/executable.ts';
import { gridTooLarge, threadsOf } from '../extents.ts';
import { kernelInWords, type LaunchWork } from '../launch.ts';
import type { Occupancy } from '../occupancy.ts';
import type { ReportingLaunch } from './channels.ts';
import type { Context } from './context.ts';
import { type Driver, driverResults } from './driver.ts';
import { LaunchCall, type PackedLaunch } from './launch-call.ts';
import { attributesOf, occupancyOf, residentBlocks } from './occupancy.ts';
import { packParameters } from './parameters.ts';

type CudaExecutable = Extract<Executable, { target: 'cuda' }>;

/** CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES */
const maxDynamicShared = 8;
/** What a block may have without asking for more, static and dynamic. */
const plainShared = 48 * 1024;
interface Loaded {
  readonly handle: number;
  /** Shared memory that its code has besides: barriers, stages, what tests need. */
  readonly staticShared: number;
  /** Dynamic shared memory that was asked for. */
  shared: number;
}

interface Packed extends PackedLaunch {
  readonly loaded: Loaded;
  /** Whether the driver has accepted it once: it refuses by what is the same for all that repeat it. */
  isKnown: boolean;
}

export class Launcher {
  readonly #driver: Driver;
  readonly #context: Pick<Context, 'use' | 'lost'>;
  /** The shared memory that a block may have, static and dynamic. */
  readonly #room: number;
  readonly #functions = new WeakMap<CudaExecutable, Loaded>();
  readonly #packed = new WeakMap<LaunchWork, Packed>();
  /** Modules that are loaded: each until its executable can be launched no more. A command in flight holds its own. */
  readonly #modules = new Set<number>();
  readonly #unreachable = new FinalizationRegistry<number>((module) => this.#unload(module));
  readonly #call: LaunchCall;
  /** The launch that was packed last, and what was packed: mostly the next one repeats it. */
  #lastBound: LaunchWork | null = null;
  #last: Packed | null = null;

  constructor(driver: Driver, context: Pick<Context, 'use' | 'lost'>, sharedMemoryPerBlock: number) {
    this.#driver = driver;
    this.#context = context;
    this.#room = sharedMemoryPerBlock;
    this.#call = new LaunchCall(driver);
  }

  /** Loads the kernel of a launch that comes later. */
  prepare(work: LaunchWork): void {
    this.#packedOf(work);
  }

  /** What was packed for a launch, or for the one that it repeats with other arguments. */
  #packedOf(work: LaunchWork): Packed {
    const bound = work.variantOf ?? work;
    if (bound === this.#lastBound) return this.#last!;
    let packed = this.#packed.get(bound);
    if (packed === undefined) {
      packed = this.#pack(bound);
      this.#packed.set(bound, packed);
    }
    this.#lastBound = bound;
    this.#last = packed;
    return packed;
  }

  /** `reporting`: of a kernel that reports something, its channel and number. */
  launch(work: LaunchWork, stream: number, reporting: ReportingLaunch | null = null): void {
    const packed = this.#packedOf(work);
    if (packed.channelAt !== null && reporting === null)
      throw new TypeError(`${kernelInWords(work.name)} has nobody to tell`);
    const isKnown = packed.isKnown && reporting === null;
    const result = this.#call.launch(packed.loaded.handle, packed, work.values, stream, reporting, isKnown);
    if (result !== driverResults.success) this.#refuse(work, packed, result);
    packed.isKnown = true;
  }

  /** What a launch takes of the GPU. */
  occupancyOf(work: LaunchWork): Occupancy {
    this.#context.use();
    const { loaded, extents, sharedBytes } = this.#packedOf(work);
    return occupancyOf(this.#driver, loaded.handle, threadsOf(extents.block), sharedBytes);
  }

  /** Throws the error of a launch to which the driver has answered so. */
  refuse(work: LaunchWork, result: number): void {
    this.#refuse(work, this.#packedOf(work), result);
  }

  #refuse(work: LaunchWork, packed: Packed, result: number): void {
    const { loaded, extents, sharedBytes } = packed;
    const { grid, block } = extents;
    if (result === driverResults.cooperativeLaunchTooLarge) {
      const most = residentBlocks(this.#driver, loaded.handle, threadsOf(block), sharedBytes);
      throw gridTooLarge(work.name, threadsOf(grid), threadsOf(block), most);
    }
    if (result === driverResults.launchOutOfResources) {
      const { registers } = attributesOf(this.#driver, loaded.handle);
      throw new WarpstageError({
        code: 'WS2003',
        message: `launch of ${kernelInWords(work.name)}: a block of ${block[0] * block[1] * block[2]} threads with ${registers} registers each does not fit a multiprocessor`,
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
      const { sharedBytes: staticShared } = attributesOf(driver, Number(handle[0]));
      loaded = { handle: Number(handle[0]), staticShared, shared: 0 };
      this.#functions.set(executable, loaded);
    }
    return loaded;
  }

  #pack(work: LaunchWork): Packed {
    const executable = work.executable as CudaExecutable;
    const loaded = this.#load(executable);
    const parameters = packParameters(work, executable);
    this.#admitShared(work, loaded, parameters.sharedBytes);
    const { block } = executable.program;
    const extents = { grid: work.grid, block };
    return {
      ...parameters,
      loaded,
      values: work.values,
      extents,
      isCooperative: work.cooperative,
      isKnown: false,
    };
  }

  /** Asks the driver for so much dynamic shared memory in a block, where it must be asked. Throws WS2004 if a block cannot have it. */
  #admitShared(work: LaunchWork, loaded: Loaded, dynamic: number): void {
    const bytes = loaded.staticShared + dynamic;
    if (dynamic <= loaded.shared || bytes <= plainShared) return;
    if (bytes > this.#room) {
      throw new WarpstageError({
        code: 'WS2004',
        message:
          `launch of ${kernelInWords(work.name)}: a block needs ${bytes} bytes of shared memory, ` +
          `${loaded.staticShared} of them for barriers and tests; the device has ${this.#room}`,
        hint: 'use smaller blocks, fewer stages or smaller tiles',
      });
    }
    this.#driver.check(
      this.#driver.cuFuncSetAttribute(loaded.handle, maxDynamicShared, dynamic),
      'asking for shared memory',
    );
    loaded.shared = dynamic;
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
