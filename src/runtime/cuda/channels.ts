// How running kernels tell the host something: their faults.
//
// A stream whose kernels are checked or print has a channel: a few words in the GPU's memory, and a
// record in page-locked memory, which stays readable whatever happens to the GPU. The first thread
// that fails fills the record and sets the channel's word `stop`; launches that come after it on the
// stream end as they begin, until the host, which has seen the fault by then, issues a launch again:
// that one is preceded by a command that clears the word. The same word ends a launch that is
// cancelled: its number is copied into the channel, where its threads see it, with the number of the last launch
// so far. Those behind it fail with it; one of them may be the one that runs, where nobody has seen yet that
// those before it are complete.
//
// The layout is that of targets/cuda/prelude-checks.ts.

import type { WarpstageError } from '../../diagnostics/error.ts';
import { faultOf, sitesOf } from '../../targets/cuda/faults.ts';
import type { FaultSite } from '../../targets/executable.ts';
import { patienceOf } from '../../targets/patience.ts';
import { DeviceMemoryArray } from '../arrays.ts';
import { faultError } from '../faults.ts';
import type { LaunchWork } from '../launch.ts';
import type { Driver } from './driver.ts';
import type { DriverStream } from './driver-stream.ts';
import type { DeviceMemory, PinnedMemory } from './memory.ts';
import { PrintedLines } from './printed-lines.ts';

/** CU_STREAM_NON_BLOCKING */
const nonBlocking = 1;

/** A channel in the GPU's memory: `stop`, `lock`, `key` and `grid` are cleared together. */
const channel = { cleared: 20, cancelled: 24, pointers: 32, bytes: 80 };
/** A record in the host's: the kernel's part, and behind it what is copied into the channel. */
const record = {
  launch: 0,
  site: 4,
  rank: 8,
  block: 12,
  values: 24,
  cancelled: 56,
  pointers: 64,
  bytes: 128,
};
const channelsOfPage = 64;
/** A thread that has begun a line writes it within microseconds: so many launches do not end meanwhile. */
const mostEnded = 4096;

interface Channel {
  /** In the GPU's memory. */
  readonly address: number;
  /** Of the record, as the engines find it. */
  readonly recordAddress: number;
  readonly view: DataView;
  /** Whether it is as it should be for the next launch; else the launch is preceded by what makes it so. */
  state: 'new' | 'clear' | 'stopped';
  /** Number of the launch that it was prepared for last. */
  last: number;
  /** Launches that were cancelled and are not known to have ended. */
  readonly cancelled: Set<number>;
}

/** A launch that may tell something. */
export interface ReportingLaunch {
  readonly work: LaunchWork;
  /** Its number, by which the kernel knows itself. */
  readonly number: number;
  /** Address of its channel. */
  readonly address: number;
}

export class Channels {
  readonly #driver: Driver;
  readonly #memory: DeviceMemory;
  readonly #pinned: PinnedMemory;
  readonly #lines: PrintedLines;
  readonly #channels = new Map<string, Channel>();
  readonly #free: Channel[] = [];
  readonly #byAddress = new Map<number, Channel>();
  readonly #flying = new Map<number, ReportingLaunch>();
  /**
   * Places of launches that have ended while others run: their lines may stand behind one that a thread of those
   * has begun.
   */
  readonly #ended = new Map<number, readonly FaultSite[]>();
  #launches = 0;
  /** A stream for cancellations, which kernels do not hold up. */
  #stream = 0;

  constructor(driver: Driver, memory: DeviceMemory, pinned: PinnedMemory, print: (line: string) => void) {
    this.#driver = driver;
    this.#memory = memory;
    this.#pinned = pinned;
    this.#lines = new PrintedLines(memory, pinned, print);
  }

  /** Prepares the channel of a launch that comes next on a stream. */
  begin(stream: DriverStream, work: LaunchWork): ReportingLaunch {
    let own = this.#channels.get(stream.name);
    if (own === undefined) {
      own = this.#take();
      this.#channels.set(stream.name, own);
    }
    const { address, recordAddress } = own;
    const driver = this.#driver;
    if (own.state === 'new') {
      this.#memory.awaitZeroing(stream);
      const bytes = channel.bytes - channel.pointers;
      const from = recordAddress + record.pointers;
      const copied = driver.cuMemcpyAsync(address + channel.pointers, from, bytes, stream.handle);
      driver.check(copied, 'making a channel');
      stream.preparations += 1;
    }
    if (own.state === 'stopped') {
      const cleared = driver.cuMemsetD8Async(address, 0, channel.cleared, stream.handle);
      driver.check(cleared, 'clearing a channel');
      stream.preparations += 1;
    }
    own.state = 'clear';
    this.#launches = (this.#launches % 0xffffffff) + 1;
    const launch = { work, number: this.#launches, address };
    own.last = launch.number;
    this.#flying.set(launch.number, launch);
    return launch;
  }

  /** Called when a launch is complete: delivers what it printed; its fault, or null. */
  end({ work, number, address }: ReportingLaunch): WarpstageError | null {
    this.deliver();
    this.withdraw(number);
    const sites = sitesOf(work.executable)!;
    if (this.#flying.size === 0) this.#ended.clear();
    else if (sites.some(({ texts }) => texts !== undefined)) this.#remember(number, sites);
    const own = this.#byAddress.get(address)!;
    const { view } = own;
    own.cancelled.delete(number);
    if (view.getUint32(record.launch, true) !== number) return null;
    view.setUint32(record.launch, 0, true);
    own.state = 'stopped';
    const word = (at: number) => view.getUint32(at, true);
    const bits = [0, 1, 2, 3].map((position) => view.getBigUint64(record.values + 8 * position, true));
    const value = (position: number) => Number(BigInt.asIntN(64, bits[position]!));
    const reported = {
      site: sites[word(record.site)]!,
      rank: word(record.rank),
      block: [word(record.block), word(record.block + 4), word(record.block + 8)] as const,
      values: [value(0), value(1), value(2), value(3)] as const,
      bits,
    };
    const fault = faultOf(work.executable.program, reported, {
      global: (parameter) => {
        const array = work.values[parameter];
        if (!(array instanceof DeviceMemoryArray)) throw new TypeError('no array');
        return array;
      },
      sharedLength: (id) => work.shared[id]!.length,
    });
    return faultError(work, [fault]);
  }

  /** A launch that was not given to the driver after all. */
  withdraw(number: number): void {
    this.#flying.delete(number);
  }

  #remember(number: number, sites: readonly FaultSite[]): void {
    this.#ended.set(number, sites);
    if (this.#ended.size <= mostEnded) return;
    const [oldest] = this.#ended.keys();
    this.#ended.delete(oldest!);
  }

  /** Has the threads of a launch end as soon as they look. */
  cancel({ number, address }: ReportingLaunch): void {
    const driver = this.#driver;
    const own = this.#byAddress.get(address)!;
    if (this.#stream === 0) {
      const stream = [0];
      driver.check(driver.cuStreamCreateWithPriority(stream, nonBlocking, 0), 'creating a stream');
      this.#stream = Number(stream[0]);
    }
    own.cancelled.add(number);
    // Numbers begin again at some time: the first one is the farthest from the last.
    const age = (launch: number) => (own.last - launch) >>> 0;
    const first = [...own.cancelled].reduce((oldest, launch) =>
      age(launch) > age(oldest) ? launch : oldest,
    );
    own.view.setUint32(record.cancelled, first, true);
    own.view.setUint32(record.cancelled + 4, own.last, true);
    const from = own.recordAddress + record.cancelled;
    driver.check(driver.cuMemcpyAsync(address + channel.cancelled, from, 8, this.#stream), 'cancelling');
    own.state = 'stopped';
  }

  /** Hands on what kernels have printed by now. */
  deliver(): void {
    this.#lines.deliver((launch) => {
      const flying = this.#flying.get(launch);
      return flying === undefined ? this.#ended.get(launch)! : sitesOf(flying.work.executable)!;
    });
  }

  /** A stream that is gone, and has nothing in flight. */
  forget(name: string): void {
    const own = this.#channels.get(name);
    if (own === undefined) return;
    this.#channels.delete(name);
    this.#free.push(own);
  }

  #take(): Channel {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    const begin = this.#memory.allocate(channelsOfPage * channel.bytes);
    if (begin === null) throw new Error('the GPU has no memory for its channels');
    const buffer = this.#pinned.allocate(channelsOfPage * record.bytes);
    const recordBegin = this.#pinned.addressOf(buffer)!;
    const { ring, head, lines, words } = this.#lines.place();
    for (let position = channelsOfPage - 1; position >= 0; --position) {
      const view = new DataView(buffer, position * record.bytes, record.bytes);
      const recordAddress = recordBegin + position * record.bytes;
      const pointers = [recordAddress, ring, head, lines, words, Math.round(patienceOf() * 1e6)];
      for (const [i, pointer] of pointers.entries())
        view.setBigUint64(record.pointers + 8 * i, BigInt(pointer), true);
      const address = begin + position * channel.bytes;
      const made: Channel = { address, recordAddress, view, state: 'new', last: 0, cancelled: new Set() };
      this.#byAddress.set(address, made);
      this.#free.push(made);
    }
    return this.#free.pop()!;
  }

  close(): void {
    if (this.#stream !== 0) this.#driver.cuStreamDestroy_v2(this.#stream);
    this.#stream = 0;
  }
}
