extern "C" __global__ void __launch_bounds__(256) kernel(const float* g_x_0, int g_x_0_length, double* g_sums_1, int g_sums_1_length, double* g_squares_2, int g_squares_2_length) {
  const unsigned ws_thread_rank = threadIdx.x;
  extern __shared__ __align__(128) unsigned char ws_shared_memory[];
  double* const s_partial_0 = (double*)(ws_shared_memory + 0);
  const int s_partial_0_length = 512;
  double sum_0 = 0;
  double square_1 = 0;
  int i_2 = 0;
  double value_3 = 0;
  int half_4 = 0;
  sum_0 = 0.0;
  square_1 = 0.0;
  i_2 = (int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)blockIdx.z * (unsigned)(int)gridDim.y) + (unsigned)(int)blockIdx.y) * (unsigned)(int)gridDim.x) + (unsigned)(int)blockIdx.x) * (unsigned)256) + (unsigned)(int)ws_thread_rank);
  while ((i_2 < g_x_0_length)) {
    value_3 = (double)((float)g_x_0[i_2]);
    sum_0 = (sum_0 + value_3);
    square_1 = (square_1 + (value_3 * value_3));
    continue_0:;
    i_2 = (int)((unsigned)i_2 + (unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256));
  }
  break_0:;
  s_partial_0[(int)ws_thread_rank] = (double)sum_0;
  s_partial_0[((int)ws_thread_rank + 256)] = (double)square_1;
  __syncthreads();
  half_4 = 128;
  while ((half_4 > 0)) {
    if (((int)ws_thread_rank < half_4)) {
      s_partial_0[(int)ws_thread_rank] = (double)(((double)s_partial_0[(int)ws_thread_rank]) + ((double)s_partial_0[((int)ws_thread_rank + half_4)]));
      s_partial_0[((int)ws_thread_rank + 256)] = (double)(((double)s_partial_0[((int)ws_thread_rank + 256)]) + ((double)s_partial_0[(((int)ws_thread_rank + half_4) + 256)]));
    }
    __syncthreads();
    continue_1:;
    half_4 = (half_4 >> ((int)1 & 31));
  }
  break_1:;
  if (((int)ws_thread_rank == 0)) {
    g_sums_1[(int)blockIdx.x] = (double)(((double)g_sums_1[(int)blockIdx.x]) + ((double)s_partial_0[0]));
    g_squares_2[(int)blockIdx.x] = (double)(((double)g_squares_2[(int)blockIdx.x]) + ((double)s_partial_0[256]));
  }
}
