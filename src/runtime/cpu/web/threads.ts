// The surroundings of a device in a page that is isolated from others: engines with web workers, over shared memory. They
// do what Node's threads do, by the same words: the command table, the worker pool, and the engines' queues.

import { isComplete } from '../command-table.ts';
import { Engines } from '../engines.ts';
import type { Staff } from '../staff.ts';
import type { DeviceSize, EngineParts, Surroundings } from '../surroundings.ts';
import { Crew } from './crew.ts';
import { browserSize } from './size.ts';
import { WebThread } from './web-thread.ts';

/** Threads beside those that run blocks: the copy engines'. */
const copyThreads = 2;

/** Milliseconds between two looks at what threads report, while the main thread blocks. */
const slice = 4;

/** Starts workers for so many threads; null where there can be none. */
export async function webThreads(threads: number): Promise<Surroundings | null> {
  const crew = await Crew.start(threads + copyThreads);
  if (crew === null) return null;
  return {
    processor: 'WebAssembly of this browser',
    sizeOf: (wanted: DeviceSize) => ({ ...browserSize(wanted), threads: Math.min(wanted.threads, threads) }),
    createEngines: ({ table, tableMemory, memories, threads, events }: EngineParts) =>
      new Engines(
        staffOf(crew, () => ({ table: tableMemory, ...memories() })),
        table,
        threads,
        events,
      ),
    arrayFreed: () => false,
    collectGarbage: () => {},
    deviceFreed: () => {},
  };
}

type Common = Pick<ConstructorParameters<typeof WebThread>[1], 'table' | 'device' | 'staging'>;

function staffOf(crew: Crew, common: () => Common): Staff {
  const threads = new Set<WebThread>();
  return {
    atOnce: crew.size,
    start(role, pool, events) {
      const thread: WebThread = new WebThread(crew.take(), { ...common(), role, pool }, events);
      threads.add(thread);
      return thread;
    },
    wait(table, ticket, timeout) {
      const end = performance.now() + timeout;
      while (!isComplete(table.watchFromMain(ticket)) && performance.now() < end) {
        // A thread may wait for room to report.
        for (const thread of threads) thread.pull();
        block(() => table.blockMain(ticket, slice));
      }
    },
    replace: (count) => crew.replace(count),
    close: () => crew.close(),
  };
}

/** Waits, or where it must not, as in a window, looks again at once. */
function block(wait: () => void): void {
  try {
    wait();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
}
