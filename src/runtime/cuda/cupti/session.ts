// The process's use of CUPTI: one for all devices, as CUPTI is.
//
// While a device wants records, their kinds are switched on. Records come in buffers (buffers.ts) when
// they are asked for or a buffer is full; each goes to the stream that it is of. CUPTI's clock is brought to
// that of `performance.now()` by reading both at once. Whatever fails ends the use of CUPTI, and
// the devices fall back to events: nothing here throws.

import { isMainThread, Worker } from 'node:worker_threads';
import { foreignFunctionsPath } from '../library.ts';
import { allocateNative } from '../native.ts';
import { Buffers, createBuffers } from './buffers.ts';
import { type Cupti, openCupti } from './library.ts';
import { type ActivityRecord, activityKinds, readRecord, type TimeBase, timeBase } from './records.ts';
import { text } from './thread.text.js';
import type { CallbackThread } from './thread.ts';

/** How long the thread of the callbacks may take to start, in milliseconds. */
const startLimit = 5000;
/** Milliseconds between two readings of the clock within which nothing else happened. */
const narrow = 0.002;
/** CUPTI_ACTIVITY_FLAG_FLUSH_FORCED */
const forced = 1;

let opened: CuptiSession | string | undefined;

/** The session, started when it is first asked for; a sentence on why not, where there is none. */
export function cuptiSession(): CuptiSession | string {
  opened ??= start();
  return opened;
}

function start(): CuptiSession | string {
  if (!isMainThread) return 'CUPTI is used from the main thread alone';
  try {
    const cupti = openCupti();
    if (typeof cupti === 'string') return cupti;
    const { memory, views } = createBuffers(allocateNative);
    const buffers = new Buffers(memory);
    const thread = new Worker(text, {
      eval: true,
      workerData: { memory, koffi: foreignFunctionsPath() } satisfies CallbackThread,
      execArgv: [],
      name: 'warpstage cupti',
    });
    thread.unref();
    thread.on('error', () => {});
    const callbacks = buffers.awaitCallbacks(startLimit);
    if (callbacks === null) return 'the thread that takes CUPTI’s records did not start';
    const result = cupti.cuptiActivityRegisterCallbacks(callbacks.request, callbacks.complete);
    if (result !== 0) return `CUPTI refused to record (its error ${result})`;
    return new CuptiSession(cupti, buffers, views);
  } catch (error) {
    return `CUPTI cannot be used: ${error instanceof Error ? error.message : String(error)}`;
  }
}

export class CuptiSession {
  readonly #cupti: Cupti;
  readonly #buffers: Buffers;
  /** What is in each of them. */
  readonly #views: readonly DataView[];
  readonly #streams = new Map<number, (record: ActivityRecord) => void>();
  #users = 0;
  /** CUPTI's time from which records count, once there is one, and the host's time of it. */
  #base: { readonly time: bigint; readonly halves: TimeBase } | null = null;
  #offset = 0;
  /** Bytes of each kind of record, as CUPTI has shown them. */
  readonly #sizes = new Map<number, number>();
  /** Where CUPTI writes the time. */
  readonly #stamp = allocateNative(8);

  constructor(cupti: Cupti, buffers: Buffers, views: readonly DataView[]) {
    this.#cupti = cupti;
    this.#buffers = buffers;
    this.#views = views;
    // No callback may come when the thread that answers is gone.
    process.on('exit', () => {
      if (this.#users > 0) this.#switch('cuptiActivityDisable');
      if (this.#base !== null) this.#cupti.cuptiActivityFlushAll(forced);
    });
  }

  /** Switches records on, if they are not. False if CUPTI refuses. */
  begin(): boolean {
    if (this.#users === 0) {
      if (!this.#switch('cuptiActivityEnable')) {
        this.#switch('cuptiActivityDisable');
        return false;
      }
      this.#setClock();
    }
    this.#users += 1;
    return true;
  }

  end(): void {
    this.#users -= 1;
    if (this.#users === 0) this.#switch('cuptiActivityDisable');
  }

  #switch(how: 'cuptiActivityEnable' | 'cuptiActivityDisable'): boolean {
    return Object.values(activityKinds).every((kind) => this.#cupti[how](kind) === 0);
  }

  /** Has the records of a stream reported; how to stop that, or null if CUPTI does not know the stream. */
  listen(context: number, stream: number, reported: (record: ActivityRecord) => void): (() => void) | null {
    const [contextId, streamId] = [[0], [0]];
    if (this.#cupti.cuptiGetContextId(context, contextId) !== 0) return null;
    if (this.#cupti.cuptiGetStreamIdEx(context, stream, 0, streamId) !== 0) return null;
    const key = keyOf(contextId[0]!, streamId[0]!);
    this.#streams.set(key, reported);
    return () => {
      // The driver's stream may be another stream's by now.
      if (this.#streams.get(key) === reported) this.#streams.delete(key);
    };
  }

  /** Reads the records of full buffers, if there are any; costs next to nothing if not. */
  read(): void {
    if (this.#buffers.hasFull) this.#buffers.drain((position, bytes) => this.#readBuffer(position, bytes));
  }

  /** Has CUPTI give up its buffers, and reads them: all records of what is complete. */
  flush(): void {
    this.#cupti.cuptiActivityFlushAll(0);
    this.read();
    this.#setClock();
  }

  /** The same, with what is not complete. */
  force(): void {
    this.#cupti.cuptiActivityFlushAll(forced);
    this.read();
  }

  #readBuffer(position: number, bytes: number): void {
    if (this.#base === null) return;
    const view = this.#views[position]!;
    const address = this.#buffers.memory.addresses[position]!;
    const { halves } = this.#base;
    for (let at = 0; at < bytes; ) {
      const record = readRecord(view, at, halves);
      if (record !== null) this.#streams.get(keyOf(record.context, record.stream))?.(record);
      const size = this.#sizeAt(view, address, at, bytes);
      if (size === 0) return;
      at += size;
    }
  }

  /** Bytes of the record at an offset: where the next one of its kind begins has been asked once. 0 at the end. */
  #sizeAt(view: DataView, address: number, at: number, bytes: number): number {
    const kind = view.getUint32(at, true);
    const known = this.#sizes.get(kind);
    if (known !== undefined) return known;
    const next = [address + at];
    if (this.#cupti.cuptiActivityGetNextRecord(address, bytes, next) !== 0) return 0;
    const size = Number(next[0]) - address - at;
    if (size <= 0) return 0;
    this.#sizes.set(kind, size);
    return size;
  }

  // Time

  /** The host's time of a moment that a record tells. */
  hostTime(nanoseconds: number): number {
    return nanoseconds / 1e6 + this.#offset;
  }

  #setClock(): void {
    let narrowest = Number.POSITIVE_INFINITY;
    // The thread may be held up between two readings; the narrowest of a few brackets was not.
    for (let i = 0; i < 8 && narrowest > narrow; ++i) {
      const before = performance.now();
      if (this.#cupti.cuptiGetTimestamp(this.#stamp.address) !== 0) return;
      const after = performance.now();
      if (after - before >= narrowest) continue;
      narrowest = after - before;
      const time = this.#stamp.view.getBigUint64(0, true);
      this.#base ??= { time, halves: timeBase(time) };
      this.#offset = (before + after) / 2 - Number(time - this.#base.time) / 1e6;
    }
  }
}

/** A stream of a context, by their numbers. */
function keyOf(context: number, stream: number): number {
  return context * 2 ** 32 + stream;
}
