// What a device is opened with.

import { WarpstageError } from '../diagnostics/error.ts';
import type { KernelTime } from './model/operation-times.ts';
import type { PresetName } from './model/presets.ts';

/**
 * The name of a device: `'cpu'`; `'cpu-native'` for the same by the system's compiler of C; `'cuda'` or `'cuda:1'` for an NVIDIA GPU; `'model:c2050'` or `'model:my-device.json'`
 * for a virtual device. Editors offer those that every installation knows.
 */
export type DeviceName =
  | 'cpu'
  | 'cpu-native'
  | 'cuda'
  | `model:${PresetName}`
  | (string & Record<never, never>);

/** Options of `open`; those that a device has no use for are ignored. */
export interface OpenOptions {
  /**
   * Bytes of device memory. On the CPU the default is 4 GiB less 64 KiB; only what is used is taken. More, up to 12 GiB, has
   * addresses of 64 bits, which takes Node 24 or later, and some kernels' time.
   */
  readonly memory?: number;
  /** How many threads run the blocks of a kernel. Default: as many as the machine runs at a time. */
  readonly threads?: number;
  /** What runs kernels on the CPU: `wasm` is fast; `interpreter` is slow, exact and checks more. Default `wasm`. */
  readonly target?: 'wasm' | 'interpreter';
  /** When the interpreter delivers asynchronous copies: at once, as late as a wait allows, or by a seed. Default `eager`. */
  readonly delivery?: 'eager' | 'late' | number;
  /** Whether the default stream synchronises with the others (as CUDA's does) or is one of them. Default `legacy`. */
  readonly defaultStream?: 'legacy' | 'perThread';
  /**
   * On an NVIDIA GPU: whether kernels test every access, asynchronous copy and division of integers as they run, and
   * look in long loops whether they are to stop. Then the first fault is an error with its line, thread and block, as
   * on the CPU, after which the GPU goes on; and a signal ends a kernel that runs. It costs time. Default false:
   * nothing is tested, and an access outside its array may take the GPU from the process (WS4006).
   */
  readonly checked?: boolean;
  /**
   * On `cpu-native`: whether a kernel's first launch waits for the compiler (`first`), or WebAssembly runs until its code is
   * there (`aside`, the default). Results are the same.
   */
  readonly compile?: 'aside' | 'first';
  /**
   * On a virtual device: the milliseconds that a kernel takes when it has the device to itself. Default: its
   * bytes and operations, estimated from its text, over the device's rates.
   */
  readonly kernelTime?: KernelTime;
  /**
   * On a virtual device: whether copies and kernels are carried out (default), or only timed, which leaves
   * the arrays as they are.
   */
  readonly execute?: boolean;
}

export function checkDefaultStream(defaultStream: unknown): void {
  const known = defaultStream === 'legacy' || defaultStream === 'perThread';
  checkOption('defaultStream', defaultStream, known, "'legacy' or 'perThread'");
}

/** Throws WS4007 unless an option is valid. */
export function checkOption(
  option: string,
  given: unknown,
  valid: boolean,
  expected: string,
  hint?: string,
): void {
  if (valid) return;
  throw new WarpstageError({
    code: 'WS4007',
    message: `open: option \`${option}\` must be ${expected}, and is ${String(given)}`,
    ...(hint === undefined ? {} : { hint }),
  });
}
