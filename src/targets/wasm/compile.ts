// From a program to a WebAssembly module: analyse, choose how the block is run, write the code.

import type { Program } from '../../compiler/ir.ts';
import { inPlacePairs } from '../analysis/in-place.ts';
import { countStatements } from '../analysis/walk.ts';
import type { Executable } from '../executable.ts';
import { lowerToRegions, lowerToStates } from '../legalise/cpu/lower.ts';
import type { CpuPass, OptionalCpuPass } from '../legalise/cpu/passes.ts';
import type { Obstacle } from '../legalise/cpu/regions.ts';
import { withStageMarks } from './marks.ts';
import { writeRegions } from './regions.ts';
import { writeStates } from './states/compile.ts';
import { Unit } from './unit.ts';
import type { Registers, UnitOptions } from './whole.ts';

export type WasmExecutable = Extract<Executable, { target: 'wasm' }>;

export interface WasmOptions {
  /** Runs the block in that way even where the faster one would do: to compare the two. */
  readonly mode?: 'states';
  /** Passes to leave out, for those who look for the one that is wrong. */
  readonly without?: readonly OptionalCpuPass[];
  /** For code that is made of the module, and is not run by the engine. */
  readonly registers?: Registers;
  /** For a memory of more than 4 GiB, whose addresses have 64 bits: what finishes a module (memory64.ts). */
  readonly memory64?: ((module: Uint8Array) => Uint8Array<ArrayBuffer>) | undefined;
}

/** Compiles a program. */
export function compileWasm(program: Program, options: WasmOptions = {}): WasmExecutable {
  return compileToBytes(program, options).executable;
}

/** The same, with the bytes of its module. */
export function compileToBytes(
  program: Program,
  options: WasmOptions = {},
): { readonly executable: WasmExecutable; readonly bytes: Uint8Array } {
  const { bytes, done: _, ...rest } = writeModule(program, options);
  const module = new WebAssembly.Module(bytes);
  return { executable: { target: 'wasm', program, module, inPlace: inPlacePairs(program), ...rest }, bytes };
}

/** A module of which code for a processor is made: its bytes, and what belongs to it. */
export function moduleForProcessor(
  program: Program,
  registers: Registers,
  options: WasmOptions = {},
): Pick<Module, 'bytes' | 'sites' | 'scratchBytes'> {
  return writeModule(program, { ...options, registers });
}

/**
 * The same program compiled so that it tells of the stages of its pipelines, and run in the same way. Its
 * threads come together at the marks where they can do so in that way.
 */
export function compileWithStages(
  { program, mode }: WasmExecutable,
  { memory64 }: Pick<WasmOptions, 'memory64'> = {},
): WasmExecutable {
  const options: WasmOptions = mode === 'states' ? { mode, memory64 } : { memory64 };
  const together = compileWasm(withStageMarks(program, 'together'), options);
  return together.mode === mode ? together : compileWasm(withStageMarks(program, 'apart'), options);
}

/** The bytes of the module that a program becomes, for people who look at it. */
export function wasmBytes(program: Program, options: WasmOptions = {}): Uint8Array {
  return writeModule(program, options).bytes;
}

/** How a program will be run, and why: null where its regions stand in nothing's way. */
export function explainWasm(program: Program): {
  readonly mode: Module['mode'];
  readonly vectorised: boolean;
  readonly obstacle: Obstacle | null;
  /** What passes did. */
  readonly done: readonly string[];
} {
  const { mode, vectorised, done } = writeModule(program, {});
  const passed = new Map<CpuPass, Program>();
  const after = (pass: CpuPass, program: Program) => void passed.set(pass, program);
  const lowered = lowerToRegions(program, { after });
  const statements = (pass: CpuPass) => countStatements(passed.get(pass)!.body);
  const unrolls = statements('unroll') !== statements('structure');
  const zips = passed.get('zip') !== passed.get('unroll');
  const slices = passed.get('slices') !== passed.get('affine');
  return {
    mode,
    vectorised,
    obstacle: 'obstacle' in lowered ? lowered.obstacle : null,
    done: [
      ...(unrolls ? ['unroll: small loops of known length'] : []),
      ...(zips ? ['zip: what producers and consumers do for a batch in one turn of a loop'] : []),
      ...(slices ? ['slices: a loop over the grid in pieces of four turns'] : []),
      ...done,
    ],
  };
}

type Module = Omit<WasmExecutable, 'target' | 'program' | 'module'> & {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly done: readonly string[];
};

function writeModule(program: Program, { mode, without = [], registers, memory64 }: WasmOptions): Module {
  const options: UnitOptions = { without, registers, addressType: memory64 === undefined ? 'i32' : 'i64' };
  const module =
    (mode === 'states' ? null : regionsModule(program, options)) ?? statesModule(program, options);
  // In C what has 32 bits is added to an address as it is.
  return memory64 === undefined || registers !== undefined
    ? module
    : { ...module, bytes: memory64(module.bytes) };
}

/** The module that runs the program region by region, if that is possible. */
function regionsModule(program: Program, options: UnitOptions): Module | null {
  const lowered = lowerToRegions(program, options);
  if ('obstacle' in lowered) return null;
  const unit = Unit.ofBody(lowered.program, options);
  const { vectorised, blocksInTurn } = writeRegions(unit, lowered.uniformity);
  return { ...finished(unit, 'regions', vectorised), ...(blocksInTurn > 1 ? { blocksInTurn } : {}) };
}

function statesModule(program: Program, options: UnitOptions): Module {
  const { unit, vectorised } = writeStates(lowerToStates(program, options), options);
  return finished(unit, 'states', vectorised);
}

function finished(unit: Unit, mode: Module['mode'], vectorised: boolean): Module {
  const { scratchBytes, sites, done } = unit;
  return { bytes: unit.module.encode(), scratchBytes, mode, vectorised, sites, done };
}
