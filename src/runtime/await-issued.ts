// Devices that are given work by a thread of their own: who measures what issuing takes waits for that thread.

import type { Device } from './device.ts';

/** A method of such devices, which returns when all work is given. Known to every copy of this package in a process. */
export const issued: unique symbol = Symbol.for('warpstage: all work is issued') as never;

/** Waits until what a program has issued so far is given to what carries it out; for most devices it is at once. */
export function awaitIssued(device: Device): void {
  (device as Partial<Record<typeof issued, () => void>>)[issued]?.();
}
