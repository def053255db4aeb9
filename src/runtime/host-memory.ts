// Results in host memory which the engines reach (page-locked arrays, and typed arrays over a
// SharedArrayBuffer), and the copies that read them.
//
// A copy that is issued while another has still to fill what it reads, and does not wait for that one,
// reads a result that may not be there; it is refused. Each buffer knows the last copies into it, of
// all devices. What the user reads of a typed array is seen by nobody; pageable memory is filled and
// read by the main thread, in order.

import { WarpstageError } from '../diagnostics/error.ts';
import type { Box, Layout } from './box.ts';
import type { Command, Dispatcher, Work } from './command.ts';
import type { CopyWork, Side } from './copies.ts';

/** What one side of a copy covers of a buffer. */
interface Part extends Layout {
  readonly buffer: SharedArrayBuffer;
  readonly offset: number;
  readonly box: Box;
}

/** A copy that fills a part. */
interface Filling extends Part {
  readonly command: Command;
  readonly dispatcher: Dispatcher;
}

/** How many copies into a buffer are looked at: so the cost of a copy is bounded, however many are queued. */
const mostKept = 64;

const fillings = new WeakMap<SharedArrayBuffer, Filling[]>();

/**
 * Throws WS4010 if the work reads what a copy under way has still to fill, and none of `before`, which it is about
 * to wait for, comes after that copy. To be called before the work is issued to the stream of that name. Gives
 * whether commands were settled meanwhile.
 */
export function refuseEarlyReads(
  dispatcher: Dispatcher,
  stream: string,
  before: readonly Command[],
  work: Work,
): boolean {
  let settled = false;
  for (const { source, box } of copiesOf(work)) {
    const read = partOf(source, box);
    if (read === null) continue;
    for (const filling of fillings.get(read.buffer) ?? []) {
      const { command } = filling;
      if (command.status !== 'queued') continue;
      const isOwn = filling.dispatcher === dispatcher;
      if ((isOwn && command.stream === stream) || comesAfter(before, isOwn, filling)) continue;
      if (!overlap(filling, read)) continue;
      // It may be over, and only not noticed yet.
      filling.dispatcher.poll([command]);
      if (command.status === 'queued') throw tooEarly(stream, command.stream);
      settled = true;
    }
  }
  return settled;
}

/** Remembers what a command fills, now that it is issued. */
export function noteFilling(dispatcher: Dispatcher, command: Command, work: Work): void {
  for (const { destination, box } of copiesOf(work)) {
    const part = partOf(destination, box);
    if (part === null) continue;
    let known = fillings.get(part.buffer) ?? [];
    if (known.length >= mostKept) {
      const queued = known.filter((filling) => filling.command.status === 'queued');
      known = queued.slice(Math.max(0, queued.length - mostKept / 2));
    }
    known.push({ ...part, command, dispatcher });
    fillings.set(part.buffer, known);
  }
}

const nothing: readonly CopyWork[] = [];

function copiesOf(work: Work): readonly CopyWork[] {
  if (work.kind === 'copy') return [work];
  if (work.kind !== 'graph') return nothing;
  return work.nodes.flatMap((node) => (node.work.kind === 'copy' ? [node.work] : nothing));
}

/** Null for what is no shared memory of the host: another device's memory is none either. */
function partOf({ memory, row, plane }: Side, box: Box): Part | null {
  if (memory.kind !== 'shared' || memory.allocation !== undefined) return null;
  return { buffer: memory.buffer, offset: memory.offset, row, plane, box };
}

/** Whether one of the commands is that which fills this, or waits for it; `areOwn`: whether they are of the same device. */
function comesAfter(commands: readonly Command[], areOwn: boolean, filling: Filling): boolean {
  const target = filling.command;
  const seen = new Set<Command>();
  const open = commands.map((command) => ({ command, isOwn: areOwn }));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { command, isOwn } = next;
    if (command === target) return true;
    // What a command of the device waits for was issued before it.
    if ((isOwn && command.id < target.id) || seen.has(command)) continue;
    seen.add(command);
    for (const before of command.dependencies) open.push({ command: before, isOwn });
    for (const before of command.left) open.push({ command: before, isOwn });
    if (command.across === null) continue;
    const { dispatcher, commands: others } = command.across;
    for (const other of others) open.push({ command: other, isOwn: dispatcher === filling.dispatcher });
  }
  return false;
}

/** Whether two boxes of one buffer have a byte in common. */
function overlap(one: Part, other: Part): boolean {
  if (endOf(one) <= other.offset || endOf(other) <= one.offset) return false;
  const [rows, others] = [rowsOf(one), rowsOf(other)];
  let [a, b] = [rows.next(), others.next()];
  while (!a.done && !b.done) {
    if (a.value < b.value + other.box.width && b.value < a.value + one.box.width) return true;
    if (a.value < b.value) a = rows.next();
    else b = others.next();
  }
  return false;
}

function endOf({ offset, row, plane, box }: Part): number {
  return offset + (box.depth - 1) * plane + (box.height - 1) * row + box.width;
}

/** Where each row begins, ascending. */
function* rowsOf({ offset, row, plane, box }: Part): Generator<number, void> {
  for (let z = 0; z < box.depth; z += 1) {
    for (let y = 0; y < box.height; y += 1) yield offset + z * plane + y * row;
  }
}

function tooEarly(stream: string, other: string): WarpstageError {
  return new WarpstageError({
    code: 'WS4010',
    message: `memcpyAsync in ${stream}: the source is host memory that a copy in ${other} has still to fill, and nothing orders the two`,
    hint: 'wait for that copy first: by `await other.synchronize()`, or with `other.record(event); stream.waitEvent(event);` where `other` is its stream',
  });
}
