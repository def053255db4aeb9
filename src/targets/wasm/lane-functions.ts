// Functions of the module that do for the lanes of a vector, one by one, what no instruction
// does for all of them.

import { Code, type FunctionReference } from './encoder/code.ts';
import { writeConversion } from './operators.ts';
import type { Unit } from './unit.ts';

/** Adds `truncate(value)`: four f32 as integers, modulo 2^32. */
export function addTruncateFunction(unit: Unit): FunctionReference {
  const code = new Code([{ name: 'value', type: 'v128' }]);
  const value = 0;
  code.get(value);
  for (let lane = 0; lane < 4; lane += 1) {
    code.get(value).lane('f32x4.extract_lane', lane);
    writeConversion(unit, code, 'f32', 'i32');
    code.lane('i32x4.replace_lane', lane);
  }
  return unit.module.function('truncate', code, ['v128'], ['v128']);
}

/** Adds `storeLanes(address, value, lanes)`: stores those lanes whose bit is set, so many bytes apart, and touches nothing else. */
export function addStoreFunction(unit: Unit, bytes: number, apart: number): FunctionReference {
  const store = bytes === 4 ? 'i32.store' : bytes === 2 ? 'i32.store16' : 'i32.store8';
  const lanesOfVector = bytes === 8 ? 2 : 4;
  const code = new Code([
    { name: 'address', type: unit.addressType },
    { name: 'value', type: 'v128' },
    { name: 'lanes', type: 'i32' },
  ]);
  const [address, value, lanes] = [0, 1, 2];
  for (let lane = 0; lane < lanesOfVector; lane += 1) {
    code.get(lanes).i32(1 << lane);
    code.op('i32.and').if(() => {
      code.get(address).get(value);
      if (bytes === 8) code.lane('i64x2.extract_lane', lane).memory('i64.store', apart * lane);
      else code.lane('i32x4.extract_lane', lane).memory(store, apart * lane);
    });
  }
  return unit.module.function(
    `storeLanes${bytes === 4 ? '' : 8 * bytes}${apart === bytes ? '' : `Apart${apart}`}`,
    code,
    [unit.addressType, 'v128', 'i32'],
    [],
  );
}
