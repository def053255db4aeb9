// What the copy engines do: boxes of bytes, and memory set to one byte.

import { copyBox, fillBytes } from '../box.ts';
import type { TaskHandler } from './engine-queue.ts';
import { MemoryView } from './linear-memory.ts';
import type { Target, Task } from './messages.ts';

export function copyHandler(
  deviceMemory: WebAssembly.Memory,
  stagingMemory: WebAssembly.Memory,
): TaskHandler {
  const device = new MemoryView(deviceMemory);
  const staging = new MemoryView(stagingMemory);

  function bytesOf(
    { buffer, offset, row, plane }: Target,
    { width, height, depth }: Copy['box'],
  ): Uint8Array {
    const end = offset + (depth - 1) * plane + (height - 1) * row + width;
    if (buffer === 'device') return device.upTo(end);
    if (buffer === 'staging') return staging.upTo(end);
    return new Uint8Array(buffer);
  }

  return {
    run(task) {
      switch (task.kind) {
        case 'copy': {
          const { destination, source, box } = task;
          copyBox(bytesOf(destination, box), destination, bytesOf(source, box), source, box);
          return true;
        }
        case 'set': {
          const end = task.address + task.bytes;
          fillBytes(device.upTo(end), task.address, end, task.byte);
          return true;
        }
        case 'launch':
          throw new TypeError('a copy engine launches nothing');
      }
    },
    announce() {
      throw new TypeError('a copy engine runs no executables');
    },
    forget() {},
  };
}

type Copy = Extract<Task, { kind: 'copy' }>;
