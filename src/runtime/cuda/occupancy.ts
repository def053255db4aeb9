// What the driver says of a loaded kernel: its registers and memory, and how many of its blocks are resident.

import { blocksThatFit, type Occupancy, scarcest } from '../occupancy.ts';
import type { Driver } from './driver.ts';

/** CUfunction_attribute */
const functionAttribute = { sharedBytes: 1, localBytes: 3, registers: 4 } as const;

/** CUdevice_attribute, of a multiprocessor. */
const deviceAttribute = {
  count: 16,
  threads: 39,
  sharedBytes: 81,
  registers: 82,
  blocks: 106,
  reservedBytes: 111,
} as const;

type Asked<Names extends Readonly<Record<string, number>>> = { readonly [Name in keyof Names]: number };

/** Several numbers that the driver gives one by one. */
function all<Names extends Readonly<Record<string, number>>>(
  names: Names,
  ask: (answer: number[], attribute: number) => void,
): Asked<Names> {
  const entries = Object.entries(names).map(([name, attribute]) => {
    const answer = [0];
    ask(answer, attribute);
    return [name, answer[0]!];
  });
  return Object.fromEntries(entries) as Asked<Names>;
}

/** The registers of a thread, the static shared memory of a block and the local memory of a thread of a loaded kernel. */
export function attributesOf(driver: Driver, handle: number): Asked<typeof functionAttribute> {
  return all(functionAttribute, (answer, attribute) =>
    driver.check(driver.cuFuncGetAttribute(answer, attribute, handle), 'asking for what a kernel takes'),
  );
}

/** How many blocks of a kernel a multiprocessor keeps at once. */
function blocksPerMultiprocessor(
  driver: Driver,
  handle: number,
  threads: number,
  dynamicBytes: number,
): number {
  const answer = [0];
  const count = driver.cuOccupancyMaxActiveBlocksPerMultiprocessor;
  driver.check(count(answer, handle, threads, dynamicBytes), 'asking how many blocks fit');
  return answer[0]!;
}

function multiprocessorsOf(driver: Driver): Asked<typeof deviceAttribute> {
  const device = [0];
  driver.check(driver.cuCtxGetDevice(device), 'asking for the device');
  return all(deviceAttribute, (answer, attribute) =>
    driver.check(
      driver.cuDeviceGetAttribute(answer, attribute, device[0]!),
      'asking for the multiprocessors',
    ),
  );
}

/** How many blocks of a kernel the GPU keeps at once. */
export function residentBlocks(
  driver: Driver,
  handle: number,
  threads: number,
  dynamicBytes: number,
): number {
  return blocksPerMultiprocessor(driver, handle, threads, dynamicBytes) * multiprocessorsOf(driver).count;
}

/** What blocks of a loaded kernel with so many threads, and so much dynamic shared memory, take of the GPU. */
export function occupancyOf(
  driver: Driver,
  handle: number,
  threads: number,
  dynamicBytes: number,
): Occupancy {
  const has = multiprocessorsOf(driver);
  const { registers, localBytes, sharedBytes: staticBytes } = attributesOf(driver, handle);
  const sharedBytes = staticBytes + dynamicBytes;
  const blocks = blocksPerMultiprocessor(driver, handle, threads, dynamicBytes);
  return {
    blocksPerMultiprocessor: blocks,
    residentBlocks: blocks * has.count,
    occupancy: Math.min(1, (blocks * threads) / has.threads),
    limitedBy: scarcest(blocksThatFit(has, { threads, registers, sharedBytes })),
    registers,
    sharedBytes,
    localBytes,
  };
}
