// The conformance cases as CUDA C++: they compile for every architecture without a warning. Needs
// nvcc; where it is absent the tests say that they skip.

import { expect, test } from 'vitest';
import type { Program } from '#warpstage/compiler/ir.js';
import { specialise } from '#warpstage/compiler/specialise.js';
import { parseSchema } from '#warpstage/kernel/parameters.js';
import { cudaText } from '#warpstage/targets/cuda/compile.js';
import { prelude } from '#warpstage/targets/cuda/prelude.js';
import { asyncPrelude } from '#warpstage/targets/cuda/prelude-async.js';
import { barrierPrelude } from '#warpstage/targets/cuda/prelude-barrier.js';
import type { Case } from '../conformance/case.ts';
import { allCases } from '../conformance/cases.ts';
import { testCompiling } from '../support/nvcc.ts';

/** The program of a case. */
function programOf({ kernel, block, data }: Case): Program {
  const constants: Record<string, number | boolean> = {};
  for (const { kind, name } of parseSchema(kernel.schema)) {
    if (kind === 'constant' && name in data) constants[name] = data[name] as number | boolean;
  }
  return specialise(kernel, { block: [block, 1, 1], indexType: 'i32', constants, functions: {} }).program;
}

/** Scopes differ in nothing but their names, and sizes of elements in little. */
const cases = Object.values(allCases)
  .flat()
  .filter(({ name }) => !/^(cluster|device|system) scope|(device|system) scope$|^(i16|f32|f64), /.test(name));

/** Each program once: many cases differ in their data alone. */
const programs = [...new Map(cases.map((one) => [cudaText(programOf(one), 90), programOf(one)])).values()];

test('a pipeline whose waits may time out has barriers', () => {
  const text = cudaText(programOf(allCases.time!.find(({ name }) => name.includes('expire'))!), 90);
  expect(text).toContain('ws_wait_for(&m_pipeline');
  expect(text).not.toContain('ws_bulk_copy(');
});

test('every wait of the hardware keeps the compiler from moving accesses across it', () => {
  const text = [prelude, asyncPrelude, barrierPrelude].join('');
  const statements = text.match(/asm volatile\([\s\S]*?\);\n/g) ?? [];
  const waits = statements.filter((statement) => /wait|bar\.|globaltimer/.test(statement));
  expect(waits.length).toBeGreaterThanOrEqual(5);
  for (const wait of waits) expect(wait).toContain('"memory"');
});

test('lanes under a mask that a kernel makes meet again before they go on', () => {
  const masks = programs.flatMap((program) => {
    const text = cudaText(program, 90);
    return [...text.slice(text.indexOf('extern "C"')).matchAll(/__(?:\w+_sync|syncwarp)\(([^,)]*)/g)];
  });
  const made = masks
    .map(([, mask]) => mask!)
    .filter((mask) => !mask.startsWith('ws_tile_mask<32>(') && !/^(0xffffffffu|4294967295u|-1|)$/.test(mask));
  expect(new Set(made)).toEqual(new Set(['lanes']));
});

// Each for two of the four: for an old and a recent one, or for one between and the latest.
testCompiling('all cases compile', (architecture) =>
  programs
    .filter((_, at) => at % 2 === Number([80, 120].includes(architecture)))
    .map((program) => cudaText(program, architecture)),
);
