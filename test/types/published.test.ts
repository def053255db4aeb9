// The published types: a user's project needs nothing but them, whatever its libraries and with
// everything checked, and it can publish types of its own that are made of them.

import { readdirSync, readFileSync } from 'node:fs';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { compileProject as compile, root } from '../support/compile-project.ts';

/** A declaration for each function that makes something. */
const factories = `
import { deviceFunction, job, kernel, map, measureOverlap, open, plan, reduce, run, sequence, chromeTrace, tracePage } from 'warpstage';
import { check, checkCase, expectClean, traceStages } from 'warpstage/check';
import { HostPipeline, makePipeline, pipelineSharedState, watchWorker } from 'warpstage/host';

export const scaled = deviceFunction({ x: 'f32', a: 'f32' }, ({ x, a }) => a * x, );
export const compute = deviceFunction({ out: 'i32[]', staged: 'readonly i32[]' }, ({ out, staged }, cuda) => {
  const t = cuda.thisThreadBlock().threadRank();
  out[t] = staged[t]! * 3 + 1;
});
export const axpb = kernel(
  { y: 'f32[]', x: 'readonly f32[]', a: 'f32', b: 'f32', n: 'constant index = 4', on: 'bool', scaled },
  ({ y, x, a, b, scaled }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    if (i < y.length) y[i] = scaled({ x: x[i]!, a }) + b;
  },
);
export const wide = kernel({ s: 'u64[]', v: 'f32x4[]', m: 'readonly i8[]' }, ({ s }, cuda) => {
  const block = cuda.thisThreadBlock();
  const barrier = cuda.barrier(block);
  const token = barrier.arrive();
  barrier.wait(token);
  s[0] = 1n;
});
export const sum = kernel({ total: 'f64[]', x: 'readonly f32[]' }, ({ total, x }, cuda) => {
  cuda.atomicAdd(total, 0, cuda.f64(x[0]!));
});
export const affine = job({
  kernel: kernel({ y: 'f32[]', x: 'readonly f32[]', a: 'f32' }, ({ y, x, a }) => { y[0] = x[0]! * a; }),
  inputs: { x: {} },
  outputs: { y: {} },
  settings: { a: 1 },
});
export const total = job({
  kernel: sum,
  inputs: { x: {} },
  accumulators: { total: { length: 1 } },
  finish: ({ total }) => ({ total: total[0]! }),
});
export const both = sequence([total, { job: affine, settings: ({ total }) => ({ a: total }) }]);
export const doubled = map({ y: 'f32', x: 'f32', a: 'f32' }, ({ x, a }) => ({ y: a * x }));
export const mean = reduce({ sum: 'f64', x: 'u8' }, ({ x }) => x, { finish: ({ sum }, { rows }) => sum / rows });
export const ran = run(affine, { input: new Float32Array(8) });
export const summed = run(total, { input: new Float32Array(8) });
export const planned = plan(affine, { input: new Float32Array(8) });
export const device = open('cpu');
export const array = device.then((d) => d.alloc('f32', 8));
export const pinned = device.then((d) => d.allocPinned('i32', 8));
export const stream = device.then((d) => d.createStream());
export const clean = expectClean(wide, { grid: 1, block: 32, arguments: { s: { length: 1 }, v: { length: 1 }, m: { length: 1 } } });
export const checks = [checkCase(sum, { grid: 1, block: 32, arguments: { total: { length: 1 }, x: { length: 1 } } })];
export const found = check(sum, { grid: 1, block: 32, arguments: { total: { length: 1 }, x: { length: 1 } } });
export const stages = traceStages(sum, { grid: 1, block: 32, arguments: { total: { length: 1 }, x: { length: 1 } } });
export const state = pipelineSharedState(2, { producers: 1, consumers: 1 });
export const pipeline = makePipeline(state, 'producer');
export { chromeTrace, HostPipeline, measureOverlap, tracePage, watchWorker };
`;

describe('the published types', () => {
  test('name everything that a declaration needs, without lib DOM, types of Node or skipLibCheck', () => {
    const { errors, declarations } = compile(factories);
    expect(errors).toEqual([]);
    // What others import is typed, too.
    expect(declarations).not.toContain(': any');
    expect(compile(declarations, { declaration: false }, 'd.ts').errors).toEqual([]);
  });

  test.each([
    ['from CommonJS', { module: ts.ModuleKind.Node16 }, 'cts'],
    [
      'for a bundler',
      { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler },
      'ts',
    ],
  ])('are whole %s', (_, options, extension) => {
    expect(compile(factories, options, extension).errors).toEqual([]);
  });

  test("take Node's signals, and refuse what is none", () => {
    const text = `import type { RunOptions } from 'warpstage';
export const taken: Pick<RunOptions, 'signal'> = { signal: new AbortController().signal };
// @ts-expect-error
export const refused: Pick<RunOptions, 'signal'> = { signal: { aborted: false } };`;
    expect(compile(text, { types: ['node'], skipLibCheck: true }).errors).toEqual([]);
  });

  test('are all exported', () => {
    const folder = `${root}/dist/types`;
    const texts = readdirSync(folder)
      .filter((file) => file.endsWith('.d.ts'))
      .map((file) => [file, readFileSync(`${folder}/${file}`, 'utf8')] as const);
    const exported = texts
      .filter(([file]) => file !== 'shared.d.ts')
      .flatMap(([, text]) => [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)])
      .flatMap(([, names]) =>
        names!.split(',').map((name) => name.trim().replace(/^(type |[\w$]+ as )/, '')),
      );
    const declared = texts.flatMap(([, text]) =>
      Array.from(
        text.matchAll(/^(?:declare (?:abstract )?class|interface|type) (\w+)/gm),
        ([, name]) => name!,
      ),
    );
    expect(declared.length).toBeGreaterThan(100);
    expect(declared.filter((name) => !exported.includes(name))).toEqual([]);
  });
});
