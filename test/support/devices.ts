// The devices that tests of the runtime run on.

import { type Device, type OpenOptions, open } from 'warpstage';
import { gpus } from './gpu.ts';

export interface TestDevice {
  readonly name: string;
  readonly kind: 'cpu' | 'cuda';
  readonly options: OpenOptions;
  /** What `ranOn` says of a plain kernel. */
  readonly ranOn: RegExp;
  readonly open: (options?: OpenOptions) => Promise<Device>;
}

function device(name: string, kind: TestDevice['kind'], options: OpenOptions, ranOn: RegExp): TestDevice {
  return { name, kind, options, ranOn, open: (more = {}) => open(kind, { ...options, ...more }) };
}

/** The CPU in its ways. */
export const cpuDevices: readonly TestDevice[] = [
  device('cpu, wasm, two threads', 'cpu', { target: 'wasm', threads: 2 }, /^wasm/),
  device('cpu, wasm, one thread', 'cpu', { target: 'wasm', threads: 1 }, /^wasm/),
  device('cpu, interpreter', 'cpu', { target: 'interpreter' }, /^interpreter$/),
];

/** Every kind of device that is here and tests each access. */
export const checkedDevices: readonly TestDevice[] =
  gpus === 0
    ? cpuDevices
    : [...cpuDevices, device('cuda, checked', 'cuda', { checked: true }, /^cuda \(kernel, checked/)];

/** Every kind of device that is here, for `describe.each`. */
export const devices: readonly TestDevice[] =
  gpus === 0 ? checkedDevices : [...checkedDevices, device('cuda', 'cuda', {}, /^cuda \(kernel/)];
