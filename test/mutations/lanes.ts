// Mutations of `targets/wasm/simd`: threads that run as lanes of a v128.

import { mutationsOf } from './mutation.ts';

export const lanes = [
  'test/wasm/masked.test.ts',
  'test/wasm/lanes.test.ts',
  'test/wasm/programs.test.ts',
  'test/differential/kernels.test.ts',
  'test/differential/programs.test.ts',
];

export const mutations = [
  ...mutationsOf('src/targets/wasm/simd/elements.ts', lanes, [
    {
      name: 'elements of 8 and 16 bits have no sign in lanes',
      from: "element === 'i8' || element === 'i16' ? 's' : 'u'",
      to: "'u'",
      why: 'negative elements of an i8 or i16 array are read as large numbers',
    },
    {
      name: 'lanes store the upper bytes of 16 bits',
      from: '(bytes === 2 ? [4 * lane, 4 * lane + 1] : [4 * lane])',
      to: '(bytes === 2 ? [4 * lane + 2, 4 * lane + 3] : [4 * lane])',
      why: 'elements of 16 bits are stored as the upper half of a value',
    },
    {
      name: 'vectors of narrow elements overlap',
      from: 'return Math.min(4 * bytesOf(element), 16);',
      to: 'return Math.min(2 * bytesOf(element), 16);',
      why: 'threads read and write the elements of others',
    },
  ]),
  ...mutationsOf(
    'src/targets/wasm/simd/relaxed.ts',
    ['test/wasm/relaxed.test.ts'],
    [
      {
        name: 'products and sums are fused in every kernel',
        from: "!unit.relaxes || !unit.program.fma || expression.kind !== 'binary'",
        to: "!unit.relaxes || expression.kind !== 'binary'",
        why: 'results of a CPU differ from those of other devices in kernels that allow no such thing',
      },
      {
        name: 'a fused difference is a sum',
        from: "negates: operator === 'subtract' };",
        to: 'negates: false };',
        why: 'a * b - c is a * b + c in kernels with fma',
      },
      {
        name: 'a fused difference has the wrong sign',
        from: "operator === 'add' ? madd : 'f32x4.relaxed_nmadd';",
        to: 'madd;',
        why: 'c - a * b is c + a * b in kernels with fma',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/wasm/simd/ends.ts',
    ['test/wasm/strides.test.ts'],
    [
      {
        name: 'the last lane but one answers for all',
        from: 'return { growing, bound, below: last + 1 };',
        to: 'return { growing, bound, below: last };',
        why: 'a thread at the bound does what is for those below it',
      },
      {
        name: 'a bound that is not more is taken for one that is less',
        from: 'return { growing, bound, below: last };',
        to: 'return { growing, bound, below: last - 1 };',
        why: 'a thread behind the bound does what is for those up to it',
      },
      {
        name: 'a bound near the least integer wraps',
        from: 'const least = -(2 ** 31) + below;',
        to: 'const least = -(2 ** 31);',
        why: 'threads do what no value is small enough for',
      },
      {
        name: 'lanes agree where the first of two tests holds',
        from: "if (position > 0) group.code.op('i32.and');",
        to: "if (position > 0) group.code.op('i32.or');",
        why: 'threads do what one of two tests forbids',
      },
      {
        name: 'a value at or above a bound may wrap within a group',
        from: "code.i32(2 ** 31 - 4 * vectors).op('i32.le_s', 'i32.and');",
        to: "code.i32(2 ** 31 - 1).op('i32.le_s', 'i32.and');",
        why: 'threads whose number has wrapped do what is for those above a bound',
      },
      {
        name: 'what lanes share is asked to hold where it must not',
        from: "if (!value) code.op('i32.eqz');",
        to: '',
        why: 'threads do what one of two tests forbids',
        tests: ['test/wasm/extents.test.ts'],
      },
      {
        name: 'the last of two tests answers for the first where neither may hold',
        from: 'const parts = value ? conjunctsOf(test) : disjunctsOf(test);',
        to: 'const parts = value ? conjunctsOf(test) : disjunctsOf(test).slice(1);',
        why: 'threads outside of one extent do what is for those inside of both',
        tests: ['test/wasm/extents.test.ts'],
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/wasm/simd/streams.ts',
    ['test/wasm/strides.test.ts'],
    [
      {
        name: 'a wide group takes more threads than a row has',
        from: 'row % (4 * vectors) === 0 && vectors * cost',
        to: 'vectors * cost',
        why: 'elements behind a row are changed by threads that there are not',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/wasm/simd/checkpoints.ts',
    ['test/wasm/bounds.test.ts'],
    [
      {
        name: 'vectors test nothing of an index whose address is known',
        from: 'filter((limited) => !unit.isBelow(limited))',
        to: 'filter(() => false)',
        why: 'vectors write outside of arrays, and no fault is reported',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/wasm/simd/jam.ts',
    ['test/wasm/jam.test.ts'],
    [
      {
        name: 'rows load alike what is their own',
        from: "['threadIdx.y', 'threadIdx.z', 'threadRank'].includes(each.name)",
        to: "['threadIdx.z'].includes(each.name)",
        why: 'threads of every other row compute with the elements of the row before',
      },
      {
        name: 'the second of two rows is not checked',
        from: 'for (const { writer } of rows) writer.writeChecks(region.body, row, single);',
        to: 'rows[0]!.writer.writeChecks(region.body, row, single);',
        why: 'threads write outside of arrays, and no fault is reported',
      },
      {
        name: 'the last row goes with one that there is not',
        from: 'unit.blockSize - rows.length * row',
        to: 'unit.blockSize - row',
        why: 'threads that there are not write to memory',
      },
      {
        name: 'a processor takes four rows together of which there are three',
        from: ' && unit.blockSize % (each * row) === 0',
        to: '',
        why: 'threads that there are not write to memory',
        tests: ['test/native/rows.test.ts'],
      },
      {
        name: 'rows behind the first begin a row too far',
        from: 'row * (1 + before)',
        to: 'row * (2 + before)',
        why: 'the work of a row is not done, and threads that there are not write to memory',
        tests: ['test/native/rows.test.ts'],
      },
      {
        name: 'the sums of rows are not held by turns',
        from: "if (holds) code.processor('v128.held');",
        to: '',
        why: 'a compiler carries out the sum of one row after that of the other, and each addition waits for the one before',
        tests: ['test/native/widening.test.ts'],
      },
      {
        name: 'a value of one row counts for the other',
        from: 'if (!loads.every((id) => lanes.varies(id))) return 1;',
        to: '',
        why: 'threads of a row compute with a variable of another row',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/wasm/simd/halves.ts',
    ['test/wasm/halves.test.ts'],
    [
      {
        name: 'products that have 32 bits are shifted without their sign',
        from: "type === 'u32' ? 2 ** 32 : 2 ** 31",
        to: '2 ** 32',
        why: 'a product of 2^31 or more, which is negative, gives a positive number',
      },
      {
        name: 'a shift takes 16 bits of 17',
        from: 'least >= 0 && most < 2 ** 16;',
        to: 'least >= 0 && most < 2 ** 17;',
        why: 'sums of two elements lose their highest bit',
      },
      {
        name: 'a shift of halves takes the sign for a bit',
        from: "isNatural ? 'i16x8.shr_u' : 'i16x8.shr_s'",
        to: "'i16x8.shr_u'",
        why: 'negative numbers become large as they are shifted',
      },
      {
        name: 'what is read behind the store is computed of halves',
        from: ' || [...own.keys()].some((id) => has(liveness.after(statement), id))',
        to: '',
        why: 'a variable has the value of another element',
      },
      {
        name: 'lower halves of products are taken for the upper ones',
        from: '2 * at + 2 - (at % 2)',
        to: '2 * at - (at % 2)',
        why: 'means by a product and a shift are wrong',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/wasm/simd/near.ts',
    ['test/wasm/near.test.ts'],
    [
      {
        name: 'a branch that is never taken is, by all threads',
        from: "op('i32.eq')",
        to: "op('i32.ne')",
        why: 'kernels stop that load more than a few elements in a row',
      },
      {
        name: 'two branches that are never taken ask for the same rank',
        from: 'i32(unit.blockSize + this.#count)',
        to: 'i32(unit.blockSize)',
        why: 'an engine leaves out all but the first, and what is loaded goes through the stack',
      },
      {
        name: 'a branch that is never taken asks for the rank of a thread',
        from: 'i32(unit.blockSize + this.#count)',
        to: 'i32(this.#count - 1)',
        why: 'kernels stop that load more than a few elements in a row',
      },
      {
        name: 'a branch that is never taken reads one vector only',
        from: "for (const each of others) code.get(each).op('v128.or');",
        to: '',
        why: 'an engine computes the other vectors behind all loads, which go through the stack',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/wasm/simd/region.ts',
    ['test/wasm/prefix.test.ts'],
    [
      {
        name: 'the vectors of a prefix check nothing',
        from: 'if (parts.end !== null) writer.writeChecks(body, threads, slow);',
        to: '',
        why: 'the first threads write outside of arrays, and no fault is reported',
      },
    ],
  ),
  ...mutationsOf('src/targets/wasm/simd/pairs.ts', lanes, [
    {
      name: 'the second pair of a vector has the mask of the first',
      from: 'pair % 2 === 0 ? bytes(0, 0, 4, 4) : bytes(8, 8, 12, 12)',
      to: 'bytes(0, 0, 4, 4)',
      why: 'two threads of four keep or get an f64 as two others do',
    },
    {
      name: 'the second pair of a vector converts the values of the first',
      from: 'if (pair % 2 === 1) writeShuffled',
      to: 'if (pair < 0) writeShuffled',
      why: 'two threads of four compute with integers or f32 of two others',
    },
    {
      name: 'tests of f64 stand for the wrong threads',
      from: 'code.shuffle(bytes(0, 8, 16, 24));',
      to: 'code.shuffle(bytes(16, 24, 0, 8));',
      why: 'threads take branches that the f64 of others ask for',
    },
    {
      name: 'f64 become f32 of the wrong threads',
      from: 'code.shuffle(bytes(0, 4, 16, 20));',
      to: 'code.shuffle(bytes(16, 20, 0, 4));',
      why: 'threads get the f64 of others as f32',
    },
  ]),
  ...mutationsOf(
    'src/targets/wasm/simd/separate.ts',
    ['test/wasm/bounds.test.ts', 'test/wasm/lane-atomics.test.ts', 'test/wasm/direct.test.ts', ...lanes],
    [
      {
        name: 'every vector reads the indices of the first',
        from: 'offset + bytes * (4 * vector + lane)',
        to: 'offset + bytes * lane',
        why: 'threads access the elements that others mean',
      },
      {
        name: 'lanes take an index of another width',
        from: 'const bytes = bytesOf(unit.elementOf(load.array));',
        to: 'const bytes = 4;',
        why: 'threads read indices of 8 and 16 bits from four or two elements on',
      },
      {
        name: 'lanes change elements by the value of the first',
        from: 'code.get(values).lane(extract, lane).set(value);',
        to: 'code.get(values).lane(extract, 0).set(value);',
        why: 'atomic operations of three in four threads add what another one has',
      },
    ],
  ),
  ...mutationsOf(
    'src/targets/wasm/simd/divisions.ts',
    ['test/wasm/divisions.test.ts'],
    [
      {
        name: 'the upper lanes divide what the lower ones have',
        from: 'if (pair === 1) code.get(',
        to: 'if (pair < 0) code.get(',
        why: 'two threads of four get the quotients of two others',
      },
      {
        name: 'the least integer by -1 is the greatest',
        from: "type === 'i32' && mayFail(expression)",
        to: "type !== 'i32' && mayFail(expression)",
        why: 'a quotient that wraps is one less, and its remainder is not 0',
      },
      {
        name: 'unsigned lanes are divided as signed doubles',
        from: "const sign = type === 'u32' ? 'u' : 's';",
        to: "const sign = 's';",
        why: 'quotients of u32 above 2^31 are wrong',
      },
      {
        name: 'the first lane is named where another divides by zero',
        from: 'writeDivisorCheck(threadOf(group, vector, lane), expression',
        to: 'writeDivisorCheck(threadOf(group, 0, 0), expression',
        why: 'an error names a thread that did nothing wrong',
      },
    ],
  ),
  ...mutationsOf('src/targets/wasm/lane-functions.ts', lanes, [
    {
      name: 'some lanes of narrow elements are stored as words',
      from: '.memory(store, apart * lane);',
      to: ".memory('i32.store', apart * lane);",
      why: 'a thread that stores a byte overwrites those of threads that do not',
    },
  ]),
  ...mutationsOf(
    'src/targets/wasm/simd/expressions.ts',
    ['test/wasm/unsigned.test.ts'],
    [
      {
        name: 'the largest unsigned number has a next one',
        from: "test.operator === 'greater' && limit < 2 ** 32 - 1",
        to: "test.operator === 'greater'",
        why: 'every number is more than the largest',
      },
      {
        name: 'there is an unsigned number below zero',
        from: "test.operator === 'less' && limit > 0",
        to: "test.operator === 'less'",
        why: 'every number is less than zero',
      },
    ],
  ),
  ...mutationsOf('src/targets/wasm/simd/masked.ts', lanes, [
    {
      name: 'what lanes agree on is assigned for nobody',
      from: 'if (around === null || !this.#leavable.some(({ together }) => together)) {',
      to: 'if (around === null || this.#leavable.length >= 0) {',
      why: 'a loop that all lanes have left goes on for the variables that they have in common',
      tests: ['test/wasm/masked.test.ts'],
    },
    {
      name: 'a jump out of two structures leaves the inner one alone',
      from: 'return !inner.includes(statement.label);',
      to: 'return inner.length === 0;',
      why: 'what follows the loop in the block that is left is done for nobody',
      tests: ['test/wasm/masked.test.ts'],
    },
    {
      name: 'lanes forget what is read behind the loop that they left',
      from: 'this.#entered?.mask !== mask || has(this.#entered.after, variable)',
      to: 'this.#entered?.mask !== mask',
      why: 'a thread whose loop has ended gets the values of turns that it does not make',
      tests: ['test/wasm/masked.test.ts'],
    },
    {
      name: 'lanes that did not enter a loop forget what it changes',
      from: "if (mask === null && unit.does('dead'))",
      to: "if (unit.does('dead'))",
      why: 'the other branch computes with values of a loop that its threads never saw',
      tests: ['test/wasm/masked.test.ts'],
    },
    {
      name: 'lanes outside a masked loop join in',
      from: 'code.get(mask === null ? constants.integer(-1) : mask[vector]!).set(',
      to: 'code.get(constants.integer(-1)).set(',
      why: 'threads that skip a loop run it, and keep what it computes',
    },
    {
      name: 'lanes that have left a loop come back',
      from: "code.get(live[vector]!).op('v128.and').set(live[vector]!);",
      to: 'code.set(live[vector]!);',
      why: 'a thread whose loop ended runs more turns when its condition holds again',
    },
    {
      name: 'a loop ends with its first lane',
      from: "code.op('v128.any_true');\n      };",
      to: "code.op('i32x4.all_true');\n      };",
      why: 'threads whose loops are longer stop with the shortest',
    },
    {
      name: 'a branch under a mask forgets the mask',
      from: "if (instruction === 'v128.and' && mask === null) return local;",
      to: "if (instruction === 'v128.and') return local;",
      why: 'threads that an outer branch leaves out take the inner one',
    },
    {
      name: 'a lane that jumps stays in the loop',
      from: "code.get(local).get(mask[vector]!).op('v128.andnot').set(local);",
      to: 'code.get(local).set(local);',
      why: 'threads that break out of a loop go on in it',
    },
    {
      name: 'a lane that ends its round leaves the loop',
      from: "(kind === 'break' ? left : ended) === label,",
      to: '(left ?? ended) === label,',
      why: 'threads that continue have fewer rounds than they should',
    },
    {
      name: 'a masked value reaches every lane',
      from: '      if (mask !== null) {\n        code.get(local);\n        this.#pushMaskOf(mask, value.type, vector);\n        writeSelect(code, unit);\n      }',
      to: '',
      why: 'threads that do not assign a variable get the value of those that do',
    },
    {
      name: 'a masked sum reaches every lane',
      from: "code.get(mask![vector]!).op('v128.and', laneInstruction(added.operator, added.type)!).set(local);",
      to: 'code.op(laneInstruction(added.operator, added.type)!).set(local);',
      why: 'threads that do not count a turn count it',
    },
    {
      name: 'a masked store stores every lane where three are there',
      from: ".i32(pairs ? 3 : 15)\n        .op('i32.eq');",
      to: ".i32(pairs ? 3 : 7)\n        .op('i32.ge_u');",
      why: 'a thread that does not store overwrites its element',
    },
    {
      name: 'threads of a pair store by the mask of the other pair',
      from: "if (vector % 2 === 1) code.i32(2).op('i32.shr_u');",
      to: '',
      why: 'an f64 is stored for a thread that does not store, or not for one that does',
    },
    {
      name: 'products are sums where lanes are left out',
      from: "return ['add', 'subtract', 'or', 'xor'].includes(operator) ? value : null;",
      to: "return ['add', 'subtract', 'or', 'xor', 'multiply'].includes(operator) ? value : null;",
      why: 'threads that a branch leaves out multiply by 0',
    },
  ]),
];
