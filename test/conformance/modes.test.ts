// Which way WebAssembly runs the cases: where all threads wait together it goes region by region, and
// only where a wait may end otherwise for one thread than for another it needs state machines.

import { expect, test } from 'vitest';
import { specialise } from '#warpstage/compiler/specialise.js';
import { parseSchema } from '#warpstage/kernel/parameters.js';
import { compileWasm } from '#warpstage/targets/wasm/compile.js';
import type { Case } from './case.ts';
import { allCases } from './cases.ts';

function modeOf({ kernel, block, data }: Case): string {
  const constants: Record<string, number | boolean> = {};
  for (const { kind, name } of parseSchema(kernel.schema)) {
    if (kind === 'constant' && name in data) constants[name] = data[name] as number | boolean;
  }
  const options = { block: [block, 1, 1], indexType: 'i32', constants, functions: {} } as const;
  return compileWasm(specialise(kernel, options).program).mode;
}

const modesOf = (cases: readonly Case[] | undefined) => [...new Set(cases!.map(modeOf))];

test('copies go region by region, whoever commits and waits for them', () => {
  expect(modesOf(allCases.copies)).toEqual(['regions']);
});

test('with thread scope so do waits with a limit', () => {
  expect(modesOf(allCases.placement!.filter(({ name }) => name.startsWith('thread scope')))).toEqual([
    'regions',
  ]);
});

test('stages of the block do, unless a wait for them may time out', () => {
  expect(modesOf(allCases.stages!.filter(({ name }) => /batches of 8|empty/.test(name)))).toEqual([
    'regions',
  ]);
  expect(modesOf(allCases.placement!.filter(({ name }) => name.startsWith('block scope')))).toEqual([
    'states',
  ]);
});
