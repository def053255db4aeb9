// Pipelines and barriers of any lanes, and of subsets of a block, as the operations of a GPU: right and clean under every delivery; and what
// synchronises there, taken away, is found.

import { describe, expect, test } from 'vitest';
import type { Kernel } from 'warpstage';
import type { Program } from '#warpstage/compiler/ir.js';
import { specialise } from '#warpstage/compiler/specialise.js';
import type { Finding } from '#warpstage/targets/checker/finding.js';
import type { Delivery } from '#warpstage/targets/interpreter/runner.js';
import { interpreter } from '../support/interpreter.ts';
import { architectures, loweredFor } from '../support/lowered.ts';
import { runProgram } from '../support/run-program.ts';
import { partOf } from '../support/thorough.ts';
import * as kernels from '../warps/lane-pipeline-kernels.ts';
import * as subsets from '../warps/subset-kernels.ts';
import { forEachPlace, kindOf, without } from './omissions.ts';

const threads = 64;

function programOf(kernel: Kernel, constants: Readonly<Record<string, boolean>>): Program {
  const options = { block: [threads, 1, 1], indexType: 'i32', functions: {} } as const;
  return specialise(kernel, { ...options, constants }).program;
}

const inputs = () => ({
  labels: Int32Array.from({ length: threads }, (_, t) => (t * 7) % 5),
  flags: Int32Array.from({ length: threads }, (_, t) => (t * 7) % 3),
  x: Int32Array.from({ length: subsets.most * kernels.batches }, (_, n) => 1000 + ((n * 7919) % 997)),
  out: new Int32Array(8 * threads),
  f: new Float32Array(threads),
  last: new Int32Array(3 * threads),
});

function outcome(
  program: Program,
  architecture: number,
  delivery: Delivery,
  after: (lowered: Program) => Program = (lowered) => lowered,
) {
  const findings: Finding[] = [];
  const target = loweredFor(architecture, delivery, (finding) => findings.push(finding), { after });
  const given = inputs();
  const { fault } = runProgram(target, program, { grid: 1, arguments: given });
  const wrong =
    fault === null ? (findings[0]?.message ?? null) : 'message' in fault ? fault.message : fault.kind;
  return { out: String([given.out, given.f, given.last]), wrong };
}

function rightOf(program: Program): string {
  const given = inputs();
  runProgram(interpreter('late'), program, { grid: 1, arguments: given });
  return String([given.out, given.f, given.last]);
}

const deliveries: readonly Delivery[] = ['eager', 'late', 1];

/** The kernels, and what of each may be missing: the meeting before a making that nothing came before, and the like. */
const cases = [
  // The first stages are acquired by who finds them free.
  ['unified', kernels.unified, {}, ['sync', 'mbarrierWait']],
  ['roles', kernels.roles, { byRole: true }, ['sync']],
  ['count', kernels.roles, { byRole: false }, ['sync']],
  // A pipeline of one batch is acquired as it was made, and nobody waits for what is released.
  ['again', kernels.again, {}, ['mbarrierWait', 'mbarrierArrive']],
  ['barriers', kernels.barriers, {}, ['sync']],
  // Who uses the second one has waited at the first.
  ['barrierArrays', kernels.barrierArrays, {}, ['sync', 'sync', 'sync', 'sync']],
  ['subsets', subsets.neighbours, {}, []],
  ['subsets unified', subsets.unified, {}, ['mbarrierWait']],
  ['subsets with roles', subsets.roles, { byRole: true }, []],
  ['subsets with a number', subsets.roles, { byRole: false }, []],
  ['subsets that copy', subsets.copies, {}, []],
  // Nobody comes behind the last exchange.
  ['subsets that combine', subsets.collectives, {}, ['mbarrierWait']],
] as const;

describe.each(cases)('%s', (name, kernel, constants, spare) => {
  const program = programOf(kernel as Kernel, constants);
  const right = rightOf(program);
  const position = cases.findIndex(([other]) => other === name);
  // Two of the three, in turn.
  const own = architectures.filter((_, at) => at !== (position + 1) % architectures.length);
  test.each(partOf(own, position))(
    'lowered for sm_%i is clean, and each part of it is needed',
    (architecture) => {
      for (const delivery of deliveries)
        expect(outcome(program, architecture, delivery)).toEqual({ out: right, wrong: null });
      const kinds: string[] = [];
      outcome(program, architecture, 'late', (lowered) => {
        forEachPlace(lowered.body, (each) => {
          const kind = kindOf(each);
          if (kind !== null) kinds.push(kind);
        });
        // The wait at the end is for kernels that forget copies (forgotten-copies.test.ts).
        if (kindOf(lowered.body.at(-1)!) === 'copyWaitAll') kinds.pop();
        return lowered;
      });
      const isNoticed = (at: number) =>
        deliveries.some((delivery) => {
          const omitted = outcome(program, architecture, delivery, (lowered) =>
            without(lowered, (_, which) => which === at),
          );
          return omitted.out !== right || omitted.wrong !== null;
        });
      expect(kinds.filter((_, at) => !isNoticed(at))).toEqual(spare);
    },
  );
});

test.each(
  architectures.flatMap((architecture) =>
    [kernels.remade, subsets.remade].map((made) => [architecture, made as Kernel] as const),
  ),
)('groups that change from turn to turn are clean on sm_%i', (architecture, made) => {
  const program = programOf(made, {});
  for (const delivery of deliveries)
    expect(outcome(program, architecture, delivery)).toEqual({ out: rightOf(program), wrong: null });
});
