// From a program to a WebAssembly module: analyse, choose how the block is run, write the code.

import type { Program } from '../../compiler/ir.ts';
import type { Executable } from '../executable.ts';
import { analyseLiveness, type Liveness } from './analysis/liveness.ts';
import { analyseUniformity, type Uniformity } from './analysis/uniformity.ts';
import { planRegions } from './plan.ts';
import { prepare } from './prepare.ts';
import { writeRegions } from './regions.ts';
import { splitAffine } from './split-affine.ts';
import { structure } from './structure.ts';
import { Unit } from './unit.ts';

export type WasmExecutable = Extract<Executable, { target: 'wasm' }>;

/** Compiles a program. */
export function compileWasm(program: Program): WasmExecutable {
  const { bytes, ...rest } = writeModule(program);
  return { target: 'wasm', program, module: new WebAssembly.Module(bytes), ...rest };
}

/** The bytes of the module that a program becomes, for people who look at it. */
export function wasmBytes(program: Program): Uint8Array {
  return writeModule(program).bytes;
}

function writeModule(
  program: Program,
): Omit<WasmExecutable, 'target' | 'program' | 'module'> & { readonly bytes: Uint8Array<ArrayBuffer> } {
  const unit = new Unit(normalise(program));
  const liveness = analyseLiveness(unit.program.body);
  const block = analyseUniformity(unit.program, liveness);
  const plan = planRegions(unit.program, block, liveness);
  if ('obstacle' in plan) throw new Error(`${program.name} needs states: ${plan.obstacle.reason}`);
  const row = rowUniformity(unit.program, liveness, block);
  const { vectorised } = writeRegions(unit, { block, row }, plan.steps);
  return {
    bytes: unit.module.encode(),
    scratchBytes: unit.scratchBytes,
    mode: 'regions',
    vectorised,
    sites: unit.sites,
  };
}

/** The same program in the form that the analyses see most in. */
function normalise(program: Program): Program {
  const prepared = prepare(program);
  const structured = { ...prepared, body: structure(prepared.body) };
  const liveness = analyseLiveness(structured.body);
  return splitAffine(structured, analyseUniformity(structured, liveness, 'row'));
}

/** What is uniform in a row; a block of one row is that row. */
function rowUniformity(program: Program, liveness: Liveness, block: Uniformity): Uniformity {
  const [, y, z] = program.block;
  return y * z === 1 ? block : analyseUniformity(program, liveness, 'row');
}
