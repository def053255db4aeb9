// A function of the module that converts four f32 to integers, modulo 2^32, lane by lane.

import { Code, type FunctionReference } from './encoder/code.ts';
import { writeConversion } from './operators.ts';
import type { Unit } from './unit.ts';

/** Adds `truncate(value)`. */
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
