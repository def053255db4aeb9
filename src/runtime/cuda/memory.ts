// Memory of a GPU and page-locked memory of the host.
//
// Device memory comes from the GPU's pool and is zeroed in a stream of its own, so that neither
// waits for kernels that run; every stream waits, before its next command, for the last zeroing. So does a stream of
// another GPU before it copies from or to that memory.
// Page-locked memory is JavaScript's own, locked in place: a view that is kept after `free()`
// stays harmless, since the memory lives as long as the view. JavaScript's buffers begin 16 bytes into
// a page; the data begins with the next one, since transfers that straddle lines of the host's caches take longer.

import { cFunction } from './c-library.ts';
import type { Context } from './context.ts';
import { type Driver, driverResults } from './driver.ts';
import type { DriverStream } from './driver-stream.ts';
import { addressOf } from './library.ts';

/** CU_STREAM_NON_BLOCKING */
const nonBlocking = 1;
/** CU_MEMHOSTREGISTER_PORTABLE */
const portable = 1;
/** Bytes of a page, and of a large one. */
const page = 4096;
const largePage = 2 ** 21;
/** From how many bytes on an array begins with a page, and lies in large ones. */
const leastAligned = 2 ** 16;
const leastLarge = 2 ** 26;
/** MADV_HUGEPAGE of Linux */
const wantsLargePages = 14;
/** CUmemPool_attribute */
const poolAttribute = { releaseThreshold: 4, reservedNow: 5, usedNow: 7 } as const;
/** CUmemAccessDesc: location type "device", the ordinal, read and write. */
const accessOf = (device: number) => Uint32Array.of(1, device, 3);

export class DeviceMemory {
  readonly #driver: Driver;
  readonly #context: Context;
  readonly #stream: number;
  readonly #zeroed: number;
  readonly #pool: number;
  readonly #peers = new Set<Context>();
  readonly #taken = new Set<number>();
  #zeroings = 0;
  /** How many of them streams of other GPUs have waited for. */
  readonly #awaited = new WeakMap<DriverStream, number>();
  /** Whether `zeroed` is behind all of them. */
  #isMarked = true;

  constructor(driver: Driver, context: Context) {
    this.#driver = driver;
    this.#context = context;
    const [stream, event, pool] = [[0], [0], [0]];
    driver.check(driver.cuStreamCreateWithPriority(stream, nonBlocking, 0), 'creating a stream');
    driver.check(driver.cuEventCreate(event, 2), 'creating an event');
    driver.check(driver.cuDeviceGetDefaultMemPool(pool, context.device), 'asking for the memory pool');
    this.#stream = Number(stream[0]);
    this.#zeroed = Number(event[0]);
    this.#pool = Number(pool[0]);
    // What was freed stays with the pool, and is had again at once.
    const all = BigUint64Array.of(2n ** 64n - 1n);
    driver.check(
      driver.cuMemPoolSetAttribute(this.#pool, poolAttribute.releaseThreshold, all),
      'setting up the memory pool',
    );
  }

  /** The address of fresh memory whose bytes are zero, or null if the GPU has no more. */
  allocate(bytes: number): number | null {
    const driver = this.#driver;
    this.#context.use();
    const address = [0];
    // The driver refuses to allocate nothing; one byte stands for an array without elements.
    const size = Math.max(bytes, 1);
    const result = driver.cuMemAllocAsync(address, size, this.#stream);
    if (result === driverResults.outOfMemory) return null;
    driver.check(result, 'alloc');
    const begin = Number(address[0]);
    driver.check(driver.cuMemsetD8Async(begin, 0, size, this.#stream), 'setting an array to zero');
    this.#isMarked = false;
    this.#taken.add(begin);
    return begin;
  }

  /** Has the commands that a stream is given next wait until all memory handed out is zero. */
  awaitZeroing(stream: DriverStream): void {
    this.#mark();
    if (stream.zeroings === this.#zeroings) return;
    this.#driver.check(
      this.#driver.cuStreamWaitEvent(stream.handle, this.#zeroed, 0),
      'waiting for an array',
    );
    stream.zeroings = this.#zeroings;
  }

  /**
   * What a stream of another GPU is to wait for before it uses this memory: an event behind all zeroings, or null if it has
   * waited for them. This GPU's context is the current one afterwards.
   */
  zeroedFor(stream: DriverStream): number | null {
    this.#context.use();
    this.#mark();
    if (this.#awaited.get(stream) === this.#zeroings) return null;
    this.#awaited.set(stream, this.#zeroings);
    // Another GPU may wait for an event only behind its recording.
    this.#driver.issuing?.settle();
    return this.#zeroed;
  }

  /** Marks where all memory handed out is zero. */
  #mark(): void {
    if (this.#isMarked) return;
    this.#driver.check(this.#driver.cuEventRecord(this.#zeroed, this.#stream), 'setting an array to zero');
    this.#isMarked = true;
    this.#zeroings += 1;
  }

  /** Takes memory back that no command uses any more. */
  free(address: number): void {
    this.#context.use();
    this.#taken.delete(address);
    this.#driver.cuMemFreeAsync(address, this.#stream);
  }

  /** What this GPU's pool has taken and nobody uses: bytes that can be had beside the free ones. */
  get spare(): number {
    const [reserved, used] = [new BigUint64Array(1), new BigUint64Array(1)];
    this.#context.use();
    this.#driver.cuMemPoolGetAttribute(this.#pool, poolAttribute.reservedNow, reserved);
    this.#driver.cuMemPoolGetAttribute(this.#pool, poolAttribute.usedNow, used);
    return Number(reserved[0]! - used[0]!);
  }

  /** Lets another GPU read and write this one's memory, where the machine can; copies go through the host where not. */
  admit(peer: Context): void {
    if (this.#peers.has(peer)) return;
    this.#peers.add(peer);
    peer.use();
    this.#driver.cuCtxEnablePeerAccess(this.#context.handle, 0);
    this.#context.use();
    this.#driver.cuMemPoolSetAccess(this.#pool, accessOf(peer.device), 1);
  }

  /** Takes all memory back, and gives it to the system. */
  close(): void {
    for (const address of this.#taken) this.free(address);
    this.#driver.cuStreamSynchronize(this.#stream);
    this.#driver.cuMemPoolTrimTo(this.#pool, 0);
    this.#driver.cuStreamDestroy_v2(this.#stream);
    this.#driver.cuEventDestroy_v2(this.#zeroed);
  }
}

/** Where buffers with page-locked memory lie. Every GPU reaches what any of them has locked, at the same address. */
const locked = new Map<SharedArrayBuffer, number>();

/** Memory from `begin` on in a buffer. */
export interface PinnedStretch {
  readonly buffer: SharedArrayBuffer;
  readonly begin: number;
}

/** Page-locked memory, known by the buffer that holds it. */
export class PinnedMemory {
  readonly #driver: Driver;
  readonly #context: Context;
  /** The beginning of what is locked in each buffer. */
  readonly #own = new Map<SharedArrayBuffer, number>();

  constructor(driver: Driver, context: Context) {
    this.#driver = driver;
    this.#context = context;
  }

  /** Makes page-locked memory, a buffer of its own. May throw RangeError, or an error of the driver. */
  allocate(bytes: number): SharedArrayBuffer {
    const buffer = new SharedArrayBuffer(bytes);
    this.#lock(buffer, 0, bytes);
    return buffer;
  }

  /** Makes page-locked memory for data, which begins with a page unless it is short. */
  allocateAligned(bytes: number): PinnedStretch {
    const alignment = bytes >= leastLarge ? largePage : bytes >= leastAligned ? page : 1;
    const buffer = new SharedArrayBuffer(bytes + alignment - 1);
    const address = addressOf(new Uint8Array(buffer));
    const begin = Math.ceil(address / alignment) * alignment - address;
    if (alignment === largePage) askForLargePages(address + begin, bytes);
    this.#lock(buffer, begin, bytes);
    return { buffer, begin };
  }

  #lock(buffer: SharedArrayBuffer, begin: number, bytes: number): void {
    this.#context.use();
    // Nothing is never copied, and cannot be locked.
    const address = bytes === 0 ? 0 : addressOf(new Uint8Array(buffer));
    if (bytes > 0) {
      const result = this.#driver.cuMemHostRegister_v2(address + begin, bytes, portable);
      this.#driver.check(result, 'locking memory of the host');
    }
    locked.set(buffer, address);
    this.#own.set(buffer, begin);
  }

  /** Where a buffer lies; undefined for memory that is not page-locked. */
  addressOf(buffer: SharedArrayBuffer): number | undefined {
    return locked.get(buffer);
  }

  /** Unlocks memory that no command uses any more. */
  free(buffer: SharedArrayBuffer): void {
    const begin = this.#own.get(buffer);
    if (begin === undefined) return;
    const address = locked.get(buffer);
    this.#own.delete(buffer);
    locked.delete(buffer);
    this.#context.use();
    if (address) this.#driver.cuMemHostUnregister(address + begin);
  }

  /** Forgets it all, where the GPU has stopped and nothing can be unlocked. */
  abandon(): void {
    for (const buffer of this.#own.keys()) locked.delete(buffer);
    this.#own.clear();
  }

  close(): void {
    for (const buffer of [...this.#own.keys()]) this.free(buffer);
  }
}

let advise: ((address: number, bytes: number, advice: number) => number) | null | undefined;

/** Asks for large pages, of which fewer have to be filled with zeros, locked and looked up at each transfer. */
function askForLargePages(address: number, bytes: number): void {
  advise ??= process.platform === 'linux' ? cFunction('madvise', 'int', 'uint64_t', 'size_t', 'int') : null;
  advise?.(address, bytes, wantsLargePages);
}
