// What a kernel says to the host while it runs: a fault, and lines that it prints.
//
// Each stream has a channel in the GPU's memory. A thread whose test fails writes a record to
// page-locked memory of the host, sets the channel's word `stop` to its launch, and ends: the context goes on
// living. Other threads end where they would wait for it, or at the next turn of a long loop in which
// they look; launches that come after it on the stream end as soon as they begin. Of several threads
// that fail, the one of the first block is reported, and of that block the one of the lowest rank. A thread that
// waits longer than the channel's patience fails too.
//
// Lines go to a ring of words in page-locked memory: a record is the launch and the site, the
// thread, the block, and the bits of the values. Its first word is written last. A line that finds no
// room is counted, and lost.
//
// The layout is that of runtime/cuda/channels.ts.

import type { RankRun, ThreadOrder } from '../../compiler/ir-core.ts';

/** Types and functions of a kernel that tells the host something. */
export const channelPrelude = `struct ws_record {
  unsigned launch, site, rank, block[3];
  long long values[4];
};
struct ws_ring { unsigned long long taken; unsigned lost; };
struct ws_channel {
  unsigned stop, lock;
  unsigned long long key;
  unsigned grid;
  unsigned long long cancelled;
  ws_record* record;
  ws_ring* ring;
  unsigned long long* head;
  unsigned long long* lines;
  unsigned long long words;
  unsigned long long patience;
};
WS_DEVICE unsigned ws_lane() {
  unsigned lane;
  asm("mov.u32 %0, %laneid;" : "=r"(lane));
  return lane;
}
// Ends the thread. Copies that are under way to its block's memory land first: nothing waits for them any more.
[[noreturn]] static __device__ __noinline__ void ws_leave() {
  for (int i = 0; i < 64; ++i) __nanosleep(1000);
  asm volatile("exit;");
  __builtin_unreachable();
}
`;

/** Who a thread of the hardware is in the kernel's text. */
export function rankPrelude(order: ThreadOrder | undefined): string {
  const inRun = (number: string, { period, first, width }: RankRun) =>
    `${number} / ${width}u * ${period}u + ${number} % ${width}u + ${first}u`;
  const rank =
    order === undefined
      ? 'own'
      : `own < ${order.count}u ? ${inRun('own', order.producers)} : ${inRun(`(own - ${order.count}u)`, order.consumers)}`;
  return `WS_DEVICE unsigned ws_rank_of(unsigned own) { return ${rank}; }
WS_DEVICE unsigned ws_rank_in_block() {
  return ws_rank_of((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x);
}
`;
}

/**
 * What the tests of a block take of its shared memory: an address and a number, behind which its arrays begin at the
 * next multiple of what they are aligned to (`sharedAlignment`; where a copy promises more, the launch says what is missing).
 */
export const checkSharedBytes = 128;

/**
 * Tests, for kernels that are checked, behind the thread's rank. They keep a kernel's registers few, as those decide how many blocks a
 * multiprocessor runs: what is only needed when a test fails is computed then, or looked up in shared memory.
 */
export const checkPrelude = `${channelPrelude}static __shared__ ws_channel* ws_host_of_block;
static __shared__ unsigned ws_launch_of_block;
// Whether a thread that comes before this one has failed.
WS_DEVICE bool ws_late(ws_channel* host, unsigned long long key) {
  return *(volatile unsigned*)&host->stop != 0 && *(volatile unsigned long long*)&host->key <= key;
}
// The order of threads, by blocks.
WS_DEVICE unsigned long long ws_key(unsigned rank) {
  const unsigned long long block =
      blockIdx.x + (unsigned long long)gridDim.x * (blockIdx.y + (unsigned long long)gridDim.y * blockIdx.z);
  return block * 1024u + rank;
}
// Whether a thread has nothing to do: a launch before this one failed, or a thread of this one that comes before it.
WS_DEVICE bool ws_begins_late(ws_channel* host, unsigned launch) {
  const unsigned stop = host->stop;
  return stop != 0u && (stop != launch || ws_late(host, ws_key(ws_rank_in_block())));
}
[[noreturn]] static __device__ __noinline__ void ws_report_of(
    unsigned rank, unsigned site, long long a, long long b, long long c, long long d) {
  ws_channel* host = ws_host_of_block;
  const unsigned long long key = ws_key(rank);
  do {
    if (ws_late(host, key)) ws_leave();
  } while (atomicCAS(&host->lock, 0u, 1u) != 0u);
  __threadfence();
  if (!ws_late(host, key)) {
    volatile ws_record* record = host->record;
    record->site = site;
    record->rank = rank;
    record->block[0] = blockIdx.x;
    record->block[1] = blockIdx.y;
    record->block[2] = blockIdx.z;
    record->values[0] = a;
    record->values[1] = b;
    record->values[2] = c;
    record->values[3] = d;
    record->launch = ws_launch_of_block;
    __threadfence_system();
    *(volatile unsigned long long*)&host->key = key;
    __threadfence();
    *(volatile unsigned*)&host->stop = ws_launch_of_block;
    __threadfence();
  }
  atomicExch(&host->lock, 0u);
  ws_leave();
}
[[noreturn]] static __device__ __noinline__ void ws_report(
    unsigned site, long long a, long long b, long long c, long long d) {
  // Of threads of a warp that fail together the first one tells.
  if ((__activemask() & ((1u << ws_lane()) - 1u)) != 0u) ws_leave();
  ws_report_of(ws_rank_in_block(), site, a, b, c, d);
}
[[noreturn]] static __device__ __noinline__ void ws_fault(
    unsigned site, ws_index a, ws_index b, ws_index c = 0, ws_index d = 0) {
  ws_report(site, a, b, c, d);
}
// Ends the thread if its launch is to stop: since another failed, or the host says so.
static __device__ __noinline__ void ws_look() {
  ws_channel* host = ws_host_of_block;
  // The first and the last of the launches that are to end, in its halves.
  const unsigned long long cancelled = *(volatile unsigned long long*)&host->cancelled;
  const unsigned first = (unsigned)cancelled, last = (unsigned)(cancelled >> 32);
  if (ws_launch_of_block - first <= last - first)
    *(volatile unsigned*)&host->stop = ws_launch_of_block;
  if (*(volatile unsigned*)&host->stop != 0u) ws_leave();
}
#define WS_TURN() if ((++ws_turns & 4095u) == 0u) ws_look()
// A thread that waits looks as well, and fails when it has waited for too long.
#define WS_WAITS_ALONE unsigned ws_site
#define WS_WAITS , WS_WAITS_ALONE
#define WS_PLACE , ws_site
#define WS_SPIN_WHILE(test) if (test) ws_spin([=] { return test; }, ws_site)
template <typename Test> static __device__ __noinline__ void ws_spin(Test test, unsigned site) {
  unsigned long long since = 0;
  for (unsigned turns = 1; test(); ++turns) {
    if ((turns & 255u) != 0u) continue;
    ws_look();
    const unsigned long long now = ws_globaltimer();
    if (since == 0) since = now;
    else if (now - since > ws_host_of_block->patience) ws_fault(site, (ws_index)((now - since) / 1000000u), 0);
  }
}
WS_DEVICE int ws_inside(int i, int length, unsigned site) {
  if ((unsigned)i >= (unsigned)length) ws_fault(site, i, length);
  return i;
}
WS_DEVICE long long ws_inside(long long i, long long length, unsigned site) {
  if ((unsigned long long)i >= (unsigned long long)length) ws_fault(site, (ws_index)i, (ws_index)length);
  return i;
}
template <typename T> WS_DEVICE T ws_divisor(T value, unsigned site) {
  if (value == 0) ws_fault(site, 0, 0);
  return value;
}
WS_DEVICE bool ws_overlap(const void* a, const void* b, long long bytes) {
  const long long distance = (const char*)a - (const char*)b;
  return (distance < 0 ? -distance : distance) < bytes;
}
// The count is not negative.
WS_DEVICE bool ws_holds(ws_index length, ws_index from, ws_index count) {
  const ws_index room = (ws_index)((ws_count)length - (ws_count)count);
  return room >= 0 && (ws_count)from <= (ws_count)room;
}
// A source of which nothing is read may lie anywhere.
WS_DEVICE void ws_check_copy(
    ws_index to, ws_index to_length, ws_index from, ws_index from_length, ws_index count, ws_index zeros, bool wrong, unsigned site) {
  const ws_index read = count - zeros;
  const bool outside =
      !ws_holds(to_length, to, count) || ((zeros == 0 || read != 0) && !ws_holds(from_length, from, read));
  if (count < 0 || zeros < 0 || zeros > count || outside || wrong) ws_fault(site, to, from, count, zeros);
}
// Copies of several threads that one thread makes as one. If it is wrong, so is one of theirs: the first one tells.
[[noreturn]] static __device__ __noinline__ void ws_fault_in_parts(
    ws_index to, ws_index to_length, ws_index from, ws_index from_length, ws_index each, bool wrong, unsigned site, unsigned threads) {
  unsigned first = 0;
  while (!wrong && each >= 0 && ws_holds(to_length, to, each) && ws_holds(from_length, from, each)) {
    to += each;
    from += each;
    first += threads;
  }
  ws_report_of(ws_rank_of(first), site, to, from, each, 0);
}
WS_DEVICE void ws_check_parts(
    ws_index to, ws_index to_length, ws_index from, ws_index from_length, ws_index count, bool wrong, unsigned site, int parts, unsigned threads) {
  if (count < 0 || !ws_holds(to_length, to, count) || !ws_holds(from_length, from, count) || wrong)
    ws_fault_in_parts(to, to_length, from, from_length, count / parts, wrong, site, threads);
}
`;

/** In place of the tests, for kernels that are not checked. */
export const uncheckedPrelude = `#define WS_WAITS_ALONE
#define WS_WAITS
#define WS_PLACE
#define WS_SPIN_WHILE(test) while (test) {}
`;

/** For kernels that print, or report the values of what they assert. */
export const printPrelude = `WS_DEVICE unsigned long long ws_bits(int value) { return (unsigned)value; }
WS_DEVICE unsigned long long ws_bits(unsigned value) { return value; }
WS_DEVICE unsigned long long ws_bits(bool value) { return value; }
WS_DEVICE unsigned long long ws_bits(long long value) { return (unsigned long long)value; }
WS_DEVICE unsigned long long ws_bits(unsigned long long value) { return value; }
WS_DEVICE unsigned long long ws_bits(float value) { return __float_as_uint(value); }
WS_DEVICE unsigned long long ws_bits(double value) { return (unsigned long long)__double_as_longlong(value); }
static __device__ __noinline__ void ws_print(
    ws_channel* host, unsigned launch, unsigned rank, unsigned site, const unsigned long long* values, unsigned count) {
  // Threads of a warp that are here together take their places at once: a place for each is slow when all print.
  const unsigned lanes = __match_any_sync(__activemask(), site);
  const unsigned leader = __ffs(lanes) - 1u;
  const unsigned long long size = 3u + count;
  const unsigned long long all = size * __popc(lanes);
  unsigned long long at = 0;
  if (ws_lane() == leader) {
    volatile ws_ring* ring = host->ring;
    unsigned long long taken = ring->taken;
    at = *(volatile unsigned long long*)host->head;
    for (;;) {
      if (at + all - taken > host->words) {
        taken = ring->taken;
        if (at + all - taken > host->words) {
          atomicAdd(&host->ring->lost, (unsigned)__popc(lanes));
          at = ~0ull;
          break;
        }
      }
      const unsigned long long seen = atomicCAS(host->head, at, at + all);
      if (seen == at) break;
      at = seen;
    }
  }
  at = __shfl_sync(lanes, at, leader);
  if (at == ~0ull) return;
  at += size * __popc(lanes & ((1u << ws_lane()) - 1u));
  volatile unsigned long long* lines = host->lines;
  const unsigned long long mask = host->words - 1u;
  lines[(at + 1u) & mask] = (unsigned long long)blockIdx.x << 32 | rank;
  lines[(at + 2u) & mask] = (unsigned long long)blockIdx.z << 32 | blockIdx.y;
  for (unsigned i = 0; i < count; ++i) lines[(at + 3u + i) & mask] = values[i];
  __threadfence_system();
  lines[at & mask] = (unsigned long long)launch << 32 | site << 1 | 1u;
}
`;
