// The conformance cases as CUDA C++: they compile for every architecture without a warning. Needs
// nvcc; where it is absent the tests say that they skip.

import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Program } from '#warpstage/compiler/ir.js';
import { specialise } from '#warpstage/compiler/specialise.js';
import { parseSchema } from '#warpstage/kernel/parameters.js';
import { cudaText } from '#warpstage/targets/cuda/compile.js';
import type { Case } from '../conformance/case.ts';
import { allCases } from '../conformance/cases.ts';

const nvcc = spawnSync('nvcc', ['--version']).status === 0;

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
  expect(text).toContain('ws_wait_for(&p_pipeline');
  expect(text).not.toContain('ws_bulk_copy(p_pipeline');
});

test('every wait of the hardware keeps the compiler from moving accesses across it', () => {
  const text = cudaText(programs[0]!, 90);
  const statements = text.match(/asm volatile\([\s\S]*?\);\n/g) ?? [];
  const waits = statements.filter((statement) => /wait|bar\.|globaltimer/.test(statement));
  expect(waits.length).toBeGreaterThanOrEqual(5);
  for (const wait of waits) expect(wait).toContain('"memory"');
});

describe.skipIf(!nvcc)('nvcc', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'warpstage-conformance-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test.each(['75', '80', '90a', '120'])(
    'all cases compile for sm_%s without a warning',
    async (architecture) => {
      const number = Number.parseInt(architecture, 10);
      const sources = programs.map((program, position) => {
        const text = cudaText(program, number).replaceAll('extern "C" ', '');
        return `namespace kernel_${position} {\n${text}\n}\n#undef WS_DEVICE\n`;
      });
      const file = join(folder, `conformance_${architecture}.cu`);
      writeFileSync(file, sources.join(''));
      const options = ['--fmad=false', '-Werror', 'all-warnings', '-cubin'];
      const out = join(folder, `${architecture}.cubin`);
      const { stdout } = await promisify(execFile)('nvcc', [
        `-arch=sm_${architecture}`,
        ...options,
        '-o',
        out,
        file,
      ]);
      expect(stdout).toBe('');
    },
  );
});
