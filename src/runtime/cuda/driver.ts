// CUDA's driver API, as far as the device uses it.
//
// Handles, device addresses and addresses of the host are u64, passed as numbers: they are below
// 2^48 everywhere that CUDA runs, and a number costs the FFI a quarter of what an object does.
// A call gives its result; `check` makes an error of one that failed.

import { WarpstageError } from '../../diagnostics/error.ts';
import { fatalResults, hintOf } from './driver-errors.ts';
import type { IssuingThread } from './issuing/issuing-thread.ts';
import { bind, callAside, type NativeFunction, openLibrary, type Prototype } from './library.ts';

const handle = 'uint64_t';
const address = 'uint64_t';
const out = '_Out_ uint64_t *';

const prototypes = {
  cuInit: ['int', 'uint'],
  cuDriverGetVersion: ['int', '_Out_ int *'],
  cuGetErrorName: ['int', 'int', '_Out_ const char **'],
  cuGetErrorString: ['int', 'int', '_Out_ const char **'],
  cuDeviceGetCount: ['int', '_Out_ int *'],
  cuDeviceGet: ['int', '_Out_ int *', 'int'],
  cuDeviceGetName: ['int', 'void *', 'int', 'int'],
  cuCtxGetDevice: ['int', '_Out_ int *'],
  cuDeviceGetAttribute: ['int', '_Out_ int *', 'int', 'int'],
  cuDevicePrimaryCtxRetain: ['int', out, 'int'],
  cuDevicePrimaryCtxRelease_v2: ['int', 'int'],
  cuDevicePrimaryCtxReset_v2: ['int', 'int'],
  cuCtxSetCurrent: ['int', handle],
  cuCtxSynchronize: ['int'],
  cuCtxEnablePeerAccess: ['int', handle, 'uint'],
  cuMemGetInfo_v2: ['int', '_Out_ size_t *', '_Out_ size_t *'],
  cuDeviceGetDefaultMemPool: ['int', out, 'int'],
  cuMemPoolSetAttribute: ['int', handle, 'int', 'void *'],
  cuMemPoolGetAttribute: ['int', handle, 'int', 'void *'],
  cuMemPoolSetAccess: ['int', handle, 'void *', 'size_t'],
  cuMemPoolTrimTo: ['int', handle, 'size_t'],
  cuMemAllocAsync: ['int', out, 'size_t', handle],
  cuMemFreeAsync: ['int', address, handle],
  cuMemHostRegister_v2: ['int', address, 'size_t', 'uint'],
  cuMemHostUnregister: ['int', address],
  cuMemcpyAsync: ['int', address, address, 'size_t', handle],
  cuMemcpy3DAsync_v2: ['int', address, handle],
  cuMemsetD8Async: ['int', address, 'uint8_t', 'size_t', handle],
  cuStreamCreateWithPriority: ['int', out, 'uint', 'int'],
  cuStreamDestroy_v2: ['int', handle],
  cuStreamQuery: ['int', handle],
  cuStreamSynchronize: ['int', handle],
  cuStreamWaitEvent: ['int', handle, handle, 'uint'],
  cuStreamBeginCapture_v2: ['int', handle, 'int'],
  cuStreamEndCapture: ['int', handle, out],
  cuGraphInstantiateWithFlags: ['int', out, handle, 'uint64_t'],
  cuGraphLaunch: ['int', handle, handle],
  cuGraphExecDestroy: ['int', handle],
  cuGraphDestroy: ['int', handle],
  cuEventCreate: ['int', out, 'uint'],
  cuEventDestroy_v2: ['int', handle],
  cuEventRecord: ['int', handle, handle],
  cuEventQuery: ['int', handle],
  cuEventSynchronize: ['int', handle],
  cuEventElapsedTime: ['int', address, handle, handle],
  cuModuleLoadData: ['int', out, 'void *'],
  cuModuleUnload: ['int', handle],
  cuModuleGetFunction: ['int', out, handle, 'const char *'],
  cuFuncSetAttribute: ['int', handle, 'int', 'int'],
  cuFuncGetAttribute: ['int', '_Out_ int *', 'int', handle],
  cuLaunchKernelEx: ['int', address, handle, address, address],
  cuOccupancyMaxActiveBlocksPerMultiprocessor: ['int', '_Out_ int *', handle, 'int', 'size_t'],
} as const satisfies Record<string, Prototype>;

/** Results that are answers, or that the device handles by itself. */
export const driverResults = {
  success: 0,
  outOfMemory: 2,
  launchOutOfResources: 701,
  cooperativeLaunchTooLarge: 720,
  notReady: 600,
} as const;

/** The oldest driver whose functions suffice: that of CUDA 12.0. */
const oldestVersion = 12000;

/** The driver's own functions. */
export type DriverFunctions = { readonly [K in keyof typeof prototypes]: NativeFunction };

/** A launch as cuLaunchKernelEx takes it. */
export interface NativeLaunch {
  /** Where its CUlaunchConfig lies, and its list of options. */
  readonly address: number;
  readonly optionsAddress: number;
  /** The words of its CUlaunchConfig, and of the parameters behind it. */
  readonly description: Int32Array;
  readonly parameterBytes: number;
  /** Whether the driver has accepted the same before, with other arguments: it can then be refused only with all that follows. */
  readonly isKnown: boolean;
}

/** The driver's functions, and what is made of them. */
export type Driver = DriverFunctions & {
  readonly functions: DriverFunctions;
  /** Where its library is. */
  readonly path: string;
  readonly launch: (handle: number, call: NativeLaunch) => number;
  /** The thread that calls which give work to streams may be written down for. */
  readonly issuing: IssuingThread | null;
  /** The driver's name and sentence for a result, for example `CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered`. */
  readonly describe: (result: number) => string;
  /** Throws if the result of a call is an error. */
  readonly check: (result: number, doing: string) => void;
  /** Whether nothing in the context can be used after this result. */
  readonly isFatal: (result: number) => boolean;
};

let opened: Driver | undefined;

/** Opens and initialises the driver; an error in one sentence says what is missing and how to get it. */
export function openDriver(): Driver {
  if (opened === undefined) {
    const driver = loadDriver();
    opened = initialised(driver, driver.cuInit(0));
  }
  return opened;
}

/** The same on another thread: the driver takes a tenth of a second to start. */
export async function startDriver(): Promise<Driver> {
  if (opened === undefined) {
    const driver = loadDriver();
    const result = await callAside(driver.cuInit, 0);
    opened ??= initialised(driver, result);
  }
  return opened;
}

function initialised(driver: Driver, result: number): Driver {
  if (result === driverResults.success) return driver;
  throw new WarpstageError({
    code: 'WS4003',
    message: `the NVIDIA driver cannot be used: ${driver.describe(result)}`,
    hint: hintOf(result),
  });
}

/** The driver's functions, before it is started. */
function loadDriver(): Driver {
  const own = process.env.WARPSTAGE_DRIVER;
  const names = process.platform === 'win32' ? ['nvcuda.dll'] : ['libcuda.so.1', 'libcuda.so'];
  const folders = [
    '/usr/local/nvidia/lib64',
    '/usr/lib/x86_64-linux-gnu',
    '/usr/lib/aarch64-linux-gnu',
    '/usr/lib64',
    '/usr/lib/wsl/lib',
  ];
  const found = openLibrary(own === undefined ? names : [own], own === undefined ? folders : []);
  if (found.library === null) {
    throw new WarpstageError({
      code: 'WS4003',
      message:
        own === undefined
          ? 'no NVIDIA driver was found: the library libcuda is not on this machine'
          : `no NVIDIA driver was found at WARPSTAGE_DRIVER=${own}`,
      hint: 'install the NVIDIA driver, or open("cpu")',
    });
  }
  const functions = bind(found.library, prototypes);
  const text = (call: NativeFunction, result: number) => {
    const answer: (string | null)[] = [null];
    return call(result, answer) === driverResults.success ? (answer[0] ?? '') : '';
  };
  const describe = (result: number) =>
    `${text(functions.cuGetErrorName, result) || `error ${result}`}: ${text(functions.cuGetErrorString, result) || 'unknown'}`;
  const isFatal = (result: number) => fatalResults.has(result);
  const check = (result: number, doing: string) => {
    if (result !== driverResults.success) {
      const code = result === driverResults.outOfMemory ? 'WS4001' : 'WS4006';
      throw new WarpstageError({
        code,
        message: `${doing} failed: ${describe(result)}`,
        hint: hintOf(result),
      });
    }
  };
  const version = [0];
  functions.cuDriverGetVersion(version);
  if (version[0]! < oldestVersion) {
    const [has, needs] = [version[0]!, oldestVersion].map(versionInWords);
    throw new WarpstageError({
      code: 'WS4003',
      message: `the NVIDIA driver is too old: it supports CUDA ${has}, and warpstage needs ${needs}`,
      hint: 'install a newer NVIDIA driver (525 or later), or open("cpu")',
    });
  }
  const launch = (handle: number, { address, optionsAddress }: NativeLaunch) =>
    functions.cuLaunchKernelEx(address, handle, 0, optionsAddress);
  const { path } = found;
  return { ...functions, functions, path, launch, issuing: null, describe, check, isFatal };
}

/** 12040 is CUDA 12.4. */
function versionInWords(version: number): string {
  return `${Math.floor(version / 1000)}.${Math.floor((version % 1000) / 10)}`;
}
