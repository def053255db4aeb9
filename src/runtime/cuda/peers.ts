// Memory of other GPUs, which copies name: how it is reached, and whose it is.

import type { Reach } from '../arrays.ts';
import type { CopyWork, Side } from '../copies.ts';
import type { Device } from '../device.ts';
import type { GraphWork } from '../graph-work.ts';
import type { GpuWork } from './issuer.ts';
import type { DeviceMemory } from './memory.ts';

/** Other GPUs reach this one's memory by the same addresses, once they are admitted. */
export class GpuReach {
  readonly kind = 'everywhere';
  readonly memory: DeviceMemory;
  readonly admit: (device: Device) => void;

  constructor(memory: DeviceMemory, admit: (device: Device) => void) {
    this.memory = memory;
    this.admit = admit;
  }
}

const none: readonly DeviceMemory[] = [];
const ofGraphs = new WeakMap<GraphWork, readonly DeviceMemory[]>();

/** Whose memory work uses beside the memory of its own GPU, which may be among these. */
export function peersOf(work: GpuWork): readonly DeviceMemory[] {
  if (work.kind === 'copy') return work.peer ? ofCopy(work) : none;
  if (work.kind !== 'graph') return none;
  let found = ofGraphs.get(work);
  if (found === undefined) {
    const copies = work.nodes.flatMap(({ work: node }) => (node.kind === 'copy' && node.peer ? [node] : []));
    found = copies.length === 0 ? none : [...new Set(copies.flatMap(ofCopy))];
    ofGraphs.set(work, found);
  }
  return found;
}

function ofCopy({ source, destination }: CopyWork): readonly DeviceMemory[] {
  return [source, destination].flatMap((side) => ofSide(side));
}

function ofSide({ memory }: Side): readonly DeviceMemory[] {
  const reach: Reach | undefined = memory.kind === 'device' ? memory.allocation.reach : undefined;
  return reach instanceof GpuReach ? [reach.memory] : none;
}
