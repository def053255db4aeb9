// What each instruction is in C: the types of its operands and of its result, and an expression.
//
// The operands are `a`, `b` and `c`, in the order in which they were pushed: uint32_t, uint64_t, float, double, or
// ws_v128, which is four int32_t. `F`, `I`, `U`, `D`, `H`, `S` are the vectors of float, int32_t, uint32_t, double, uint16_t and int16_t that it
// may be seen as. What is longer than a line is a function of the prelude. Where C leaves open what WebAssembly
// says (shifts by 32, conversions out of range, minima of NaN), the text says it.

import type { WasmType } from '../wasm/encoder/code.ts';
import type {
  LaneInstruction,
  PlainInstruction,
  ProcessorInstruction,
  RelaxedInstruction,
} from '../wasm/encoder/opcodes.ts';

/** Operands and result by letters: i32, l (i64), f32, d (f64), v128, and _ for none; `m` is the memory. */
export type Operation = readonly [signature: string, text: string];

const letters: Readonly<Record<string, WasmType>> = { i: 'i32', l: 'i64', f: 'f32', d: 'f64', v: 'v128' };

/** The type that a letter of a signature stands for. */
export function typeOfLetter(letter: string): WasmType {
  return letters[letter]!;
}

const same = (type: 'i32' | 'i64', [name, text]: readonly [string, string]): [string, Operation] => {
  const letter = type === 'i32' ? 'i' : 'l';
  return [`${type}.${name}`, [`${letter}${letter}>${letter}`, text]];
};

const arithmetic: readonly (readonly [string, string])[] = [
  ['add', 'a + b'],
  ['sub', 'a - b'],
  ['mul', 'a * b'],
  ['and', 'a & b'],
  ['or', 'a | b'],
  ['xor', 'a ^ b'],
];
const ofIntegers = (type: 'i32' | 'i64') => {
  const [bits, signed] = type === 'i32' ? [31, 'int32_t'] : [63, 'int64_t'];
  const division = ['div_s', 'div_u', 'rem_s', 'rem_u'].map(
    (name) => [name, `ws_${type}_${name}(e, a, b)`] as const,
  );
  const shifts = [
    ['shl', `a << (b & ${bits})`],
    ['shr_u', `a >> (b & ${bits})`],
    ['shr_s', `(u${signed})((${signed})a >> (b & ${bits}))`],
  ] as const;
  return [...arithmetic, ...division, ...shifts].map((each) => same(type, each));
};

const orders = { eq: '==', ne: '!=', lt: '<', gt: '>', le: '<=', ge: '>=' } as const;
const comparisons = (type: 'i32' | 'i64' | 'f32' | 'f64'): [string, Operation][] => {
  const letter = { i32: 'i', i64: 'l', f32: 'f', f64: 'd' }[type];
  const signature = `${letter}${letter}>i`;
  const signed = type === 'i32' ? '(int32_t)' : '(int64_t)';
  return Object.entries(orders).flatMap(([name, sign]): [string, Operation][] => {
    const text = `a ${sign} b`;
    if (letter === 'f' || letter === 'd' || name === 'eq' || name === 'ne')
      return [[`${type}.${name}`, [signature, text]]];
    return [
      [`${type}.${name}_u`, [signature, text]],
      [`${type}.${name}_s`, [signature, `${signed}a ${sign} ${signed}b`]],
    ];
  });
};

const signs = { add: '+', sub: '-', mul: '*', div: '/' } as const;
const ofFloats = (type: 'f32' | 'f64'): [string, Operation][] => {
  const [letter, suffix] = type === 'f32' ? ['f', 'f'] : ['d', ''];
  const unary = `${letter}>${letter}`;
  const binary = `${letter}${letter}>${letter}`;
  return [
    ...Object.entries(signs).map(([name, sign]) => [`${type}.${name}`, [binary, `a ${sign} b`]] as const),
    ...['min', 'max'].map((name) => [`${type}.${name}`, [binary, `ws_${type}_${name}(a, b)`]] as const),
    ...['ceil', 'floor', 'trunc', 'sqrt'].map(
      (name) => [`${type}.${name}`, [unary, `__builtin_${name}${suffix}(a)`]] as const,
    ),
    [`${type}.abs`, [unary, `__builtin_fabs${suffix}(a)`]],
    [`${type}.neg`, [unary, '-a']],
  ] as [string, Operation][];
};

/** A comparison gives lanes of all ones or all zeros, as integers of the lanes' width. */
const ofLanes = (): [string, Operation][] => {
  const binary = (type: string, sign: string) => `(ws_v128)((${type})a ${sign} (${type})b)`;
  const rows: [string, Operation][] = [];
  for (const [name, sign] of Object.entries(orders)) {
    for (const [shape, type] of [
      ['f32x4', 'F'],
      ['f64x2', 'D'],
    ] as const)
      rows.push([`${shape}.${name}`, ['vv>v', binary(type, sign)]]);
    if (name === 'eq' || name === 'ne') rows.push([`i32x4.${name}`, ['vv>v', binary('I', sign)]]);
    else {
      rows.push([`i32x4.${name}_s`, ['vv>v', binary('I', sign)]]);
      rows.push([`i32x4.${name}_u`, ['vv>v', binary('U', sign)]]);
    }
  }
  for (const [name, sign] of Object.entries(signs)) {
    rows.push([`f32x4.${name}`, ['vv>v', binary('F', sign)]], [`f64x2.${name}`, ['vv>v', binary('D', sign)]]);
    if (name !== 'div') rows.push([`i32x4.${name}`, ['vv>v', binary('U', sign)]]);
  }
  for (const shape of ['f32x4', 'f64x2']) {
    for (const name of ['min', 'max']) rows.push([`${shape}.${name}`, ['vv>v', `ws_${shape}_${name}(a, b)`]]);
    for (const name of ['ceil', 'floor', 'trunc', 'sqrt', 'abs', 'neg'])
      rows.push([`${shape}.${name}`, ['v>v', `ws_${shape}_${name}(a)`]]);
  }
  for (const name of ['min_s', 'min_u', 'max_s', 'max_u']) {
    const type = name.endsWith('s') ? 'I' : 'U';
    rows.push([
      `i32x4.${name}`,
      ['vv>v', `ws_select((${type})a ${name.startsWith('min') ? '<' : '>'} (${type})b, a, b)`],
    ]);
  }
  return rows;
};

const table: Readonly<Record<string, Operation>> = {
  unreachable: ['_>_', 'ws_trap(e)'],
  drop: ['_>_', ''],
  nop: ['_>_', ''],
  select: ['_>_', ''],
  return: ['_>_', ''],
  ...Object.fromEntries([
    ...ofIntegers('i32'),
    ...ofIntegers('i64'),
    ...(['i32', 'i64', 'f32', 'f64'] as const).flatMap(comparisons),
    ...ofFloats('f32'),
    ...ofFloats('f64'),
    ...ofLanes(),
  ]),
  'i32.eqz': ['i>i', 'a == 0'],
  'i64.eqz': ['l>i', 'a == 0'],
  'i32.clz': ['i>i', 'a == 0 ? 32 : __builtin_clz(a)'],
  'i32.popcnt': ['i>i', '__builtin_popcount(a)'],
  'i32.wrap_i64': ['l>i', '(uint32_t)a'],
  'i64.extend_i32_s': ['i>l', '(uint64_t)(int64_t)(int32_t)a'],
  'i64.extend_i32_u': ['i>l', '(uint64_t)a'],
  'f32.convert_i32_s': ['i>f', '(float)(int32_t)a'],
  'f32.convert_i32_u': ['i>f', '(float)a'],
  'f32.convert_i64_s': ['l>f', '(float)(int64_t)a'],
  'f32.convert_i64_u': ['l>f', '(float)a'],
  'f32.demote_f64': ['d>f', '(float)a'],
  'f64.convert_i32_s': ['i>d', '(double)(int32_t)a'],
  'f64.convert_i32_u': ['i>d', '(double)a'],
  'f64.convert_i64_s': ['l>d', '(double)(int64_t)a'],
  'f64.convert_i64_u': ['l>d', '(double)a'],
  'f64.promote_f32': ['f>d', '(double)a'],
  'i32.reinterpret_f32': ['f>i', 'ws_bits_f32(a)'],
  'i64.reinterpret_f64': ['d>l', 'ws_bits_f64(a)'],
  'f32.reinterpret_i32': ['i>f', 'ws_f32(a)'],
  'f64.reinterpret_i64': ['l>d', 'ws_f64(a)'],
  'i32.trunc_sat_f64_s': ['d>i', 'ws_i32_trunc(a)'],
  'i64.trunc_sat_f64_s': ['d>l', 'ws_i64_trunc(a)'],
  'i32x4.splat': ['i>v', '(ws_v128)((U){0} + a)'],
  'f32x4.splat': ['f>v', 'ws_f32x4_splat(a)'],
  'f64x2.splat': ['d>v', 'ws_f64x2_splat(a)'],
  'v128.not': ['v>v', '~a'],
  'v128.and': ['vv>v', 'a & b'],
  'v128.andnot': ['vv>v', 'a & ~b'],
  'v128.or': ['vv>v', 'a | b'],
  'v128.xor': ['vv>v', 'a ^ b'],
  'v128.bitselect': ['vvv>v', '(a & c) | (b & ~c)'],
  'v128.any_true': ['v>i', 'ws_any_true(a)'],
  'v128.held': ['v>v', 'ws_held(a)'],
  prefetch: ['i>_', '__builtin_prefetch(m + a)'],
  prefetch_w: ['i>_', '__builtin_prefetch(m + a, 1)'],
  'i16x8.add': ['vv>v', '(ws_v128)((H)a + (H)b)'],
  'i16x8.sub': ['vv>v', '(ws_v128)((H)a - (H)b)'],
  'i16x8.mul': ['vv>v', '(ws_v128)((H)a * (H)b)'],
  'i16x8.shl': ['vi>v', '(ws_v128)((H)a << (uint16_t)(b & 15))'],
  'i16x8.shr_s': ['vi>v', '(ws_v128)((S)a >> (int16_t)(b & 15))'],
  'i16x8.shr_u': ['vi>v', '(ws_v128)((H)a >> (uint16_t)(b & 15))'],
  'i16x8.mulhi_u': ['vv>v', 'ws_mulhi(a, b)'],
  'i16x8.extend_low_i8x16_s': ['v>v', 'ws_extend8_s(a)'],
  'i16x8.extend_low_i8x16_u': ['v>v', 'ws_extend8_u(a)'],
  'i32x4.extend_low_i16x8_s': ['v>v', 'ws_extend16_s(a)'],
  'i32x4.extend_low_i16x8_u': ['v>v', 'ws_extend16_u(a)'],
  'i32x4.abs': ['v>v', '(a ^ (a >> 31)) - (a >> 31)'],
  'i32x4.neg': ['v>v', '(ws_v128)-(U)a'],
  'i32x4.all_true': ['v>i', 'ws_all_true(a)'],
  'i32x4.bitmask': ['v>i', 'ws_bitmask(a)'],
  'i32x4.shl': ['vi>v', '(ws_v128)((U)a << (b & 31))'],
  'i32x4.shr_s': ['vi>v', 'a >> (int32_t)(b & 31)'],
  'i32x4.shr_u': ['vi>v', '(ws_v128)((U)a >> (b & 31))'],
  'f32x4.demote_f64x2_zero': ['v>v', 'ws_demote(a)'],
  'f64x2.promote_low_f32x4': ['v>v', 'ws_promote(a)'],
  'f64x2.convert_low_i32x4_s': ['v>v', 'ws_f64x2_convert_s(a)'],
  'f64x2.convert_low_i32x4_u': ['v>v', 'ws_f64x2_convert_u(a)'],
  'f32x4.convert_i32x4_s': ['v>v', '(ws_v128)__builtin_convertvector(a, F)'],
  'f32x4.convert_i32x4_u': ['v>v', 'ws_f32x4_convert_u(a)'],
  'i32x4.trunc_sat_f32x4_s': ['v>v', 'ws_i32x4_trunc(a)'],
  ...Object.fromEntries(
    ['div_s', 'div_u', 'rem_s', 'rem_u'].map((name) => [`i32x4.${name}`, ['vv>v', `ws_i32x4_${name}(a, b)`]]),
  ),
  'f32x4.relaxed_madd': ['vvv>v', 'ws_madd(a, b, c)'],
  'f32x4.relaxed_nmadd': ['vvv>v', 'ws_madd(ws_f32x4_neg(a), b, c)'],
  'i32x4.relaxed_laneselect': ['vvv>v', 'ws_select(c, a, b)'],
};

/** What stands for a vector seen as lanes of a type, by how many vectors of 128 bits it has. */
const views: Readonly<Record<1 | 2 | 4, Readonly<Record<string, string>>>> = {
  1: { F: 'ws_f32x4', I: 'ws_v128', U: 'ws_u32x4', D: 'ws_f64x2', H: 'ws_u16x8', S: 'ws_i16x8' },
  2: { F: 'ws_f32x8', I: 'ws_v256', U: 'ws_u32x8', D: 'ws_f64x4', H: 'ws_u16x16', S: 'ws_i16x16' },
  4: { F: 'ws_f32x16', I: 'ws_v512', U: 'ws_u32x16', D: 'ws_f64x8', H: 'ws_u16x32', S: 'ws_i16x32' },
};

/** Functions of the prelude that do the same for each lane, and are there for wide vectors too. */
const ofEachLane =
  /^(ws_(f32x4|f64x2)_(min|max|ceil|floor|trunc|sqrt|abs|neg|splat)|ws_held|ws_mulhi|ws_select|ws_madd|ws_f32x4_convert_u|ws_i32x4_(trunc|div_[su]|rem_[su]))$/;

/** Instructions whose vectors go from narrow lanes to wide ones, or to one value. */
const notOfEachLane = /extend|promote|demote|convert_low|any_true|all_true|bitmask/;

export function operationOf(name: PlainInstruction | RelaxedInstruction | ProcessorInstruction): Operation {
  const operation = table[name];
  if (operation === undefined) throw new Error(`no C is written for ${name}`);
  return operation;
}

/** The expression with these operands. */
export function textOf([, text]: Operation, operands: readonly string[], times: 1 | 2 | 4 = 1): string {
  return text.replace(
    /\b[abcFIUDHS]\b/g,
    (name) => views[times][name] ?? operands['abc'.indexOf(name)] ?? name,
  );
}

/** The same for vectors that are so many in one; null where it is not lane by lane. */
export function wideText(
  name: string,
  operation: Operation,
  operands: readonly string[],
  times: 1 | 2 | 4,
): string | null {
  if (times === 1) return textOf(operation, operands);
  if (notOfEachLane.test(name)) return null;
  const [signature, text] = operation;
  const wide = text.replaceAll('(ws_v128)', '(I)').replace(/\bws_\w+\b/g, (called) => {
    return ofEachLane.test(called) ? `${called}_${times}` : called;
  });
  return textOf([signature, wide], operands, times);
}

/** Lanes taken out or put in, at a position `n`. */
export const laneOperations: Readonly<Record<LaneInstruction, Operation>> = {
  'i32x4.extract_lane': ['v>i', '(uint32_t)a[n]'],
  'i64x2.extract_lane': ['v>l', '(uint64_t)((ws_i64x2)a)[n]'],
  'f32x4.extract_lane': ['v>f', '((F)a)[n]'],
  'i32x4.replace_lane': ['vi>v', 'ws_i32x4_with(a, n, b)'],
  'f32x4.replace_lane': ['vf>v', 'ws_f32x4_with(a, n, b)'],
};
