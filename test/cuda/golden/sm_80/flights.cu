extern "C" __global__ void __launch_bounds__(256) kernel(const int* g_delay_0, int g_delay_0_length, const int* g_distance_1, int g_distance_1_length, int* g_counts_2, int g_counts_2_length, int* g_totals_3, int g_totals_3_length) {
  const unsigned ws_thread_rank = threadIdx.x;
  extern __shared__ __align__(128) unsigned char ws_shared_memory[];
  int* const s_blockCounts_0 = (int*)(ws_shared_memory + 0);
  const int s_blockCounts_0_length = 42;
  int* const s_blockTotals_1 = (int*)(ws_shared_memory + 256);
  const int s_blockTotals_1_length = 6;
  int t_0 = 0;
  int t_1 = 0;
  int i_2 = 0;
  int band_3 = 0;
  int minutes_4 = 0;
  int bin_5 = 0;
  int t_6 = 0;
  int t_7 = 0;
  t_0 = (int)ws_thread_rank;
  while ((t_0 < s_blockCounts_0_length)) {
    s_blockCounts_0[t_0] = (int)0;
    continue_0:;
    t_0 = (int)((unsigned)t_0 + (unsigned)256);
  }
  break_0:;
  t_1 = (int)ws_thread_rank;
  while ((t_1 < s_blockTotals_1_length)) {
    s_blockTotals_1[t_1] = (int)0;
    continue_1:;
    t_1 = (int)((unsigned)t_1 + (unsigned)256);
  }
  break_1:;
  __syncthreads();
  i_2 = (int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)blockIdx.z * (unsigned)(int)gridDim.y) + (unsigned)(int)blockIdx.y) * (unsigned)(int)gridDim.x) + (unsigned)(int)blockIdx.x) * (unsigned)256) + (unsigned)(int)ws_thread_rank);
  while ((i_2 < g_delay_0_length)) {
    band_3 = ws_min((((int)g_distance_1[i_2]) / 100), 5);
    minutes_4 = ws_max(((int)g_delay_0[i_2]), 0);
    bin_5 = ws_min((minutes_4 / 5), 6);
    atomicAdd(&s_blockCounts_0[((band_3 * 7) + bin_5)], 1);
    atomicAdd(&s_blockTotals_1[band_3], ((int)g_delay_0[i_2]));
    continue_2:;
    i_2 = (int)((unsigned)i_2 + (unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256));
  }
  break_2:;
  __syncthreads();
  t_6 = (int)ws_thread_rank;
  while ((t_6 < g_counts_2_length)) {
    atomicAdd(&g_counts_2[t_6], ((int)s_blockCounts_0[t_6]));
    continue_3:;
    t_6 = (int)((unsigned)t_6 + (unsigned)256);
  }
  break_3:;
  t_7 = (int)ws_thread_rank;
  while ((t_7 < g_totals_3_length)) {
    atomicAdd(&g_totals_3[t_7], ((int)s_blockTotals_1[t_7]));
    continue_4:;
    t_7 = (int)((unsigned)t_7 + (unsigned)256);
  }
  break_4:;
}
