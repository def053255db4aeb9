// The journal of a run that can be resumed: a small file beside its first output, which says which run it is
// of and how many rows of all outputs lie on the disk.
//
// Outputs are written in the order of their chunks, so one count of rows says what is written, however many
// devices computed it and however long the chunks were. The order is what makes it true after a loss of power as
// well: the outputs are flushed, and then the journal says so. That happens beside the run, about once a second: a
// run that ends loses what it wrote since. The unfinished outputs lie under names of their own,
// which the next run finds: `.y.npy.partial` and `.y.npy.journal` for `y.npy`, and `.all.npz.partial-y` for one of several
// outputs in `all.npz`. They are this user's alone, and only such are gone on with: what others could have made, or have led
// elsewhere by a link, is refused.
//
// Where accumulators go from chunk to chunk, a line counts only with their state behind the same rows (state-files.ts).
// The run brings it between two chunks, when it is due. So does what an output's next bytes depend on, as the rows of a
// Parquet group that is not full yet; where they depend on nothing, as behind a compressed chunk, the line says how long the
// file is. An output that is an object of S3 has its upload there: which parts the store has, and the bytes behind them; one
// that is a folder, how many of its files are whole.

import { type FileHandle, lstat, open, rm } from 'node:fs/promises';
import { unwritable } from '../../diagnostics/problem.ts';
import type { Checksum } from '../../files/checksum.ts';
import { openOwn, ownMode } from '../../files/own-file.ts';
import { nothing, type SinkMark } from '../sinks/sink.ts';
import { beginning, bytesAt, type Former, forgetOthers, formerRun, type Target } from './former.ts';
import { lockAll } from './lock.ts';
import { pack, unpack } from './packed.ts';
import { beside, finalOf, hintOfFolder, partialPath, statePaths, type UnfinishedOutput } from './places.ts';
import { StateFiles, sumOf } from './state-files.ts';
import { type Facts, headLine, type Mark, markLine, type Noted } from './text.ts';

/** Where an output is written until it is complete. */
export interface PartialFile {
  readonly path: string;
  /** Bytes that are there from a former run; of a folder, those of the elements in it. */
  readonly bytes: number;
  /** That of these bytes. Its sink continues it. */
  readonly checksum: Checksum;
  /** What the bytes behind them depend on, where a former run has noted it. */
  readonly state?: Uint8Array | undefined;
}

/** An output that is written: flushes it to the disk, and says how far it is. */
export interface Flushed {
  sync(): Promise<void>;
  mark(): SinkMark;
  discard?(): Promise<void>;
}

/** Where a journal lies, and what it keeps. */
export interface Kept {
  /** It lies beside this. */
  readonly base: string;
  /** Whether the state of accumulators is kept as well. */
  readonly hasState: boolean;
}

/** Milliseconds from one flush to the next. */
const interval = 1000;

/** What is written: a mark, and what the next bytes of each output depend on then; with it what accumulators hold. */
interface Written {
  readonly noted: Noted;
  readonly states: readonly (() => Uint8Array)[];
  readonly held?: Uint8Array;
}

/** What a journal knows of states when it is opened. */
interface States {
  readonly states: StateFiles;
  readonly hasState: boolean;
  readonly saysSizes: boolean;
  readonly isElsewhere: boolean;
  readonly found: Uint8Array | undefined;
}

export class Journal {
  /** What a former run left; this one continues after it. */
  readonly begin: Mark;
  readonly #path: string;
  readonly #partials: ReadonlyMap<string, PartialFile>;
  /** Files that wait for the next run; objects wait where they are to be. */
  readonly #left: readonly string[];
  /** Those among them that are parts of a file, and never get a name of their own. */
  readonly #parts: readonly string[];
  readonly #release: () => Promise<void>;
  readonly #file: FileHandle;
  readonly #outputs: Flushed[] = [];
  #position: number;
  /** Lines that the journal has. */
  #lines: number;
  /** What is written, and what the journal says. */
  #written: Written;
  #noted: Mark;
  /** Whether only what follows from `keepState` is noted: accumulators go from chunk to chunk. */
  readonly #hasState: boolean;
  readonly #states: StateFiles;
  /** Whether lines say how long the files are. */
  readonly #saysSizes: boolean;
  /** Whether an output goes to a store, which keeps what it has of it until somebody ends that. */
  readonly #isElsewhere: boolean;
  /** What accumulators held when a former run ended, until it is taken; and what is to be noted with what they hold now. */
  #found: Uint8Array | undefined;
  #kept: Written | undefined;
  #lastFlush = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> | undefined;
  #failure: { readonly cause: unknown } | undefined;
  #stopped = false;
  #settled: Promise<void> | undefined;

  private constructor(
    path: string,
    partials: ReadonlyMap<string, PartialFile>,
    { left, parts }: { readonly left: readonly string[]; readonly parts: readonly string[] },
    release: () => Promise<void>,
    file: FileHandle,
    former: Former,
    { states, hasState, saysSizes, isElsewhere, found }: States,
  ) {
    const begin = markOf(former.mark);
    this.#path = path;
    this.#partials = partials;
    this.#left = left;
    this.#parts = parts;
    this.#release = release;
    this.#file = file;
    this.begin = begin;
    this.#written = { noted: { ...begin, sums: [] }, states: [] };
    this.#noted = begin;
    this.#position = former.length;
    this.#lines = former.lines;
    this.#states = states;
    this.#hasState = hasState;
    this.#saysSizes = saysSizes;
    this.#isElsewhere = isElsewhere;
    this.#found = found;
  }

  /**
   * Opens the journal of these outputs, or makes one.
   *
   * @throws WarpstageError WS5013 if it is of another run, WS5011 if another process has it; nothing is changed then
   */
  static async open(facts: Facts, targets: readonly Target[], kept?: Kept): Promise<Journal> {
    const finals = await Promise.all(targets.map((one) => (one.hasParts ? one.path : finalOf(one.path))));
    const files = finals.filter((_, i) => targets[i]!.hasParts === undefined);
    const base = kept?.base ?? finals[0]!;
    const path = beside(base, 'journal');
    const hasState = kept?.hasState ?? false;
    const states = new StateFiles(statePaths(base));
    const release = await lockAll([...new Set([base, ...files])]);
    try {
      const partials = finals.map((final, i) => partialPath(final, targets[i]!.part));
      const found = await formerRun(path, partials, facts, targets, states);
      if ((found?.mark.rows ?? 0) === 0) await forgetOthers(targets, states);
      const file = await openText(path, found?.length, facts);
      const former = found ?? beginning(facts, targets);
      const [held, ...ofOutputs] = former.state === undefined ? [] : unpack(former.state);
      const places = targets.map((target, i) => {
        const bytes = bytesAt(target, former.mark, i);
        const state = ofOutputs[i];
        const place = { path: partials[i]!, bytes, checksum: former.checksums[i]!, state };
        return [keyOf(target), place] as const;
      });
      const saysSizes = targets.some(({ bytesOf }) => bytesOf === undefined);
      const isElsewhere = targets.some(({ forget }) => forget !== undefined);
      const known = { states, hasState, saysSizes, isElsewhere, found: hasState ? held : undefined };
      const left = partials.filter((_, i) => targets[i]!.hasParts === undefined);
      const parts = partials.filter((_, i) => targets[i]!.part !== undefined);
      return new Journal(path, new Map(places), { left, parts }, release, file, former, known);
    } catch (error) {
      await release();
      throw error;
    }
  }

  /** Where an output is written meanwhile. */
  partialOf(output: UnfinishedOutput): PartialFile {
    return this.#partials.get(keyOf(output))!;
  }

  /** An output was opened; what it has is flushed before the journal counts it. */
  add(output: Flushed): void {
    this.#outputs.push(output);
  }

  /** To be called when all outputs are open: notes which uploads they began, so that the next run can end them. Throws WS5006. */
  async opened(): Promise<void> {
    if (!this.#isElsewhere || this.begin.rows > 0) return;
    const states = this.#outputs.map((output) => output.mark().state());
    await this.#states.write(0, pack([nothing, ...states]));
  }

  /** Rows the journal counts. */
  get rows(): number {
    return this.#noted.rows;
  }

  /**
   * All outputs of one more chunk were written.
   *
   * @throws what a flush in the meantime failed with
   */
  written(rows: number, kept?: number): void {
    if (this.#failure !== undefined) throw this.#failure.cause;
    const sums = [...this.#partials.values()].map(({ checksum }) => checksum.value);
    const { noted: before } = this.#written;
    const marks = this.#outputs.map((output) => output.mark());
    const noted: Noted = {
      rows: before.rows + rows,
      chunks: before.chunks + 1,
      ...(kept !== undefined && { kept: (before.kept ?? 0) + kept }),
      ...(this.#saysSizes && { sizes: marks.map(({ bytes }) => bytes) }),
      sums,
    };
    this.#written = { noted, states: marks.map(({ state }) => state) };
    if (!this.#hasState) this.#schedule();
  }

  /** What accumulators held when a former run ended; once. */
  takeState(): Uint8Array | undefined {
    const state = this.#found;
    this.#found = undefined;
    return state;
  }

  /** Whether the state of accumulators behind what is written is to be kept now. */
  get isStateDue(): boolean {
    if (this.#stopped || this.#flushing !== undefined || this.#written.noted.rows === this.#noted.rows)
      return false;
    return performance.now() - this.#lastFlush >= interval;
  }

  /** Keeps the state of accumulators behind all that is written, beside the run. */
  keepState(state: Uint8Array): void {
    if (this.#stopped) return;
    this.#kept = { ...this.#written, held: state };
    this.#flushing = (this.#flushing ?? Promise.resolve()).then(() => this.#flushBeside());
  }

  /**
   * Everything was written: from now on the outputs are flushed as they are completed, and not from here.
   *
   * @throws what a flush in the meantime failed with
   */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#flushing;
    if (this.#failure !== undefined) throw this.#failure.cause;
  }

  /** The outputs have their final names: there is nothing left to resume. Never throws. */
  async remove(): Promise<void> {
    await this.#file.close().catch(() => {});
    for (const path of [...this.#parts, this.#path]) await rm(path, { force: true }).catch(() => {});
    await this.#removeStates();
    await this.#release();
  }

  /** The run ends before its outputs are complete: notes what was written. Never throws. */
  settle(): Promise<void> {
    this.#settled ??= this.#settle();
    return this.#settled;
  }

  async #settle(): Promise<void> {
    // An output that could not be completed may not have been flushed either, and says so only once.
    const isComplete = this.#stopped;
    try {
      await this.stop();
      if (!isComplete) await this.#flush();
    } catch {
      // The disk is full, or gone: what was noted before counts.
    }
    await this.#file.close().catch(() => {});
  }

  /** Leaves the outputs to the next run, after `settle()`; removes them if it would find nothing of one. Never throws. */
  async leave(): Promise<void> {
    const partials = this.#left;
    const there = await Promise.all(partials.map((path) => lstat(path).catch(() => undefined)));
    if (this.#noted.rows === 0 || there.includes(undefined)) {
      const paths = [this.#path, ...partials];
      await Promise.allSettled(paths.map((path) => rm(path, { force: true, recursive: true })));
      await Promise.all(this.#outputs.map((output) => output.discard?.()));
      await this.#removeStates();
    }
    await this.#release();
  }

  /** Those of a former run too, which may have ended before it had removed them. */
  async #removeStates(): Promise<void> {
    if (this.#hasState || this.#saysSizes) await this.#states.remove();
  }

  #schedule(): void {
    if (this.#stopped || this.#timer !== undefined || this.#flushing !== undefined) return;
    const wait = Math.max(0, this.#lastFlush + interval - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#flushing = this.#flushBeside();
    }, wait);
  }

  async #flushBeside(): Promise<void> {
    try {
      await this.#flush();
    } catch (cause) {
      this.#failure = { cause };
      return;
    }
    this.#flushing = undefined;
    this.#lastFlush = performance.now();
    if (!this.#hasState && this.#noted.rows < this.#written.noted.rows) this.#schedule();
  }

  async #flush(): Promise<void> {
    const written = this.#hasState ? this.#kept : this.#written;
    if (written === undefined || written.noted.rows === this.#noted.rows) return;
    await Promise.all(this.#outputs.map((output) => output.sync()));
    // Of an object, which parts have arrived is known only now.
    const state = pack([written.held ?? nothing, ...written.states.map((of) => of())]);
    const { noted } = written;
    const sums = [...noted.sums];
    if (this.#hasState || state.length > 0) {
      await this.#states.write(this.#lines, state);
      sums.push(sumOf(state));
    }
    const line = Buffer.from(markLine({ ...noted, sums }));
    try {
      await this.#file.write(line, 0, line.length, this.#position);
      await this.#file.datasync();
    } catch (cause) {
      throw unwritable(this.#path, cause);
    }
    this.#position += line.length;
    this.#lines++;
    if (this.#kept === written) this.#kept = undefined;
    this.#noted = markOf(noted);
  }
}

function keyOf({ path, part }: UnfinishedOutput): string {
  return JSON.stringify([path, part]);
}

/** What a line says, without its checksums. */
function markOf({ rows, chunks, kept }: Mark): Mark {
  return { rows, chunks, ...(kept !== undefined && { kept }) };
}

/** Opens the journal behind the lines that count, or begins a new one. */
async function openText(path: string, length: number | undefined, facts: Facts): Promise<FileHandle> {
  try {
    if (length === undefined) return await beginText(path, facts);
    const file = await openOwn(path);
    if (file === undefined) throw new Error('it was removed');
    await file.truncate(length);
    return file;
  } catch (cause) {
    throw unwritable(path, cause, hintOfFolder);
  }
}

async function beginText(path: string, facts: Facts): Promise<FileHandle> {
  await rm(path, { force: true });
  const file = await open(path, 'wx', ownMode);
  try {
    await file.writeFile(headLine(facts));
    // A mark without it would be a file of somebody else's.
    await file.datasync();
    return file;
  } catch (error) {
    await file.close().catch(() => {});
    await rm(path, { force: true });
    throw error;
  }
}
