// The surroundings of a device in Node: engines with threads of their own, and a process whose address space may be
// limited.

import { cpus } from 'node:os';
import { addressSpaceLeft, isUntrapped, noAddressSpace, sizeThatFits } from './address-space.ts';
import { clockOffset } from './clock.ts';
import { Engines } from './engines.ts';
import { arrayFreed, collectGarbage, deviceFreed } from './garbage.ts';
import type { Surroundings } from './surroundings.ts';

export const threads: Surroundings = {
  get processor() {
    return cpus()[0]?.model.trim() || `${process.arch} processor`;
  },
  sizeOf(wanted) {
    const left = addressSpaceLeft();
    if (left === Number.POSITIVE_INFINITY) return wanted;
    const size = sizeThatFits(wanted, left, !isUntrapped());
    if (size === null) throw noAddressSpace(left);
    return size;
  },
  createEngines({ table, tableMemory, memories, runners, threads, events }) {
    const common = () => ({ table: tableMemory, ...memories(), runners, clockOffset: clockOffset() });
    return new Engines(common, table, threads, events);
  },
  arrayFreed,
  collectGarbage,
  deviceFreed,
};
