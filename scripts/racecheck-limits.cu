// What racecheck takes for a race though the hardware orders it: the smallest kernels with the forms of
// synchronisation that generated kernels use. Each is right by the rules of PTX, and gives the right result.
//
//   nvcc -arch=sm_90 -std=c++17 -lineinfo -o racecheck-limits scripts/racecheck-limits.cu
//   compute-sanitizer --tool racecheck ./racecheck-limits
//
// `unsynchronised` alone is a race. docs/lowering.md says what racecheck 2025.3 reports of each.

#include <cstdio>

#define DEVICE static __device__ __forceinline__

DEVICE unsigned shared(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
DEVICE void init(unsigned long long* b, unsigned count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared(b)), "r"(count) : "memory");
}
DEVICE void arrive(unsigned long long* b) {
  asm volatile("{ .reg .b64 t; mbarrier.arrive.shared.b64 t, [%0]; }" ::"r"(shared(b)) : "memory");
}
DEVICE void wait(unsigned long long* b) {
  unsigned done = 0;
  while (!done)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(shared(b)) : "memory");
}

constexpr int threads = 64;

// Every thread stores, arrives, waits, and reads what another stored.
__global__ void every_thread_arrives(int* out) {
  __shared__ unsigned long long full;
  __shared__ int s[threads];
  const int t = threadIdx.x;
  if (t == 0) init(&full, threads);
  __syncthreads();
  s[t] = t;
  arrive(&full);
  wait(&full);
  out[t] = s[threads - 1 - t];
}

// The same, but one lane of each warp arrives, behind a barrier of the warp.
__global__ void one_lane_of_each_warp_arrives(int* out) {
  __shared__ unsigned long long full;
  __shared__ int s[threads];
  const int t = threadIdx.x;
  if (t == 0) init(&full, threads / 32);
  __syncthreads();
  s[t] = t;
  __syncwarp();
  if (t % 32 == 0) arrive(&full);
  wait(&full);
  out[t] = s[threads - 1 - t];
}

// An mbarrier of half a warp, made by its first lane behind which the half meets.
__global__ void half_a_warp_makes_an_mbarrier(int* out) {
  __shared__ unsigned long long full[threads / 16];
  const int t = threadIdx.x;
  unsigned long long* own = full + t / 16;
  if (t % 16 == 0) init(own, 16);
  __syncwarp(0xffffu << (t % 32 / 16 * 16));
  arrive(own);
  wait(own);
  out[t] = threads - 1 - t;
}

// An mbarrier of two warps, which meet at a numbered barrier.
__global__ void two_warps_make_an_mbarrier(int* out) {
  __shared__ unsigned long long full;
  const int t = threadIdx.x;
  if (t == 0) init(&full, 64);
  asm volatile("barrier.sync 1, 64;" ::: "memory");
  arrive(&full);
  wait(&full);
  out[t] = threads - 1 - t;
}

// Plain stores, which two warps order by a numbered barrier.
__global__ void two_warps_meet(int* out) {
  __shared__ int s[threads];
  const int t = threadIdx.x;
  s[t] = t;
  asm volatile("barrier.sync 1, 64;" ::: "memory");
  out[t] = s[threads - 1 - t];
}

// Nothing orders these.
__global__ void unsynchronised(int* out) {
  __shared__ int s[threads];
  const int t = threadIdx.x;
  s[t] = t;
  out[t] = ((volatile int*)s)[threads - 1 - t];
}

int main() {
  int* out;
  if (cudaMalloc(&out, threads * sizeof(int)) != cudaSuccess) return 1;
  int wrong = 0;
  const auto run = [&](void (*kernel)(int*), const char* name, bool checked = true) {
    int result[threads];
    cudaMemset(out, 0xff, sizeof result);
    kernel<<<1, threads>>>(out);
    if (cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost) != cudaSuccess) wrong += 1;
    for (int t = 0; checked && t < threads; ++t) wrong += result[t] != threads - 1 - t;
    printf("%s: ran\n", name);
  };
  run(every_thread_arrives, "every_thread_arrives");
  run(one_lane_of_each_warp_arrives, "one_lane_of_each_warp_arrives");
  run(half_a_warp_makes_an_mbarrier, "half_a_warp_makes_an_mbarrier");
  run(two_warps_make_an_mbarrier, "two_warps_make_an_mbarrier");
  run(two_warps_meet, "two_warps_meet");
  run(unsynchronised, "unsynchronised", false);
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
