// The C of a module, read: what no run would show, or only one that never ends.

import { expect, test } from 'vitest';
import { nativeText } from '#warpstage/targets/native/module-text.js';
import { Code } from '#warpstage/targets/wasm/encoder/code.js';
import { ModuleWriter } from '#warpstage/targets/wasm/encoder/module.js';
import { moduleOfCases } from './instruction-cases.ts';

test('atomics and fences have the one order that WebAssembly has', () => {
  const { text } = nativeText(moduleOfCases());
  const calls = text.match(/__atomic_\w+\([^;]*\);/g)!;
  // Seven ways to change a word of two widths, and to load it.
  expect(calls.length).toBe(16);
  for (const call of calls) expect(call).toMatch(/__ATOMIC_SEQ_CST/);
  expect(text).not.toMatch(/__ATOMIC_(?!SEQ_CST)/);
});

test('shifts are masked, which processors do by themselves and C does not promise', () => {
  const { text } = nativeText(moduleOfCases());
  const shifts = text.match(/t\d+\)? (<<|>>) \(?[^;]*;/g)!;
  // Three of each width, and three of lanes; those of the magnitude are by a number.
  expect(shifts.filter((shift) => /& (31|63)\)/.test(shift))).toHaveLength(9);
  expect(shifts.filter((shift) => /(<<|>>) \(?t/.test(shift) && !/& (31|63)/.test(shift))).toEqual([]);
});

test('nothing is said to be aligned but the words of atomics', () => {
  const { text } = nativeText(moduleOfCases());
  for (const line of text.split('\n')) if (line.includes('assume_aligned')) expect(line).toMatch(/__atomic_/);
});

test('every loop looks whether it is to stop', () => {
  const writer = new ModuleWriter();
  const code = new Code([{ name: 'n', type: 'i32' }]);
  code.loop((outer) => {
    code.loop((inner) => void code.get(0).brIf(inner));
    code.get(0).brIf(outer);
  });
  writer.function('run', code, ['i32'], [], { exported: true });
  const { text } = nativeText(writer.encode());
  expect(text.match(/^ {2}b\d+: if \(WS_UNLIKELY\(\*stop\)\) ws_stop\(e\);$/gm)).toHaveLength(2);
});

test('what stands behind a branch is not written, and its blocks are closed', () => {
  const writer = new ModuleWriter();
  const code = new Code([{ name: 'n', type: 'i32' }]);
  code.block((exit) => {
    code.br(exit);
    code.block(() =>
      code.get(0).if(
        () => code.i32(77).op('drop'),
        () => code.i32(78).op('drop'),
      ),
    );
  });
  code.get(0).if(
    () => code.i32(1),
    () => code.i32(2).op('return'),
    'i32',
  );
  writer.function('run', code, ['i32'], ['i32'], { exported: true });
  const { text } = nativeText(writer.encode());
  expect(text).not.toMatch(/0x4[de]u/);
  expect(text).toMatch(/return t\d+;\n\}/);
});

test('what loads or stores narrow lanes is one instruction, where it is that and no other', () => {
  const { text } = nativeText(moduleOfCases());
  const calls = (name: string) => text.match(new RegExp(`[ =] ${name}\\(m `, 'g'))?.length ?? 0;
  expect(calls('ws_v128_load8x4_s')).toBe(1);
  expect(calls('ws_v128_load8x4_u')).toBe(1);
  expect(calls('ws_v128_store8x4')).toBe(1);
  expect(calls('ws_v128_store16x4')).toBe(1);
});
