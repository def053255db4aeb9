// The few lines of CUDA C++ that generated kernels need: operations whose meaning in JavaScript
// differs from C++'s. NVRTC compiles a kernel with them in milliseconds; libcu++'s headers alone
// take over a second.

/** Operators of JavaScript that C++ spells differently. */
export const prelude = `// What a kernel does not use of these lines, and what it never reads, is no fault of its author's.
#pragma nv_diag_suppress 177, 550
#define WS_DEVICE static __device__ __forceinline__
// Math.min and Math.max: NaN if either is, -0 below +0.
WS_DEVICE float ws_min(float a, float b) {
  return a < b ? a : b < a ? b : a == b ? (signbit(a) ? a : b) : a + b;
}
WS_DEVICE float ws_max(float a, float b) {
  return a > b ? a : b > a ? b : a == b ? (signbit(a) ? b : a) : a + b;
}
WS_DEVICE double ws_min(double a, double b) {
  return a < b ? a : b < a ? b : a == b ? (signbit(a) ? a : b) : a + b;
}
WS_DEVICE double ws_max(double a, double b) {
  return a > b ? a : b > a ? b : a == b ? (signbit(a) ? b : a) : a + b;
}
WS_DEVICE int ws_min(int a, int b) { return a < b ? a : b; }
WS_DEVICE int ws_max(int a, int b) { return a < b ? b : a; }
WS_DEVICE unsigned ws_min(unsigned a, unsigned b) { return a < b ? a : b; }
WS_DEVICE unsigned ws_max(unsigned a, unsigned b) { return a < b ? b : a; }
WS_DEVICE long long ws_min(long long a, long long b) { return a < b ? a : b; }
WS_DEVICE long long ws_max(long long a, long long b) { return a < b ? b : a; }
WS_DEVICE unsigned long long ws_min(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
WS_DEVICE unsigned long long ws_max(unsigned long long a, unsigned long long b) { return a < b ? b : a; }
WS_DEVICE int ws_abs(int a) { return a < 0 ? (int)(0u - (unsigned)a) : a; }
WS_DEVICE long long ws_abs(long long a) { return a < 0 ? (long long)(0ull - (unsigned long long)a) : a; }
// By -1 the least number leaves its type: its negative is itself.
WS_DEVICE int ws_quotient(int a, int b) { return b == -1 ? (int)(0u - (unsigned)a) : a / b; }
WS_DEVICE long long ws_quotient(long long a, long long b) {
  return b == -1 ? (long long)(0ull - (unsigned long long)a) : a / b;
}
WS_DEVICE int ws_remainder(int a, int b) { return b == -1 ? 0 : a % b; }
WS_DEVICE long long ws_remainder(long long a, long long b) { return b == -1 ? 0 : a % b; }
WS_DEVICE bool ws_truthy(float a) { return a == a && a != 0.0f; }
WS_DEVICE bool ws_truthy(double a) { return a == a && a != 0.0; }
// Truncated, then modulo 2^32, as \`| 0\` does: the low word of a 64-bit integer, or of what is left beyond its range.
WS_DEVICE long long ws_to_integer(double a) {
  if (!(fabs(a) < 18446744073709551616.0 * 2097152.0)) return 0;
  return fabs(a) < 9223372036854775808.0 ? (long long)a : (long long)fmod(trunc(a), 4294967296.0);
}
WS_DEVICE long long ws_to_integer(float a) { return fabsf(a) < 9223372036854775808.0f ? (long long)a : 0; }
// Truncated, then modulo 2^64. What is at least 2^63 is whole already.
WS_DEVICE unsigned long long ws_to_wide_integer(double a) {
  if (fabs(a) < 9223372036854775808.0) return (unsigned long long)(long long)a;
  if (!(fabs(a) < 9223372036854775808.0 * 9007199254740992.0 * 2.0)) return 0;
  const unsigned long long low = (unsigned long long)fmod(fabs(a), 18446744073709551616.0);
  return a < 0.0 ? 0ull - low : low;
}
// Floats of 16 bits: the value of the bits, and the bits of the nearest value, ties to even; one NaN for all.
WS_DEVICE float ws_from_f16(unsigned bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"((unsigned short)bits));
  return value;
}
WS_DEVICE unsigned ws_to_f16(float value) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return value != value ? 0x7e00u : bits;
}
WS_DEVICE float ws_from_bf16(unsigned bits) { return __uint_as_float(bits << 16); }
WS_DEVICE unsigned ws_to_bf16(float value) {
  const unsigned word = __float_as_uint(value);
  return value != value ? 0x7fc0u : (word + 0x7fffu + (word >> 16 & 1u)) >> 16;
}
// Math.round: halves go up.
WS_DEVICE double ws_round(double a) { double r = floor(a); return a - r >= 0.5 ? copysign(r + 1.0, a) : copysign(r, a); }
WS_DEVICE float ws_round(float a) { return (float)ws_round((double)a); }
WS_DEVICE double ws_sign(double a) { return a > 0.0 ? 1.0 : a < 0.0 ? -1.0 : a; }
WS_DEVICE float ws_sign(float a) { return a > 0.0f ? 1.0f : a < 0.0f ? -1.0f : a; }
// Math.pow: NaN where C's pow gives 1 for a base of 1 or -1 and an exponent that is NaN or infinite.
WS_DEVICE double ws_pow(double a, double b) {
  return isnan(b) || (isinf(b) && fabs(a) == 1.0) ? b - b : pow(a, b);
}
WS_DEVICE float ws_pow(float a, float b) {
  return isnan(b) || (isinf(b) && fabsf(a) == 1.0f) ? b - b : powf(a, b);
}
// Nanoseconds.
WS_DEVICE unsigned long long ws_globaltimer() {
  unsigned long long time;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time) :: "memory");
  return time;
}
// The hardware sleeps a millisecond at most.
WS_DEVICE void ws_nanosleep(double duration) {
  if (duration > 0.0) __nanosleep(duration < 1000000.0 ? (unsigned)duration : 1000000u);
}
// __syncthreads for threads of a warp that come to it apart.
WS_DEVICE void ws_sync_apart() { asm volatile("barrier.sync 0;" ::: "memory"); }
// The lanes of a thread's tile of its warp.
template <int Size> WS_DEVICE unsigned ws_tile_mask(unsigned rank) {
  return Size == 32 ? 0xffffffffu : ((1u << (Size & 31)) - 1u) << (rank % 32 / Size * Size);
}
// What lanes of a part of a warp do together. Behind an instruction whose masks differ among the lanes of a warp,
// these go on apart. ptxas (13.0) overlooks that, and keeps what is the same for all in registers that the warp
// shares, which lanes that are ahead overwrite. Behind a branch that it cannot foresee the lanes meet again.
template <typename Operation> WS_DEVICE auto ws_apart(unsigned lanes, Operation operation) -> decltype(operation(lanes)) {
  asm volatile("" : "+r"(lanes));
  decltype(operation(lanes)) result{};
  if (lanes != 0) result = operation(lanes);
  return result;
}
WS_DEVICE void ws_sync_lanes(unsigned lanes) {
  asm volatile("" : "+r"(lanes));
  if (lanes != 0) __syncwarp(lanes);
}
// How many threads of a tile of several warps have a true value; they meet at their own barrier.
template <int Size> WS_DEVICE unsigned ws_tile_count(unsigned barrier, bool value) {
  unsigned count;
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; bar.red.popc.u32 %0, %2, %3, p; }"
               : "=r"(count) : "r"((unsigned)value), "r"(barrier), "n"(Size) : "memory");
  return count;
}
`;
