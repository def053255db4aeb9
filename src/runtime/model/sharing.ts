// How kernels share a device: by places for their blocks, then by what its processors issue and its memory moves.
//
// Blocks take places in the order in which kernels start, those of higher priority first; a kernel with more blocks than
// there are places keeps all that it can get until its last wave. What runs at the same time is slowed down by no
// more than it asks for beyond what the device has: kernels that mostly wait for their own results hold each other up little.

/** What a kernel asks of a device. Times are milliseconds that it would take if nothing else held it up. */
export interface KernelLoad {
  /** The part of the device's places that its blocks take, above 0 and at most 1. */
  readonly share: number;
  /** The part that one block takes: with so much left it can begin. */
  readonly blockShare: number;
  /** Blocks that run at the same time. */
  readonly blocks: number;
  /** Waves in which they run: blocks over places. */
  readonly waves: number;
  /** By the chain of operations of a thread, wave after wave. */
  readonly latency: number;
  /** By what the busiest processor issues. */
  readonly issue: number;
  /** By what it moves to and from memory. */
  readonly memory: number;
}

/** What keeps all of a device's memory busy for a time. */
export function loadOfWhole(
  { multiProcessors }: { readonly multiProcessors: number },
  time: number,
): KernelLoad {
  const blocks = multiProcessors;
  return { share: 1, blockShare: 1 / blocks, blocks, waves: 1, latency: 0, issue: 0, memory: time };
}

/** A running kernel, in the order of its start. */
export interface RunningKernel {
  readonly load: KernelLoad;
  /** Milliseconds that it takes alone, and what is left of them. */
  readonly duration: number;
  readonly left: number;
  /** The lower the sooner, as in CUDA. */
  readonly priority: number;
}

/** Milliseconds that are none: a last wave begins as much too early. */
const least = 1e-8;

/** How sharp the bend is from one limit to another: measured times lie between their maximum and their sum. */
const sharpness = 4.7;

/** The time of something with several limits. */
export function together(...times: readonly number[]): number {
  const most = Math.max(...times);
  if (most === 0) return 0;
  return most * times.reduce((sum, time) => sum + (time / most) ** sharpness, 0) ** (1 / sharpness);
}

/** How much of a kernel's limit is its own chain: 1 where nothing else counts. */
function waiting({ latency, issue, memory }: KernelLoad): number {
  const all = latency ** sharpness + issue ** sharpness + memory ** sharpness;
  return all === 0 ? 0 : latency ** sharpness / all;
}

/** What is left of a kernel's time when its last wave begins: from then on it leaves room. */
export function tailOf({ duration, load }: Pick<RunningKernel, 'duration' | 'load'>): number {
  return load.waves <= 1 ? 0 : duration / Math.ceil(load.waves);
}

/** The part of the device's places that a kernel needs now. */
function need(kernel: RunningKernel): number {
  const { load } = kernel;
  if (kernel.left > tailOf(kernel) + least || load.waves <= 1) return load.share;
  // Blocks that fill the processors end one after the other, and what would take their places gains nothing.
  const last = load.waves - Math.ceil(load.waves) + 1;
  const share = waiting(load);
  return load.share * (share * last + 1 - share);
}

/** In which order kernels take places: by priority, and then as they started. */
function orderOf(kernels: readonly RunningKernel[]): readonly number[] {
  return kernels.map((_, i) => i).sort((a, b) => kernels[a]!.priority - kernels[b]!.priority || a - b);
}

/** The places that each gets. */
function placesOf(kernels: readonly RunningKernel[]): number[] {
  const places = kernels.map(() => 0);
  let left = 1;
  for (const i of orderOf(kernels)) {
    places[i] = Math.min(left, need(kernels[i]!));
    left = Math.max(0, left - places[i]!);
  }
  return places;
}

/** Whether there is a place for a block of another kernel. */
export function hasPlace(
  kernels: readonly RunningKernel[],
  { load, priority }: Pick<RunningKernel, 'load' | 'priority'>,
): boolean {
  const before = kernels.filter((kernel) => kernel.priority <= priority);
  const taken = placesOf(before).reduce((sum, places) => sum + places, 0);
  return 1 - taken >= Math.min(load.blockShare, load.share) - 1e-9;
}

/**
 * What the busiest processor issues of its time where each kernel has a block, beside what those before it issue.
 * Blocks are spread evenly. A kernel that comes later takes nothing from the busiest processor of those before: its
 * blocks may issue little, and then the mean over all tells of a lighter one.
 */
function issuedBeside(
  parts: readonly { readonly there: number; readonly each: number }[],
  order: readonly number[],
  multiProcessors: number,
): readonly number[] {
  let [blocks, all] = [0, 0];
  const means = order.map((i) => {
    const { there, each } = parts[i]!;
    blocks += there;
    all += there * each;
    return blocks === 0 ? 0 : (Math.ceil(blocks / multiProcessors - 1e-9) * all) / blocks;
  });
  const issued = parts.map(() => 0);
  let most = 0;
  for (const [position, i] of [...order.entries()].reverse()) {
    most = Math.max(most, means[position]!);
    issued[i] = most;
  }
  return issued;
}

/** How fast each kernel goes, of what it does alone. */
export function speedsOf(kernels: readonly RunningKernel[], multiProcessors: number): number[] {
  if (kernels.length === 1) return [1];
  const places = placesOf(kernels);
  const parts = kernels.map(({ load: { latency, issue, memory, blocks }, duration, ...rest }, i) => {
    const wanted = need(kernels[i]!);
    const got = wanted === 0 ? 1 : places[i]! / wanted;
    const time = together(latency, issue, memory);
    const there = got * blocks;
    // Of the busiest processor's schedulers, what each of its blocks takes.
    const each = time === 0 ? 0 : issue / time / Math.ceil(blocks / multiProcessors);
    // With the places that it got: a kernel that waits for memory alone takes as much of it with fewer.
    const held = got === 0 ? 0 : together(latency / got, issue, memory);
    return { ...rest, got, time, held, there, each, memory: held === 0 ? 0 : memory / held };
  });
  const issued = issuedBeside(parts, orderOf(kernels), multiProcessors);
  const moved = parts.reduce((sum, { memory }) => sum + memory, 0);
  return kernels.map(({ load, duration }, i) => {
    const { got, time, held, memory } = parts[i]!;
    if (got === 0) return 0;
    if (time === 0) return 1;
    const others = moved - memory;
    const slowed = together(
      load.latency / got,
      Math.max(load.issue, issued[i]! * time),
      load.memory + others * held,
    );
    return duration / (duration - time + Math.max(time, slowed));
  });
}
