// CUPTI, NVIDIA's library of what a GPU did and when: found like NVRTC, and never required.

import { bind, type NativeFunction, openLibrary, type Prototype } from '../library.ts';
import { toolkitFolders, wheelFolders } from '../toolkit.ts';
import { isKnownVersion } from './records.ts';

const prototypes = {
  cuptiGetVersion: ['int', '_Out_ uint32_t *'],
  cuptiGetTimestamp: ['int', 'uint64_t'],
  cuptiGetContextId: ['int', 'uint64_t', '_Out_ uint32_t *'],
  cuptiGetStreamIdEx: ['int', 'uint64_t', 'uint64_t', 'uint8_t', '_Out_ uint32_t *'],
  cuptiActivityRegisterCallbacks: ['int', 'uint64_t', 'uint64_t'],
  cuptiActivityEnable: ['int', 'int'],
  cuptiActivityDisable: ['int', 'int'],
  cuptiActivityFlushAll: ['int', 'uint32_t'],
  cuptiActivityGetNextRecord: ['int', 'uint64_t', 'size_t', '_Inout_ uint64_t *'],
} as const satisfies Record<string, Prototype>;

export type Cupti = { readonly [K in keyof typeof prototypes]: NativeFunction };

/** Opens CUPTI; a sentence on why not, where it is not to be had. */
export function openCupti(): Cupti | string {
  const own = process.env.WARPSTAGE_CUPTI;
  const versions = ['13', '12', '11.8', '11.7', '11.6'];
  const names = [...versions.map((version) => `libcupti.so.${version}`), 'libcupti.so'];
  const folders = [
    ...toolkitFolders(['extras/CUPTI/lib64', 'lib64']),
    ...wheelFolders(['cu13', 'cuda_cupti']),
  ];
  const found = openLibrary(own === undefined ? names : [own], own === undefined ? folders : []);
  if (found.library === null) {
    return own === undefined
      ? 'libcupti was not found: it comes with the CUDA toolkit and with `pip install nvidia-cuda-cupti`'
      : `libcupti was not found at WARPSTAGE_CUPTI=${own}`;
  }
  const cupti = bind(found.library, prototypes);
  const version = [0];
  if (cupti.cuptiGetVersion(version) !== 0) return `${found.path} does not tell its version`;
  if (!isKnownVersion(version[0]!)) return `the records of CUPTI's version ${version[0]} are not known`;
  return cupti;
}
