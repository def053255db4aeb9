// The issuing thread: it gives the driver calls that the program's thread has written down.
//
// A call of the driver takes 1 to 4 us, and JavaScript has as much to do before it. On two threads the one hides behind the
// other. The program's thread writes calls into a ring, and the thread of issuing.c makes them in that order. A thread that
// sleeps takes longer to wake than a few calls take: so the first calls of a burst are made by the program's thread, which
// wakes the other one and hands over to it when it is awake. Before any other call of the driver, what was written is
// settled: it waits until all of it is made. So at any time one thread alone gives work to the driver, in the order of the
// program.
//
// Nobody hears what a call returns that was written down. Failures are kept, for `takeFailures`.

import { availableParallelism } from 'node:os';
import { problem } from '../../../diagnostics/problem.ts';
import { foreignFunctions } from '../library.ts';
import { type IssuingLibrary, issuingLibrary } from './library.ts';

/** Words of 32 bits of the ring, and where it begins; a power of two, as positions wrap. */
const ring = { words: 2 ** 16, begin: 48, bytes: 192 + 4 * 2 ** 16 } as const;
/** Words that both threads look at. */
const shared = { written: 0, issued: 16, failed: 17, state: 32, wakes: 33, heard: 34 } as const;
const states = { awake: 1, asleep: 2 } as const;

/** Kinds of calls. */
export const issuedKinds = { skip: 0, launch: 1, copy: 2, set: 3, record: 4, wait: 5, graph: 6 } as const;

/** So many calls in a row wake the thread. */
const burst = 16;
/** Microseconds without calls after which the thread sleeps. One that has slept makes its first calls slowly. */
const patience = 1000;
/** With fewer processors than this, the thread would take one from what else the process does. */
const leastProcessors = 4;
/** So often the program's thread looks from JavaScript whether what was written is issued; then C looks for it. */
const looks = 200;

/** A call that failed: which, by its position among all that were written, and with what. */
export interface IssuingFailure {
  readonly position: number;
  readonly kind: number;
  readonly result: number;
}

/** Nobody notifies it: to wait for it is to let others go on for a moment. */
const moment = new Int32Array(new SharedArrayBuffer(4));

/** What the threads that have ended leave, to be used again. */
const spare: Native[] = [];
/** Threads that run. They end with the process before what they use is torn down. */
const running = new Set<IssuingThread>();

interface Native {
  readonly library: IssuingLibrary;
  readonly driver: string;
  readonly queue: unknown;
  readonly words: Int32Array;
}

function makeNative(driver: string): Native | null {
  const found = spare.findIndex((native) => native.driver === driver);
  if (found >= 0) return spare.splice(found, 1)[0]!;
  const library = issuingLibrary();
  const queue = library?.make(driver) ?? null;
  if (library === null || queue === null) return null;
  return { library, driver, queue, words: new Int32Array(foreignFunctions().view(queue, ring.bytes)) };
}

export class IssuingThread {
  readonly #driver: string;
  readonly #context: number;
  /** Null until the thread is started. */
  #native: Native | null = null;
  #words: Int32Array = new Int32Array();
  /** Words written so far. */
  #written = 0;
  /** How many of them are known to be issued. */
  #issued = 0;
  /** Calls since the last one that cannot be written down. */
  #calls = 0;
  /** Whether calls are written down, and not made by the program's thread. */
  #isWriting = false;
  readonly #burst = callsOfBurst();
  #holds = 0;
  #failures: IssuingFailure[] = [];

  /** A thread for calls in a context of the driver at this path, started when there are many. */
  constructor(driver: string, context: number) {
    this.#driver = driver;
    this.#context = context;
  }

  /** Words written so far: the position of the call that is written next. */
  get position(): number {
    return this.#written;
  }

  /** Whether the next call is to be written down; else it is to be made here, and may be. */
  takes(): boolean {
    if (this.#isWriting) return true;
    if (this.#holds > 0 || ++this.#calls < this.#burst) return false;
    if (this.#native === null && !this.#start()) return false;
    this.#handOver();
    while (this.#burst === 1 && !this.#isWriting) {
      Atomics.wait(moment, 0, 0, 0.02);
      this.#handOver();
    }
    return this.#isWriting;
  }

  /** Has calls written down from here on if the thread is awake, and else wakes it. */
  #handOver(): void {
    if (Atomics.load(this.#words, shared.state) === states.awake) this.#isWriting = true;
    else this.#wake();
  }

  /** Wakes the thread if it sleeps, and was not woken already. */
  #wake(): void {
    const words = this.#words;
    if (Atomics.load(words, shared.state) !== states.asleep) return;
    if (Atomics.load(words, shared.wakes) !== Atomics.load(words, shared.heard)) return;
    const { library, queue } = this.#native!;
    library.wake(queue);
  }

  /** False without the library, or where the system has no room for a thread: all calls are made here then. */
  #start(): boolean {
    const native = makeNative(this.#driver);
    if (native === null || native.library.start(native.queue, this.#context, patience) !== 0) {
      this.#holds = Number.POSITIVE_INFINITY;
      if (native !== null) spare.push(native);
      return false;
    }
    if (running.size === 0) process.once('exit', stopAll);
    running.add(this);
    this.#native = native;
    this.#words = native.words;
    return true;
  }

  /** Has the calls that follow made here, until they are let go as often. */
  hold(): void {
    this.settle();
    this.#holds += 1;
  }

  letGo(): void {
    this.#holds -= 1;
  }

  // Calls, written down. Each has an even number of words, so that 64 bits are aligned.

  /** A launch of a function, by the words of its CUlaunchConfig and the parameters behind it. */
  launch(handle: number, description: Int32Array, parameterBytes: number): void {
    const count = 14 + ((parameterBytes + 7) >> 3) * 2;
    const at = this.#room(4 + count);
    const words = this.#words;
    words[at] = issuedKinds.launch | ((4 + count) << 8);
    words[at + 1] = parameterBytes;
    this.#address(at + 2, handle);
    for (let word = 0; word < count; ++word) words[at + 4 + word] = description[word]!;
    this.#publish(4 + count);
  }

  copy(to: number, from: number, bytes: number, stream: number): void {
    const at = this.#room(10);
    this.#words[at] = issuedKinds.copy | (10 << 8);
    this.#address(at + 2, to);
    this.#address(at + 4, from);
    this.#address(at + 6, bytes);
    this.#address(at + 8, stream);
    this.#publish(10);
  }

  set(address: number, byte: number, bytes: number, stream: number): void {
    const at = this.#room(8);
    this.#words[at] = issuedKinds.set | (8 << 8);
    this.#words[at + 1] = byte;
    this.#address(at + 2, address);
    this.#address(at + 4, bytes);
    this.#address(at + 6, stream);
    this.#publish(8);
  }

  record(event: number, stream: number): void {
    this.#pair(issuedKinds.record, event, stream);
  }

  wait(stream: number, event: number): void {
    this.#pair(issuedKinds.wait, stream, event);
  }

  graph(executable: number, stream: number): void {
    this.#pair(issuedKinds.graph, executable, stream);
  }

  #pair(kind: number, a: number, b: number): void {
    const at = this.#room(6);
    this.#words[at] = kind | (6 << 8);
    this.#address(at + 2, a);
    this.#address(at + 4, b);
    this.#publish(6);
  }

  #address(at: number, value: number): void {
    this.#words[at] = value;
    this.#words[at + 1] = value / 2 ** 32;
  }

  /** Where the next so many words go. Waits for room. */
  #room(count: number): number {
    let from = this.#written % ring.words;
    let needed = count;
    if (from + count > ring.words) needed += ring.words - from;
    if (this.#written + needed - this.#issued > ring.words) this.#awaitRoom(needed);
    if (needed > count) {
      this.#words[ring.begin + from] = issuedKinds.skip | ((needed - count) << 8);
      this.#publish(needed - count);
      from = 0;
    }
    return ring.begin + from;
  }

  #awaitRoom(needed: number): void {
    for (let look = 0; look < looks; ++look) {
      this.#issued = this.#issuedNow();
      if (this.#written + needed - this.#issued <= ring.words) return;
    }
    this.#awaitIssued();
  }

  #publish(count: number): void {
    this.#written += count;
    Atomics.store(this.#words, shared.written, this.#written | 0);
    // The thread says that it sleeps before it looks for calls the last time.
    this.#wake();
  }

  /** How many words are issued by now. */
  #issuedNow(): number {
    return this.#written - (((this.#written | 0) - Atomics.load(this.#words, shared.issued)) | 0);
  }

  /** Waits until all that was written is issued. The calls that follow are made here, unless there are many. */
  settle(): void {
    this.#calls = 0;
    if (!this.#isWriting) return;
    this.#isWriting = false;
    this.#awaitIssued();
  }

  #awaitIssued(): void {
    for (let look = 0; this.#issued !== this.#written; ++look) {
      if (look >= looks) this.#native!.library.settle(this.#native!.queue);
      this.#issued = this.#issuedNow();
      if (this.#issued !== this.#written) this.#noteFailure();
    }
  }

  /** Notes the failure that the thread has stopped at, if it has, and has it go on with the next call. */
  #noteFailure(): void {
    const result = Atomics.load(this.#words, shared.failed);
    if (result <= 0) return;
    const position = this.#issuedNow();
    const kind = this.#words[ring.begin + (position % ring.words)]! & 255;
    this.#failures.push({ position, kind, result });
    Atomics.store(this.#words, shared.failed, 0);
  }

  get hasFailures(): boolean {
    return this.#failures.length > 0;
  }

  /** The calls that have failed since this was asked last. */
  takeFailures(): readonly IssuingFailure[] {
    const failures = this.#failures;
    this.#failures = [];
    return failures;
  }

  /** Ends the thread. What was written and is not issued by then never is. */
  stop(): void {
    const native = this.#native;
    this.#holds = Number.POSITIVE_INFINITY;
    this.#isWriting = false;
    if (native === null) return;
    this.#native = null;
    running.delete(this);
    if (running.size === 0) process.removeListener('exit', stopAll);
    native.library.stop(native.queue);
    spare.push(native);
  }
}

/**
 * From which call in a row on the thread is used; never where it would have no processor of its own.
 * WARPSTAGE_ISSUING_THREAD=0 asks for none, `bursts` for one on few processors too, and `always` for one that gets every call.
 */
function callsOfBurst(): number {
  const asked = process.env.WARPSTAGE_ISSUING_THREAD;
  if (asked === 'always') return 1;
  if (asked === 'bursts') return burst;
  if (asked === '0') return Number.POSITIVE_INFINITY;
  if (asked) {
    throw problem(
      'WS4007',
      `WARPSTAGE_ISSUING_THREAD must be 0, bursts or always, and is ${asked}`,
      'set it to 0 to do without the thread, or unset it',
    );
  }
  return availableParallelism() < leastProcessors ? Number.POSITIVE_INFINITY : burst;
}

function stopAll(): void {
  for (const thread of running) thread.stop();
}
