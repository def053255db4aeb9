// Random graphs of work: copies, kernels, sets and events in streams, the same for every device.
//
// A seed gives a graph as plain data. Each stream works on memory of its own, and what it takes from another stream it takes
// between two events, so every order that the streams and events allow leaves the same values. Kernels keep to numbers
// that do not grow. `GraphRunner` issues a graph to any device, times it, and says what it has left there.

import { kernelsBy } from './random-graph-kernels.mjs';

/** Bytes of the smallest and of the largest copy. */
const [leastBytes, mostBytes] = [4096, 64 * 2 ** 20];

/** A generator of numbers from 0 to below 1. */
function randomOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** What can be drawn at random. */
class Draw {
  #next;
  constructor(seed) {
    this.#next = randomOf(seed);
  }
  chance(share) {
    return this.#next() < share;
  }
  /** A whole number from `low` to `high`, both included. */
  whole(low, high) {
    return low + Math.floor(this.#next() * (high - low + 1));
  }
  /** The same, each factor as likely as any other. */
  factor(low, high) {
    return Math.round(low * (high / low) ** this.#next());
  }
  one(list) {
    return list[this.whole(0, list.length - 1)];
  }
  /** A key of `weights`, as often as its weight says. */
  weighted(weights) {
    let left = this.#next() * Object.values(weights).reduce((sum, weight) => sum + weight, 0);
    for (const [key, weight] of Object.entries(weights)) {
      left -= weight;
      if (left < 0) return key;
    }
    return Object.keys(weights).at(-1);
  }
}

/** What each kernel may be asked for: the least and most rounds of a thread. */
export const roundsOf = {
  each: [1, 1],
  strided: [1, 1],
  chain: [50, 40_000],
  parallel: [50, 20_000],
  heavy: [1, 600],
  tile: [2, 3_000],
  walk: [2, 1_000],
};

/** Elements that `strided` goes through: those of its launch, several times. */
const mostStrides = 256;

/** A launch that takes neither no time nor for ever. */
function kernelOf(draw) {
  const kernel = draw.one(Object.keys(roundsOf));
  const threads = draw.one([32, 64, 128, 256, 256, 512, 1024]);
  const most = Math.min(8192, mostBytes / 4 / threads);
  const blocks = draw.chance(0.4) ? draw.factor(1, 132) : draw.factor(1, most);
  // As many rounds as leave a launch some milliseconds at most on a GPU that does 2 ** 25 thread rounds in one.
  const [least, much] = roundsOf[kernel];
  const busy = Math.max(1, (blocks * threads) / 2 ** 17);
  const rounds = draw.factor(least, Math.max(least, Math.min(much, Math.round(much / busy))));
  const length =
    kernel === 'strided'
      ? Math.min(mostBytes / 4, blocks * threads * draw.factor(1, mostStrides))
      : blocks * threads;
  return { do: 'kernel', kernel, blocks, threads, rounds, length };
}

/** The graph of a seed. */
export function graphOf(seed) {
  const draw = new Draw(seed);
  const count = draw.factor(1, 24);
  const free = draw.chance(0.3);
  const ranked = draw.chance(0.2);
  const streams = Array.from({ length: count }, () => ({
    nonBlocking: free,
    priority: ranked ? draw.whole(-2, 0) : 0,
  }));
  const weights = {
    in: draw.factor(1, 8),
    out: draw.factor(1, 8),
    kernel: draw.factor(1, 16),
    within: 0.5,
    set: 0.5,
    pageableIn: draw.chance(0.25) ? 0.7 : 0,
    pageableOut: draw.chance(0.25) ? 0.7 : 0,
    event: count > 1 ? draw.factor(1, 6) / 2 : 0,
    take: count > 1 ? 0.5 : 0,
    default: draw.chance(0.3) ? 0.4 : 0,
  };
  // In streams of their own in turn, or in any.
  const inTurn = draw.chance(0.4);
  const length = draw.whole(20, 200);
  const commands = [];
  let events = 0;
  while (commands.length < length) {
    const stream = inTurn ? commands.length % count : draw.whole(0, count - 1);
    const other = count > 1 ? (stream + draw.whole(1, count - 1)) % count : stream;
    const bytes = 4 * draw.factor(leastBytes / 4, mostBytes / 4);
    const what = draw.weighted(weights);
    const order = (from, to) => {
      const event = events++;
      commands.push({ do: 'record', stream: from, event }, { do: 'wait', stream: to, event });
    };
    if (what === 'event') order(other, stream);
    else if (what === 'take') {
      order(other, stream);
      const threads = 256;
      const blocks = draw.factor(1, 4096);
      commands.push({ do: 'take', stream, from: other, blocks, threads, length: blocks * threads });
      order(stream, other);
    } else if (what === 'kernel') commands.push({ stream, ...kernelOf(draw) });
    else if (what === 'default') commands.push({ stream: count, ...kernelOf(draw) });
    else if (what === 'pageableIn') commands.push({ do: 'in', stream, bytes, pageable: true });
    else if (what === 'pageableOut') commands.push({ do: 'out', stream, bytes, pageable: true });
    else commands.push({ do: what, stream, bytes });
  }
  return { name: `seed ${seed}`, streams, commands };
}

/** Elements that each stream of a graph needs, the default stream last. */
function lengthsOf({ streams, commands }) {
  const lengths = Array.from({ length: streams.length + 1 }, () => leastBytes / 4);
  const need = (stream, length) => {
    lengths[stream] = Math.max(lengths[stream], length);
  };
  const visit = (list) => {
    for (const command of list) {
      if (command.nodes !== undefined) visit(command.nodes);
      if (command.bytes !== undefined) need(command.stream, command.bytes / 4);
      if (command.length !== undefined) need(command.stream, command.length);
      if (command.from !== undefined) need(command.from, command.length);
    }
  };
  visit(commands);
  return lengths;
}

const digestBlocks = 256;
const digestThreads = 256;

/** Issues graphs to a device. */
export class GraphRunner {
  #device;
  #kernels;
  #x;
  #y;
  #host;
  #back;
  #pageable;
  #landed;
  #digest;
  #sums;
  #start;
  #stop;

  /** `kernel` is that of warpstage; the memory is enough for all of `graphs`. */
  constructor(device, kernel, graphs) {
    this.#device = device;
    this.#kernels = kernelsBy(kernel);
    const totals = graphs.map((graph) => lengthsOf(graph).reduce((sum, length) => sum + length, 0));
    const most = totals.reduce((largest, total) => Math.max(largest, total), 0);
    this.#x = device.alloc('f32', most);
    this.#y = device.alloc('f32', most);
    this.#host = device.allocPinned('f32', most);
    this.#back = device.allocPinned('f32', most);
    this.#pageable = new Float32Array(most);
    this.#landed = new Float32Array(most);
    this.#digest = device.alloc('f64', digestBlocks * digestThreads);
    this.#sums = device.allocPinned('f64', digestBlocks * digestThreads);
    this.#start = device.createEvent();
    this.#stop = device.createEvent();
  }

  /** Gives the host's memory values, and every part of it a place in memory. */
  fill() {
    const pattern = Float32Array.from({ length: 1021 * 1024 }, (_, i) => ((i * 7919) % 1021) / 1024);
    for (const array of [this.#host.array, this.#pageable]) {
      for (let at = 0; at < array.length; at += pattern.length)
        array.set(pattern.subarray(0, Math.min(pattern.length, array.length - at)), at);
    }
    this.#back.array.fill(0);
    this.#landed.fill(0);
  }

  /** What issues a graph; `serial` puts all of it in one stream. */
  prepare(graph, serial = false) {
    const device = this.#device;
    const { streams, commands } = graph;
    const single = serial ? device.createStream({ nonBlocking: true }) : null;
    const own = streams.map((options) => single ?? device.createStream(options));
    const all = [...own, single ?? device.defaultStream];
    const events = [];
    const eventOf = (event) => (events[event] ??= device.createEvent({ timing: false }));
    const begins = [];
    let total = 0;
    for (const length of lengthsOf(graph)) {
      begins.push(total);
      total += length;
    }
    const [x, y, host, back] = [this.#x, this.#y, this.#host, this.#back];
    const [pageable, landed, kernels] = [this.#pageable, this.#landed, this.#kernels];
    const [start, stop] = [this.#start, this.#stop];
    const part = (array, stream, length) => array.subarray(begins[stream], begins[stream] + length);
    const issueOne = (command) => {
      const { stream: number, bytes, length } = command;
      const stream = all[number];
      switch (command.do) {
        case 'in':
          stream.memcpyAsync(
            part(x, number, bytes / 4),
            part(command.pageable ? pageable : host, number, bytes / 4),
          );
          break;
        case 'out':
          stream.memcpyAsync(
            part(command.pageable ? landed : back, number, bytes / 4),
            part(y, number, bytes / 4),
          );
          break;
        case 'within':
          stream.memcpyAsync(part(y, number, bytes / 4), part(x, number, bytes / 4));
          break;
        case 'set':
          stream.memsetAsync(part(x, number, bytes / 4), 0);
          break;
        case 'kernel':
          stream.launch(
            kernels[command.kernel],
            { grid: command.blocks, block: command.threads },
            { y: part(y, number, length), x: part(x, number, length), n: length, rounds: command.rounds },
          );
          break;
        case 'take':
          stream.launch(
            kernels.take,
            { grid: command.blocks, block: command.threads },
            { y: part(y, number, length), x: part(y, command.from, length) },
          );
          break;
        case 'record':
          stream.record(eventOf(command.event));
          break;
        case 'wait':
          stream.waitEvent(eventOf(command.event));
          break;
        case 'start':
          stream.record(start);
          break;
        case 'stop':
          stream.record(stop);
          break;
        case 'call':
          stream.launchHostFunction(() => {});
          break;
        case 'graph':
          command.made.launch(stream);
          break;
        default:
          throw new TypeError(`no command '${command.do}'`);
      }
    };
    for (const command of commands) {
      if (command.do !== 'graph' || command.made !== undefined) continue;
      const made = all[command.stream].capture(() => {
        for (const node of command.nodes) issueOne(node);
      });
      Object.defineProperty(command, 'made', { value: made, enumerable: false, configurable: true });
    }
    const marked = commands.some((command) => command.do === 'stop');
    const ends = streams.map(() => device.createEvent({ timing: false }));
    const issue = () => {
      if (!marked) device.defaultStream.record(start);
      for (const command of commands) issueOne(command);
      if (marked) return;
      if (serial) {
        single.record(ends[0]);
        device.defaultStream.waitEvent(ends[0]);
      } else {
        for (const [i, { nonBlocking }] of streams.entries()) {
          if (!nonBlocking) continue;
          own[i].record(ends[i]);
          device.defaultStream.waitEvent(ends[i]);
        }
      }
      device.defaultStream.record(stop);
    };
    return {
      issue,
      end: async () => {
        await device.synchronize();
        for (const command of commands) if (command.made !== undefined) delete command.made;
        for (const event of [...events, ...ends]) event?.destroy();
        for (const stream of new Set(own)) await stream.destroy();
      },
    };
  }

  /** Milliseconds between the first and the last, on the device's clock, and what issuing took the host. */
  async time({ issue }) {
    const begin = performance.now();
    issue();
    const issued = performance.now() - begin;
    await this.#device.synchronize();
    const waited = performance.now() - begin;
    return { elapsed: this.#stop.elapsedTime(this.#start), issued, waited };
  }

  /** What a graph leaves in the memory of the device and the host. */
  async left(graph, { issue }) {
    const stream = this.#device.defaultStream;
    const total = lengthsOf(graph).reduce((sum, length) => sum + length, 0);
    for (const array of [this.#x, this.#y]) stream.memsetAsync(array.subarray(0, total), 0);
    await this.#device.synchronize();
    for (const array of [this.#back.array, this.#landed]) for (let i = 0; i < total; i += 4096) array[i] = -1;
    issue();
    await this.#device.synchronize();
    const digests = [await this.#digestOf(this.#x, total), await this.#digestOf(this.#y, total)];
    stream.memcpyAsync(this.#x.subarray(0, total), this.#back.subarray(0, total));
    digests.push(await this.#digestOf(this.#x, total));
    const lengths = lengthsOf(graph);
    for (const { pageable, stream: number, bytes } of graph.commands) {
      if (!pageable) continue;
      const begin = lengths.slice(0, number).reduce((sum, length) => sum + length, 0);
      const part = this.#x.subarray(0, bytes / 4);
      stream.memcpyAsync(part, this.#landed.subarray(begin, begin + bytes / 4));
      digests.push(await this.#digestOf(part, part.length));
    }
    return digests;
  }

  async #digestOf(array, total) {
    const stream = this.#device.defaultStream;
    stream.launch(
      this.#kernels.digest,
      { grid: digestBlocks, block: digestThreads },
      { out: this.#digest, x: array, n: total },
    );
    stream.memcpyAsync(this.#sums, this.#digest);
    await this.#device.synchronize();
    return Buffer.from(this.#sums.array.slice().buffer).toString('base64');
  }
}
