extern "C" __global__ void __launch_bounds__(256) kernel(int* g_globalOut_0, int g_globalOut_0_length, const int* g_global0_1, int g_global0_1_length, const int* g_global1_2, int g_global1_2_length, int subsetCount_3) {
  const unsigned ws_thread_rank = threadIdx.x;
  extern __shared__ __align__(128) unsigned char ws_shared_memory[];
  int* const s_shared_0 = (int*)(ws_shared_memory + 0);
  const int s_shared_0_length = 1024;
  int subset_0 = 0;
  int subset_1 = 0;
  int begin_2 = 0;
  int subset_3 = 0;
  int out_4 = 0;
  int staged_5 = 0;
  int subset_6 = 0;
  int out_7 = 0;
  int staged_8 = 0;
  unsigned pipeline_filled_9 = 0;
  pipeline_filled_9 = 0u;
  __syncthreads();
  if ((subsetCount_3 == 0)) {
    return;
  }
  __syncthreads();
  ws_copy_async<16>(s_shared_0 + 0, g_global0_1 + 0, (unsigned long long)256 * 4u, ws_thread_rank, 256u);
  ws_copy_async<16>(s_shared_0 + 256, g_global1_2 + 0, (unsigned long long)256 * 4u, ws_thread_rank, 256u);
  ws_commit();
  pipeline_filled_9 = (pipeline_filled_9 + 1u);
  subset_0 = 1;
  while ((subset_0 < subsetCount_3)) {
    subset_1 = subset_0;
    begin_2 = (int)((unsigned)subset_1 * (unsigned)256);
    __syncthreads();
    ws_copy_async<16>(s_shared_0 + (((int)((unsigned)subset_1 % (unsigned)2) * 2) * 256), g_global0_1 + begin_2, (unsigned long long)256 * 4u, ws_thread_rank, 256u);
    ws_copy_async<16>(s_shared_0 + ((((int)((unsigned)subset_1 % (unsigned)2) * 2) * 256) + 256), g_global1_2 + begin_2, (unsigned long long)256 * 4u, ws_thread_rank, 256u);
    ws_commit();
    pipeline_filled_9 = (pipeline_filled_9 + 1u);
    subset_3 = (int)((unsigned)subset_0 - (unsigned)1);
    ws_wait_groups<1>((pipeline_filled_9 - 1u));
    __syncthreads();
    out_4 = (int)((unsigned)subset_3 * (unsigned)256);
    staged_5 = (int)((unsigned)(int)((unsigned)(int)((unsigned)subset_3 % (unsigned)2) * (unsigned)2) * (unsigned)256);
    g_globalOut_0[(out_4 + (int)ws_thread_rank)] = (int)(int)((unsigned)((int)s_shared_0[(staged_5 + (int)ws_thread_rank)]) + (unsigned)(int)((unsigned)2 * (unsigned)((int)s_shared_0[(staged_5 + (256 + (int)ws_thread_rank))])));
    pipeline_filled_9 = (pipeline_filled_9 - 1u);
    subset_0 = (int)((unsigned)subset_0 + (unsigned)1);
    if ((!(subset_0 < subsetCount_3))) {
      goto break_3;
    }
    subset_1 = subset_0;
    begin_2 = (int)((unsigned)subset_1 * (unsigned)256);
    __syncthreads();
    ws_copy_async<16>(s_shared_0 + (((int)((unsigned)subset_1 % (unsigned)2) * 2) * 256), g_global0_1 + begin_2, (unsigned long long)256 * 4u, ws_thread_rank, 256u);
    ws_copy_async<16>(s_shared_0 + ((((int)((unsigned)subset_1 % (unsigned)2) * 2) * 256) + 256), g_global1_2 + begin_2, (unsigned long long)256 * 4u, ws_thread_rank, 256u);
    ws_commit();
    pipeline_filled_9 = (pipeline_filled_9 + 1u);
    subset_3 = (int)((unsigned)subset_0 - (unsigned)1);
    ws_wait_groups<1>((pipeline_filled_9 - 1u));
    __syncthreads();
    out_4 = (int)((unsigned)subset_3 * (unsigned)256);
    staged_5 = (int)((unsigned)(int)((unsigned)(int)((unsigned)subset_3 % (unsigned)2) * (unsigned)2) * (unsigned)256);
    g_globalOut_0[(out_4 + (int)ws_thread_rank)] = (int)(int)((unsigned)((int)s_shared_0[(staged_5 + (int)ws_thread_rank)]) + (unsigned)(int)((unsigned)2 * (unsigned)((int)s_shared_0[(staged_5 + (256 + (int)ws_thread_rank))])));
    pipeline_filled_9 = (pipeline_filled_9 - 1u);
    continue_3:;
    subset_0 = (int)((unsigned)subset_0 + (unsigned)1);
  }
  break_3:;
  subset_6 = (int)((unsigned)subsetCount_3 - (unsigned)1);
  ws_wait_groups<1>((pipeline_filled_9 - 1u));
  __syncthreads();
  out_7 = (int)((unsigned)subset_6 * (unsigned)256);
  staged_8 = (int)((unsigned)(int)((unsigned)(subset_6 % 2) * (unsigned)2) * (unsigned)256);
  g_globalOut_0[(out_7 + (int)ws_thread_rank)] = (int)(int)((unsigned)((int)s_shared_0[(staged_8 + (int)ws_thread_rank)]) + (unsigned)(int)((unsigned)2 * (unsigned)((int)s_shared_0[(staged_8 + (256 + (int)ws_thread_rank))])));
  pipeline_filled_9 = (pipeline_filled_9 - 1u);
  ws_finish_copies();
}
