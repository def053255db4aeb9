// Schedules of streams and events in C++: rings of buffers, forks and joins, gathers, chains of events, graphs, and many
// small launches. scripts/schedules-on-gpu.mjs has the same by warpstage.
//
// Reads lines: "check NAME" runs a schedule and compares what it leaves, answered by "right" or "wrong at ELEMENT"; "run NAME"
// answers with the milliseconds between two events around it, and those of the host until all is done.

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "measure.h"

static void check(cudaError_t error, int line) {
  if (error == cudaSuccess) return;
  fprintf(stderr, "schedules.cu:%d: %s\n", line, cudaGetErrorString(error));
  exit(1);
}
#define CHECK(call) check(call, __LINE__)

__global__ void scale(float* y, const float* x, float a) {
  size_t i = threadIdx.x + size_t(blockIdx.x) * blockDim.x;
  y[i] = a * x[i] + 1;
}
__global__ void scaleFrom(float* y, const float* x, float a, size_t begin) {
  size_t i = begin + threadIdx.x + size_t(blockIdx.x) * blockDim.x;
  y[i] = a * x[i] + 1;
}

static const size_t MiB = 1 << 20, elements = 256 * MiB / 4;
static const int block = 256, small = 16 * block;
static float *in, *out, *x, *y;
static std::vector<cudaStream_t> streams(20);
static std::vector<cudaEvent_t> untimed(64), timed(64);

static void toDevice(size_t at, size_t count, cudaStream_t stream) {
  CHECK(cudaMemcpyAsync(x + at, in + at, 4 * count, cudaMemcpyHostToDevice, stream));
}
static void toHost(size_t at, size_t count, cudaStream_t stream) {
  CHECK(cudaMemcpyAsync(out + at, y + at, 4 * count, cudaMemcpyDeviceToHost, stream));
}
static void kernel(size_t at, size_t count, cudaStream_t stream) {
  scale<<<count / block, block, 0, stream>>>(y + at, x + at, 3);
}
static void record(cudaEvent_t event, int stream) { CHECK(cudaEventRecord(event, streams[stream])); }
static void wait(int stream, cudaEvent_t event) { CHECK(cudaStreamWaitEvent(streams[stream], event, 0)); }

// Chunks through `depth` buffers: one stream copies in, one computes, one copies out, ordered by events.
static void ring(size_t bytes, int chunks, int depth, const std::vector<cudaEvent_t>& events) {
  size_t count = bytes / 4 / chunks;
  for (int chunk = 0; chunk < chunks; ++chunk) {
    int slot = chunk % depth;
    size_t at = slot * count;
    if (chunk >= depth) wait(0, events[2 * depth + slot]);
    toDevice(at, count, streams[0]);
    record(events[slot], 0);
    wait(1, events[slot]);
    kernel(at, count, streams[1]);
    record(events[depth + slot], 1);
    wait(2, events[depth + slot]);
    toHost(at, count, streams[2]);
    record(events[2 * depth + slot], 2);
  }
}

// A copy in, kernels on its parts in 8 streams, a copy out behind them all.
static void forkJoin(int turns) {
  const size_t count = 16 * MiB / 4, part = count / 8;
  for (int turn = 0; turn < turns; ++turn) {
    toDevice(0, count, streams[0]);
    record(untimed[0], 0);
    for (int s = 1; s <= 8; ++s) {
      wait(s, untimed[0]);
      kernel((s - 1) * part, part, streams[s]);
      record(untimed[s], s);
    }
    for (int s = 1; s <= 8; ++s) wait(0, untimed[s]);
    toHost(0, count, streams[0]);
  }
}

// 16 streams copy a part in and compute with it; another gathers what they have done, and they wait for that.
static void gather(int turns) {
  const size_t part = MiB / 4;
  for (int turn = 0; turn < turns; ++turn) {
    for (int s = 0; s < 16; ++s) {
      if (turn > 0) wait(s, untimed[16]);
      toDevice(s * part, part, streams[s]);
      kernel(s * part, part, streams[s]);
      record(untimed[s], s);
    }
    for (int s = 0; s < 16; ++s) wait(16, untimed[s]);
    toHost(0, 16 * part, streams[16]);
    record(untimed[16], 16);
  }
}

// Small kernels, each in the next of 16 streams, behind the one before it.
static void chain(int links) {
  for (int link = 0; link < links; ++link) {
    int stream = link % 16;
    if (link > 0) wait(stream, untimed[(link - 1) % 16]);
    kernel(0, small, streams[stream]);
    record(untimed[stream], stream);
  }
}

static void forked(int kernels) {
  record(untimed[0], 0);
  for (int s = 1; s <= 4; ++s) {
    wait(s, untimed[0]);
    for (int k = 0; k < kernels; ++k) kernel((s - 1) * small, small, streams[s]);
    record(untimed[s], s);
    wait(0, untimed[s]);
  }
}

static void graph(int launches) {
  static cudaGraphExec_t made = nullptr;
  if (made == nullptr) {
    cudaGraph_t captured;
    CHECK(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeRelaxed));
    forked(8);
    CHECK(cudaStreamEndCapture(streams[0], &captured));
    CHECK(cudaGraphInstantiate(&made, captured, 0));
  }
  for (int launch = 0; launch < launches; ++launch) CHECK(cudaGraphLaunch(made, streams[0]));
}

static void launches(int count, const std::function<void(int)>& launch) {
  for (int i = 0; i < count; ++i) launch(i);
}

struct Schedule {
  std::function<void()> issue;
  // What it leaves is 3 * in + 1 in so many elements, of the host or else of the GPU.
  size_t count;
  bool onHost;
};

int main() {
  CHECK(cudaMallocHost(&in, 4 * elements));
  CHECK(cudaMallocHost(&out, 4 * elements));
  CHECK(cudaMalloc(&x, 4 * elements));
  CHECK(cudaMalloc(&y, 4 * elements));
  for (size_t i = 0; i < elements; ++i) in[i] = i % 1021, out[i] = 0;
  for (auto& stream : streams) CHECK(cudaStreamCreate(&stream));
  for (auto& event : untimed) CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  for (auto& event : timed) CHECK(cudaEventCreate(&event));
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  auto at = [](int i) { return size_t(i % 64) * small; };
  auto fewOf = [&](size_t begin) { kernel(begin, small, streams[0]); };
  std::map<std::string, Schedule> schedules = {
      {"ring-2", {[] { ring(1024 * MiB, 64, 2, untimed); }, 2 * 4 * MiB, true}},
      {"ring-3", {[] { ring(1024 * MiB, 64, 3, untimed); }, 3 * 4 * MiB, true}},
      {"ring-6", {[] { ring(1024 * MiB, 64, 6, untimed); }, 6 * 4 * MiB, true}},
      {"ring-2-small", {[] { ring(256 * MiB, 256, 2, untimed); }, 2 * MiB / 4, true}},
      {"ring-6-small", {[] { ring(256 * MiB, 256, 6, untimed); }, 6 * MiB / 4, true}},
      {"ring-6-timed", {[] { ring(256 * MiB, 256, 6, timed); }, 6 * MiB / 4, true}},
      {"fork-join", {[] { forkJoin(20); }, 4 * MiB, true}},
      {"gather", {[] { gather(20); }, 16 * MiB / 4, true}},
      {"chain", {[] { chain(1000); }, size_t(small), false}},
      {"graph", {[] { graph(50); }, size_t(4 * small), false}},
      {"launches", {[&] { launches(1000, [&](int) { fewOf(0); }); }, size_t(small), false}},
      {"launches-scalars",
       {[&] {
          launches(1000, [&](int i) {
            // The last 64 leave what is compared.
            scaleFrom<<<small / block, block, 0, streams[0]>>>(y, x, 3 + (999 - i) / 64, at(i));
          });
        },
        size_t(64 * small), false}},
      {"launches-offsets", {[&] { launches(1000, [&](int i) { fewOf(at(i)); }); }, size_t(64 * small), false}},
      {"launches-1000-offsets",
       {[&] { launches(1000, [&](int i) { fewOf(size_t(i) * small); }); }, size_t(1000 * small), false}},
      {"launches-8-streams",
       {[&] { launches(1000, [&](int i) { kernel(at(i), small, streams[i % 8]); }); }, size_t(64 * small), false}},
  };
  CHECK(cudaMemcpy(x, in, 4 * elements, cudaMemcpyHostToDevice));
  std::string what, name;
  while (std::cin >> what >> name) {
    auto& schedule = schedules.at(name);
    if (what == "run") {
      double begin = now();
      CHECK(cudaEventRecord(start, 0));
      schedule.issue();
      CHECK(cudaEventRecord(stop, 0));
      CHECK(cudaDeviceSynchronize());
      double end = now();
      float milliseconds;
      CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
      printf("%.4f %.4f\n", milliseconds, (end - begin) / 1000);
    } else {
      CHECK(cudaMemset(y, 0, 4 * elements));
      for (size_t i = 0; i < elements; ++i) out[i] = 0;
      schedule.issue();
      CHECK(cudaDeviceSynchronize());
      if (!schedule.onHost) CHECK(cudaMemcpy(out, y, 4 * elements, cudaMemcpyDeviceToHost));
      long wrong = -1;
      for (size_t i = 0; i < schedule.count && wrong < 0; ++i)
        if (out[i] != 3 * in[i] + 1) wrong = i;
      if (wrong < 0) printf("right\n");
      else printf("wrong at %ld\n", wrong);
    }
    fflush(stdout);
  }
  return cudaGetLastError();
}
