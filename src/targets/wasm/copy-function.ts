// A function of the module that copies bytes between areas that do not overlap.
//
// A loop of 64 bytes a round, then 16, then single bytes: for the tiles of kernels, around a
// kilobyte, it is faster than memory.copy, which engines carry out by calling the C library.

import { Code, type FunctionReference, type Local } from './encoder/code.ts';
import type { ModuleWriter } from './encoder/module.ts';

/** Adds `copy(destination, source, bytes)`. */
export function addCopyFunction(module: ModuleWriter): FunctionReference {
  const code = new Code([
    { name: 'destination', type: 'i32' },
    { name: 'source', type: 'i32' },
    { name: 'bytes', type: 'i32' },
  ]);
  const [destination, source, bytes] = [0, 1, 2];
  const last = code.local('i32', 'last');
  for (const width of [64, 16, 1]) {
    // Up to the last place where a whole round fits; places may lie beyond 2^31, distances are unsigned.
    code.get(source).get(bytes).i32(-width).op('i32.and', 'i32.add').set(last);
    code.block((done) => {
      code.get(source).get(last).op('i32.eq').brIf(done);
      code.loop((next) => {
        if (width === 1) code.get(destination).get(source).memory('i32.load8_u').memory('i32.store8');
        for (let offset = 0; width > 1 && offset < width; offset += 16) {
          code.get(destination).get(source).memory('v128.load', offset, 1).memory('v128.store', offset, 1);
        }
        advance(code, destination, width);
        advance(code, source, width);
        code.get(source).get(last).op('i32.ne').brIf(next);
      });
    });
    if (width > 1)
      code
        .get(bytes)
        .i32(width - 1)
        .op('i32.and')
        .set(bytes);
  }
  return module.function('copy', code, ['i32', 'i32', 'i32'], []);
}

function advance(code: Code, pointer: Local, by: number): void {
  code.get(pointer).i32(by).op('i32.add').set(pointer);
}
