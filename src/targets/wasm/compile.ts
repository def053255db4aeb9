// From a program to a WebAssembly module: analyse, choose how the block is run, write the code.

import type { Program } from '../../compiler/ir.ts';
import { analyseLiveness, type Liveness } from '../analysis/liveness.ts';
import { analyseUniformity, type Uniformity } from '../analysis/uniformity.ts';
import type { Executable } from '../executable.ts';
import { withStageMarks } from './marks.ts';
import { type Obstacle, planRegions } from './plan.ts';
import { prepare } from './prepare.ts';
import { writeRegions } from './regions.ts';
import { splitAffine } from './split-affine.ts';
import { writeStates } from './states/compile.ts';
import { structure } from './structure.ts';
import { Unit } from './unit.ts';
import { expandWarps } from './warps.ts';

export type WasmExecutable = Extract<Executable, { target: 'wasm' }>;

export interface WasmOptions {
  /** Runs the block in that way even where the faster one would do: to compare the two. */
  readonly mode?: 'states';
}

/** Compiles a program. */
export function compileWasm(program: Program, options: WasmOptions = {}): WasmExecutable {
  const { bytes, ...rest } = writeModule(program, options);
  return { target: 'wasm', program, module: new WebAssembly.Module(bytes), ...rest };
}

/**
 * The same program compiled so that it tells of the stages of its pipelines, and run in the same way. Its
 * threads come together at the marks where they can do so in that way.
 */
export function compileWithStages({ program, mode }: WasmExecutable): WasmExecutable {
  const options = mode === 'states' ? { mode } : {};
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
} {
  const { mode, vectorised } = writeModule(program, {});
  const unit = new Unit(normalise(program));
  const liveness = analyseLiveness(unit.program.body);
  const plan = planRegions(unit.program, analyseUniformity(unit.program, liveness), liveness);
  return { mode, vectorised, obstacle: 'obstacle' in plan ? plan.obstacle : null };
}

type Module = Omit<WasmExecutable, 'target' | 'program' | 'module'> & {
  readonly bytes: Uint8Array<ArrayBuffer>;
};

function writeModule(program: Program, { mode }: WasmOptions): Module {
  return (mode === 'states' ? null : regionsModule(program)) ?? statesModule(program);
}

/** The module that runs the program region by region, if that is possible. */
function regionsModule(program: Program): Module | null {
  const unit = new Unit(normalise(program));
  const liveness = analyseLiveness(unit.program.body);
  const block = analyseUniformity(unit.program, liveness);
  const plan = planRegions(unit.program, block, liveness);
  if ('obstacle' in plan) return null;
  const row = rowUniformity(unit.program, liveness, block);
  const { vectorised } = writeRegions(unit, { block, row }, plan.steps);
  return finished(unit, 'regions', vectorised);
}

function statesModule(program: Program): Module {
  const prepared = prepare(expandWarps(program, false), 'counted');
  const { unit, vectorised } = writeStates({ ...prepared, body: structure(prepared.body) });
  return finished(unit, 'states', vectorised);
}

function finished(unit: Unit, mode: Module['mode'], vectorised: boolean): Module {
  const { scratchBytes, sites } = unit;
  return { bytes: unit.module.encode(), scratchBytes, mode, vectorised, sites };
}

/** The same program in the form that the analyses see most in. */
function normalise(program: Program): Program {
  const prepared = prepare(expandWarps(program, true), 'together');
  const structured = { ...prepared, body: structure(prepared.body) };
  const liveness = analyseLiveness(structured.body);
  return splitAffine(structured, analyseUniformity(structured, liveness, 'row'));
}

/** What is uniform in a row; a block of one row is that row. */
function rowUniformity(program: Program, liveness: Liveness, block: Uniformity): Uniformity {
  const [, y, z] = program.block;
  return y * z === 1 ? block : analyseUniformity(program, liveness, 'row');
}
