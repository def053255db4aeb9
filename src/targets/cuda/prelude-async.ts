// Asynchronous copies and barriers of the hardware, in PTX.
//
// Every wait carries a memory clobber: what was copied may not be read before it. Before compute
// capability 8.0 there are neither asynchronous copies nor mbarriers: copies are then done by
// the thread at once, and a barrier is a count and a phase in shared memory.

/** Barriers in shared memory, copies of 4, 8 and 16 bytes, bulk copies. */
export const asyncPrelude = `WS_DEVICE unsigned ws_shared(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
#if __CUDA_ARCH__ >= 800
struct ws_barrier { unsigned long long word; };
WS_DEVICE void ws_init(ws_barrier* b, unsigned count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(ws_shared(b)), "r"(count) : "memory");
}
WS_DEVICE void ws_invalidate(ws_barrier* b) {
  asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(ws_shared(b)) : "memory");
}
WS_DEVICE void ws_arrive(ws_barrier* b) {
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(ws_shared(b)) : "memory");
}
WS_DEVICE bool ws_test(ws_barrier* b, unsigned parity) {
  unsigned done;
#if __CUDA_ARCH__ >= 900
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
               : "=r"(done) : "r"(ws_shared(b)), "r"(parity) : "memory");
#else
  asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
               : "=r"(done) : "r"(ws_shared(b)), "r"(parity) : "memory");
#endif
  return done != 0;
}
// The barrier completes its phase only when the copies that this thread issued so far are complete.
WS_DEVICE void ws_arrive_after_copies(ws_barrier* b) {
  asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(ws_shared(b)) : "memory");
}
// This thread's arrival, which comes when the copies that it issued so far are complete.
WS_DEVICE void ws_arrive_by_copies(ws_barrier* b) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(ws_shared(b)) : "memory");
}
template <int Bytes> WS_DEVICE void ws_copy_chunk(void* to, const void* from) {
  if constexpr (Bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(ws_shared(to)), "l"(from) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(ws_shared(to)), "l"(from), "n"(Bytes) : "memory");
}
// Copies so many bytes but the last ones, which are set to zero and not read.
template <int Bytes> WS_DEVICE void ws_copy_zero_filled(void* to, const void* from, unsigned zeros) {
  if (zeros > Bytes) __trap();
  if constexpr (Bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(ws_shared(to)), "l"(from), "r"(Bytes - zeros) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(ws_shared(to)), "l"(from), "n"(Bytes), "r"(Bytes - zeros) : "memory");
}
WS_DEVICE void ws_finish_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }
WS_DEVICE void ws_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> WS_DEVICE void ws_wait_group() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }
#else
struct ws_barrier { volatile unsigned phase; unsigned pending; unsigned count; };
WS_DEVICE void ws_init(ws_barrier* b, unsigned count) { b->phase = 0; b->pending = count; b->count = count; }
WS_DEVICE void ws_invalidate(ws_barrier*) {}
WS_DEVICE void ws_arrive(ws_barrier* b) {
  __threadfence_block();
  if (atomicSub(&b->pending, 1u) == 1u) {
    b->pending = b->count;
    __threadfence_block();
    b->phase = b->phase + 1u;
  }
}
WS_DEVICE bool ws_test(ws_barrier* b, unsigned parity) {
  bool done = (b->phase & 1u) != parity;
  __threadfence_block();
  return done;
}
WS_DEVICE void ws_arrive_after_copies(ws_barrier*) {}
WS_DEVICE void ws_arrive_by_copies(ws_barrier* b) { ws_arrive(b); }
template <int Bytes> struct __align__(Bytes) ws_chunk { unsigned word[Bytes / 4]; };
template <int Bytes> WS_DEVICE void ws_copy_chunk(void* to, const void* from) {
  *(ws_chunk<Bytes>*)to = *(const ws_chunk<Bytes>*)from;
}
template <int Bytes> WS_DEVICE void ws_copy_zero_filled(void* to, const void* from, unsigned zeros) {
  if (zeros > Bytes) __trap();
  for (unsigned i = 0; i < Bytes; ++i) ((unsigned char*)to)[i] = i < Bytes - zeros ? ((const unsigned char*)from)[i] : 0;
}
WS_DEVICE void ws_finish_copies() {}
WS_DEVICE void ws_commit() {}
template <int N> WS_DEVICE void ws_wait_group() {}
#endif
WS_DEVICE void ws_wait(ws_barrier* b, unsigned parity WS_WAITS) {
  WS_SPIN_WHILE(!ws_test(b, parity));
}
// Whether the phase was over at the last look: there is one at least, and one after every other that came too early.
WS_DEVICE bool ws_wait_for(ws_barrier* b, unsigned parity, double duration) {
  const unsigned long long start = ws_globaltimer();
  while (!ws_test(b, parity))
    if (!((double)(ws_globaltimer() - start) < duration)) return false;
  return true;
}
WS_DEVICE bool ws_wait_until(ws_barrier* b, unsigned parity, double time) {
  while (!ws_test(b, parity))
    if (!((double)ws_globaltimer() < time)) return false;
  return true;
}
// At most n of the thread's youngest groups of copies may still be under way.
template <int Most> WS_DEVICE void ws_wait_groups(unsigned n) {
  if constexpr (Most == 0) ws_wait_group<0>();
  else if (n >= Most) ws_wait_group<Most>();
  else ws_wait_groups<Most - 1>(n);
}
// Copies by chunks of so many bytes, each thread of the group every size-th chunk.
template <int Bytes> WS_DEVICE void ws_copy_async(void* to, const void* from, unsigned long long bytes, unsigned rank, unsigned size) {
  for (unsigned long long at = (unsigned long long)rank * Bytes; at < bytes; at += (unsigned long long)size * Bytes)
    ws_copy_chunk<Bytes>((char*)to + at, (const char*)from + at);
}
// Copies of elements that are several chunks long, each thread of the group every size-th element.
template <int Bytes, int Element> WS_DEVICE void ws_copy_async_elements(void* to, const void* from, unsigned long long bytes, unsigned rank, unsigned size) {
  for (unsigned long long at = (unsigned long long)rank * Element; at < bytes; at += (unsigned long long)size * Element)
    for (int chunk = 0; chunk < Element; chunk += Bytes)
      ws_copy_chunk<Bytes>((char*)to + at + chunk, (const char*)from + at + chunk);
}
// Element by element, done when it returns.
template <typename T, typename I> WS_DEVICE void ws_copy(T* to, const T* from, I count, unsigned rank, unsigned size) {
  for (I i = rank; i < count; i += size) to[i] = from[i];
}
#if __CUDA_ARCH__ >= 900
WS_DEVICE void ws_bulk_copy(void* to, const void* from, unsigned bytes, ws_barrier* b) {
  if (bytes == 0u) return;
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               ::"r"(ws_shared(to)), "l"(from), "r"(bytes), "r"(ws_shared(b)) : "memory");
}
WS_DEVICE void ws_prefetch(const void* from, unsigned bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes) : "memory");
}
// The phase does not end before so many bytes have come.
WS_DEVICE void ws_expect(ws_barrier* b, unsigned bytes) {
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(ws_shared(b)), "r"(bytes) : "memory");
}
// An arrival at a stage's phase, which completes when so many bytes have come too.
WS_DEVICE void ws_arrive_expecting(ws_barrier* b, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(ws_shared(b)), "r"(bytes) : "memory");
}
// One thread of the warp, always the same.
WS_DEVICE bool ws_elect() {
  unsigned elected;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(elected));
  return elected != 0;
}
// As ws_wait, by all threads of a warp together: the branch back is one that ptxas knows not to part them.
WS_DEVICE void ws_wait_converged(ws_barrier* b, unsigned parity WS_WAITS) {
#ifdef WS_TURN
  WS_SPIN_WHILE(!__all_sync(0xffffffffu, ws_test(b, parity)));
#else
  asm volatile("{ .reg .pred p, q; L%=: mbarrier.try_wait.parity.shared.b64 p, [%0], %1;"
               " vote.sync.all.pred q, p, 0xffffffff; @!q bra.uni L%=; }"
               ::"r"(ws_shared(b)), "r"(parity) : "memory");
#endif
}
WS_DEVICE void ws_fence_async_global() { asm volatile("fence.proxy.async.global;" ::: "memory"); }
WS_DEVICE void ws_fence_async_shared() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
#endif
`;
