// CUDA's driver API, as far as the device uses it.
//
// Handles and device addresses are u64 (numbers as long as they are exact). A call that fails
// throws, with the driver's own name for the error.

import { WarpstageError } from '../../diagnostics/error.ts';
import { copy3DType, defineCopy3D } from './copy3d.ts';
import { bind, foreignFunctions, type NativeFunction, openLibrary, type Prototype } from './library.ts';

const handle = 'uint64_t';
const out = '_Out_ uint64_t *';

const prototypes = {
  cuInit: ['int', 'uint'],
  cuDriverGetVersion: ['int', '_Out_ int *'],
  cuGetErrorName: ['int', 'int', '_Out_ const char **'],
  cuGetErrorString: ['int', 'int', '_Out_ const char **'],
  cuDeviceGetCount: ['int', '_Out_ int *'],
  cuDeviceGet: ['int', '_Out_ int *', 'int'],
  cuDeviceGetName: ['int', 'void *', 'int', 'int'],
  cuDeviceGetAttribute: ['int', '_Out_ int *', 'int', 'int'],
  cuDeviceTotalMem_v2: ['int', '_Out_ size_t *', 'int'],
  cuDevicePrimaryCtxRetain: ['int', out, 'int'],
  cuDevicePrimaryCtxRelease_v2: ['int', 'int'],
  cuDevicePrimaryCtxReset_v2: ['int', 'int'],
  cuCtxSetCurrent: ['int', handle],
  cuCtxSynchronize: ['int'],
  cuCtxGetStreamPriorityRange: ['int', '_Out_ int *', '_Out_ int *'],
  cuMemGetInfo_v2: ['int', '_Out_ size_t *', '_Out_ size_t *'],
  cuMemAlloc_v2: ['int', out, 'size_t'],
  cuMemFree_v2: ['int', handle],
  cuMemHostRegister_v2: ['int', 'void *', 'size_t', 'uint'],
  cuMemHostUnregister: ['int', 'void *'],
  cuMemcpyHtoDAsync_v2: ['int', handle, 'void *', 'size_t', handle],
  cuMemcpyDtoHAsync_v2: ['int', 'void *', handle, 'size_t', handle],
  cuMemcpyDtoDAsync_v2: ['int', handle, handle, 'size_t', handle],
  cuMemcpy3DAsync_v2: ['int', `${copy3DType} *`, handle],
  cuMemsetD8_v2: ['int', handle, 'uint8_t', 'size_t'],
  cuMemsetD8Async: ['int', handle, 'uint8_t', 'size_t', handle],
  cuStreamCreateWithPriority: ['int', out, 'uint', 'int'],
  cuStreamDestroy_v2: ['int', handle],
  cuStreamQuery: ['int', handle],
  cuStreamSynchronize: ['int', handle],
  cuStreamWaitEvent: ['int', handle, handle, 'uint'],
  cuEventCreate: ['int', out, 'uint'],
  cuEventDestroy_v2: ['int', handle],
  cuEventRecord: ['int', handle, handle],
  cuEventQuery: ['int', handle],
  cuEventSynchronize: ['int', handle],
  cuEventElapsedTime: ['int', '_Out_ float *', handle, handle],
  cuModuleLoadData: ['int', out, 'void *'],
  cuModuleUnload: ['int', handle],
  cuModuleGetFunction: ['int', out, handle, 'const char *'],
  cuFuncSetAttribute: ['int', handle, 'int', 'int'],
  cuFuncGetAttribute: ['int', '_Out_ int *', 'int', handle],
  cuLaunchKernel: [
    'int',
    handle,
    'uint',
    'uint',
    'uint',
    'uint',
    'uint',
    'uint',
    'uint',
    handle,
    'void *',
    'void *',
  ],
} as const satisfies Record<string, Prototype>;

/** Results that are answers, not errors. */
export const driverResults = { success: 0, notReady: 600, outOfMemory: 2 } as const;

/** The driver's functions, each throwing where it fails. */
export type Driver = {
  readonly [K in keyof typeof prototypes | 'cuMemcpyHostToHostAsync']: NativeFunction;
} & {
  /** The driver's name and sentence for a result, for example `CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered`. */
  readonly describe: (result: number) => string;
  /** Throws if the result of a call is an error. */
  readonly check: (result: number, doing: string) => void;
};

let opened: Driver | undefined;

/** Opens and initialises the driver; an error in one sentence says what is missing and how to get it. */
export function openDriver(): Driver {
  if (opened !== undefined) return opened;
  const names = process.platform === 'win32' ? ['nvcuda.dll'] : ['libcuda.so.1', 'libcuda.so'];
  const folders = [
    '/usr/local/nvidia/lib64',
    '/usr/lib/x86_64-linux-gnu',
    '/usr/lib/aarch64-linux-gnu',
    '/usr/lib/wsl/lib',
  ];
  const found = openLibrary(names, folders);
  if (found.library === null) {
    throw new WarpstageError({
      code: 'WS4003',
      message: 'no NVIDIA driver was found: the library libcuda is not on this machine',
      hint: 'install the NVIDIA driver, or open("cpu")',
    });
  }
  defineCopy3D(foreignFunctions());
  const functions = {
    ...bind(found.library, prototypes),
    /** cuMemcpyAsync between two arrays of the host. */
    cuMemcpyHostToHostAsync: found.library.func('cuMemcpyAsync', 'int', [
      'void *',
      'void *',
      'size_t',
      handle,
    ]) as NativeFunction,
  };
  const text = (call: NativeFunction, result: number) => {
    const answer: (string | null)[] = [null];
    return call(result, answer) === driverResults.success ? (answer[0] ?? '') : '';
  };
  const describe = (result: number) =>
    `${text(functions.cuGetErrorName, result) || `error ${result}`}: ${text(functions.cuGetErrorString, result) || 'unknown'}`;
  const check = (result: number, doing: string) => {
    if (result !== driverResults.success) {
      const code = result === driverResults.outOfMemory ? 'WS4001' : 'WS4006';
      throw new WarpstageError({ code, message: `${doing} failed: ${describe(result)}` });
    }
  };
  const initialised = functions.cuInit(0);
  if (initialised !== driverResults.success) {
    throw new WarpstageError({
      code: 'WS4003',
      message: `the NVIDIA driver cannot be used: ${describe(initialised)}`,
      hint: 'check with nvidia-smi that the driver sees a GPU, or open("cpu")',
    });
  }
  opened = { ...functions, describe, check };
  return opened;
}
