// Mutations of `targets/native` and `runtime/cpu/native`: the C of a module, and the libraries made of it.

import { mutationsOf } from './mutation.ts';

const instructions = ['test/native/instructions.test.ts'];
const device = ['test/native/device.test.ts'];
const wide = ['test/native/wide-instructions.test.ts'];
const divisions = ['test/native/divisions.test.ts'];
const compilers = ['test/native/compilers.test.ts'];

export const mutations = [
  ...mutationsOf('src/targets/native/operations.ts', instructions, [
    {
      name: 'shifts of C count beyond the width',
      from: "['shl', `a << (b & ${bits})`],",
      to: "['shl', `a << b`],",
      why: 'a shift by 32 is undefined in C, and is one by 0 in JavaScript',
      tests: ['test/native/text.test.ts'],
    },
    {
      name: 'shifts of lanes in C count beyond the width',
      from: "'(ws_v128)((U)a >> (b & 31))'",
      to: "'(ws_v128)((U)a >> b)'",
      why: 'a shift of lanes by 33 gives 0, and is one by 1 in JavaScript',
    },
    {
      name: 'unsigned lanes are compared in C as signed',
      from: "rows.push([`i32x4.${name}_u`, ['vv>v', binary('U', sign)]]);",
      to: "rows.push([`i32x4.${name}_u`, ['vv>v', binary('I', sign)]]);",
      why: 'lanes of u32 above 2^31 are ordered wrongly',
    },
  ]),
  ...mutationsOf('src/targets/native/prelude-wide.ts', wide, [
    {
      name: 'wide vectors move by memcpy',
      from: '{ *(${i}_at *)at = value; }',
      to: '{ memcpy(at, &value, sizeof value); }',
      why: 'GCC 12 repeats the first lanes of a constant whose last lanes are zero',
      tests: ['test/native/copies.test.ts'],
    },
    {
      name: 'wide vectors are rounded by another mode',
      from: 'Object.entries({ ceil: 2, floor: 1, trunc: 3 })',
      to: 'Object.entries({ ceil: 2, floor: 0, trunc: 3 })',
      why: 'Math.floor gives the nearest integer',
    },
    {
      name: 'a wide minimum depends on the order of its operands',
      from: 'of(`(${once} ${both} ${twice})`)',
      to: 'of(`(${once})`)',
      why: 'the minimum of NaN and a number is no NaN, and that of -0 and 0 depends on their order',
    },
    {
      name: 'wide vectors that are made of parts take the first part alone',
      from: "'__builtin_ia32_inserti32x4_mask(a, b, part, a, (uint16_t)-1)'",
      to: "'__builtin_ia32_inserti32x4_mask(a, b, 0, a, (uint16_t)-1)'",
      why: 'lanes take the values of other lanes',
      tests: ['test/native/copies.test.ts'],
    },
    {
      name: 'half of a wide vector is asked whether any bit is set',
      from: "'__builtin_ia32_ptestmd512(a, a, (uint16_t)-1) != 0'",
      to: "'__builtin_ia32_ptestmd512(a, a, 255) != 0'",
      why: 'loops end before all lanes have left them',
      tests: ['test/native/folds.test.ts'],
    },
    {
      name: 'upper halves of products in wide vectors have a sign',
      from: "'__builtin_ia32_pmulhuw512_mask(",
      to: "'__builtin_ia32_pmulhw512_mask(",
      why: 'products of what is 2^15 or more are wrong',
      tests: ['test/native/halves.test.ts'],
    },
    {
      name: 'NaN becomes the least integer in wide vectors',
      from: '(a & (${i})(x == x))',
      to: '(a)',
      why: 'a lane of NaN is no 0',
    },
  ]),
  ...mutationsOf('src/targets/native/prelude.ts', instructions, [
    {
      name: 'conversions of C do not saturate',
      from: 'return a != a ? 0 : a >= 2147483647.0 ? 0x7fffffffu :',
      to: 'return a != a ? 0 :',
      why: 'a float beyond i32 becomes what the processor makes of it',
    },
    {
      name: 'lanes above i32 are not corrected in C',
      from: ' ^ (x >= 2147483648.0f);',
      to: ';',
      why: 'lanes above 2^31 become the least integer instead of the greatest',
    },
    {
      name: 'NaN becomes the least integer in lanes of C',
      from: 'ws_v128 number = a & (x == x);',
      to: 'ws_v128 number = a;',
      why: 'a lane of NaN is no 0',
    },
    {
      name: 'a maximum of C forgets NaN',
      from: '& (ws_v128)__builtin_ia32_maxps(y, x);\n  return most | (x != x) | (y != y);',
      to: '& (ws_v128)__builtin_ia32_maxps(y, x);\n  return most;',
      why: 'the maximum of a number and NaN is no NaN',
    },
    {
      name: 'a minimum of C takes what SSE takes for NaN',
      from: 'return (ws_v128)__builtin_ia32_minps(x, y) | (ws_v128)__builtin_ia32_minps(y, x);',
      to: 'return (ws_v128)__builtin_ia32_minps(x, y);',
      why: 'the minimum of NaN and a number is no NaN, and that of -0 and 0 depends on their order',
    },
    {
      name: 'a maximum of C takes -0 for 0',
      from: 'return a > b ? a : b > a ? b : a == b ? ws_f32(ws_bits_f32(a) & ws_bits_f32(b)) : a + b;',
      to: 'return a > b ? a : b > a ? b : a == b ? a : a + b;',
      why: 'the maximum of -0 and 0 depends on their order',
    },
    {
      name: 'C converts unsigned lanes as signed',
      from: 'return (ws_v128)(upper * 65536.0f + lower);',
      to: 'return (ws_v128)__builtin_convertvector(a, ws_f32x4);',
      why: 'lanes of u32 above 2^31 become negative floats',
    },
  ]),
  ...mutationsOf('src/targets/native/prelude-memory.ts', instructions, [
    {
      name: 'an exchange under a condition gives what it found no more',
      from: '  return expected;',
      to: '  return value;',
      why: 'who compares and exchanges is told a wrong former value',
    },
    {
      name: 'atomics of C have no order',
      from: '(${word}, value, __ATOMIC_SEQ_CST); }\\n`,',
      to: '(${word}, value, __ATOMIC_RELAXED); }\\n`,',
      why: 'what was stored before an atomic may be seen behind it',
      tests: ['test/native/text.test.ts'],
    },
    {
      name: 'C believes that loads are aligned',
      from: '  memcpy(&value, at, sizeof value);',
      to: '  value = *(const ${memory} *)__builtin_assume_aligned(at, sizeof value);',
      why: 'a load of lanes at an odd address ends the process',
      tests: ['test/native/text.test.ts'],
    },
    {
      name: 'bytes that move into themselves are moved forwards',
      from: 'if (WS_UNLIKELY(to - from < bytes)) {',
      to: 'if (0) {',
      why: 'bytes that move a little further on are written over before they are read',
      tests: ['test/native/moves.test.ts'],
    },
    {
      name: 'bytes behind the last four are not moved',
      from: '  for (; i < bytes; i += 1) m[to + i] = m[from + i];\n',
      to: '',
      why: 'the last bytes of a copy stay what they were',
      tests: ['test/native/moves.test.ts'],
    },
    {
      name: 'C widens bytes in lanes without their sign',
      from: "pmov${sign === 's' ? 's' : 'z'}x",
      to: 'pmovzx',
      why: 'elements of i8 and i16 below 0 become large',
    },
  ]),
  ...mutationsOf(
    'src/targets/native/folds.ts',
    ['test/native/folds.test.ts'],
    [
      {
        name: 'what vectors have in common is taken for what they have together',
        from: "ws_${isOr ? 'or' : 'and'}_",
        to: 'ws_or_',
        why: 'lanes go on together as long as any of them does',
      },
      {
        name: 'parts in another order are taken for a wide variable',
        from: '!found.parts.every((part, i) => part === locals[taken + i])',
        to: 'false',
        why: 'vectors that were not named are put together with those that were',
      },
    ],
  ),
  ...mutationsOf('src/targets/native/prelude-division.ts', divisions, [
    {
      name: 'lanes are divided by -1 as doubles are',
      from: '(b & ~isMinus) - (isMinus | isZero)',
      to: 'b - isZero',
      why: 'quotients by -1 have the wrong sign',
    },
    {
      name: 'both halves of a wide quotient are the first',
      from: '${quotient(0)}, ${quotient(8)}',
      to: '${quotient(0)}, ${quotient(0)}',
      why: 'lanes take the quotients of other lanes',
    },
    {
      name: 'unsigned lanes are divided as signed',
      from: "const from = sign === 's' ? names[times] : unsigned[times];",
      to: 'const from = names[times];',
      why: 'quotients of u32 above 2^31 are wrong',
    },
  ]),
  ...mutationsOf('src/targets/wasm/simd/divisions.ts', divisions, [
    {
      name: 'lanes that share a divisor do not ask whether it is zero',
      from: 'writeDivisorCheck(first, expression, divisor);',
      to: '',
      why: 'a division by zero is no error on cpu-native where lanes share the divisor',
    },
    {
      name: 'lanes ask only whether all of them divide by zero',
      from: "op('i32x4.all_true', 'i32.eqz')",
      to: "op('v128.any_true', 'i32.eqz')",
      why: 'a division by zero in one lane is no error on cpu-native',
    },
    {
      name: 'lanes of a processor divide where WebAssembly finds the remainder',
      from: "operator === 'divide'",
      to: "operator !== 'divide'",
      why: 'quotients and remainders are exchanged on cpu-native',
    },
  ]),
  ...mutationsOf('src/targets/native/narrow.ts', instructions, [
    {
      name: 'the sign of what is widened twice is that of the first time',
      from: 'if (whole.name !== `i32x4.extend_low_i16x8_${sign}`) continue;',
      to: '',
      why: 'bytes that are widened with their sign and then without keep it',
    },
    {
      name: 'whatever is shuffled and stored is taken for low bytes',
      from: ' && order.bytes.slice(0, stored).every(isLow)',
      to: '',
      why: 'other bytes of a vector are stored than those that were asked for',
    },
    {
      name: 'narrow lanes are loaded and stored by the instructions of WebAssembly',
      from: 'const found = narrowLoad(body, at) ?? narrowStore(body, at);',
      to: 'const found = null as Instruction | null;',
      why: 'kernels on bytes are ten times slower than on `cpu`',
      tests: ['test/native/text.test.ts'],
    },
  ]),
  ...mutationsOf(
    'src/targets/wasm/simd/ahead.ts',
    ['test/native/widening.test.ts'],
    [
      {
        name: 'rows of a block fetch ahead',
        from: 'if (!isRow && loop === null) return;',
        to: '',
        why: 'what is fetched behind a row of a tile takes the place of what is needed',
      },
      {
        name: 'what is stored is fetched to be read',
        from: "isStored ? 'prefetch_w' : 'prefetch'",
        to: "'prefetch'",
        why: 'memory is asked twice for what is written over',
      },
    ],
  ),
  ...mutationsOf('src/targets/native/copies.ts', wide, [
    {
      name: 'narrow lanes of wide vectors lie as far apart as whole ones',
      from: "'v128.load8x4_u': 4,",
      to: "'v128.load8x4_u': 16,",
      why: 'elements of u8 are loaded one vector at a time',
    },
    {
      name: 'wide stores of bytes are taken for stores of halves',
      from: "'v128.store': 'ws_store' }",
      to: "'v128.store': 'ws_store', 'v128.store8x4': 'ws_v128_store16x4_' }",
      why: 'bytes beside those of a group are written over',
    },
    {
      name: 'copies whose addresses are not side by side are carried out together',
      from: 'offset === offsets[0]! + (step ?? 0) * copy)',
      to: 'offset >= offsets[0]!)',
      why: 'lanes are loaded from beside where they lie',
      tests: ['test/native/copies.test.ts'],
    },
    {
      name: 'what copies read of each other is overlooked',
      from: 'for (const local of this.#read) if (this.#own.has(local) || this.#written.has(local)) return false;',
      to: '',
      why: 'sums that go from copy to copy count one of them',
      tests: ['test/native/copies.test.ts'],
    },
  ]),
  ...mutationsOf('src/targets/native/function-text.ts', instructions, [
    {
      name: 'C selects the other value',
      from: '`${condition} ? ${this.#pop().text} : ${text}`',
      to: '`${condition} ? ${text} : ${this.#pop().text}`',
      why: 'every choice of two values is the wrong one',
    },
    {
      name: 'loops of C do not look whether they are to stop',
      from: '(`b${label}: if (WS_UNLIKELY(*stop)) ws_stop(e);`);',
      to: '(`b${label}:;`);',
      why: 'a kernel that never ends cannot be cancelled, and keeps the process from ending',
      tests: ['test/native/text.test.ts'],
    },
  ]),
  ...mutationsOf(
    'src/targets/native/widening.ts',
    ['test/native/widening.test.ts'],
    [
      {
        name: 'a local stands at two places of a wide variable',
        from: 'return known.parts.join() === parts.join();',
        to: 'return true;',
        why: 'lanes take the values of other lanes',
        tests: ['test/native/copies.test.ts'],
      },
    ],
  ),
  ...mutationsOf('src/runtime/cpu/native/libraries.ts', compilers, [
    {
      name: 'the name of a library forgets the compiler',
      from: 'return `${digest(identity, text)',
      to: 'return `${digest(text)',
      why: 'the library of another processor is run, and ends the process',
    },
    {
      name: 'a damaged library is run',
      from: 'return file !== null && isWhole(name, file);',
      to: 'return file !== null;',
      why: 'what a full disk left of a library is loaded',
    },
  ]),
  ...mutationsOf('src/runtime/cpu/native/compiler.ts', compilers, [
    {
      name: 'flags are no part of what a library depends on',
      from: 'process.arch, ...flags].join',
      to: 'process.arch].join',
      why: 'a library that was made with other flags is run',
    },
  ]),
  ...mutationsOf('src/runtime/cpu/native/runner.ts', device, [
    {
      name: 'a library is never adopted',
      from: 'Atomics.compareExchange(state, 0, nativeStates.ready, nativeStates.adopted);',
      to: '',
      why: 'WebAssembly runs for ever, though ranOn says otherwise',
    },
    {
      name: 'values for the host lie one word too far',
      from: 'readers[type]!(view, values + 8 * i)',
      to: 'readers[type]!(view, values + 8 * i + 8)',
      why: 'faults and lines tell wrong values',
    },
    {
      name: 'a thread does not say that it is in native code',
      from: '  Atomics.add(stop, 1, 1);\n',
      to: '',
      why: 'a process that ends while a thread is there is aborted',
    },
    {
      name: 'a thread that failed in native code has not left it',
      from: '  try {\n    return work();\n  } finally {\n    leave(stop);\n  }',
      to: '  const result = work();\n  leave(stop);\n  return result;',
      why: 'whoever ends it waits for ever',
    },
  ]),
  ...mutationsOf('src/runtime/cpu/native/target.ts', compilers, [
    {
      name: 'what the compiler says is lost',
      from: 'this.#failures.set(executable, error as Error);',
      to: '',
      why: 'WebAssembly runs for ever, and nobody hears why',
    },
  ]),
];
