// The lines of C for vectors of 256 and 512 bits. Each operation says of every lane what that of 128 bits says (prelude.ts).

/** Vectors of two or four times 128 bits: the same for each lane. */
export function widePrelude(times: 2 | 4): string {
  const [i, u, f, d, l] =
    times === 2
      ? ['ws_v256', 'ws_u32x8', 'ws_f32x8', 'ws_f64x4', 'ws_i64x4']
      : ['ws_v512', 'ws_u32x16', 'ws_f32x16', 'ws_f64x8', 'ws_i64x8'];
  const parts = Array.from({ length: times }, (_, part) => part);
  const four = ['a[0]', 'a[1]', 'a[2]', 'a[3]'];
  const eachPart = (name: string, operands: readonly string[]) =>
    `WS ${i} ${name}_${times}(${operands.map((each) => `${i} ${each}`).join(', ')}) {
  ${i} result = {0};
${parts
  .map((part) => {
    const given = operands.map((each) => `ws_part${times}(${each}, ${part})`).join(', ');
    return `  result = ws_with${times}(result, ${part}, ${name}(${given}));\n`;
  })
  .join('')}  return result;
}
`;
  const least = (name: string, view: string, sign: string, both: string, nan: string) =>
    `WS ${i} ${name}_${times}(${i} a, ${i} b) {
  ${view} x = (${view})a, y = (${view})b;
  return ws_select_${times}((${i})(x ${sign} y), a, ws_select_${times}((${i})(y ${sign} x), b, a ${both} b))${nan};
}
`;
  const nan = ` | (${i})(x != x) | (${i})(y != y)`;
  return [
    `WS ${i} ws_select_${times}(${i} mask, ${i} a, ${i} b) { return (a & mask) | (b & ~mask); }
WS ${i} ws_wide${times}(ws_v128 a) { return (${i}){${parts.flatMap(() => four).join(', ')}}; }
WS ws_v128 ws_part${times}(${i} a, int part) {
  ws_v128 b;
  memcpy(&b, (const uint8_t *)&a + 16 * part, 16);
  return b;
}
// By a mask that is known: a variable that is written to in part would have to lie in memory.
WS ${i} ws_with${times}(${i} a, int part, ws_v128 b) {
  const ${i} mask = {${parts.map((part) => [0, 1, 2, 3].map(() => `-(part == ${part})`).join(', ')).join(', ')}};
  return ws_select_${times}(mask, ws_wide${times}(b), a);
}
WS ${i} ws_load${times}(const uint8_t *at) { return *(const ${i}_at *)at; }
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
    least('ws_f32x4_min', f, '<', '|', ''),
    least('ws_f32x4_max', f, '>', '&', nan),
    least('ws_f64x2_min', d, '<', '|', ''),
    least('ws_f64x2_max', d, '>', '&', nan),
    ...['ceil', 'floor', 'trunc', 'sqrt'].flatMap((name) => [
      eachPart(`ws_f32x4_${name}`, ['a']),
      eachPart(`ws_f64x2_${name}`, ['a']),
    ]),
    eachPart('ws_i32x4_trunc', ['a']),
    times === 2
      ? '#if defined(__FMA__) && !defined(__clang__)\n'
      : '#if defined(__AVX512F__) && !defined(__clang__)\n',
    `WS ${i} ws_madd_${times}(${i} a, ${i} b, ${i} c) {
  return (${i})${
    times === 2
      ? `__builtin_ia32_vfmaddps256((${f})a, (${f})b, (${f})c)`
      : `__builtin_ia32_vfmaddps512_mask((${f})a, (${f})b, (${f})c, (uint16_t)-1, 4)`
  };
}
#else
`,
    eachPart('ws_madd', ['a', 'b', 'c']),
    '#endif\n',
  ].join('');
}
