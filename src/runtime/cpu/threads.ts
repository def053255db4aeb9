// The surroundings of a device in Node: engines with threads of their own, and a process whose address space may be
// limited.

import { availableParallelism, cpus } from 'node:os';
import { addressSpaceLeft, isUntrapped, noAddressSpace, sizeThatFits } from './address-space.ts';
import { clockOffset } from './clock.ts';
import { Engines } from './engines.ts';
import { arrayFreed, collectGarbage, deviceFreed } from './garbage.ts';
import type { Staff } from './staff.ts';
import type { Surroundings } from './surroundings.ts';
import { NodeThread } from './thread.ts';
import { text } from './worker.text.js';

/** Threads of the pool that start together: a start takes some 20 ms of the main thread and of a processor. */
const atOnce = Math.max(8, availableParallelism());

/** `text`: the program that each thread is started with. */
export const threadsOf = (text: string): Surroundings => ({
  get processor() {
    return cpus()[0]?.model.trim() || `${process.arch} processor`;
  },
  sizeOf(wanted) {
    const left = addressSpaceLeft();
    if (left === Number.POSITIVE_INFINITY) return wanted;
    const size = sizeThatFits(wanted, left, !isUntrapped());
    if (size === null) throw noAddressSpace(left, wanted.addressType === 'i64');
    return size;
  },
  createEngines({ table, tableMemory, memories, runners, threads, events }) {
    // Made for each thread, so that nothing of a closed device is kept.
    const common = () => ({ table: tableMemory, ...memories(), runners, clockOffset: clockOffset() });
    const staff: Staff = {
      atOnce,
      start: (role, pool, events) => new NodeThread(text, { ...common(), role, pool }, events),
      wait: (table, ticket, timeout) => table.blockMain(ticket, timeout),
      async replace() {},
      async close() {},
    };
    return new Engines(staff, table, threads, events);
  },
  arrayFreed,
  collectGarbage,
  deviceFreed,
});

export const threads = threadsOf(text);
