// Kernels that a device made of its own language: they have a schema, and no function of
// JavaScript that another device could compile.

import { WarpstageError } from '../diagnostics/error.ts';
import type { Kernel } from '../kernel/kernel.ts';
import type { Schema } from '../kernel/schema.ts';
import type { Device } from './device.ts';
import { kernelInWords } from './launch.ts';

const owners = new WeakMap<Kernel, Device>();

/** A kernel that only this device launches. */
export function nativeKernel<S extends Schema>(device: Device, name: string, schema: S): Kernel<S> {
  const made: Kernel<S> = Object.freeze({
    kind: 'kernel',
    name,
    schema,
    fma: true,
    body: () => {
      throw new TypeError('a kernel of CUDA C++ has no JavaScript');
    },
  });
  owners.set(made as unknown as Kernel, device);
  return made;
}

/** Throws WS2005 for a kernel that another device made. */
export function checkLanguage(kernel: Kernel, device: Device): void {
  const owner = owners.get(kernel);
  if (owner === undefined || owner === device) return;
  throw new WarpstageError({
    code: 'WS2005',
    message: `launch of ${kernelInWords(kernel.name)}: it is CUDA C++ that was compiled by another device (${owner.properties.name})`,
    hint: 'compile it on the device that is to launch it: device.compile(source, { name, schema })',
  });
}

/** The error of a device that compiles no CUDA C++. */
export function noCudaHere(device: Device): WarpstageError {
  return new WarpstageError({
    code: 'WS4003',
    message: `compile: CUDA C++ runs on NVIDIA GPUs, and this device is ${device.properties.name}`,
    hint: "open('cuda'), or write the kernel in TypeScript: kernel(schema, ({ … }, cuda) => { … }) runs everywhere",
  });
}
