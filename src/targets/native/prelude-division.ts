// The lines of C that divide lanes of integers, for which no engine and few processors have an instruction.
//
// The quotient of two integers of 32 bits as doubles, rounded towards zero, is that of the integers: it lies further from the
// next integer than a double is inexact. By 0 the quotient is the dividend, which nobody reads: writers ask before. By
// -1 it wraps. So each lane divides by something that is neither, and no conversion leaves its type.

const names = { 1: 'ws_v128', 2: 'ws_v256', 4: 'ws_v512' } as const;
const unsigned = { 1: 'ws_u32x4', 2: 'ws_u32x8', 4: 'ws_u32x16' } as const;

/** Quotients of lanes that are so many doubles as fit the vector twice as wide. */
function whole(times: 1 | 2, sign: 's' | 'u'): string {
  const from = sign === 's' ? names[times] : unsigned[times];
  const doubles = times === 1 ? 'ws_f64x4' : 'ws_f64x8';
  const of = (operand: string) => `__builtin_convertvector((${from})${operand}, ${doubles})`;
  const quotient = `__builtin_convertvector(${of('a')} / ${of('b')}, ${from})`;
  return `WS ${names[times]} ws_quotient_${sign}_${times}(${names[times]} a, ${names[times]} b) {
  return (${names[times]})${quotient};
}
`;
}

/** One half after the other, where the processor's vectors hold no more. */
function halves(sign: 's' | 'u'): string {
  const order = Array.from({ length: 16 }, (_, lane) => lane);
  const half = (of: string, from: number) =>
    `__builtin_shufflevector(${of}, ${of}, ${order.slice(from, from + 8).join(', ')})`;
  const quotient = (from: number) => `ws_quotient_${sign}_2(${half('a', from)}, ${half('b', from)})`;
  const first = ['a', 'b'].map((each) => `ws_part4(${each}, part)`).join(', ');
  return `#if defined(__AVX512F__) && (defined(__clang__) || __GNUC__ >= 12)
WS ws_v512 ws_quotient_${sign}_4(ws_v512 a, ws_v512 b) {
  return __builtin_shufflevector(${quotient(0)}, ${quotient(8)}, ${order.join(', ')});
}
#else
WS ws_v512 ws_quotient_${sign}_4(ws_v512 a, ws_v512 b) {
  ws_v512 result = {0};
${[0, 1, 2, 3].map((part) => `  result = ws_with4(result, ${part}, ws_quotient_${sign}_1(${first.replaceAll('part)', `${part})`)}));\n`).join('')}  return result;
}
#endif
`;
}

/** The instructions of one width. */
function divisions(times: 1 | 2 | 4): string {
  const [i, u] = [names[times], unsigned[times]];
  const suffix = times === 1 ? '' : `_${times}`;
  const called = (name: string) => `ws_i32x4_${name}${suffix}`;
  const define = (name: string, body: string) => `WS ${i} ${called(name)}(${i} a, ${i} b) {\n${body}}\n`;
  const remainder = (sign: string) =>
    define(`rem_${sign}`, `  return (${i})((${u})a - (${u})${called(`div_${sign}`)}(a, b) * (${u})b);\n`);
  return [
    define('div_u', `  return ws_quotient_u_${times}(a, b - (b == 0));\n`),
    define(
      'div_s',
      `  const ${i} isMinus = b == -1, isZero = b == 0;
  const ${i} quotient = ws_quotient_s_${times}(a, (b & ~isMinus) - (isMinus | isZero));
  return (${i})(((${u})quotient ^ (${u})isMinus) - (${u})isMinus);
`,
    ),
    remainder('u'),
    remainder('s'),
  ].join('');
}

export const divisionPrelude = [
  ...(['s', 'u'] as const).flatMap((sign) => [whole(1, sign), whole(2, sign), halves(sign)]),
  ...([1, 2, 4] as const).map(divisions),
].join('');
