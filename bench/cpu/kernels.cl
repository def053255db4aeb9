// The works w1 to w5 in OpenCL, as a user of OpenCL writes them: staged through local memory, each with a barrier.

#define STAGED(name, type, compute)                                                                     \
  __kernel __attribute__((reqd_work_group_size(256, 1, 1))) void name(__global const type* restrict in, \
                                                                      __global type* restrict out, int batches) { \
    __local type stage[256];                                                                            \
    const int t = get_local_id(0);                                                                      \
    for (int batch = 0; batch < batches; ++batch) {                                                     \
      const size_t first = ((size_t)batch * get_num_groups(0) + get_group_id(0)) * 256;                 \
      event_t copied = async_work_group_copy(stage, in + first, 256, 0);                                \
      wait_group_events(1, &copied);                                                                    \
      type x = stage[t];                                                                                \
      compute;                                                                                          \
      out[first + t] = x;                                                                               \
      barrier(CLK_LOCAL_MEM_FENCE);                                                                     \
    }                                                                                                   \
  }

STAGED(w1, int, x = x * 3 + 1)
STAGED(w2, float, for (int step = 0; step < 64; ++step) x = x * 0.999f + 0.001f)

/// Without staging.
__kernel void w1_direct(__global const int* restrict in, __global int* restrict out, int batches) {
  const size_t i = get_global_id(0);
  out[i] = in[i] * 3 + 1;
}

__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void w3(__global const float* restrict in,
                                                                  __global float* restrict out, int unused) {
  __local float stage[272];
  const int t = get_local_id(0);
  const size_t first = get_group_id(0) * 256;
  event_t copied = async_work_group_copy(stage, in + first, 272, 0);
  wait_group_events(1, &copied);
  float sum = 0;
  for (int k = 0; k <= 16; ++k) sum += stage[t + k];
  out[first + t] = sum;
}

__kernel __attribute__((reqd_work_group_size(16, 16, 1))) void w4(__global const float* restrict in,
                                                                  __global float* restrict out, int n) {
  __local float left[16][16], right[16][16];
  const int x = get_local_id(0), y = get_local_id(1), row = get_global_id(1), column = get_global_id(0);
  float sum = 0;
  for (int step = 0; step < n; step += 16) {
    left[y][x] = in[row * n + step + x];
    right[y][x] = in[n * n + (step + y) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 16; ++k) sum += left[y][k] * right[k][x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[row * n + column] = sum;
}

__kernel void w5(__global const uint* restrict in, __global int* restrict out, int unused) {
  const size_t i = get_global_id(0);
  uint x = in[i];
  int steps = 0;
  while (x > 1 && steps < 1000) {
    x = x & 1 ? 3 * x + 1 : x >> 1;
    ++steps;
  }
  out[i] = steps;
}
