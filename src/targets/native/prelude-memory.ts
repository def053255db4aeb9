// The lines of C that load, store and copy, and those of atomics.
//
// A value is the memory's bytes, at any address, or elements of 8 and 16 bits, extended to the lanes' 32 and cut off from
// them. Vectors move as vectors of any address: by memcpy GCC 12 makes integers of 256 and 512 bits of them, and repeats
// a constant's first lanes where the last are zero.

/** Values of one lane, and whole vectors. */
const loadsOf = () => {
  const load = (name: string, memory: string, result: string) =>
    `WS ${result} ws_${name}(const uint8_t *at) {
  ${memory} value;
  memcpy(&value, at, sizeof value);
  return (${result})value;
}
`;
  const store = (name: string, memory: string, value: string) =>
    `WS void ws_${name}(uint8_t *at, ${value} value) {
  ${memory} stored = (${memory})value;
  memcpy(at, &stored, sizeof stored);
}
`;
  return [
    load('i32_load', 'uint32_t', 'uint32_t'),
    load('i64_load', 'uint64_t', 'uint64_t'),
    load('f32_load', 'float', 'float'),
    load('f64_load', 'double', 'double'),
    load('i32_load8_s', 'int8_t', 'uint32_t'),
    load('i32_load8_u', 'uint8_t', 'uint32_t'),
    load('i32_load16_s', 'int16_t', 'uint32_t'),
    load('i32_load16_u', 'uint16_t', 'uint32_t'),
    `WS ws_v128 ws_v128_load(const uint8_t *at) { return *(const ws_v128_at *)at; }
WS void ws_v128_store(uint8_t *at, ws_v128 value) { *(ws_v128_at *)at = value; }
`,
    store('i32_store', 'uint32_t', 'uint32_t'),
    store('i64_store', 'uint64_t', 'uint64_t'),
    store('f32_store', 'float', 'float'),
    store('f64_store', 'double', 'double'),
    store('i32_store8', 'uint8_t', 'uint32_t'),
    store('i32_store16', 'uint16_t', 'uint32_t'),
  ].join('');
};

const vectorMemory = `WS ws_v128 ws_v128_load32_splat(const uint8_t *at) {
  int32_t v;
  memcpy(&v, at, 4);
  return (ws_v128){v, v, v, v};
}
WS ws_v128 ws_v128_load32_zero(const uint8_t *at) {
  int32_t v;
  memcpy(&v, at, 4);
  return (ws_v128){v, 0, 0, 0};
}
WS ws_v128 ws_v128_load64_zero(const uint8_t *at) {
  int64_t v;
  memcpy(&v, at, 8);
  return (ws_v128)(ws_i64x2){v, 0};
}
WS ws_v128 ws_v128_load32_lane(const uint8_t *at, ws_v128 value, int lane) {
  int32_t v;
  memcpy(&v, at, 4);
  value[lane] = v;
  return value;
}
WS ws_v128 ws_v128_load64_lane(const uint8_t *at, ws_v128 value, int lane) {
  int64_t v;
  memcpy(&v, at, 8);
  ws_i64x2 pair = (ws_i64x2)value;
  pair[lane] = v;
  return (ws_v128)pair;
}
WS void ws_v128_store32_lane(uint8_t *at, ws_v128 value, int lane) {
  int32_t v = value[lane];
  memcpy(at, &v, 4);
}
WS void ws_v128_store64_lane(uint8_t *at, ws_v128 value, int lane) {
  int64_t v = ((ws_i64x2)value)[lane];
  memcpy(at, &v, 8);
}
`;

/**
 * Forwards, which memmove does not promise, and which processors fetch ahead of. A kernel that strides copies pieces
 * that lie far apart, in other pages, where none fetches ahead by itself: so each copy asks for what lies as far behind it
 * as it lies behind the one before (`before`, which is each copy's own).
 */
const copies = `WS void ws_copy(uint8_t *m, ws_address to, ws_address from, ws_address bytes, ws_address *before) {
  const ws_address step = from - *before;
  *before = from;
  if (WS_UNLIKELY(to - from < bytes)) {
    memmove(m + to, m + from, bytes);
    return;
  }
  if (bytes >= 256 && step != bytes)
    for (ws_address i = 0; i < bytes && i < 4096; i += 64) __builtin_prefetch(m + (ws_address)(from + step + i));
  ws_address i = 0;
  for (; bytes - i >= 64; i += 64) *(ws_v512_at *)(m + to + i) = *(const ws_v512_at *)(m + from + i);
  for (; bytes - i >= 4; i += 4) *(ws_i32_at *)(m + to + i) = *(const ws_i32_at *)(m + from + i);
  for (; i < bytes; i += 1) m[to + i] = m[from + i];
}
`;

const vectors = { 1: 'ws_v128', 2: 'ws_v256', 4: 'ws_v512' } as const;

/** Lanes of 16 or 32 bits, as many as there are in a vector, of narrower elements that lie side by side. */
function narrow(bits: 8 | 16, lane: 16 | 32, times: 1 | 2 | 4): string {
  const vector = vectors[times];
  const lanes = 128 / lane;
  const laned = lane === 16 ? `ws_i16x${lanes * times}` : vector;
  const suffix = times === 1 ? '' : `_${times}`;
  const bytes = (bits * lanes * times) / 8;
  const types = (sign: string) =>
    `  typedef ${sign}int${bits}_t narrow __attribute__((vector_size(${bytes}), aligned(1), may_alias));\n`;
  const load = (sign: 's' | 'u') => {
    const name = `ws_v128_load${bits}x${lanes}_${sign}`;
    const begin = `WS ${vector} ${name}${suffix}(const uint8_t *at) {\n`;
    const first =
      lane === 16
        ? `ws_extend8_${sign}(ws_v128_load64_zero(at))`
        : bits === 8
          ? `ws_extend16_${sign}(ws_extend8_${sign}(ws_v128_load32_zero(at)))`
          : `ws_extend16_${sign}(ws_v128_load64_zero(at))`;
    const portable =
      times === 1
        ? `  return ${first};\n`
        : `  ${vector} result = {0};
${Array.from({ length: times }, (_, part) => `  result = ws_with${times}(result, ${part}, ${name}(at + ${(part * bits * lanes) / 8}));\n`).join('')}  return result;\n`;
    const feature = {
      1: '__SSE4_1__',
      2: '__AVX2__',
      4: lane === 16 ? '__AVX512BW__' : '__AVX512F__',
    }[times];
    return `#if defined(__clang__)
${begin}${types(sign === 's' ? '' : 'u')}  return (${vector})__builtin_convertvector(*(const narrow *)at, ${laned});
}
#elif defined(${feature})
${begin}${extendedByX86(bits, lane, times, sign, bytes)}}
#else
${begin}${portable}}
#endif
`;
  };
  return `${load('s')}${load('u')}WS void ws_v128_store${bits}x${lanes}${suffix}(uint8_t *at, ${vector} value) {
${types('')}  *(narrow *)at = __builtin_convertvector((${laned})value, narrow);
}
`;
}

/** One instruction, which takes a whole vector's elements, or the first of a vector of 128 bits. */
function extendedByX86(
  bits: 8 | 16,
  lane: 16 | 32,
  times: 1 | 2 | 4,
  sign: 's' | 'u',
  bytes: number,
): string {
  const [from, to] = [bits === 8 ? 'b' : 'w', lane === 16 ? 'w' : 'd'];
  const call = `(${vectors[times]})__builtin_ia32_pmov${sign === 's' ? 's' : 'z'}x${from}${to}${128 * times}`;
  const element = bits === 8 ? 'char' : 'short';
  const size = Math.max(bytes, 16);
  const type = `  typedef ${element} narrow __attribute__((vector_size(${size}), aligned(1), may_alias));\n`;
  const kept = lane === 16 ? '(ws_i16x32){0}, (uint32_t)-1' : '(ws_v512){0}, (uint16_t)-1';
  const given = times === 4 ? `, ${kept}` : '';
  const name = times === 4 ? `${call}_mask` : call;
  if (bytes >= 16) return `${type}  return ${name}(*(const narrow *)at${given});\n`;
  const first = bytes === 4 ? '(ws_v128){v, 0, 0, 0}' : '(ws_i64x2){v, 0}';
  return `${type}  int${8 * bytes}_t v;
  memcpy(&v, at, ${bytes});
  return ${name}((narrow)${first});
`;
}

/** In the one order that WebAssembly has. Their addresses are multiples of their size. */
const atomics = (['i32', 'i64'] as const)
  .map((type) => {
    const c = type === 'i32' ? 'uint32_t' : 'uint64_t';
    const word = `(${c} *)__builtin_assume_aligned(at, sizeof(${c}))`;
    const fetches = ['add', 'sub', 'and', 'or', 'xor'].map(
      (name) =>
        `WS ${c} ws_${type}_atomic_rmw_${name}(uint8_t *at, ${c} value) { return __atomic_fetch_${name}(${word}, value, __ATOMIC_SEQ_CST); }\n`,
    );
    return `WS ${c} ws_${type}_atomic_load(uint8_t *at) { return __atomic_load_n(${word}, __ATOMIC_SEQ_CST); }
${fetches.join('')}WS ${c} ws_${type}_atomic_rmw_xchg(uint8_t *at, ${c} value) { return __atomic_exchange_n(${word}, value, __ATOMIC_SEQ_CST); }
WS ${c} ws_${type}_atomic_rmw_cmpxchg(uint8_t *at, ${c} expected, ${c} value) {
  __atomic_compare_exchange_n(${word}, &expected, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return expected;
}
`;
  })
  .join('');

export const memoryPrelude = [
  loadsOf(),
  vectorMemory,
  copies,
  ...([1, 2, 4] as const).flatMap((times) => [
    narrow(8, 32, times),
    narrow(16, 32, times),
    narrow(8, 16, times),
  ]),
  atomics,
].join('');
