// The devices that tests of the runtime run on.

import { type Device, type OpenOptions, open } from 'warpstage';
import { hasWideAddresses } from './addresses.ts';
import { gpus } from './gpu.ts';
import { atLength, isFirst } from './thorough.ts';
import { hasTool } from './tools.ts';

export interface TestDevice {
  readonly name: string;
  readonly kind: 'cpu' | 'cuda';
  readonly options: OpenOptions;
  /** What `ranOn` says of a plain kernel. */
  readonly ranOn: RegExp;
  readonly open: (options?: OpenOptions) => Promise<Device>;
}

function device(
  name: string,
  kind: TestDevice['kind'],
  options: OpenOptions,
  ranOn: RegExp,
  opened: 'cpu' | 'cpu-native' | 'cuda' = kind,
): TestDevice {
  const given = kind === 'cpu' && hasWideAddresses ? { memory: 6 * 2 ** 30, ...options } : options;
  return { name, kind, options, ranOn, open: (more = {}) => open(opened, { ...given, ...more }) };
}

/** By the system's compiler of C, which takes a while for each kernel. */
export const nativeDevices: readonly TestDevice[] =
  atLength && hasTool('cc')
    ? [device('cpu-native', 'cpu', { compile: 'first', threads: 2 }, /^native/, 'cpu-native')]
    : [];

/** Whether what ran before has had all devices but those of the system's compiler. */
const isRest = !isFirst && nativeDevices.length > 0;

/** The CPU in its ways. */
export const cpuDevices: readonly TestDevice[] = isRest
  ? nativeDevices
  : [
      device('cpu, wasm, two threads', 'cpu', { target: 'wasm', threads: 2 }, /^wasm/),
      device('cpu, wasm, one thread', 'cpu', { target: 'wasm', threads: 1 }, /^wasm/),
      device('cpu, interpreter', 'cpu', { target: 'interpreter' }, /^interpreter$/),
      ...nativeDevices,
    ];

/** Every kind of device that is here and tests each access. */
export const checkedDevices: readonly TestDevice[] =
  gpus === 0 || isRest
    ? cpuDevices
    : [...cpuDevices, device('cuda, checked', 'cuda', { checked: true }, /^cuda \(kernel, checked/)];

/** Every kind of device that is here, for `describe.each`; of a rest, those that nothing ran on before. */
export const devices: readonly TestDevice[] =
  gpus === 0 || isRest ? checkedDevices : [...checkedDevices, device('cuda', 'cuda', {}, /^cuda \(kernel/)];
