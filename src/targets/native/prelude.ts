// The lines of C before the kernels' own: types, and what an operation of WebAssembly needs more than an operator for.
//
// GCC and clang take it, for any processor with little-endian memory; where a processor has one instruction for what
// the portable lines say, that is used, and tests compare the two. Only what a kernel uses is kept (used-definitions.ts).
// `ws_env` is what a call has: the memory, the word that asks it to stop, the host's functions and their values.

import { divisionPrelude } from './prelude-division.ts';
import { memoryPrelude } from './prelude-memory.ts';
import { widePrelude } from './prelude-wide.ts';

/** Always kept. */
export const types = (addressType: 'i32' | 'i64') => `#include <stdint.h>
#include <string.h>
#include <setjmp.h>
#define WS static inline __attribute__((always_inline))
#define WS_RARE static __attribute__((noinline, cold))
#define WS_LIKELY(x) __builtin_expect(!!(x), 1)
#define WS_UNLIKELY(x) __builtin_expect(!!(x), 0)
typedef int32_t ws_v128 __attribute__((vector_size(16)));
typedef int32_t ws_v128_at __attribute__((vector_size(16), aligned(1), may_alias));
typedef int32_t ws_i32_at __attribute__((aligned(1), may_alias));
typedef uint32_t ws_u32x4 __attribute__((vector_size(16)));
typedef float ws_f32x4 __attribute__((vector_size(16)));
typedef double ws_f64x2 __attribute__((vector_size(16)));
typedef long long ws_i64x2 __attribute__((vector_size(16)));
typedef int8_t ws_i8x16 __attribute__((vector_size(16)));
typedef int16_t ws_i16x8 __attribute__((vector_size(16)));
typedef uint16_t ws_u16x8 __attribute__((vector_size(16)));
typedef int32_t ws_v256 __attribute__((vector_size(32)));
typedef int32_t ws_v256_at __attribute__((vector_size(32), aligned(1), may_alias));
typedef uint32_t ws_u32x8 __attribute__((vector_size(32)));
typedef int16_t ws_i16x16 __attribute__((vector_size(32)));
typedef uint16_t ws_u16x16 __attribute__((vector_size(32)));
typedef float ws_f32x8 __attribute__((vector_size(32)));
typedef double ws_f64x4 __attribute__((vector_size(32)));
typedef long long ws_i64x4 __attribute__((vector_size(32)));
typedef int32_t ws_v512 __attribute__((vector_size(64)));
typedef int32_t ws_v512_at __attribute__((vector_size(64), aligned(1), may_alias));
typedef uint32_t ws_u32x16 __attribute__((vector_size(64)));
typedef int16_t ws_i16x32 __attribute__((vector_size(64)));
typedef uint16_t ws_u16x32 __attribute__((vector_size(64)));
typedef float ws_f32x16 __attribute__((vector_size(64)));
typedef double ws_f64x8 __attribute__((vector_size(64)));
typedef long long ws_i64x8 __attribute__((vector_size(64)));
typedef ${addressType === 'i64' ? 'uint64_t' : 'uint32_t'} ws_address;
typedef void ws_host(uint32_t function);
struct ws_env {
  uint8_t *memory;
  const int32_t *stop;
  ws_host *host;
  jmp_buf *outside;
  uint64_t values[16];
};
`;

/** How a call ends early: 2 where it was asked to stop, 3 where WebAssembly would trap. */
const endings = `WS_RARE _Noreturn void ws_stop(struct ws_env *e) { longjmp(*e->outside, 2); }
WS_RARE _Noreturn void ws_trap(struct ws_env *e) { longjmp(*e->outside, 3); }
`;

const scalars = `WS uint32_t ws_bits_f32(float a) {
  uint32_t bits;
  memcpy(&bits, &a, 4);
  return bits;
}
WS uint64_t ws_bits_f64(double a) {
  uint64_t bits;
  memcpy(&bits, &a, 8);
  return bits;
}
WS float ws_f32(uint32_t bits) {
  float a;
  memcpy(&a, &bits, 4);
  return a;
}
WS double ws_f64(uint64_t bits) {
  double a;
  memcpy(&a, &bits, 8);
  return a;
}
// By zero WebAssembly traps, and by -1 where the quotient leaves the type.
WS uint32_t ws_i32_div_s(struct ws_env *e, uint32_t a, uint32_t b) {
  if (WS_UNLIKELY(b == 0 || (a == 0x80000000u && b == 0xffffffffu))) ws_trap(e);
  return (uint32_t)((int32_t)a / (int32_t)b);
}
WS uint32_t ws_i32_div_u(struct ws_env *e, uint32_t a, uint32_t b) {
  if (WS_UNLIKELY(b == 0)) ws_trap(e);
  return a / b;
}
WS uint32_t ws_i32_rem_s(struct ws_env *e, uint32_t a, uint32_t b) {
  if (WS_UNLIKELY(b == 0)) ws_trap(e);
  return b == 0xffffffffu ? 0 : (uint32_t)((int32_t)a % (int32_t)b);
}
WS uint32_t ws_i32_rem_u(struct ws_env *e, uint32_t a, uint32_t b) {
  if (WS_UNLIKELY(b == 0)) ws_trap(e);
  return a % b;
}
WS uint64_t ws_i64_div_s(struct ws_env *e, uint64_t a, uint64_t b) {
  if (WS_UNLIKELY(b == 0 || (a == 1ull << 63 && b == ~0ull))) ws_trap(e);
  return (uint64_t)((int64_t)a / (int64_t)b);
}
WS uint64_t ws_i64_div_u(struct ws_env *e, uint64_t a, uint64_t b) {
  if (WS_UNLIKELY(b == 0)) ws_trap(e);
  return a / b;
}
WS uint64_t ws_i64_rem_s(struct ws_env *e, uint64_t a, uint64_t b) {
  if (WS_UNLIKELY(b == 0)) ws_trap(e);
  return b == ~0ull ? 0 : (uint64_t)((int64_t)a % (int64_t)b);
}
WS uint64_t ws_i64_rem_u(struct ws_env *e, uint64_t a, uint64_t b) {
  if (WS_UNLIKELY(b == 0)) ws_trap(e);
  return a % b;
}
// NaN if either is, -0 below +0.
WS float ws_f32_min(float a, float b) {
  return a < b ? a : b < a ? b : a == b ? ws_f32(ws_bits_f32(a) | ws_bits_f32(b)) : a + b;
}
WS float ws_f32_max(float a, float b) {
  return a > b ? a : b > a ? b : a == b ? ws_f32(ws_bits_f32(a) & ws_bits_f32(b)) : a + b;
}
WS double ws_f64_min(double a, double b) {
  return a < b ? a : b < a ? b : a == b ? ws_f64(ws_bits_f64(a) | ws_bits_f64(b)) : a + b;
}
WS double ws_f64_max(double a, double b) {
  return a > b ? a : b > a ? b : a == b ? ws_f64(ws_bits_f64(a) & ws_bits_f64(b)) : a + b;
}
// The nearest that the type has, and 0 for NaN.
WS uint32_t ws_i32_trunc(double a) {
  return a != a ? 0 : a >= 2147483647.0 ? 0x7fffffffu : a <= -2147483648.0 ? 0x80000000u : (uint32_t)(int32_t)a;
}
WS uint64_t ws_i64_trunc(double a) {
  return a != a ? 0
    : a >= 9223372036854775808.0 ? 0x7fffffffffffffffull
    : a <= -9223372036854775808.0 ? 0x8000000000000000ull
    : (uint64_t)(int64_t)a;
}
`;

const pair = (name: string, of: (lane: number) => string) =>
  `WS ws_v128 ${name} { return (ws_v128)(ws_f64x2){${of(0)}, ${of(1)}}; }\n`;
const four = (name: string, of: (lane: number) => string) =>
  `WS ws_v128 ${name} { return (ws_v128)(ws_f32x4){${[0, 1, 2, 3].map(of).join(', ')}}; }\n`;

/** What C has no operator for, lane by lane; with SSE4.1 one instruction. */
const rounding = ['ceil', 'floor', 'trunc', 'sqrt']
  .map((name) => {
    const mode = { ceil: 2, floor: 1, trunc: 3 }[name];
    const x86 = (suffix: string, view: string) =>
      mode === undefined
        ? `__builtin_ia32_sqrt${suffix}((${view})a)`
        : `__builtin_ia32_round${suffix}((${view})a, ${8 + mode})`;
    // clang has no built-in of the root by this name.
    const has = mode === undefined ? 'defined(__SSE4_1__) && !defined(__clang__)' : 'defined(__SSE4_1__)';
    return `#if ${has}
WS ws_v128 ws_f32x4_${name}(ws_v128 a) { return (ws_v128)${x86('ps', 'ws_f32x4')}; }
WS ws_v128 ws_f64x2_${name}(ws_v128 a) { return (ws_v128)${x86('pd', 'ws_f64x2')}; }
#else
${four(`ws_f32x4_${name}(ws_v128 a)`, (lane) => `__builtin_${name}f(((ws_f32x4)a)[${lane}])`)}${pair(`ws_f64x2_${name}(ws_v128 a)`, (lane) => `__builtin_${name}(((ws_f64x2)a)[${lane}])`)}#endif
`;
  })
  .join('');

const lanes = `#if defined(__clang__) || __GNUC__ >= 12
#define WS_SHUFFLE(a, b, ...) (ws_v128)__builtin_shufflevector((ws_i8x16)(a), (ws_i8x16)(b), __VA_ARGS__)
#else
#define WS_SHUFFLE(a, b, ...) (ws_v128)__builtin_shuffle((ws_i8x16)(a), (ws_i8x16)(b), (ws_i8x16){__VA_ARGS__})
#endif
WS ws_v128 ws_select(ws_v128 mask, ws_v128 a, ws_v128 b) { return (a & mask) | (b & ~mask); }
WS ws_v128 ws_f32x4_splat(float a) { return (ws_v128)(ws_f32x4){a, a, a, a}; }
WS ws_v128 ws_f64x2_splat(double a) { return (ws_v128)(ws_f64x2){a, a}; }
WS ws_v128 ws_f32x4_abs(ws_v128 a) { return a & 0x7fffffff; }
WS ws_v128 ws_f32x4_neg(ws_v128 a) { return a ^ (int32_t)0x80000000; }
WS ws_v128 ws_f64x2_abs(ws_v128 a) { return (ws_v128)((ws_i64x2)a & INT64_MAX); }
WS ws_v128 ws_f64x2_neg(ws_v128 a) { return (ws_v128)((ws_i64x2)a ^ INT64_MIN); }
// NaN if either is, -0 below +0. Where neither is less, the minimum is all bits of both: of NaN and of what is not they
// are NaN. The maximum is the bits that both have, and all ones with NaN. SSE gives its second operand then.
#if defined(__SSE2__)
WS ws_v128 ws_f32x4_min(ws_v128 a, ws_v128 b) {
  ws_f32x4 x = (ws_f32x4)a, y = (ws_f32x4)b;
  return (ws_v128)__builtin_ia32_minps(x, y) | (ws_v128)__builtin_ia32_minps(y, x);
}
WS ws_v128 ws_f32x4_max(ws_v128 a, ws_v128 b) {
  ws_f32x4 x = (ws_f32x4)a, y = (ws_f32x4)b;
  ws_v128 most = (ws_v128)__builtin_ia32_maxps(x, y) & (ws_v128)__builtin_ia32_maxps(y, x);
  return most | (x != x) | (y != y);
}
WS ws_v128 ws_f64x2_min(ws_v128 a, ws_v128 b) {
  ws_f64x2 x = (ws_f64x2)a, y = (ws_f64x2)b;
  return (ws_v128)__builtin_ia32_minpd(x, y) | (ws_v128)__builtin_ia32_minpd(y, x);
}
WS ws_v128 ws_f64x2_max(ws_v128 a, ws_v128 b) {
  ws_f64x2 x = (ws_f64x2)a, y = (ws_f64x2)b;
  ws_v128 most = (ws_v128)__builtin_ia32_maxpd(x, y) & (ws_v128)__builtin_ia32_maxpd(y, x);
  return most | (ws_v128)(x != x) | (ws_v128)(y != y);
}
#else
WS ws_v128 ws_f32x4_min(ws_v128 a, ws_v128 b) {
  ws_f32x4 x = (ws_f32x4)a, y = (ws_f32x4)b;
  return ws_select(x < y, a, ws_select(y < x, b, a | b));
}
WS ws_v128 ws_f32x4_max(ws_v128 a, ws_v128 b) {
  ws_f32x4 x = (ws_f32x4)a, y = (ws_f32x4)b;
  return ws_select(x > y, a, ws_select(y > x, b, a & b)) | (x != x) | (y != y);
}
WS ws_v128 ws_f64x2_min(ws_v128 a, ws_v128 b) {
  ws_f64x2 x = (ws_f64x2)a, y = (ws_f64x2)b;
  return ws_select((ws_v128)(x < y), a, ws_select((ws_v128)(y < x), b, a | b));
}
WS ws_v128 ws_f64x2_max(ws_v128 a, ws_v128 b) {
  ws_f64x2 x = (ws_f64x2)a, y = (ws_f64x2)b;
  ws_v128 most = ws_select((ws_v128)(x > y), a, ws_select((ws_v128)(y > x), b, a & b));
  return most | (ws_v128)(x != x) | (ws_v128)(y != y);
}
#endif
#if defined(__SSE4_1__)
WS uint32_t ws_any_true(ws_v128 a) { return !__builtin_ia32_ptestz128((ws_i64x2)a, (ws_i64x2)a); }
#else
WS uint32_t ws_any_true(ws_v128 a) {
  ws_i64x2 both = (ws_i64x2)a;
  return (both[0] | both[1]) != 0;
}
#endif
#if defined(__SSE2__)
WS uint32_t ws_bitmask(ws_v128 a) { return (uint32_t)__builtin_ia32_movmskps((ws_f32x4)a); }
WS uint32_t ws_all_true(ws_v128 a) { return __builtin_ia32_movmskps((ws_f32x4)(a == 0)) == 0; }
#else
WS uint32_t ws_bitmask(ws_v128 a) {
  ws_u32x4 b = (ws_u32x4)a >> 31;
  return b[0] | b[1] << 1 | b[2] << 2 | b[3] << 3;
}
WS uint32_t ws_all_true(ws_v128 a) { return a[0] != 0 && a[1] != 0 && a[2] != 0 && a[3] != 0; }
#endif
WS ws_v128 ws_i32x4_with(ws_v128 a, int lane, uint32_t value) {
  a[lane] = (int32_t)value;
  return a;
}
WS ws_v128 ws_f32x4_with(ws_v128 a, int lane, float value) { return ws_i32x4_with(a, lane, ws_bits_f32(value)); }
// By the order of bytes alone: of lanes that are named one by one GCC 12 makes as many moves.
WS ws_v128 ws_extend8_s(ws_v128 a) {
  return (ws_v128)((ws_i16x8)WS_SHUFFLE(a, a, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7) >> 8);
}
WS ws_v128 ws_extend8_u(ws_v128 a) {
  return WS_SHUFFLE(a, (ws_v128){0}, 0, 16, 1, 16, 2, 16, 3, 16, 4, 16, 5, 16, 6, 16, 7, 16);
}
WS ws_v128 ws_extend16_s(ws_v128 a) {
  return WS_SHUFFLE(a, a, 0, 1, 0, 1, 2, 3, 2, 3, 4, 5, 4, 5, 6, 7, 6, 7) >> 16;
}
WS ws_v128 ws_extend16_u(ws_v128 a) {
  return WS_SHUFFLE(a, (ws_v128){0}, 0, 1, 16, 16, 2, 3, 16, 16, 4, 5, 16, 16, 6, 7, 16, 16);
}
WS ws_v128 ws_demote(ws_v128 a) {
  ws_f64x2 b = (ws_f64x2)a;
  return (ws_v128)(ws_f32x4){(float)b[0], (float)b[1], 0, 0};
}
WS ws_v128 ws_promote(ws_v128 a) {
  ws_f32x4 b = (ws_f32x4)a;
  return (ws_v128)(ws_f64x2){(double)b[0], (double)b[1]};
}
WS ws_v128 ws_f64x2_convert_s(ws_v128 a) { return (ws_v128)(ws_f64x2){(double)a[0], (double)a[1]}; }
WS ws_v128 ws_f64x2_convert_u(ws_v128 a) {
  return (ws_v128)(ws_f64x2){(double)(uint32_t)a[0], (double)(uint32_t)a[1]};
}
// The upper and the lower half are exact, and so is the upper one's product: their sum is rounded once.
WS ws_v128 ws_f32x4_convert_u(ws_v128 a) {
  ws_f32x4 upper = __builtin_convertvector((ws_v128)((ws_u32x4)a >> 16), ws_f32x4);
  ws_f32x4 lower = __builtin_convertvector(a & 0xffff, ws_f32x4);
  return (ws_v128)(upper * 65536.0f + lower);
}
// The nearest that the type has, and 0 for NaN.
#if defined(__SSE2__)
WS ws_v128 ws_i32x4_trunc(ws_v128 a) {
  ws_f32x4 x = (ws_f32x4)a;
  ws_v128 number = a & (x == x);
  return (ws_v128)__builtin_ia32_cvttps2dq((ws_f32x4)number) ^ (x >= 2147483648.0f);
}
#else
WS int32_t ws_truncated(float a) { return (int32_t)ws_i32_trunc((double)a); }
WS ws_v128 ws_i32x4_trunc(ws_v128 a) {
  ws_f32x4 x = (ws_f32x4)a;
  return (ws_v128){ws_truncated(x[0]), ws_truncated(x[1]), ws_truncated(x[2]), ws_truncated(x[3])};
}
#endif
// Computed before what comes next.
#if defined(__SSE2__)
WS ws_v128 ws_held(ws_v128 a) { __asm__("" : "+x"(a)); return a; }
#else
WS ws_v128 ws_held(ws_v128 a) { return a; }
#endif
#if defined(__SSE2__) && !defined(__clang__)
WS ws_v128 ws_mulhi(ws_v128 a, ws_v128 b) { return (ws_v128)__builtin_ia32_pmulhuw128((ws_i16x8)a, (ws_i16x8)b); }
#else
WS ws_v128 ws_mulhi(ws_v128 a, ws_v128 b) {
  ws_u32x8 x = __builtin_convertvector((ws_u16x8)a, ws_u32x8), y = __builtin_convertvector((ws_u16x8)b, ws_u32x8);
  return (ws_v128)__builtin_convertvector((x * y) >> 16, ws_u16x8);
}
#endif
// Rounded once.
#if defined(__FMA__) && !defined(__clang__)
WS ws_v128 ws_madd(ws_v128 a, ws_v128 b, ws_v128 c) {
  return (ws_v128)__builtin_ia32_vfmaddps((ws_f32x4)a, (ws_f32x4)b, (ws_f32x4)c);
}
#else
WS ws_v128 ws_madd(ws_v128 a, ws_v128 b, ws_v128 c) {
  ws_f32x4 x = (ws_f32x4)a, y = (ws_f32x4)b, z = (ws_f32x4)c;
  return (ws_v128)(ws_f32x4){
    __builtin_fmaf(x[0], y[0], z[0]), __builtin_fmaf(x[1], y[1], z[1]),
    __builtin_fmaf(x[2], y[2], z[2]), __builtin_fmaf(x[3], y[3], z[3])};
}
#endif
`;

export const prelude = [
  endings,
  scalars,
  lanes,
  rounding,
  widePrelude(2),
  widePrelude(4),
  divisionPrelude,
  memoryPrelude,
].join('');
