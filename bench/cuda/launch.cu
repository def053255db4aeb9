// What a launch costs in C++: the driver's call alone, and with a synchronisation behind it.
// Prints microseconds, medians of many rounds: {"issue": …, "wait": …}

#include <cstdio>
#include <vector>

#include "measure.h"

__global__ void scale(float* y, const float* x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + 1;
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 1024);
  cudaMalloc(&y, 1024);
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  scale<<<1, 256, 0, stream>>>(y, x, 2, 256);
  cudaStreamSynchronize(stream);
  std::vector<double> issue, wait;
  for (int round = 0; round < 20; ++round) {
    double begin = now();
    for (int i = 0; i < 500; ++i) scale<<<1, 256, 0, stream>>>(y, x, 2, 256);
    issue.push_back((now() - begin) / 500);
    cudaStreamSynchronize(stream);
    for (int i = 0; i < 50; ++i) {
      begin = now();
      scale<<<1, 256, 0, stream>>>(y, x, 2, 256);
      cudaStreamSynchronize(stream);
      wait.push_back(now() - begin);
    }
  }
  printf("{\"issue\": %.3f, \"wait\": %.3f}\n", median(issue), median(wait));
  return cudaGetLastError();
}
