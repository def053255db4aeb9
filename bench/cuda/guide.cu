// The C++ side of `npm run bench -- guide`: the guide's five kernels written with libcu++'s
// cuda::pipeline, and what one would write without a pipeline, each timed by events.
//
// Every kernel computes y = 3x + 1 of 32-bit integers, or with `heavy` 256 dependent fused
// multiply-adds of floats, over the same batches as its counterpart in TypeScript. A run prints one
// line of JSON: for each variant the median milliseconds of one launch. Every result is checked.
//
//   guide <log2 of elements> <rounds>

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/pipeline>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

// A pipeline in shared memory is made by make_pipeline.
#pragma nv_diag_suppress 20054

namespace cg = cooperative_groups;

static void check(cudaError_t result, const char* doing) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", doing, cudaGetErrorString(result));
  std::exit(1);
}

// What is computed of an element.
struct Light {
  using Element = int;
  static __host__ __device__ int of(int x) { return x * 3 + 1; }
};
struct Heavy {
  using Element = float;
  static __device__ float of(float x) {
#pragma unroll
    for (int i = 0; i < 256; ++i) x = fmaf(x, 1.0000001f, 0.5f);
    return x;
  }
};

template <typename T> struct Shared {
  static __device__ T* begin() {
    extern __shared__ __align__(128) unsigned char bytes[];
    return reinterpret_cast<T*>(bytes);
  }
};

constexpr auto block_scope = cuda::thread_scope_block;

template <typename W, typename T = typename W::Element>
__global__ void single_stage(T* out, const T* in, size_t batches) {
  const auto grid = cg::this_grid();
  const auto block = cg::this_thread_block();
  T* const shared = Shared<T>::begin();
  __shared__ cuda::pipeline_shared_state<block_scope, 1> state;
  auto pipeline = cuda::make_pipeline(block, &state);
  for (size_t batch = 0; batch < batches; ++batch) {
    const size_t begin = block.group_index().x * block.size() + grid.size() * batch;
    pipeline.producer_acquire();
    cuda::memcpy_async(block, shared, in + begin, sizeof(T) * block.size(), pipeline);
    pipeline.producer_commit();
    pipeline.consumer_wait();
    out[begin + block.thread_rank()] = W::of(shared[block.thread_rank()]);
    pipeline.consumer_release();
  }
}

template <typename W, typename T = typename W::Element>
__global__ void staging(T* out, const T* in, size_t batches) {
  const auto grid = cg::this_grid();
  const auto block = cg::this_thread_block();
  T* const shared = Shared<T>::begin();
  __shared__ cuda::pipeline_shared_state<block_scope, 2> state;
  auto pipeline = cuda::make_pipeline(block, &state);
  const auto begin = [&](size_t batch) { return block.group_index().x * block.size() + grid.size() * batch; };
  const auto stage = [&](size_t batch) { return shared + batch % 2 * block.size(); };
  const auto fetch = [&](size_t batch) {
    pipeline.producer_acquire();
    cuda::memcpy_async(block, stage(batch), in + begin(batch), sizeof(T) * block.size(), pipeline);
    pipeline.producer_commit();
  };
  const auto use = [&](size_t batch) {
    pipeline.consumer_wait();
    out[begin(batch) + block.thread_rank()] = W::of(stage(batch)[block.thread_rank()]);
    pipeline.consumer_release();
  };
  if (batches == 0) return;
  fetch(0);
  for (size_t batch = 1; batch < batches; ++batch) {
    fetch(batch);
    use(batch - 1);
  }
  use(batches - 1);
}

template <typename W, size_t Stages, typename T = typename W::Element>
__global__ void unified(T* out, const T* in, size_t batches) {
  const auto grid = cg::this_grid();
  const auto block = cg::this_thread_block();
  T* const shared = Shared<T>::begin();
  __shared__ cuda::pipeline_shared_state<block_scope, Stages> state;
  auto pipeline = cuda::make_pipeline(block, &state);
  const auto begin = [&](size_t batch) { return block.group_index().x * block.size() + grid.size() * batch; };
  for (size_t used = 0, fetched = 0; used < batches; ++used) {
    for (; fetched < batches && fetched < used + Stages; ++fetched) {
      pipeline.producer_acquire();
      T* const stage = shared + fetched % Stages * block.size();
      cuda::memcpy_async(block, stage, in + begin(fetched), sizeof(T) * block.size(), pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    out[begin(used) + block.thread_rank()] = W::of(shared[used % Stages * block.size() + block.thread_rank()]);
    pipeline.consumer_release();
  }
}

template <typename W, size_t Stages, typename T = typename W::Element>
__global__ void specialized(T* out, const T* in, size_t batches) {
  const auto block = cg::this_thread_block();
  const bool produces = block.thread_rank() % 2 == 0;
  const unsigned half = block.size() / 2, own = block.thread_rank() / 2;
  T* const shared = Shared<T>::begin();
  __shared__ cuda::pipeline_shared_state<block_scope, Stages> state;
  auto pipeline = cuda::make_pipeline(
      block, &state, produces ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
  const auto begin = [&](size_t batch) { return size_t(half) * gridDim.x * batch + half * blockIdx.x; };
  for (size_t used = 0, fetched = 0; used < batches; ++used) {
    for (; fetched < batches && fetched < used + Stages; ++fetched) {
      if (!produces) continue;
      pipeline.producer_acquire();
      cuda::memcpy_async(shared + fetched % Stages * half + own, in + begin(fetched) + own, sizeof(T), pipeline);
      pipeline.producer_commit();
    }
    if (produces) continue;
    pipeline.consumer_wait();
    out[begin(used) + own] = W::of(shared[used % Stages * half + own]);
    pipeline.consumer_release();
  }
}

template <typename W, size_t Stages, typename T = typename W::Element>
__global__ void thread_scope(T* out, const T* in, size_t batches) {
  const auto grid = cg::this_grid();
  const auto block = cg::this_thread_block();
  const auto thread = cg::this_thread();
  T* const shared = Shared<T>::begin();
  auto pipeline = cuda::make_pipeline();
  const auto begin = [&](size_t batch) { return block.group_index().x * block.size() + grid.size() * batch; };
  for (size_t used = 0, fetched = 0; used < batches; ++used) {
    for (; fetched < batches && fetched < used + Stages; ++fetched) {
      pipeline.producer_acquire();
      T* const own = shared + fetched % Stages * block.size() + threadIdx.x;
      cuda::memcpy_async(thread, own, in + begin(fetched) + threadIdx.x, sizeof(T), pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    block.sync();
    out[begin(used) + block.thread_rank()] = W::of(shared[used % Stages * block.size() + block.thread_rank()]);
    pipeline.consumer_release();
    block.sync();
  }
}

// Without any staging.
template <typename W, typename T = typename W::Element>
__global__ void plain_loads(T* out, const T* in, size_t batches) {
  const size_t step = size_t(gridDim.x) * blockDim.x;
  size_t at = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  for (size_t batch = 0; batch < batches; ++batch, at += step) out[at] = W::of(in[at]);
}

// cp.async by hand: a group a stage, and a block barrier on either side of the reading.
template <typename W, int Stages, typename T = typename W::Element>
__global__ void hand_cp_async(T* out, const T* in, size_t batches) {
  T* const shared = Shared<T>::begin();
  const size_t step = size_t(gridDim.x) * blockDim.x;
  const size_t first = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  const unsigned own = unsigned(__cvta_generic_to_shared(shared)) + threadIdx.x * 4;
  const T* source = in + first;
  T* target = out + first;
  size_t fetched = 0;
  const auto fetch = [&](int stage) {
    if (fetched < batches) {
      asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(own + stage * blockDim.x * 4), "l"(source)
                   : "memory");
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
    ++fetched;
    source += step;
  };
  for (int stage = 0; stage < Stages - 1; ++stage) fetch(stage);
  int stage = 0;
  for (size_t used = 0; used < batches; ++used) {
    fetch((stage + Stages - 1) % Stages);
    asm volatile("cp.async.wait_group %0;" ::"n"(Stages - 1) : "memory");
    __syncthreads();
    const T x = shared[stage * blockDim.x + threadIdx.x];
    __syncthreads();
    *target = W::of(x);
    target += step;
    stage = (stage + 1) % Stages;
  }
}

static size_t elements;
static int rounds;
static cudaEvent_t started, stopped;

template <typename Launch> static double median_milliseconds(Launch launch) {
  std::vector<float> times;
  for (int round = -2; round < rounds; ++round) {
    check(cudaEventRecord(started), "record");
    launch();
    check(cudaEventRecord(stopped), "record");
    check(cudaEventSynchronize(stopped), "waiting for a kernel");
    float time;
    check(cudaEventElapsedTime(&time, started, stopped), "timing");
    if (round >= 0) times.push_back(time);
  }
  check(cudaGetLastError(), "launching");
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

static std::string report;

static void tell(const std::string& name, double milliseconds) {
  char line[128];
  std::snprintf(line, sizeof line, "%s\"%s\":%.6f", report.empty() ? "" : ",", name.c_str(), milliseconds);
  report += line;
}

template <typename W, typename T = typename W::Element>
static void measure(const std::string& name, void (*kernel)(T*, const T*, size_t), T* out, const T* in, int stages,
                    int per_batch = 256) {
  const int block = 256, grid = 132 * 8;
  const size_t batches = elements / (size_t(grid) * per_batch);
  const size_t covered = batches * grid * per_batch;
  check(cudaMemset(out, 0xff, elements * sizeof(T)), "poisoning the output");
  tell(name, median_milliseconds([&] { kernel<<<grid, block, stages * per_batch * sizeof(T)>>>(out, in, batches); }));
  std::vector<T> result(covered), source(covered);
  check(cudaMemcpy(result.data(), out, covered * sizeof(T), cudaMemcpyDeviceToHost), "reading back");
  check(cudaMemcpy(source.data(), in, covered * sizeof(T), cudaMemcpyDeviceToHost), "reading back");
  for (size_t i = 0; i < covered; i += 4099) {
    double expected = source[i];
    if (sizeof(T) && std::is_same<T, int>::value) expected = Light::of(int(source[i]));
    else
      for (int step = 0; step < 256; ++step) expected = float(expected * double(1.0000001f) + 0.5);
    if (std::fabs(result[i] - expected) <= 1e-5 * std::fabs(expected)) continue;
    std::fprintf(stderr, "%s: element %zu is %g, not %g\n", name.c_str(), i, double(result[i]), expected);
    std::exit(1);
  }
}

__global__ void count_up(int* integers, float* floats, size_t n) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
    integers[i] = int(i % 1000003);
    floats[i] = float(i % 1000003) * 1e-3f;
  }
}

int main(int count, char** words) {
  elements = size_t(1) << (count > 1 ? std::atoi(words[1]) : 28);
  rounds = count > 2 ? std::atoi(words[2]) : 11;
  check(cudaEventCreate(&started), "event");
  check(cudaEventCreate(&stopped), "event");
  int *in, *out;
  float *floats, *heavy;
  check(cudaMalloc(&in, elements * 4), "alloc");
  check(cudaMalloc(&out, elements * 4), "alloc");
  check(cudaMalloc(&floats, elements * 4), "alloc");
  check(cudaMalloc(&heavy, elements * 4), "alloc");
  count_up<<<4096, 256>>>(in, floats, elements);
  check(cudaDeviceSynchronize(), "filling");

  tell("copy", median_milliseconds([&] { cudaMemcpyAsync(out, in, elements * 4, cudaMemcpyDeviceToDevice); }));
  measure<Light>("single-stage", single_stage<Light>, out, in, 1);
  measure<Light>("staging", staging<Light>, out, in, 2);
  measure<Light>("staging-unified, 2 stages", unified<Light, 2>, out, in, 2);
  measure<Light>("staging-unified, 4 stages", unified<Light, 4>, out, in, 4);
  measure<Light>("specialized-staging, 2 stages", specialized<Light, 2>, out, in, 2, 128);
  measure<Light>("specialized-staging, 4 stages", specialized<Light, 4>, out, in, 4, 128);
  measure<Light>("staging-scope-thread, 2 stages", thread_scope<Light, 2>, out, in, 2);
  measure<Light>("staging-scope-thread, 4 stages", thread_scope<Light, 4>, out, in, 4);
  measure<Light>("plain loads", plain_loads<Light>, out, in, 1);
  measure<Light>("cp.async by hand, 4 stages", hand_cp_async<Light, 4>, out, in, 4);
  measure<Heavy>("heavy: plain loads", plain_loads<Heavy>, heavy, floats, 1);
  measure<Heavy>("heavy: cp.async by hand, 4 stages", hand_cp_async<Heavy, 4>, heavy, floats, 4);
  measure<Heavy>("heavy: staging-unified, 4 stages", unified<Heavy, 4>, heavy, floats, 4);
  std::printf("{%s}\n", report.c_str());
}
