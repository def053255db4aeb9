// A job in page-locked memory over 1, 2, 4, … GPUs in C++: chunks of 16 MiB go in, through a kernel,
// and out; each GPU has a thread, which takes the next chunk as soon as one of its three streams is
// free. Two kernels: one that leaves the copies to bind, and one of a chain of multiplications and
// additions that binds itself.
//
//   multi <GiB> <rounds of the chain> <GPUs at most>
//
// Prints the median seconds of several runs: {"copies": {"1": …, "2": …}, "kernel": {…}}

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

static void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  exit(1);
}

__global__ void chain(float* y, const float* x, float a, float b, int rounds, long long n) {
  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i >= n) return;
  float value = x[i];
  for (int round = 0; round < rounds; ++round) value = a * value + b;
  y[i] = value;
}

constexpr int depth = 3;
constexpr long long chunk = 4 << 20;

struct Lane {
  cudaStream_t stream;
  float *x, *y;
};

struct Worker {
  int gpu;
  Lane lanes[depth];
};

static Worker makeWorker(int gpu) {
  Worker worker{gpu, {}};
  check(cudaSetDevice(gpu), "choosing a GPU");
  for (Lane& lane : worker.lanes) {
    check(cudaStreamCreateWithFlags(&lane.stream, cudaStreamNonBlocking), "creating a stream");
    check(cudaMalloc(&lane.x, 4 * chunk), "allocating");
    check(cudaMalloc(&lane.y, 4 * chunk), "allocating");
  }
  return worker;
}

static double seconds(std::vector<Worker>& workers, int gpus, float* out, const float* in, long long elements,
                      int rounds) {
  auto begin = std::chrono::steady_clock::now();
  std::atomic<long long> next{0};
  std::vector<std::thread> threads;
  for (int gpu = 0; gpu < gpus; ++gpu) {
    threads.emplace_back([&, gpu] {
      check(cudaSetDevice(gpu), "choosing a GPU");
      for (int turn = 0;; turn = (turn + 1) % depth) {
        Lane& lane = workers[gpu].lanes[turn];
        check(cudaStreamSynchronize(lane.stream), "waiting");
        long long at = next.fetch_add(chunk);
        if (at >= elements) break;
        long long n = std::min(chunk, elements - at);
        check(cudaMemcpyAsync(lane.x, in + at, 4 * n, cudaMemcpyHostToDevice, lane.stream), "copying in");
        chain<<<(unsigned)((n + 255) / 256), 256, 0, lane.stream>>>(lane.y, lane.x, 0.5f, 1.f, rounds, n);
        check(cudaGetLastError(), "launching");
        check(cudaMemcpyAsync(out + at, lane.y, 4 * n, cudaMemcpyDeviceToHost, lane.stream), "copying out");
      }
      for (Lane& lane : workers[gpu].lanes) check(cudaStreamSynchronize(lane.stream), "waiting");
    });
  }
  for (auto& thread : threads) thread.join();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

int main(int count, char** arguments) {
  double gib = count > 1 ? atof(arguments[1]) : 2;
  int rounds = count > 2 ? atoi(arguments[2]) : 8192;
  int gpus;
  check(cudaGetDeviceCount(&gpus), "counting the GPUs");
  if (count > 3) gpus = std::min(gpus, atoi(arguments[3]));
  long long elements = (long long)(gib * (1 << 28));
  std::vector<Worker> workers;
  for (int gpu = 0; gpu < gpus; ++gpu) workers.push_back(makeWorker(gpu));
  float *in, *out;
  check(cudaHostAlloc(&in, 4 * elements, cudaHostAllocPortable), "locking memory");
  check(cudaHostAlloc(&out, 4 * elements, cudaHostAllocPortable), "locking memory");
  std::fill(in, in + elements, 1.f);
  printf("{");
  for (bool copies : {true, false}) {
    printf("%s\"%s\": {", copies ? "" : ", ", copies ? "copies" : "kernel");
    for (int used = 1; used <= gpus; used *= 2) {
      std::vector<double> times;
      for (int run = -1; run < 5; ++run) {
        double time = seconds(workers, used, out, in, elements, copies ? 1 : rounds);
        if (run >= 0) times.push_back(time);
      }
      std::sort(times.begin(), times.end());
      printf("%s\"%d\": %.6f", used == 1 ? "" : ", ", used, times[times.size() / 2]);
    }
    printf("}");
  }
  printf("}\n");
  return 0;
}
