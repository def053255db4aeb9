// The entry of the thread that answers CUPTI's callbacks; see buffers.ts.
//
// The build makes one text of it and of what it imports (thread.text.js), which the thread is started with.

import { createRequire } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';
import type * as Koffi from 'koffi';
import { type BufferMemory, Buffers, bufferBytes } from './buffers.ts';

/** What the thread is started with. */
export interface CallbackThread {
  readonly memory: BufferMemory;
  /** Where the FFI package is. */
  readonly koffi: string;
}

const given = workerData as CallbackThread;
const buffers = new Buffers(given.memory);

try {
  const koffi = createRequire(given.koffi)(given.koffi) as typeof Koffi;
  const callback = (text: string, run: (...values: never[]) => void) =>
    Number(koffi.address(koffi.register(run, koffi.pointer(koffi.proto(text)))));
  const request = callback(
    'void warpstageCuptiRequest(void *buffer, void *size, void *records)',
    (buffer: unknown, size: unknown, records: unknown) => {
      const address = buffers.take();
      koffi.encode(buffer, 'uint64_t', address);
      koffi.encode(size, 'size_t', address === 0 ? 0 : bufferBytes);
      koffi.encode(records, 'size_t', 0); // as many records as fit
    },
  );
  const complete = callback(
    'void warpstageCuptiComplete(void *context, uint32_t stream, uint64_t buffer, size_t size, size_t valid)',
    (_context: unknown, _stream: unknown, buffer: number | bigint, _size: unknown, valid: number | bigint) =>
      buffers.give(Number(buffer), Number(valid)),
  );
  buffers.announce({ request, complete });
  // The thread lives as long as the process: CUPTI may call at any time.
  parentPort!.on('message', () => {});
} catch {
  buffers.announce(null);
}
