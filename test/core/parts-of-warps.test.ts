// Barriers of the block to which threads of a warp come on different ways: the plain one of a GPU forbids it, so that
// the lowering writes one that does not; and where it writes the plain one all the same, that is found.

import { expect, test } from 'vitest';
import type { Program } from '#warpstage/compiler/ir.js';
import { mapStatements } from '#warpstage/targets/analysis/map.js';
import { interpreter } from '../support/interpreter.ts';
import { loweredFor } from '../support/lowered.ts';
import { programOfText } from '../support/rewritten.ts';
import { runProgram, type Target } from '../support/run-program.ts';

const threads = 64;
const program = programOfText(
  { out: 'i32[]' },
  `({ out }, cuda) => {
    const block = cuda.thisThreadBlock();
    const t = block.threadRank();
    const shared = cuda.sharedArray('i32', ${threads});
    shared[t] = t + 1;
    if (t % 2 === 0) {
      block.sync();
      out[t] = shared[t + 1];
    } else {
      block.sync();
      out[t] = 10 * shared[t - 1];
    }
    block.sync();
  }`,
  [threads, 1],
);

function run(target: Target) {
  const out = new Int32Array(threads);
  const { fault } = runProgram(target, program, { grid: 1, arguments: { out } });
  return fault === null ? [...out] : fault;
}

/** The program with the plain barrier at each of its syncs. */
function withPlainBarriers(lowered: Program): Program {
  const body = mapStatements(lowered.body, {
    expression: (each) => each,
    statement: (each) =>
      each.kind === 'call' && each.intrinsic === 'sync' ? { ...each, apart: false } : each,
  });
  return { ...lowered, body };
}

test.each([75, 80, 90])('lanes of two branches meet on sm_%i', (architecture) => {
  const expected = Array.from({ length: threads }, (_, t) => (t % 2 === 0 ? t + 2 : 10 * t));
  expect(run(interpreter('late'))).toEqual(expected);
  expect(run(loweredFor(architecture, 'late', () => {}))).toEqual(expected);
  const plain = loweredFor(architecture, 'late', () => {}, { after: withPlainBarriers });
  expect(run(plain)).toMatchObject({
    code: 'WS3011',
    hint: 'A lowering of warpstage is wrong; please report it with the kernel.',
    message: 'threads of warp 0 come to different barriers of the block',
  });
});
