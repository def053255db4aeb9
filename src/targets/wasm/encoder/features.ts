// What an engine may have or not.

import { Code } from './code.ts';
import { ModuleWriter } from './module.ts';

/** Whether the engine has relaxed SIMD: Node does from version 21. It is asked each time, which takes microseconds. */
export function hasRelaxedSimd(): boolean {
  const writer = new ModuleWriter();
  const code = new Code([{ name: 'x', type: 'v128' }]);
  writer.function('f', code, ['v128'], ['v128']);
  code.get(0).get(0).get(0).relaxed('f32x4.relaxed_madd');
  return WebAssembly.validate(writer.encode());
}
