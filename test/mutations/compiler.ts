// Mutations of `compiler` and `kernel`: arithmetic, the types of expressions, and what is inlined.

import { mutationsOf } from './mutation.ts';

const numbers = [
  'test/compiler/arithmetic.test.ts',
  'test/wasm/operators.test.ts',
  'test/differential/number-rules.test.ts',
];

export const mutations = [
  ...mutationsOf(
    'src/compiler/printf.ts',
    ['test/compiler/printf.test.ts'],
    [
      {
        name: 'the middle between two decimals is rounded up',
        from: 'twice === denominator && whole % 2n === 1n',
        to: 'twice === denominator',
        why: '2.5 is written as 3 by %.0f, and as 2 by C',
      },
      {
        name: 'zeros stand before the sign',
        from: 'fills ? digits.padStart(room',
        to: 'fills ? digits.padStart(width',
        why: '%05d of -1 has six characters',
      },
    ],
  ),
  ...mutationsOf(
    'src/compiler/intrinsics/groups.ts',
    ['test/warps/partial-tiles.test.ts'],
    [
      {
        name: 'the last tile has threads that the block has not',
        from: 'conditional(isLast, word(2 ** left - 1), all, range)',
        to: 'conditional(isLast, all, all, range)',
        why: 'the threads that are left wait for ever, or count wrong',
      },
      {
        name: 'a tile begins where its warp does',
        from: "const first = binary('and', lane, word(~(size - 1)), range);",
        to: "const first = binary('and', lane, word(0), range);",
        why: 'all tiles of a warp are its first',
      },
      {
        name: 'tiles that a block does not fill are counted within a tile',
        from: 'if (count * tileSize(receiver) >= blockSize(lowering)) return index(rank);',
        to: 'if (count * tileSize(receiver) === blockSize(lowering)) return index(rank);',
        why: 'two tiles have one rank',
      },
    ],
  ),
  ...mutationsOf(
    'src/compiler/intrinsics/lane-masks.ts',
    ['test/warps/coalesced.test.ts'],
    [
      {
        name: 'gaps that lanes have passed count again',
        from: "gaps = settled(binary('and', gaps, outside(odd), range));",
        to: "gaps = settled(binary('and', gaps, gaps, range));",
        why: 'a vote of a group names threads that voted otherwise',
      },
      {
        name: 'no lane has more than fifteen gaps below it',
        from: 'for (let places = 1; places < 32; places *= 2) {',
        to: 'for (let places = 1; places < 16; places *= 2) {',
        why: 'a group of the upper half of a warp has the wrong ranks',
      },
    ],
  ),
  ...mutationsOf(
    'src/compiler/intrinsics/lane-copies.ts',
    ['test/warps/lane-copies.test.ts'],
    [
      {
        name: 'the last piece of a lane is as long as the others',
        from: "piece === 1 ? index(1) : binary('min', index(piece), rest, range)",
        to: 'index(piece)',
        why: 'a promise that is not kept is not found, and a lane copies what is behind the end',
      },
      {
        name: 'a lane begins at its rank, whatever is the length of a piece',
        from: 'value: elements(rank)',
        to: 'value: rank',
        why: 'pieces lie over each other, and what lies behind them stays where it was',
      },
      {
        name: 'a copy of fewer than no elements is none',
        from: "known !== null && known >= 0 ? [] : [compare('less', count, zero, range)]",
        to: '[]',
        why: 'a wrong count is lost in silence',
      },
    ],
  ),
  ...mutationsOf(
    'src/compiler/intrinsics/combining.ts',
    ['test/warps/coalesced.test.ts', 'test/warps/combining.test.ts'],
    [
      {
        name: 'a group of any lanes takes in a rank that it does not have',
        from: "compare('less', above, this.#size, this.range)",
        to: "compare('lessEqual', above, this.#size, this.range)",
        why: 'the sum of a group has a lane of nobody, or one of another group',
      },
      {
        name: 'the first of a group of any lanes takes nothing from the second',
        from: 'for (let distance = this.most / 2; distance >= 1; distance /= 2) {',
        to: 'for (let distance = this.most / 2; distance > 1; distance /= 2) {',
        why: 'half of the values are left out of a sum',
      },
      {
        name: 'a scan stops before the last distance',
        from: 'for (let distance = 1; distance < this.most; distance *= 2) {',
        to: 'for (let distance = 1; distance < this.most / 2; distance *= 2) {',
        why: 'the upper half of a warp has the sums of its own half alone',
      },
    ],
  ),
  ...mutationsOf(
    'src/compiler/intrinsics/random.ts',
    ['test/compiler/normals.test.ts'],
    [
      {
        name: 'a normal pair begins with the cosine',
        from: "(['sinpi', 'cospi'] as const).map((name) =>",
        to: "(['cospi', 'sinpi'] as const).map((name) =>",
        why: 'the pair is in the other order than that of cuRAND',
      },
      {
        name: 'the upper of two words is shifted to the end',
        from: "constant('u64', 21n, range)",
        to: "constant('u64', 32n, range)",
        why: 'a uniform of 53 bits goes beyond 1',
      },
      {
        name: 'a uniform begins at zero',
        from: 'constant(type, step / 2, range)',
        to: 'constant(type, 0, range)',
        why: 'the logarithm of no bits is infinite, and so is the normal',
      },
    ],
  ),
  ...mutationsOf('src/compiler/arithmetic.ts', numbers, [
    {
      name: 'products of i32 are those of floats',
      from: '    multiply: Math.imul,\n',
      to: '    multiply: (a, b) => (a * b) | 0,\n',
      why: 'products beyond 2^53 lose their low bits',
    },
    {
      name: 'the quotient of u32 is signed',
      from: 'divide: (a, b) => (a / divisor(b)) >>> 0,',
      to: 'divide: (a, b) => Math.round(a / divisor(b)) >>> 0,',
      why: 'integer division rounds to the nearest',
    },
    {
      name: 'a remainder of i32 may be minus zero',
      from: 'remainder: (a, b) => (a % divisor(b)) | 0,',
      to: 'remainder: (a, b) => a % divisor(b),',
      why: '1 / (-4 % 2) as floats is -Infinity in the interpreter alone',
    },
    {
      name: 'u32 shifts to the right with its sign',
      from: 'shiftRight: (a, b) => a >>> b,',
      to: 'shiftRight: (a, b) => (a >> b) >>> 0,',
      why: 'hashes come out otherwise than on a GPU',
    },
    {
      name: 'i64 shifts by more than 63 bits',
      from: 'shiftLeft: (a, b) => signed(a << (b & 63n)),',
      to: 'shiftLeft: (a, b) => signed(a << (b & 127n)),',
      why: 'a shift by 64 gives 0 in the interpreter alone',
    },
    {
      name: 'products of f32 are f64',
      from: 'multiply: (a, b) => fround(a * b),',
      to: 'multiply: (a, b) => a * b,',
      why: 'the interpreter is more precise than every target',
    },
    {
      name: 'quotients of f32 are f64',
      from: 'divide: (a, b) => fround(a / b),',
      to: 'divide: (a, b) => a / b,',
      why: 'the interpreter is more precise than every target',
    },
    {
      name: 'a 64-bit integer becomes f32 by way of f64',
      from: 'fround(Number(low === 0n || (a < 1n << 53n && a > -(1n << 53n)) ? a : (a - low) | 2048n))',
      to: 'fround(Number(a))',
      why: 'a value just above a tie is rounded twice, and down',
    },
    {
      name: 'infinity becomes an i64 by its digits',
      from: '(a) => (Number.isFinite(a) ? signed(BigInt(Math.trunc(a as number))) : 0n)',
      to: '(a) => (Number.isNaN(a) ? 0n : signed(BigInt(Math.trunc(Math.min(a as number, 2 ** 1000)))))',
      why: 'infinity as i64 is what no target gives',
    },
    {
      name: 'math functions of f32 are f64',
      from: "return type === 'f64' ? exact : (...operands) => fround(exact(...operands));",
      to: 'return exact;',
      why: 'the interpreter is more precise than every target',
    },
    {
      name: 'bools are equal where xor asks whether they differ',
      from: 'xor: (a, b) => a !== b,',
      to: 'xor: (a, b) => a === b,',
      why: 'a condition is its opposite',
    },
    {
      name: 'compare and swap takes NaN for no value',
      from: '(Object.is(old, compared) ? value : old)',
      to: '(old === compared && value !== compared ? value : old)',
      why: 'an update by compare and swap that changes nothing is taken for one that failed',
      equivalent:
        'where value and compared are the same, storing the one or keeping the other leaves the same bits',
    },
  ]),
  ...mutationsOf(
    'src/compiler/quotients.ts',
    ['test/compiler/numbers.test.ts', 'test/compiler/hints.test.ts', ...numbers],
    [
      {
        name: 'the quotient of two integers as a float is cut first',
        from: "return number(type, binary('divide', convert(left, type, range), convert(right, type, range), range));",
        to: "return number(type, convert(binary('divide', left, right, range), type, range));",
        why: '1 / 2 as a float is 0',
      },
      {
        name: 'quotients are f32 where they meet a f64',
        from: "return types.includes('f64') ? 'f64' : 'f32';",
        to: "return 'f32';",
        why: 'half of the digits of a quotient are lost',
      },
    ],
  ),
  ...mutationsOf(
    'src/kernel/layout.ts',
    ['test/types/records.test.ts', 'test/types/elements.test.ts'],
    [
      {
        name: 'records end with their last field',
        from: 'return { bytes: roundedUp(end, alignment), alignment, parts, fields };',
        to: 'return { bytes: end, alignment, parts, fields };',
        why: 'the second record of an array lies elsewhere than for C',
      },
      {
        name: 'vectors of three are aligned as those of four',
        from: 'components === 3 ? size : Math.min(bytes, 16)',
        to: 'Math.min(bytes, 16)',
        why: 'a float3 in a record lies elsewhere than for CUDA',
      },
    ],
  ),
  ...mutationsOf(
    'src/compiler/vectors.ts',
    ['test/types/elements.test.ts'],
    [
      {
        name: 'components of vectors of bytes are not cut',
        from: 'return narrowed(lowering, stored, vectorTypes[type].component, node);',
        to: 'return stored;',
        why: 'a sum with a component of 300 differs from that of a uchar4',
      },
    ],
  ),
];
