// From a program to a WebAssembly module: analyse, choose how the block is run, write the code.

import type { Program } from '../../compiler/ir.ts';
import type { Executable } from '../executable.ts';
import { analyseLiveness } from './analysis/liveness.ts';
import { analyseUniformity } from './analysis/uniformity.ts';
import { planRegions } from './plan.ts';
import { prepare } from './prepare.ts';
import { writeRegions } from './regions.ts';
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
  const unit = new Unit(prepare(program));
  const liveness = analyseLiveness(unit.program.body);
  const uniformity = analyseUniformity(unit.program, liveness);
  const plan = planRegions(unit.program, uniformity, liveness);
  if ('obstacle' in plan) throw new Error(`${program.name} needs states: ${plan.obstacle.reason}`);
  writeRegions(unit, uniformity, plan.steps);
  return {
    bytes: unit.module.encode(),
    scratchBytes: unit.scratchBytes,
    mode: 'regions',
    vectorised: false,
    sites: unit.sites,
  };
}
