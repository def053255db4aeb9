// The native call of a launch: cuLaunchKernelEx, whose description and parameters lie in native memory.
//
// That memory keeps what the last launch wrote, and a launch writes what differs from it. The call itself takes four
// operands, which the FFI passes in half the time of cuLaunchKernel's eleven. All blocks of a cooperative launch are
// resident at once, so that they may wait for each other: an attribute of the launch, and the driver refuses a grid
// that does not fit.

import type { LaunchWork } from '../launch.ts';
import type { ReportingLaunch } from './channels.ts';
import type { Driver } from './driver.ts';
import { allocateNative, type NativeMemory } from './native.ts';
import { type PackedParameters, setAddress, setArguments } from './parameters.ts';

/** The most that a kernel's parameters may take in all. */
const parameterBytes = 4096;
/** CUlaunchConfig, and behind it the parameters. */
const config = { grid: 0, block: 12, shared: 24, stream: 32, attributes: 40, count: 48, parameters: 56 };
/** A CUlaunchAttribute. */
const attribute = { id: config.parameters + parameterBytes, value: config.parameters + parameterBytes + 8 };
/** CU_LAUNCH_ATTRIBUTE_COOPERATIVE */
const cooperativeAttribute = 2;
/** The list of launch options, and the size of the parameters that it points to. */
const options = { list: attribute.id + 72, size: attribute.id + 112, end: attribute.id + 120 };
/** CU_LAUNCH_PARAM_BUFFER_POINTER and CU_LAUNCH_PARAM_BUFFER_SIZE; 0 ends the list. */
const option = { pointer: 1, size: 2, end: 0 };

/** A launch as it was packed, with the arguments that its bytes hold. */
export interface PackedLaunch extends PackedParameters {
  readonly values: LaunchWork['values'];
  readonly extents: Pick<LaunchWork, 'grid'> & { readonly block: LaunchWork['grid'] };
  readonly isCooperative: boolean;
}

export class LaunchCall {
  readonly #driver: Driver;
  readonly #native: NativeMemory = allocateNative(options.end);
  readonly #words: Int32Array;
  /** What the memory holds. */
  #packed: PackedLaunch | null = null;
  #values: LaunchWork['values'] = [];
  #stream = 0;

  constructor(driver: Driver) {
    this.#driver = driver;
    const { address, view } = this.#native;
    this.#words = new Int32Array(view.buffer, 0, (config.parameters + parameterBytes) / 4);
    const list = [
      option.pointer,
      address + config.parameters,
      option.size,
      address + options.size,
      option.end,
    ];
    for (const [position, word] of list.entries()) setAddress(view, options.list + 8 * position, word);
    setAddress(view, config.attributes, address + attribute.id);
    view.setUint32(attribute.id, cooperativeAttribute, true);
    view.setInt32(attribute.value, 1, true);
  }

  /** Launches a function with these arguments; the driver's result. `isKnown`: as NativeLaunch has it. */
  launch(
    handle: number,
    packed: PackedLaunch,
    values: LaunchWork['values'],
    stream: number,
    reporting: ReportingLaunch | null,
    isKnown: boolean,
  ): number {
    const { view, address } = this.#native;
    if (packed !== this.#packed) this.#describe(packed);
    if (values !== this.#values) {
      setArguments(view, config.parameters, packed, values, this.#values);
      this.#values = values;
    }
    if (stream !== this.#stream) {
      setAddress(view, config.stream, stream);
      this.#stream = stream;
    }
    if (reporting !== null) {
      const at = config.parameters + packed.channelAt!;
      setAddress(view, at, reporting.address);
      view.setUint32(at + 8, reporting.number, true);
    }
    return this.#driver.launch(handle, {
      address,
      optionsAddress: address + options.list,
      description: this.#words,
      parameterBytes: packed.bytes.length,
      isKnown,
    });
  }

  #describe(packed: PackedLaunch): void {
    const { view, bytes } = this.#native;
    const { grid, block } = packed.extents;
    for (let axis = 0; axis < 3; ++axis) {
      view.setUint32(config.grid + 4 * axis, grid[axis]!, true);
      view.setUint32(config.block + 4 * axis, block[axis]!, true);
    }
    view.setUint32(config.shared, packed.sharedBytes, true);
    view.setUint32(config.count, packed.isCooperative ? 1 : 0, true);
    view.setUint32(options.size, packed.bytes.length, true);
    bytes.set(packed.bytes, config.parameters);
    this.#packed = packed;
    this.#values = packed.values;
  }
}
