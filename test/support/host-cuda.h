// Enough of CUDA C++ for generated kernels of compute capability 7.5 to run as threads of this machine: a
// block at a time, a thread each. Threads that have ended are not waited for, as on a GPU; a warp's threads
// never act at once unless they meet. It shows what a kernel does, and nothing of how fast.

#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#define __CUDA_ARCH__ 750
#define __global__
#define __device__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n) alignas(n)
using std::isinf;
using std::isnan;
using std::signbit;

struct ws_extent { unsigned x, y, z; };
static thread_local ws_extent threadIdx;
static ws_extent blockIdx, blockDim, gridDim;
struct ws_exit {};

/** Threads that meet: those of a mask that have not ended. */
struct ws_group {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<bool> alive, here;
  std::vector<uint64_t> values, results;
  unsigned long long phase = 0;

  void begin(unsigned size) {
    alive.assign(size, true);
    here.assign(size, false);
    values.assign(size, 0);
  }
  void look() {
    bool any = false;
    for (size_t i = 0; i < alive.size(); ++i) {
      if (alive[i] && !here[i]) return;
      any = any || here[i];
    }
    if (!any) return;
    results = values;
    for (size_t i = 0; i < here.size(); ++i)
      if (!here[i]) results[i] = 0;
    here.assign(here.size(), false);
    ++phase;
    changed.notify_all();
  }
  void meet(unsigned rank, uint64_t value) {
    std::unique_lock<std::mutex> lock(mutex);
    values[rank] = value;
    here[rank] = true;
    const unsigned long long before = phase;
    look();
    changed.wait(lock, [&] { return phase != before; });
  }
  void leave(unsigned rank) {
    std::unique_lock<std::mutex> lock(mutex);
    alive[rank] = false;
    look();
  }
};
static ws_group ws_block;
static ws_group ws_warps[32];
static unsigned ws_rank() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
static unsigned ws_laneid() { return ws_rank() % 32; }
static ws_group& ws_warp() { return ws_warps[ws_rank() / 32]; }

static void __syncthreads() { ws_block.meet(ws_rank(), 0); }
static int __syncthreads_count(int value) {
  ws_block.meet(ws_rank(), value != 0);
  int count = 0;
  for (uint64_t each : ws_block.results) count += (int)each;
  // Nobody may meet again before all have counted.
  ws_block.meet(ws_rank(), 0);
  return count;
}
static void __syncwarp(unsigned = ~0u) { ws_warp().meet(ws_laneid(), 0); }
template <typename T> static T __shfl_xor_sync(unsigned, T value, unsigned bits, int = 32) {
  ws_warp().meet(ws_laneid(), (uint64_t)value);
  const T given = (T)ws_warp().results[ws_laneid() ^ bits];
  ws_warp().meet(ws_laneid(), 0);
  return given;
}
// A thread that asks alone is alone.
static unsigned __activemask() { return 1u << ws_laneid(); }
static unsigned __match_any_sync(unsigned lanes, unsigned) { return lanes; }
template <typename T> static T __shfl_sync(unsigned, T value, unsigned, int = 32) { return value; }
static int __all_sync(unsigned, int value) { return value; }

[[noreturn]] static void __trap() { std::abort(); }
static void __threadfence() { std::atomic_thread_fence(std::memory_order_seq_cst); }
// Whoever looks whether a barrier is over lets others go on: there are more threads than processors.
static void __threadfence_block() {
  __threadfence();
  std::this_thread::yield();
}
static void __threadfence_system() { __threadfence(); }
static void __nanosleep(unsigned) { std::this_thread::yield(); }
template <typename T> static T atomicCAS(T* at, T compare, T value) {
  __atomic_compare_exchange_n(at, &compare, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return compare;
}
template <typename T> static T atomicExch(T* at, T value) { return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST); }
template <typename T> static T atomicAdd(T* at, T value) { return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST); }
template <typename T> static T atomicSub(T* at, T value) { return __atomic_fetch_sub(at, value, __ATOMIC_SEQ_CST); }
template <typename T, typename Combine> static T ws_update(T* at, Combine combine) {
  T seen = __atomic_load_n(at, __ATOMIC_SEQ_CST);
  while (!__atomic_compare_exchange_n(at, &seen, combine(seen), false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {}
  return seen;
}
template <typename T> static T atomicAnd(T* at, T value) { return __atomic_fetch_and(at, value, __ATOMIC_SEQ_CST); }
template <typename T> static T atomicOr(T* at, T value) { return __atomic_fetch_or(at, value, __ATOMIC_SEQ_CST); }
template <typename T> static T atomicXor(T* at, T value) { return __atomic_fetch_xor(at, value, __ATOMIC_SEQ_CST); }
template <typename T> static T atomicMin(T* at, T value) { return ws_update(at, [=](T seen) { return seen < value ? seen : value; }); }
template <typename T> static T atomicMax(T* at, T value) { return ws_update(at, [=](T seen) { return seen > value ? seen : value; }); }
static int __clz(int value) { return value == 0 ? 32 : __builtin_clz((unsigned)value); }
static int __popc(unsigned value) { return __builtin_popcount(value); }
static int __ffs(unsigned value) { return __builtin_ffs((int)value); }
static unsigned __float_as_uint(float value) { unsigned bits; std::memcpy(&bits, &value, 4); return bits; }
static float __uint_as_float(unsigned bits) { float value; std::memcpy(&value, &bits, 4); return value; }
static long long __double_as_longlong(double value) { long long bits; std::memcpy(&bits, &value, 8); return bits; }
static unsigned long long __cvta_generic_to_shared(const void*) { return 0; }
static unsigned long long ws_nanoseconds() {
  return (unsigned long long)std::chrono::steady_clock::now().time_since_epoch().count();
}

/** Runs a grid, a block after the other. */
template <typename Kernel> static void ws_grid(ws_extent grid, ws_extent block, Kernel kernel) {
  gridDim = grid;
  blockDim = block;
  const unsigned threads = block.x * block.y * block.z;
  for (unsigned b = 0; b < grid.x * grid.y * grid.z; ++b) {
    blockIdx = {b % grid.x, b / grid.x % grid.y, b / (grid.x * grid.y)};
    ws_block.begin(threads);
    for (unsigned warp = 0; warp * 32 < threads; ++warp) ws_warps[warp].begin(threads - warp * 32 < 32 ? threads - warp * 32 : 32);
    std::vector<std::thread> all;
    for (unsigned t = 0; t < threads; ++t)
      all.emplace_back([=] {
        threadIdx = {t % block.x, t / block.x % block.y, t / (block.x * block.y)};
        try {
          kernel();
        } catch (const ws_exit&) {
        }
        ws_warp().leave(ws_laneid());
        ws_block.leave(t);
      });
    for (std::thread& thread : all) thread.join();
  }
}
