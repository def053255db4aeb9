// Launches: modules loaded once, arguments packed as the entry's parameters lie in memory.

import { elementBytes } from '../../kernel/types.ts';
import { sharedAlignment } from '../../targets/cuda/generate.ts';
import type { Executable } from '../../targets/executable.ts';
import { DeviceMemoryArray } from '../arrays.ts';
import type { LaunchWork } from '../launch.ts';
import type { Driver } from './driver.ts';
import { foreignFunctions } from './library.ts';

type CudaExecutable = Extract<Executable, { target: 'cuda' }>;

/** CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES */
const maxDynamicShared = 8;
/** What a block may have without asking for more. */
const plainShared = 48 * 1024;
/** The most that a kernel's parameters may take in all. */
const parameterBytes = 4096;
/** CU_LAUNCH_PARAM_BUFFER_POINTER and CU_LAUNCH_PARAM_BUFFER_SIZE; 0 ends the list. */
const launchParameter = { pointer: 1n, size: 2n, end: 0n };

export class Launcher {
  readonly #driver: Driver;
  readonly #functions = new WeakMap<CudaExecutable, { handle: number; shared: number }>();
  readonly #modules: number[] = [];
  /** Native memory: five words of launch options, the size of the parameters, the parameters. */
  readonly #words: DataView;
  readonly #parameters: DataView;
  readonly #extra: unknown;

  constructor(driver: Driver) {
    this.#driver = driver;
    const koffi = foreignFunctions();
    const headBytes = 64;
    const memory = koffi.alloc('uint8_t', headBytes + parameterBytes);
    const view = koffi.view(memory, headBytes + parameterBytes);
    const address = BigInt(koffi.address(memory));
    this.#words = new DataView(view, 0, headBytes);
    this.#parameters = new DataView(view, headBytes, parameterBytes);
    this.#extra = memory;
    const list = [
      launchParameter.pointer,
      address + BigInt(headBytes),
      launchParameter.size,
      address + 48n,
      launchParameter.end,
    ];
    for (const [position, word] of list.entries()) this.#words.setBigUint64(8 * position, word, true);
  }

  launch(work: LaunchWork, stream: number): void {
    const executable = work.executable as CudaExecutable;
    const loaded = this.#load(executable);
    const sharedBytes = this.#pack(work, executable);
    if (sharedBytes > Math.max(loaded.shared, plainShared)) {
      this.#driver.check(
        this.#driver.cuFuncSetAttribute(loaded.handle, maxDynamicShared, sharedBytes),
        'asking for shared memory',
      );
      loaded.shared = sharedBytes;
    }
    const { grid } = work;
    const { block } = executable.program;
    this.#driver.check(
      this.#driver.cuLaunchKernel(
        loaded.handle,
        grid[0],
        grid[1],
        grid[2],
        block[0],
        block[1],
        block[2],
        sharedBytes,
        stream,
        null,
        this.#extra,
      ),
      `launching kernel \`${work.name}\``,
    );
  }

  #load(executable: CudaExecutable): { handle: number; shared: number } {
    let loaded = this.#functions.get(executable);
    if (loaded === undefined) {
      const driver = this.#driver;
      const module = [0];
      driver.check(
        driver.cuModuleLoadData(module, executable.image),
        `loading kernel \`${executable.entry}\``,
      );
      this.#modules.push(module[0]!);
      const handle = [0];
      driver.check(
        driver.cuModuleGetFunction(handle, module[0], executable.entry),
        `finding kernel \`${executable.entry}\``,
      );
      loaded = { handle: handle[0]!, shared: 0 };
      this.#functions.set(executable, loaded);
    }
    return loaded;
  }

  /** Writes the parameters; gives the bytes of dynamic shared memory. */
  #pack({ values, shared }: LaunchWork, { program, shared: places }: CudaExecutable): number {
    const view = this.#parameters;
    let at = 0;
    const align = (bytes: number) => {
      at = Math.ceil(at / bytes) * bytes;
      const here = at;
      at += bytes;
      return here;
    };
    const index = (value: number) => {
      if (program.indexType === 'i64') view.setBigInt64(align(8), BigInt(value), true);
      else view.setInt32(align(4), value, true);
    };
    for (const [id, parameter] of program.parameters.entries()) {
      const value = values[id]!;
      if (value instanceof DeviceMemoryArray) {
        view.setBigUint64(align(8), BigInt(value.address), true);
        index(value.length);
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
    this.#words.setBigUint64(48, BigInt(at), true);
    return end;
  }

  /** Unloads every module. */
  close(): void {
    for (const module of this.#modules) this.#driver.cuModuleUnload(module);
  }
}
