// Outputs: arrays that a kernel fills, each element once.
//
// An array is taken for an output if the kernel writes it, never looks at it, and decides by no
// data where to write. Then an element that nobody has written is a result that is missing, and one
// that is written anew by another thread, or by the same one after it has waited for another
// batch of copies, is a result that is lost. Who means it otherwise says so at the check.

import type { Value } from '../../compiler/arithmetic.ts';
import type { Program } from '../../compiler/ir.ts';
import type { Range } from '../../diagnostics/source.ts';
import { bytesOf } from '../../kernel/layout.ts';
import type { Extent3 } from '../../kernel/types.ts';
import { forEachStatement } from '../analysis/walk.ts';
import type { Fault } from '../executable.ts';
import type { PendingCopy } from '../interpreter/copies.ts';
import type { Launch } from '../interpreter/launch.ts';
import type { Elements } from '../interpreter/memory.ts';
import { elementSize } from '../interpreter/memory.ts';
import type { PartialObserver } from '../interpreter/observers.ts';
import type { Thread } from '../interpreter/thread.ts';
import { placeIn } from '../place-in.ts';
import { ArrayUses } from './array-uses.ts';
import type { Budget } from './budget.ts';
import { dataDependentWrites } from './data-dependence.ts';
import type { Findings } from './finding.ts';
import { regionsOf } from './launch-arrays.ts';
import { Sites } from './places.ts';
import { sameValue } from './values.ts';

/**
 * How a kernel is meant to write an array: every element once (`whole`), some elements once (`partial`), or
 * as it likes (`any`).
 */
export type OutputKind = 'whole' | 'partial' | 'any';

/** The parameters that are outputs by the program's text. */
export function outputsOf(program: Program): ReadonlySet<number> {
  const uses = new ArrayUses(program);
  const dependent = dataDependentWrites(program);
  const outputs = new Set<number>();
  program.parameters.forEach(({ kind }, id) => {
    const { writes, read, updated } = uses.of({ space: 'global', id });
    if (kind === 'array' && writes.length > 0 && !read && !updated) outputs.add(id);
  });
  forEachStatement(program.body, (statement) => {
    if (!dependent.has(statement)) return;
    const target =
      statement.kind === 'store'
        ? statement.array
        : statement.kind === 'call' && 'destination' in statement
          ? statement.destination.array
          : null;
    if (target?.space === 'global') outputs.delete(target.id);
  });
  return outputs;
}

/** In the place of a writer where none is missing. */
const nobody = -1;

/** What is remembered of an output, by element; writer 0 is none. */
interface Output {
  readonly array: Elements;
  readonly kind: Exclude<OutputKind, 'any'>;
  readonly writers: Int32Array;
  readonly batches: Int32Array;
  readonly sites: Int32Array;
  /** Where the program writes it first. */
  readonly range: Range;
}

/** Which batch of copies a thread has waited for. */
interface Progress {
  batch: number;
  sync: object | null;
  phase: number;
}

/** A place that writes what another has written. */
interface Rewriting {
  readonly array: Elements;
  readonly index: number;
  readonly thread: Thread;
  readonly range: Range;
  readonly batches: readonly [before: number, now: number];
  readonly before: { readonly rank: number; readonly block: Extent3; readonly range: Range };
  readonly threads: Set<number>;
  least: number;
  greatest: number;
}

export class Outputs implements PartialObserver {
  readonly #declared: ReadonlyMap<number, OutputKind>;
  readonly #budget: Budget;
  readonly #findings: Findings;
  readonly #outputs = new Map<Elements, Output>();
  readonly #sites = new Sites();
  readonly #progress = new Map<Thread, Progress>();
  /** What copies complete with. */
  readonly #completing = new WeakSet<object>();
  readonly #rewritings = new Map<string, Rewriting>();
  #launch: Launch | null = null;
  #blockSize = 1;

  constructor(declared: ReadonlyMap<number, OutputKind>, budget: Budget, findings: Findings) {
    this.#declared = declared;
    this.#budget = budget;
    this.#findings = findings;
  }

  launchBegan(launch: Launch): void {
    const { program } = launch;
    const [x, y, z] = program.block;
    this.#launch = launch;
    this.#blockSize = x * y * z;
    const uses = new ArrayUses(program);
    const outputs = outputsOf(program);
    // An array that is seen as other elements has no one count of them.
    const isSeen = (id: number) =>
      program.views?.some((view) => view.space === 'global' && view.id === id) === true;
    for (const { parameters } of regionsOf(launch)) {
      for (const id of parameters) {
        // What lies in the memory of another array is looked at under that name.
        const kind =
          this.#declared.get(id) ??
          (outputs.has(id) && parameters.length === 1 && !isSeen(id) ? 'whole' : 'any');
        const [range] = uses.of({ space: 'global', id }).writes;
        const array = launch.arrays[id]!;
        if (kind === 'any' || range === undefined) continue;
        const { length } = array;
        this.#budget.take(12 * length);
        const words = () => new Int32Array(length);
        const writers = words();
        markBetweenRows(launch, id, writers);
        this.#outputs.set(array, { array, kind, writers, batches: words(), sites: words(), range });
      }
    }
  }

  bound(_copies: readonly PendingCopy[], sync: object): void {
    this.#completing.add(sync);
  }

  waited(thread: Thread, sync: object, phase: number): void {
    if (this.#outputs.size === 0 || !this.#completing.has(sync)) return;
    const progress = this.#progressOf(thread);
    if (progress.sync === sync && progress.phase === phase) return;
    progress.batch += 1;
    progress.sync = sync;
    progress.phase = phase;
  }

  threadEnded(thread: Thread): void {
    this.#progress.delete(thread);
  }

  write(thread: Thread, array: Elements, index: number, value: Value, range: Range, component: number): void {
    const output = this.#outputs.get(array);
    if (output === undefined || !(index >= 0 && index < array.length)) return;
    this.#note(thread, output, index, range, () => sameValue(array, index, component, value));
  }

  issued({ thread, call, to, from, count, first, stride }: PendingCopy): void {
    const output = this.#outputs.get(to.elements);
    if (output === undefined) return;
    const size = elementSize(to.elements);
    for (let i = first; i < count; i += stride) {
      const [target, source] = [(to.offset + i) * size, (from.offset + i) * size];
      const same = () => {
        for (let at = 0; at < size; at += 1) {
          if (to.elements.bytes[target + at] !== from.elements.bytes[source + at]) return false;
        }
        return true;
      };
      this.#note(thread, output, to.offset + i, call.range, same);
    }
  }

  launchEnded(_launch: Launch, fault: Fault | null): void {
    for (const rewriting of this.#rewritings.values()) this.#tellRewriting(rewriting);
    this.#rewritings.clear();
    if (fault !== null) return;
    for (const output of this.#outputs.values()) {
      if (output.kind === 'whole') this.#tellUnwritten(output);
    }
  }

  #note(thread: Thread, output: Output, index: number, range: Range, isSame: () => boolean): void {
    const { writers, batches, sites } = output;
    const actor = this.#actorOf(thread);
    const batch = this.#progress.get(thread)?.batch ?? 0;
    const writer = writers[index]!;
    const again = writer > 0 && (writer !== actor || batches[index] !== batch);
    if (again && !isSame()) this.#noteRewriting(thread, output, index, range, batch);
    writers[index] = actor;
    batches[index] = batch;
    sites[index] = this.#sites.of(range);
  }

  #noteRewriting(thread: Thread, output: Output, index: number, range: Range, batch: number): void {
    const { array, writers, batches, sites } = output;
    const site = sites[index]!;
    const key = `${array.name} ${site} ${this.#sites.of(range)}`;
    let rewriting = this.#rewritings.get(key);
    if (rewriting === undefined) {
      const writer = writers[index]! - 1;
      rewriting = {
        array,
        index,
        thread,
        range,
        batches: [batches[index]!, batch],
        before: {
          rank: writer % this.#blockSize,
          block: this.#blockOf(Math.floor(writer / this.#blockSize)),
          range: this.#sites.range(site),
        },
        threads: new Set(),
        least: index,
        greatest: index,
      };
      this.#rewritings.set(key, rewriting);
    }
    if (thread.block === rewriting.thread.block) rewriting.threads.add(thread.rank);
    rewriting.least = Math.min(rewriting.least, index);
    rewriting.greatest = Math.max(rewriting.greatest, index);
  }

  #tellRewriting({
    array,
    index,
    thread,
    range,
    batches,
    before,
    threads,
    least,
    greatest,
  }: Rewriting): void {
    const [first, second] = batches;
    const sameBlock = before.block.every((extent, axis) => extent === thread.block.index[axis]);
    const sameThread = sameBlock && before.rank === thread.rank;
    const who = sameThread
      ? `it wrote it in batch ${first} too`
      : `thread ${before.rank}${sameBlock ? '' : ` of block (${before.block.join(', ')})`} wrote it before`;
    this.#findings.report({
      code: 'WS7005',
      severity: 'error',
      message: `thread ${thread.rank} writes \`${array.name}[${index}]\`${sameThread ? ` in batch ${second}` : ''}, and ${who}: that result is lost`,
      place: { range, threads: [...threads].sort((a, b) => a - b), block: thread.block.index },
      related: [{ label: 'it was written here before', threads: [before.rank], ...before }],
      part: partOf(array, least, greatest - least + 1),
      mend: `Write each element once: see that the index is that of the batch that was computed. If \`${array.name}\` is meant to be written again, say so: outputs: { ${array.name}: 'any' }.`,
    });
  }

  #tellUnwritten({ array, writers, range }: Output): void {
    const runs = unwrittenRuns(writers);
    const [first] = runs;
    if (first === undefined) return;
    const missing = runs.reduce((sum, [begin, end]) => sum + end - begin, 0);
    const shown = runs
      .slice(0, 4)
      .map(([begin, end]) => (end - begin === 1 ? `${begin}` : `${begin} to ${end - 1}`));
    const more = runs.length > shown.length ? ` and ${runs.length - shown.length} more stretches` : '';
    this.#findings.report({
      code: 'WS7004',
      severity: 'error',
      message: `${missing} of the ${writers.length} elements of \`${array.name}\` are never written: ${shown.join(', ')}${more}`,
      place: { range, threads: [], block: null },
      related: [],
      part: partOf(array, first[0], first[1] - first[0]),
      mend: `See that the launch covers the array, and that each batch writes its own elements. If \`${array.name}\` is meant to be filled in part, say so: outputs: { ${array.name}: 'partial' }.`,
    });
  }

  #progressOf(thread: Thread): Progress {
    let progress = this.#progress.get(thread);
    if (progress === undefined) {
      progress = { batch: -1, sync: null, phase: -1 };
      this.#progress.set(thread, progress);
    }
    return progress;
  }

  #actorOf({ block, rank }: Thread): number {
    const [x, y, z] = block.index;
    const [width, height] = this.#launch!.grid;
    return 1 + (x + width * (y + height * z)) * this.#blockSize + rank;
  }

  #blockOf(linear: number): Extent3 {
    return placeIn(this.#launch!.grid, linear);
  }
}

function partOf(array: Elements, first: number, count: number) {
  const size = bytesOf(array.element);
  return {
    array: array.name,
    space: 'global' as const,
    first,
    count,
    bytes: [first * size, (first + count) * size] as const,
  };
}

/** Of an array with a shape, what lies between its rows and behind them: no index names it, so that nothing is missing there. */
function markBetweenRows({ program, scalars }: Launch, id: number, writers: Int32Array): void {
  const parameter = program.parameters[id]!;
  if (parameter.kind !== 'array' || parameter.dimensions === undefined) return;
  const numbers = Array.from({ length: parameter.dimensions + 1 }, (_, at) => Number(scalars[id + 1 + at]));
  const [columns, pitch] = numbers.slice(-2) as [number, number];
  const rows = numbers.slice(0, -2).reduce((all, extent) => all * extent, 1);
  for (let place = 0; place < writers.length; place += 1) {
    const isInside = place < rows * pitch && place % pitch < columns;
    if (!isInside) writers[place] = nobody;
  }
}

/** Stretches of elements without a writer. */
function unwrittenRuns(writers: Int32Array): [begin: number, end: number][] {
  const runs: [number, number][] = [];
  for (let i = writers.indexOf(0); i >= 0; i = writers.indexOf(0, i)) {
    const begin = i;
    while (i < writers.length && writers[i] === 0) i += 1;
    runs.push([begin, i]);
  }
  return runs;
}
