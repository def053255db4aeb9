// The lines of C for vectors of 256 and 512 bits. Each operation says of every lane what that of 128 bits says (prelude.ts).
//
// clang makes one instruction of the portable lines. GCC 12 takes a wide vector apart for them, and through memory where it puts
// one together of parts: it is told the instruction, where the processor has it.

const shapes = [
  ['f32x4', 'ps'],
  ['f64x2', 'pd'],
] as const;

/** Vectors of two or four times 128 bits: the same for each lane. */
export function widePrelude(times: 2 | 4): string {
  const isHalf = times === 2;
  const [i, u, f, d, l] = isHalf
    ? ['ws_v256', 'ws_u32x8', 'ws_f32x8', 'ws_f64x4', 'ws_i64x4']
    : ['ws_v512', 'ws_u32x16', 'ws_f32x16', 'ws_f64x8', 'ws_i64x8'];
  const parts = Array.from({ length: times }, (_, part) => part);
  const viewOf = (shape: string) => (shape === 'f32x4' ? f : d);
  const define = (name: string, operands: readonly string[], body: string) =>
    `WS ${i} ${name}_${times}(${operands.map((each) => `${i} ${each}`).join(', ')}) {\n${body}}\n`;
  const eachPart = (name: string, operands: readonly string[]) => {
    const lines = parts.map((part) => {
      const given = operands.map((each) => `ws_part${times}(${each}, ${part})`).join(', ');
      return `  result = ws_with${times}(result, ${part}, ${name}(${given}));\n`;
    });
    return define(name, operands, `  ${i} result = {0};\n${lines.join('')}  return result;\n`);
  };
  const either = (feature: string, x86: string, portable: string) =>
    `#if defined(${feature}) && !defined(__clang__)\n${x86}#else\n${portable}#endif\n`;
  const avx = isHalf ? '__AVX__' : '__AVX512F__';
  /** An instruction's call. That of 512 bits takes what is kept of lanes by a mask (here none), and rounds as always. */
  const call = (names: readonly [half: string, whole: string], given: string, kept = 'x') => {
    if (isHalf) return `(${i})__builtin_ia32_${names[0]}(${given})`;
    const all = names[1].includes('pd') ? '(uint8_t)-1' : '(uint16_t)-1';
    return `(${i})__builtin_ia32_${names[1]}_mask(${given}, ${kept}, ${all}, 4)`;
  };
  const view = (shape: string, operand: string, name: string) =>
    `  ${viewOf(shape)} ${name} = (${viewOf(shape)})${operand};\n`;
  const rounding = shapes.flatMap(([shape, suffix]) =>
    Object.entries({ ceil: 2, floor: 1, trunc: 3 }).map(([name, mode]) => {
      const x86 = call([`round${suffix}256`, `rndscale${suffix}`], `x, ${8 + mode}`);
      const body = `${view(shape, 'a', 'x')}  return ${x86};\n`;
      return either(avx, define(`ws_${shape}_${name}`, ['a'], body), eachPart(`ws_${shape}_${name}`, ['a']));
    }),
  );
  const roots = shapes.map(([shape, suffix]) => {
    const body = `${view(shape, 'a', 'x')}  return ${call([`sqrt${suffix}256`, `sqrt${suffix}512`], 'x')};\n`;
    return either(avx, define(`ws_${shape}_sqrt`, ['a'], body), eachPart(`ws_${shape}_sqrt`, ['a']));
  });
  /** As for 128 bits: what is given where neither operand is less differs with their order. */
  const least = shapes.flatMap(([shape, suffix]) =>
    (['min', 'max'] as const).map((name) => {
      const [sign, both] = name === 'min' ? ['<', '|'] : ['>', '&'];
      const nan = name === 'min' ? '' : ` | (${i})(x != x) | (${i})(y != y)`;
      const views = view(shape, 'a', 'x') + view(shape, 'b', 'y');
      const [once, twice] = ['x, y', 'y, x'].map((given) =>
        call([`${name}${suffix}256`, `${name}${suffix}512`], given),
      );
      const chosen = `ws_select_${times}((${i})(y ${sign} x), b, a ${both} b)`;
      const portable = `ws_select_${times}((${i})(x ${sign} y), a, ${chosen})`;
      const of = (value: string) =>
        define(`ws_${shape}_${name}`, ['a', 'b'], `${views}  return ${value}${nan};\n`);
      return either(avx, of(`(${once} ${both} ${twice})`), of(portable));
    }),
  );
  const truncated = call(['cvttps2dq256', 'cvttps2dq512'], 'number', 'a');
  const tested = isHalf
    ? '!__builtin_ia32_ptestz256((ws_i64x4)a, (ws_i64x4)a)'
    : '__builtin_ia32_ptestmd512(a, a, (uint16_t)-1) != 0';
  const inserted = isHalf
    ? '__builtin_ia32_vinsertf128_si256(a, b, part)'
    : '__builtin_ia32_inserti32x4_mask(a, b, part, a, (uint16_t)-1)';
  const fused = isHalf
    ? `__builtin_ia32_vfmaddps256((${f})a, (${f})b, (${f})c)`
    : `__builtin_ia32_vfmaddps512_mask((${f})a, (${f})b, (${f})c, (uint16_t)-1, 4)`;
  const upper = isHalf
    ? '__builtin_ia32_pmulhuw256((ws_i16x16)a, (ws_i16x16)b)'
    : '__builtin_ia32_pmulhuw512_mask((ws_i16x32)a, (ws_i16x32)b, (ws_i16x32){0}, (uint32_t)-1)';
  return [
    `WS ${i} ws_select_${times}(${i} mask, ${i} a, ${i} b) { return (a & mask) | (b & ~mask); }
WS ${i} ws_wide${times}(ws_v128 a) { return (${i}){${parts.map(() => 'a[0], a[1], a[2], a[3]').join(', ')}}; }
WS ws_v128 ws_part${times}(${i} a, int part) {
  ws_v128 b;
  memcpy(&b, (const uint8_t *)&a + 16 * part, 16);
  return b;
}
`,
    either(
      avx,
      `WS ${i} ws_with${times}(${i} a, int part, ws_v128 b) { return ${inserted}; }\n`,
      `// By a mask that is known: a variable that is written to in part would have to lie in memory.
WS ${i} ws_with${times}(${i} a, int part, ws_v128 b) {
  const ${i} mask = {${parts.map((part) => [0, 1, 2, 3].map(() => `-(part == ${part})`).join(', ')).join(', ')}};
  return ws_select_${times}(mask, ws_wide${times}(b), a);
}
`,
    ),
    ...[
      ['or', '|'],
      ['and', '&'],
    ].map(([name, sign]) => {
      const all = parts.map((part) => `ws_part${times}(a, ${part})`).join(` ${sign} `);
      return `WS ws_v128 ws_${name}_${times}(${i} a) { return ${all}; }\n`;
    }),
    either(
      avx,
      `WS uint32_t ws_any_true_${times}(${i} a) { return ${tested}; }\n`,
      `WS uint32_t ws_any_true_${times}(${i} a) { return ws_any_true(ws_or_${times}(a)); }\n`,
    ),
    `WS ${i} ws_load${times}(const uint8_t *at) { return *(const ${i}_at *)at; }
WS void ws_store${times}(uint8_t *at, ${i} value) { *(${i}_at *)at = value; }
WS ${i} ws_f32x4_abs_${times}(${i} a) { return a & 0x7fffffff; }
WS ${i} ws_f32x4_neg_${times}(${i} a) { return a ^ (int32_t)0x80000000; }
WS ${i} ws_f64x2_abs_${times}(${i} a) { return (${i})((${l})a & INT64_MAX); }
WS ${i} ws_f64x2_neg_${times}(${i} a) { return (${i})((${l})a ^ INT64_MIN); }
WS ${i} ws_f32x4_convert_u_${times}(${i} a) {
  ${f} upper = __builtin_convertvector((${i})((${u})a >> 16), ${f});
  ${f} lower = __builtin_convertvector(a & 0xffff, ${f});
  return (${i})(upper * 65536.0f + lower);
}
`,
    either(
      avx,
      define('ws_held', ['a'], '  __asm__("" : "+v"(a));\n  return a;\n'),
      define('ws_held', ['a'], '  return a;\n'),
    ),
    ...least,
    ...rounding,
    ...roots,
    either(
      avx,
      define(
        'ws_i32x4_trunc',
        ['a'],
        `${view('f32x4', 'a', 'x')}  ${f} number = (${f})(a & (${i})(x == x));
  return ${truncated} ^ (${i})(x >= 2147483648.0f);
`,
      ),
      eachPart('ws_i32x4_trunc', ['a']),
    ),
    either(
      isHalf ? '__AVX2__' : '__AVX512BW__',
      define('ws_mulhi', ['a', 'b'], `  return (${i})${upper};\n`),
      eachPart('ws_mulhi', ['a', 'b']),
    ),
    either(
      isHalf ? '__FMA__' : '__AVX512F__',
      define('ws_madd', ['a', 'b', 'c'], `  return (${i})${fused};\n`),
      eachPart('ws_madd', ['a', 'b', 'c']),
    ),
  ].join('');
}
