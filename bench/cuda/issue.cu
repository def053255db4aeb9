// What issuing the schedules of "How to Overlap Data Transfers in CUDA C/C++" costs in C++: copies in, kernels and
// copies out of 16 MiB over as many streams as the argument says, V1 (stream by stream) or V2 (step by step).
// Prints medians: {"V1": {"issue": microseconds an operation, "all": microseconds}, "V2": …}

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "measure.h"

__global__ void process(float* a, int offset) {
  int i = offset + blockIdx.x * blockDim.x + threadIdx.x;
  float x = i, s = sinf(x), c = cosf(x);
  a[i] += sqrtf(s * s + c * c);
}

int main(int count, char** arguments) {
  const int parts = count > 1 ? atoi(arguments[1]) : 64;
  const size_t elements = size_t(4) << 20, part = elements / parts;
  float *host, *back, *data;
  cudaHostAlloc(&host, 4 * elements, 0);
  cudaHostAlloc(&back, 4 * elements, 0);
  cudaMalloc(&data, 4 * elements);
  std::vector<cudaStream_t> streams(parts);
  for (auto& stream : streams) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  auto in = [&](int i) {
    cudaMemcpyAsync(data + i * part, host + i * part, 4 * part, cudaMemcpyHostToDevice, streams[i]);
  };
  auto kernel = [&](int i) { process<<<part / 256, 256, 0, streams[i]>>>(data, i * part); };
  auto out = [&](int i) {
    cudaMemcpyAsync(back + i * part, data + i * part, 4 * part, cudaMemcpyDeviceToHost, streams[i]);
  };
  std::vector<double> issue[2], all[2];
  for (int round = -50; round < 200; ++round) {
    for (int order = 0; order < 2; ++order) {
      double begin = now();
      if (order == 0) {
        for (int i = 0; i < parts; ++i) in(i), kernel(i), out(i);
      } else {
        for (int i = 0; i < parts; ++i) in(i);
        for (int i = 0; i < parts; ++i) kernel(i);
        for (int i = 0; i < parts; ++i) out(i);
      }
      double issued = now();
      cudaDeviceSynchronize();
      if (round < 0) continue;
      issue[order].push_back((issued - begin) / (3 * parts));
      all[order].push_back(now() - begin);
    }
  }
  printf("{\"V1\": {\"issue\": %.3f, \"all\": %.1f}, \"V2\": {\"issue\": %.3f, \"all\": %.1f}}\n", median(issue[0]),
         median(all[0]), median(issue[1]), median(all[1]));
  return cudaGetLastError();
}
