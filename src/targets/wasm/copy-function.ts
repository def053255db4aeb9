// A function of the module that copies bytes between areas that do not overlap.
//
// A loop of 64 bytes a round, then 16, then single bytes: for the tiles of kernels, around a
// kilobyte, it is faster than memory.copy, which engines carry out by calling the C library.

import { Code, type FunctionReference } from './encoder/code.ts';
import type { Unit } from './unit.ts';

/** Adds `copy(destination, source, bytes)`. */
export function addCopyFunction({ module, addressType: type }: Unit): FunctionReference {
  const code = new Code(['destination', 'source', 'bytes'].map((name) => ({ name, type })));
  const [destination, source, bytes] = [0, 1, 2];
  const last = code.local(type, 'last');
  for (const width of [64, 16, 1]) {
    // Up to the last place where a whole round fits; places may lie beyond 2^31, distances are unsigned.
    code.get(source).get(bytes).address(type, -width).op(`${type}.and`, `${type}.add`).set(last);
    code.block((done) => {
      code.get(source).get(last).op(`${type}.eq`).brIf(done);
      code.loop((next) => {
        if (width === 1) code.get(destination).get(source).memory('i32.load8_u').memory('i32.store8');
        for (let offset = 0; width > 1 && offset < width; offset += 16) {
          code.get(destination).get(source).memory('v128.load', offset, 1).memory('v128.store', offset, 1);
        }
        for (const pointer of [destination, source])
          code.get(pointer).address(type, width).op(`${type}.add`).set(pointer);
        code.get(source).get(last).op(`${type}.ne`).brIf(next);
      });
    });
    if (width > 1)
      code
        .get(bytes)
        .address(type, width - 1)
        .op(`${type}.and`)
        .set(bytes);
  }
  return module.function('copy', code, [type, type, type], []);
}
