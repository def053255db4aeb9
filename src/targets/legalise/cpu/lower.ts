// The passes that bring a program down to what a CPU runs, one after the other.
//
// Each takes a program and gives one. Those in `optionalCpuPasses` only make it better, which tests show by
// leaving them out.

import type { Program } from '../../../compiler/ir.ts';
import { factsOf } from '../../analysis/facts.ts';
import { withoutKnownBounds } from '../../analysis/known-bounds.ts';
import type { Uniformity } from '../../analysis/uniformity.ts';
import { expandCounts } from '../counts.ts';
import { withPolls } from '../polls.ts';
import { computeAnew } from './anew.ts';
import { lowerInBlock } from './block.ts';
import { planCohorts } from './cohorts.ts';
import { lowerToCounts } from './count.ts';
import type { CpuPass, OptionalCpuPass } from './passes.ts';
import { prepare } from './prepare.ts';
import { type Obstacle, planRegions } from './regions.ts';
import { sliceLoops } from './slices.ts';
import { splitAffine } from './split-affine.ts';
import { structure } from './structure.ts';
import { unrollLoops } from './unroll.ts';
import { expandWarps } from './warps.ts';
import { zipRoles } from './zip.ts';

export interface PassOptions {
  /** Passes to leave out. */
  readonly without?: readonly OptionalCpuPass[];
  /** Gets the program after each pass. */
  readonly after?: (pass: CpuPass, program: Program) => void;
}

/** A program that its block runs, and what is the same in all threads of it, and of each row. */
export interface LoweredToRegions {
  readonly program: Program;
  readonly uniformity: { readonly block: Uniformity; readonly row: Uniformity };
}

/** The program that a block runs region by region, if that is possible. */
export function lowerToRegions(
  original: Program,
  options: PassOptions = {},
): LoweredToRegions | { readonly obstacle: Obstacle } {
  const ready = run('zip', madeReady(original, true, options), zipRoles, options);
  const apart = run('affine', ready, splitInRows, options);
  // Only blocks that take turns have something of slices.
  const takesTurns = !options.without?.includes('turns');
  const threads = run('slices', apart, takesTurns ? sliceLoops : (program) => program, options);
  const planned = planRegions(threads);
  if ('obstacle' in planned) return planned;
  options.after?.('regions', planned.program);
  const kept = run('anew', planned.program, computeAnew, options);
  const program = run('block', kept, lowerInBlock, options);
  const facts = factsOf(program);
  return { program, uniformity: { block: facts.among('block'), row: facts.among('row') } };
}

/** The program as cohorts run it, where threads wait for one another. */
export function lowerToStates(original: Program, options: PassOptions = {}): Program {
  const ready = madeReady(original, false, options);
  const inRows = (options.without ?? []).includes('affine') ? (program: Program) => program : splitInRows;
  const counting = run('counts', ready, lowerToCounts, options);
  return run('cohorts', counting, (program) => planCohorts(program, inRows), options);
}

/** The program after a pass on the way to regions; one of cohorts, or that cannot go that way, after one to states. */
export function programAfter(
  original: Program,
  pass: CpuPass,
  without: readonly OptionalCpuPass[],
): { readonly program: Program } | { readonly obstacle: Obstacle } {
  const seen = new Map<CpuPass, Program>();
  const after = (each: CpuPass, program: Program) => void seen.set(each, program);
  const lowered = lowerToRegions(original, { without, after });
  if ('obstacle' in lowered || pass === 'cohorts' || pass === 'counts') {
    seen.clear();
    lowerToStates(original, { without, after });
  }
  const program = seen.get(pass);
  if (program !== undefined) return { program };
  if ('obstacle' in lowered) return lowered;
  throw new TypeError(`no pass ${pass}`);
}

/** The same program in which an index that grows from thread to thread has a base that a row shares. */
function splitInRows(program: Program): Program {
  return splitAffine(program, factsOf(program).among('row'));
}

function madeReady(original: Program, together: boolean, options: PassOptions): Program {
  const expanded = run(
    'warps',
    withPolls(withoutKnownBounds(original)),
    (program) => expandWarps(expandCounts(program, together), together),
    options,
  );
  const quitting = together ? 'together' : 'counted';
  const prepared = run('prepare', expanded, (program) => prepare(program, quitting), options);
  return run('unroll', run('structure', prepared, structured, options), unrollLoops, options);
}

function structured(program: Program): Program {
  return { ...program, body: structure(program.body) };
}

function run(
  name: CpuPass,
  program: Program,
  pass: (program: Program) => Program,
  { without = [], after }: PassOptions,
): Program {
  const passed = without.some((each) => each === name) ? program : pass(program);
  after?.(name, passed);
  return passed;
}
