// Streams that fail, are cancelled, destroyed and closed at random points: every synchronisation waits for all that
// it covers, and every failure is thrown, by `close` at the latest. A property of every device.

import fc from 'fast-check';
import { expect } from 'vitest';
import { type Device, type Event, kernel, type Stream, WarpstageError } from 'warpstage';

const bump = kernel(
  { y: 'i32[]' },
  ({ y }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    if (i < y.length) y[i] = y[i]! + 1;
  },
  { name: 'bump' },
);

/** Takes a while on a CPU. */
const spin = kernel(
  { y: 'i32[]' },
  ({ y }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    for (let k = 0; k < 20_000; ++k) y[i] = Math.imul(y[i]!, 3) + k;
  },
  { name: 'spin' },
);

/** Kernels that fail, each with a name of its own. */
const outside = Array.from({ length: 8 }, (_, number) =>
  kernel(
    { y: 'i32[]' },
    ({ y }, cuda) => {
      y[y.length + cuda.thisGrid().threadRank()] = 1;
    },
    { name: `outside${number}` },
  ),
);

/** So much that a copy takes a while. */
const largeBytes = 2 ** 23;

const kinds = [
  'bump',
  'large copy',
  'host function',
  'throw',
  'reject',
  'outside',
  'cancellable',
  'abort',
  'event',
  'record and wait',
  'query',
  'turn',
  'synchronise',
  'synchronise event',
  'synchronise device',
  'destroy',
] as const;

interface Operation {
  readonly kind: (typeof kinds)[number];
  readonly stream: number;
  readonly other: number;
  /** Of a synchronisation: whether the program awaits it before it goes on. */
  readonly awaits: boolean;
}

export interface FailingDevice {
  readonly open: () => Promise<Device>;
  /** Whether a kernel's faults are found. */
  readonly faults: boolean;
  /** What programs do. Default: all that there is. */
  readonly only?: readonly (typeof kinds)[number][];
  readonly numRuns: number;
}

/** Of programs whose functions fail while their device is closed. */
export const closing = [
  'reject',
  'throw',
  'host function',
  'turn',
  'synchronise',
  'destroy',
  'record and wait',
] as const;

export async function checkAnyFailures({
  open,
  faults,
  only = kinds,
  numRuns,
}: FailingDevice): Promise<void> {
  const operation: fc.Arbitrary<Operation> = fc.record({
    kind: fc.constantFrom(...only.filter((kind) => faults || kind !== 'outside')),
    stream: fc.nat(3),
    other: fc.nat(3),
    awaits: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 1, maxLength: 24 }), async (operations) =>
      new Program(await open()).run(operations),
    ),
    { numRuns },
  );
}

/** What a call threw, in words; null if it threw nothing. */
async function thrownBy(call: () => unknown): Promise<readonly string[] | null> {
  try {
    await call();
    return null;
  } catch (error) {
    if (!(error instanceof WarpstageError)) throw error;
    return error.issues.map(({ message }) => message);
  }
}

class Program {
  readonly #device: Device;
  readonly #streams: readonly Stream[];
  /** The streams of the commands, in the order of issue: the first has the number 1, as its span says. */
  readonly #commands: number[] = [];
  /** Commands that a synchronisation which is over has covered, and those among them that were not over. */
  readonly #over = new Set<number>();
  readonly #late: string[] = [];
  readonly #ran = new Set<string>();
  readonly #signals: AbortController[] = [];
  readonly #events: { readonly event: Event; readonly covers: readonly number[] }[] = [];
  readonly #destroyed = new Set<number>();
  /** What host functions that were called have thrown. */
  readonly #happened: string[] = [];
  /** What calls have thrown, `close` left out. */
  readonly #reported: string[] = [];
  readonly #underWay: Promise<void>[] = [];
  readonly #small;
  readonly #large;
  readonly #pinned;
  #failures = 0;
  /** Nothing waits for a function that has not returned when the device is closed. */
  #isClosed = false;

  constructor(device: Device) {
    this.#device = device;
    device.recorder = ({ id, name }) => this.#heard(id!, name);
    this.#streams = [
      device.defaultStream,
      device.createStream(),
      device.createStream({ nonBlocking: true }),
      device.createStream({ nonBlocking: true }),
    ];
    this.#small = device.alloc('i32', 64);
    this.#large = device.alloc('u8', largeBytes);
    this.#pinned = device.allocPinned('u8', largeBytes);
  }

  async run(operations: readonly Operation[]): Promise<void> {
    try {
      for (const operation of operations) {
        if (!this.#destroyed.has(operation.stream)) await this.#do(operation);
      }
    } catch (error) {
      // A device that is left open keeps the process alive.
      await thrownBy(() => this.#device.close());
      throw error;
    }
    const closing = this.#device.close();
    const left = await thrownBy(() =>
      closing.finally(() => {
        this.#isClosed = true;
      }),
    );
    await Promise.all(this.#underWay);
    await this.#device.close();
    this.#judge(left ?? []);
  }

  /** A command has run. */
  #heard(id: number, name: string): void {
    this.#ran.add(name);
    if (id > this.#commands.length) this.#late.push(`${name}, which nobody issued`);
    if (this.#over.has(id)) this.#late.push(name);
  }

  #judge(left: readonly string[]): void {
    expect(this.#late).toEqual([]);
    const all = [...this.#reported, ...left].join('\n');
    for (const failure of this.#happened) expect(all).toContain(failure);
    for (const { name } of outside) if (this.#ran.has(name)) expect(all).toContain(`\`${name}\``);
    // What close says nothing has said before, and it says it once.
    for (const message of left) expect(this.#reported).not.toContain(message);
    expect(new Set(left).size).toBe(left.length);
    expect(left.join('\n')).not.toContain('the device was closed');
  }

  async #do({ kind, stream: number, other, awaits }: Operation): Promise<void> {
    const device = this.#device;
    const stream = this.#streams[number]!;
    const y = this.#small;
    const one = { grid: 1, block: 64 };
    /** The number of the command that is issued next. */
    const id = this.#commands.length + 1;
    const issued = () => void this.#commands.push(number);
    switch (kind) {
      case 'bump':
        stream.launch(bump, one, { y });
        return issued();
      case 'large copy':
        stream.memcpyAsync(this.#large, this.#pinned);
        return issued();
      case 'host function':
        stream.launchHostFunction(() => {
          if (this.#over.has(id)) this.#late.push('a function');
          return awaits ? new Promise((done) => setImmediate(done)) : undefined;
        });
        return issued();
      case 'throw': {
        const failure = `failure ${++this.#failures} of a function`;
        stream.launchHostFunction(() => {
          this.#happened.push(failure);
          throw new Error(failure);
        });
        return issued();
      }
      case 'reject': {
        const failure = `failure ${++this.#failures} of a function`;
        stream.launchHostFunction(async () => {
          for (let turns = 0; turns < other; ++turns) await new Promise((done) => setImmediate(done));
          if (!this.#isClosed) this.#happened.push(failure);
          throw new Error(failure);
        });
        return issued();
      }
      case 'outside': {
        const made = outside[this.#failures++];
        if (made === undefined) return;
        stream.launch(made, one, { y });
        return issued();
      }
      case 'cancellable': {
        const controller = new AbortController();
        this.#signals.push(controller);
        stream.launch(awaits ? spin : bump, { ...one, signal: controller.signal }, { y });
        return issued();
      }
      case 'abort':
        // A reason of its own: two launches that two signals cancel are two failures.
        return this.#abort(other % this.#signals.length);
      case 'event': {
        const event = device.createEvent();
        stream.record(event);
        this.#events.push({ event, covers: this.#of([number]) });
        return;
      }
      case 'record and wait': {
        if (this.#destroyed.has(other)) return;
        const event = device.createEvent();
        this.#streams[other]!.record(event);
        return stream.waitEvent(event);
      }
      case 'query': {
        let isOver = false;
        const covers = this.#of([number]);
        const issues = await thrownBy(() => {
          isOver = stream.query();
        });
        if (isOver || issues !== null) this.#noteOver(covers, issues);
        return;
      }
      case 'turn':
        return new Promise((done) => setImmediate(done));
      case 'synchronise':
        await this.#wait(this.#of([number]), () => stream.synchronize(), awaits);
        // Nothing was issued since: there is nothing left to tell.
        return awaits ? stream.synchronize() : undefined;
      case 'synchronise event': {
        const known = this.#events[other % this.#events.length];
        return known && this.#wait(known.covers, () => known.event.synchronize(), awaits);
      }
      case 'synchronise device':
        await this.#wait(this.#of([0, 1, 2, 3]), () => device.synchronize(), awaits);
        return awaits ? device.synchronize() : undefined;
      case 'destroy':
        if (number === 0) return;
        this.#destroyed.add(number);
        return this.#wait(this.#of([number]), () => stream.destroy(), awaits);
    }
  }

  /** The commands that were issued to some streams by now, which may be destroyed by now. */
  #of(streams: readonly number[]): readonly number[] {
    return this.#commands.flatMap((stream, at) =>
      streams.includes(stream) && !(streams.length > 1 && this.#destroyed.has(stream)) ? [at + 1] : [],
    );
  }

  #abort(at: number): void {
    this.#signals[at]?.abort(new Error(`signal ${at} was aborted`));
  }

  /** Waits for commands, now or while the program goes on. */
  async #wait(covers: readonly number[], call: () => Promise<void>, awaits: boolean): Promise<void> {
    const waiting = thrownBy(call).then((issues) => this.#noteOver(covers, issues));
    if (awaits) await waiting;
    else this.#underWay.push(waiting);
  }

  #noteOver(covers: readonly number[], issues: readonly string[] | null): void {
    for (const id of covers) this.#over.add(id);
    this.#reported.push(...(issues ?? []));
  }
}
