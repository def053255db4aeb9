// Cooperative launches: all blocks of the grid are resident at once, so that they may wait for each
// other. The driver learns it by an attribute of the launch, and refuses a grid that does not fit; what
// fits is asked for the message.

import type { Extent3 } from '../../kernel/types.ts';
import type { Driver } from './driver.ts';
import { allocateNative, type NativeMemory } from './native.ts';

/** CU_LAUNCH_ATTRIBUTE_COOPERATIVE */
const cooperativeAttribute = 2;
/** CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT */
const multiprocessorCount = 16;
/** CUlaunchConfig, and behind it one CUlaunchAttribute. */
const config = { grid: 0, block: 12, shared: 24, stream: 32, attributes: 40, count: 48, bytes: 56 };
const attribute = { id: 0, value: 8, bytes: 72 };

export interface CooperativeLaunch {
  readonly handle: number;
  readonly grid: Extent3;
  readonly block: Extent3;
  readonly sharedBytes: number;
}

export class CooperativeLauncher {
  readonly #driver: Driver;
  readonly #native: NativeMemory = allocateNative(config.bytes + attribute.bytes);

  constructor(driver: Driver) {
    this.#driver = driver;
    const { view, address } = this.#native;
    view.setBigUint64(config.attributes, BigInt(address + config.bytes), true);
    view.setUint32(config.count, 1, true);
    view.setUint32(config.bytes + attribute.id, cooperativeAttribute, true);
    view.setInt32(config.bytes + attribute.value, 1, true);
  }

  /** Launches with the parameters that `options` points to; the driver's result. */
  launch({ handle, grid, block, sharedBytes }: CooperativeLaunch, stream: number, options: number): number {
    const { view, address } = this.#native;
    grid.forEach((extent, axis) => {
      view.setUint32(config.grid + 4 * axis, extent, true);
    });
    block.forEach((extent, axis) => {
      view.setUint32(config.block + 4 * axis, extent, true);
    });
    view.setUint32(config.shared, sharedBytes, true);
    view.setBigUint64(config.stream, BigInt(stream), true);
    return this.#driver.cuLaunchKernelEx(address, handle, 0, options);
  }

  /** How many blocks of this kernel the device keeps at once. */
  mostBlocks({ handle, block, sharedBytes }: CooperativeLaunch): number {
    const perMultiprocessor = [0];
    const device = [0];
    const multiprocessors = [0];
    const threads = block[0] * block[1] * block[2];
    const { check } = this.#driver;
    check(
      this.#driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
        perMultiprocessor,
        handle,
        threads,
        sharedBytes,
      ),
      'asking how many blocks fit',
    );
    check(this.#driver.cuCtxGetDevice(device), 'asking for the device');
    check(
      this.#driver.cuDeviceGetAttribute(multiprocessors, multiprocessorCount, device[0]!),
      'asking for the multiprocessors',
    );
    return perMultiprocessor[0]! * multiprocessors[0]!;
  }
}
