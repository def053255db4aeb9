// Barriers that a kernel makes, in PTX, and in software where the hardware has none.
//
// ws_barrier (prelude-async.ts) is the hardware's, from compute capability 8.0 on; a token is its
// state. ws_counter counts in one word of shared memory: arrivals that are pending, arrivals that
// are expected, 20 bits each, and above them the phase. It stands for a barrier before 8.0, and
// wherever a function runs at the end of a phase: then the token of the last arrival is negative.

export const barrierPrelude = `#if __CUDA_ARCH__ >= 800
WS_DEVICE long long ws_arrive_token(ws_barrier* b, unsigned count) {
  long long token;
#if __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1], %2;" : "=l"(token) : "r"(ws_shared(b)), "r"(count) : "memory");
#else
  if (count > 1)
    asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], %2;"
                 : "=l"(token) : "r"(ws_shared(b)), "r"(count - 1) : "memory");
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(ws_shared(b)) : "memory");
#endif
  return token;
}
WS_DEVICE long long ws_arrive_and_drop(ws_barrier* b) {
  long long token;
  asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];" : "=l"(token) : "r"(ws_shared(b)) : "memory");
  return token;
}
WS_DEVICE bool ws_over(ws_barrier* b, long long token) {
  unsigned done;
  asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
               : "=r"(done) : "r"(ws_shared(b)), "l"(token) : "memory");
  return done != 0;
}
WS_DEVICE bool ws_over_parity(ws_barrier* b, unsigned parity) {
  unsigned done;
  asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
               : "=r"(done) : "r"(ws_shared(b)), "r"(parity) : "memory");
  return done != 0;
}
WS_DEVICE bool ws_over_soon(ws_barrier* b, long long token) {
#if __CUDA_ARCH__ >= 900
  unsigned done;
  asm volatile("{ .reg .pred p; mbarrier.try_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
               : "=r"(done) : "r"(ws_shared(b)), "l"(token) : "memory");
  return done != 0;
#else
  return ws_over(b, token);
#endif
}
WS_DEVICE void ws_await(ws_barrier* b, long long token WS_WAITS) { WS_SPIN_WHILE(!ws_over_soon(b, token)); }
WS_DEVICE void ws_await_parity(ws_barrier* b, unsigned parity WS_WAITS) { ws_wait(b, parity WS_PLACE); }
#endif
// Whether a look says so within a duration, or until a time: there is one at least.
template <typename Look> WS_DEVICE bool ws_within(double duration, Look look) {
  const unsigned long long start = ws_globaltimer();
  while (!look())
    if (!((double)(ws_globaltimer() - start) < duration)) return false;
  return true;
}
template <typename Look> WS_DEVICE bool ws_until(double time, Look look) {
  while (!look())
    if (!((double)ws_globaltimer() < time)) return false;
  return true;
}
struct ws_counter { unsigned long long word; };
WS_DEVICE void ws_init(ws_counter* b, unsigned count) { b->word = ((unsigned long long)count << 20) | count; }
WS_DEVICE unsigned ws_phase(unsigned long long word) { return (unsigned)(word >> 40) & 0x7fffffu; }
// The word of a phase that awaits nobody any more, as that of the next phase.
WS_DEVICE unsigned long long ws_next_phase(unsigned long long word) {
  return word + (1ull << 40) + ((word >> 20) & 0xfffffull);
}
template <bool Completes> WS_DEVICE long long ws_arrive_token(ws_counter* b, unsigned count, unsigned dropped = 0) {
  __threadfence_block();
  unsigned long long old = *(volatile unsigned long long*)&b->word;
  for (;;) {
    unsigned long long next = old - count - ((unsigned long long)dropped << 20);
    const bool last = (next & 0xfffffull) == 0;
    if (last && !Completes) next = ws_next_phase(next);
    const unsigned long long seen = atomicCAS(&b->word, old, next);
    if (seen == old) {
      if (last) __threadfence_block();
      return (long long)((unsigned long long)ws_phase(old) | (last && Completes ? 1ull << 63 : 0ull));
    }
    old = seen;
  }
}
template <bool Completes> WS_DEVICE long long ws_arrive_and_drop(ws_counter* b) {
  return ws_arrive_token<Completes>(b, 1, 1);
}
WS_DEVICE void ws_complete(ws_counter* b) {
  __threadfence_block();
  atomicExch(&b->word, ws_next_phase(b->word));
}
WS_DEVICE bool ws_over(ws_counter* b, long long token) {
  const bool over = ws_phase(*(volatile unsigned long long*)&b->word) != ((unsigned)token & 0x7fffffu);
  __threadfence_block();
  return over;
}
WS_DEVICE bool ws_over_parity(ws_counter* b, unsigned parity) {
  const bool over = (ws_phase(*(volatile unsigned long long*)&b->word) & 1u) != parity;
  __threadfence_block();
  return over;
}
WS_DEVICE void ws_await(ws_counter* b, long long token WS_WAITS) { WS_SPIN_WHILE(!ws_over(b, token)); }
WS_DEVICE void ws_await_parity(ws_counter* b, unsigned parity WS_WAITS) { WS_SPIN_WHILE(!ws_over_parity(b, parity)); }
`;
