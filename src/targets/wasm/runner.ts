// The threads' side: instantiates a module over the device's memory and runs blocks with it.
//
// Blocks are run a slice at a time, each slice about a millisecond. An engine that has compiled
// the code better meanwhile uses that from the next call on, never in the middle of one; so the
// first slice is a single block; a later launch begins with as many as the last one ended with. Where blocks take turns, a
// slice soon has as many.

import type { Value } from '../../compiler/arithmetic.ts';
import type { BlockRunner, Executable, RunnerContext } from '../executable.ts';
import { synchronisesGrid } from '../grid.ts';
import { printedLine } from '../printed-line.ts';
import { FaultReader } from './faults.ts';
import { exactFunctions, type HostFunctions, mathImport, now } from './host-functions.ts';
import { Patience } from './patience.ts';
import { type GridFunctions, runGrid } from './states/grid.ts';

type WasmExecutable = Extract<Executable, { target: 'wasm' }>;

/** Milliseconds that a slice should take, and the most blocks in one. */
const sliceTime = 1;
const largestSlice = 4096;

/** What code takes from JavaScript, and what the runner asks about it. */
export interface HostSide {
  /** The functions, by module and name; those of `math` as the code asks for them. */
  readonly functions: Omit<HostFunctions, 'math'>;
  readonly faults: FaultReader;
  readonly patience: Patience;
  /** Notes which block runs. */
  enter(block: number): void;
}

export function hostSide(
  executable: WasmExecutable,
  context: RunnerContext,
  patience = new Patience(context.memory),
): HostSide {
  const faults = new FaultReader(executable, context.memory);
  /** The block that runs. */
  let current = 0;
  return {
    functions: {
      exact: exactFunctions,
      clock: { now, rests: patience.rests.bind(patience) },
      fault: faults.functions,
      stages: stageFunctions(executable, context, () => current),
      print: printFunctions(executable, context, faults),
    },
    faults,
    patience,
    enter(block) {
      current = block;
    },
  };
}

export function createWasmRunner(
  executable: WasmExecutable,
  context: RunnerContext,
  patience?: Patience,
): BlockRunner {
  const host = hostSide(executable, context, patience);
  const imports = {
    env: { memory: context.memory },
    math: mathImports(executable.module),
    ...host.functions,
  };
  const instance = new WebAssembly.Instance(executable.module, imports as unknown as WebAssembly.Imports);
  return blockRunner(executable, context, instance.exports as unknown as CodeFunctions, host);
}

/** What code exports: `run`, or the functions of a grid that synchronises. */
export type CodeFunctions = GridFunctions & {
  run(record: number, arena: number, first: number, end: number): number;
};

/** Runs blocks by an executable's code, whatever carries that out. */
export function blockRunner(
  { program, blocksInTurn: least = 1 }: WasmExecutable,
  { memory }: RunnerContext,
  functions: CodeFunctions,
  { faults, patience, enter }: HostSide,
): BlockRunner {
  if (synchronisesGrid(program)) {
    return (record, arena, first, end) => {
      patience.begin();
      const stride = new DataView(memory.buffer).getUint32(record + 12, true);
      const enterBlock = (block: number) => {
        enter(block);
        faults.begin(record, arena + block * stride);
        return arena + block * stride;
      };
      const awaitsGrid = () => faults.awaitsGrid;
      return runGrid(functions, record, end - first, { enter: enterBlock, awaitsGrid })
        ? faults.take()
        : null;
    };
  }
  const { run } = functions;
  let slice = 1;
  return (record, arena, first, end) => {
    faults.begin(record, arena);
    patience.begin();
    for (let block = first; block < end; ) {
      const sliceEnd = Math.min(block + slice, end);
      const start = performance.now();
      enter(block);
      if (run(record, arena, block, sliceEnd) !== 0) return faults.take();
      if (slice < least || performance.now() - start < sliceTime) slice = Math.min(2 * slice, largestSlice);
      else slice = Math.max(least, Math.floor(slice / 2));
      block = sliceEnd;
    }
    return null;
  };
}

function mathImports(module: WebAssembly.Module): Record<string, (...operands: number[]) => number> {
  const names = WebAssembly.Module.imports(module).filter((each) => each.module === 'math');
  return Object.fromEntries(names.map(({ name }) => [name, mathImport(name)]));
}

/** For a module that tells of stages, of which one block is recorded. */
function stageFunctions(
  { program: { pipelines } }: WasmExecutable,
  { stages }: RunnerContext,
  current: () => number,
): HostFunctions['stages'] {
  return {
    mark(at, pipeline, made, batch, rank) {
      if (stages === undefined || current() !== stages.block) return;
      const { group, scope } = pipelines[pipeline]!;
      const tile = group.kind === 'tile' ? Math.floor(rank / group.size) : 0;
      // A block has a thousand threads at most; the pipelines of thread scope are shown as one.
      stages.clock.mark(at, pipeline, scope === 'thread' ? 0 : 1024 * made + tile, batch);
    },
  };
}

/** The values of a line arrive one by one, then the line itself. */
function printFunctions(
  { sites }: WasmExecutable,
  { print }: RunnerContext,
  faults: FaultReader,
): HostFunctions['print'] {
  let values: Value[] = [];
  const lineOf = (site: number) => {
    const given = values;
    values = [];
    const { texts, formats } = sites[site]!;
    return printedLine({ texts: texts!, formats }, given);
  };
  const take = (value: Value) => {
    values.push(value);
  };
  return {
    i32: take,
    u32: (value) => take(value >>> 0),
    i64: take,
    u64: (value) => take(BigInt.asUintN(64, value)),
    f32: take,
    f64: take,
    bool: (value) => take(value !== 0),
    line(site, rank, block) {
      print(lineOf(site), faults.threadAt(site, rank), faults.blockAt(block));
    },
    assertion: (site, rank, block) => faults.assertion(site, rank, block, lineOf(site)),
  };
}
