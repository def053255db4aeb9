// Mutations of what groups of lanes, and blocks of threads, ask before a list, and of addresses that loops move on.

import { mutationsOf } from './mutation.ts';

const extents = ['test/wasm/extents.test.ts'];

export const mutations = [
  ...mutationsOf('src/targets/wasm/simd/block-checks.ts', extents, [
    {
      name: 'a block is asked for its first thread alone',
      from: '  largest += farthest(most, Math.max);\n',
      to: '',
      why: 'threads of a block whose first is inside read and write outside, and no fault is reported',
    },
    {
      name: 'threads of a block go up alone',
      from: '  smallest += farthest(least, Math.min);\n',
      to: '',
      why: 'threads whose index falls from row to row read before an array',
    },
    {
      name: 'a loop that begins at a rank moves an index no further than one that begins at zero',
      from: '      largest += Math.max(ways, 0);\n',
      to: '',
      why: 'the last turns of a loop read outside of a dimension, and no fault is reported',
    },
    {
      name: 'a block that fails its test holds',
      from: 'code.i32(0).set(holds);',
      to: 'code.i32(1).set(holds);',
      why: 'blocks at the edge of an image read and write outside of it',
    },
    {
      name: 'a loop that begins at a rank moves by any multiple of a row',
      from: '!isSteps(each.steps, first.steps)',
      to: 'each.steps.length !== first.steps.length',
      why: 'threads of other rows than the first read behind an array, and no fault is reported',
    },
    {
      name: 'what differs from row to row by a multiple is the same for all',
      from: '  if (multiples.length > 0) return null;\n',
      to: '',
      why: 'threads of other rows than the first read behind an array, and no fault is reported',
    },
    {
      name: 'counters of other threads start where they like',
      from: 'highest: 2 ** 31 - 1 - farthest(first.steps, Math.max)',
      to: 'highest: 2 ** 31 - 1',
      why: 'a loop whose counter wraps around for some threads reads behind an array, and no fault is reported',
    },
  ]),
  ...mutationsOf('src/targets/wasm/simd/region.ts', extents, [
    {
      name: 'threads that do not fill a group are done',
      from: 'if (parts.end === null && row % threads === 0) code.br(parts.rowDone);',
      to: 'if (parts.end === null) code.br(parts.rowDone);',
      why: 'the last threads of a block do nothing',
    },
  ]),
  ...mutationsOf('src/targets/wasm/simd/entering.ts', extents, [
    {
      name: 'a block that holds is not asked for what else there is',
      from: 'write(checks.filter(({ ofBlock }) => !ofBlock));',
      to: 'write([]);',
      why: 'indices that are known only where they stand are not tested, and no fault is reported',
    },
    {
      name: 'lanes that a branch leaves out are not asked where they load',
      from: 'for (const check of [...inArrays, ...checks.filter((each) => !isOfLanes(each))])',
      to: 'for (const check of inArrays)',
      why: 'a row that does not exist is read where a branch leaves out some lanes',
    },
    {
      name: 'no lane is asked where a branch leaves out some',
      from: "code.op('v128.any_true').brIf(slow);",
      to: "code.op('v128.any_true', 'drop');",
      why: 'lanes that take a branch read outside of a dimension, and no fault is reported',
    },
    {
      name: 'lanes of the other branch are asked',
      from: "if (!isMask) code.op('v128.not');",
      to: "if (isMask) code.op('v128.not');",
      why: 'lanes that take a branch read outside of a dimension, and no fault is reported',
    },
    {
      name: 'the last of several places of a lane is not asked',
      from: 'if (check.largest > check.smallest) {',
      to: 'if (check.largest < check.smallest) {',
      why: 'a lane reads the column behind the last',
    },
  ]),
  ...mutationsOf('src/targets/analysis/spread.ts', extents, [
    {
      name: 'rows of a block are one',
      from: "if (expression.name === 'threadIdx.y') return byItself([0, 1, 0]);",
      to: "if (expression.name === 'threadIdx.y') return none;",
      why: 'threads of other rows than the first read outside of a dimension, and no fault is reported',
    },
  ]),
  ...mutationsOf('src/targets/wasm/simd/checks.ts', extents, [
    {
      name: 'addresses in loops go on by elements of one byte',
      from: 'const bytes = growth.step * bytesOf(unit.elementOf(address.array));',
      to: 'const bytes = growth.step;',
      why: 'all turns of a loop but the first read wrong elements',
    },
    {
      name: 'addresses in loops go on by one however far a turn goes',
      from: 'const bytes = growth.step * bytesOf(unit.elementOf(address.array));',
      to: 'const bytes = bytesOf(unit.elementOf(address.array));',
      why: 'loops that go by twos read wrong elements',
    },
  ]),
  ...mutationsOf('src/targets/analysis/indices.ts', extents, [
    {
      name: 'what a body changes moves an index by the same',
      from: ' || assignedIn(body).has(variable)) return null;',
      to: ') return null;',
      why: 'a loop whose body changes its counter reads wrong elements',
      equivalent:
        'an address is computed at the beginning of a body only if nothing in it changes what that is made of',
    },
    {
      name: 'a product of numbers is their sum',
      from: 'Math.imul(a, b)',
      to: '(a + b) | 0',
      why: 'vectors go on to wrong elements in loops over rows',
    },
  ]),
  ...mutationsOf(
    'src/targets/wasm/simd/checkpoints.ts',
    ['test/wasm/optional.test.ts'],
    [
      {
        name: 'a test that changes on the way is asked too early',
        from: 'this.#lanes.indices.knownBefore(test, assigned);',
        to: 'test;',
        why: 'lanes access what lies behind an array',
      },
      {
        name: 'what stands under else is asked as if it stood under if',
        from: '[statement.otherwise, negation(statement.test)],',
        to: '[statement.otherwise, statement.test],',
        why: 'lanes access what lies behind an array',
      },
      {
        name: 'accesses of a branch and those beside it share what they ask',
        from: '[...rangeKeys, ...whenKeys]',
        to: 'rangeKeys',
        why: 'lanes access what lies behind an array',
      },
    ],
  ),
];
