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
  unsigned pipeline_head_9 = 0;
  unsigned pipeline_head_phase_10 = 0;
  unsigned pipeline_tail_12 = 0;
  unsigned pipeline_tail_phase_13 = 0;
  unsigned pipeline_bytes_15 = 0;
  bool copying_warp_16 = 0;
  bool elected_17 = 0;
  int first_of_warp_18 = 0;
  __shared__ ws_barrier m_pipeline_full_0[2];
  first_of_warp_18 = __shfl_sync(4294967295u, (int)ws_thread_rank, 0 & 31, 32);
  copying_warp_16 = (first_of_warp_18 == 0);
  pipeline_head_9 = 0u;
  pipeline_head_phase_10 = 0u;
  pipeline_tail_12 = 0u;
  pipeline_tail_phase_13 = 0u;
  __syncthreads();
  if (((int)ws_thread_rank == 0)) {
    ws_init(&m_pipeline_full_0[0], 1u);
    ws_init(&m_pipeline_full_0[1], 1u);
    ws_fence_async_shared();
  }
  __syncthreads();
  if ((subsetCount_3 == 0)) {
    return;
  }
  __syncthreads();
  pipeline_bytes_15 = (pipeline_bytes_15 + ((unsigned)256 * 4u));
  if (copying_warp_16) {
    elected_17 = ws_elect();
    if (elected_17) {
      ws_fence_async_shared();
      ws_bulk_copy(s_shared_0 + 0, g_global0_1 + 0, (unsigned)256 * 4u, &m_pipeline_full_0[(pipeline_head_9 % 2u)]);
    }
  }
  pipeline_bytes_15 = (pipeline_bytes_15 + ((unsigned)256 * 4u));
  if (copying_warp_16) {
    elected_17 = ws_elect();
    if (elected_17) {
      ws_bulk_copy(s_shared_0 + 256, g_global1_2 + 0, (unsigned)256 * 4u, &m_pipeline_full_0[(pipeline_head_9 % 2u)]);
      ws_arrive_expecting(&m_pipeline_full_0[(pipeline_head_9 % 2u)], pipeline_bytes_15);
    }
  }
  pipeline_bytes_15 = 0u;
  pipeline_head_9 = (pipeline_head_9 + 1u);
  if (((pipeline_head_9 % 2u) == 0u)) {
    pipeline_head_phase_10 = (pipeline_head_phase_10 ^ 1u);
  }
  subset_0 = 1;
  while ((subset_0 < subsetCount_3)) {
    subset_1 = subset_0;
    begin_2 = (int)((unsigned)subset_1 * (unsigned)256);
    __syncthreads();
    pipeline_bytes_15 = (pipeline_bytes_15 + ((unsigned)256 * 4u));
    if (copying_warp_16) {
      elected_17 = ws_elect();
      if (elected_17) {
        ws_fence_async_shared();
        ws_bulk_copy(s_shared_0 + (((int)((unsigned)subset_1 % (unsigned)2) * 2) * 256), g_global0_1 + begin_2, (unsigned)256 * 4u, &m_pipeline_full_0[(pipeline_head_9 % 2u)]);
      }
    }
    pipeline_bytes_15 = (pipeline_bytes_15 + ((unsigned)256 * 4u));
    if (copying_warp_16) {
      elected_17 = ws_elect();
      if (elected_17) {
        ws_bulk_copy(s_shared_0 + ((((int)((unsigned)subset_1 % (unsigned)2) * 2) * 256) + 256), g_global1_2 + begin_2, (unsigned)256 * 4u, &m_pipeline_full_0[(pipeline_head_9 % 2u)]);
        ws_arrive_expecting(&m_pipeline_full_0[(pipeline_head_9 % 2u)], pipeline_bytes_15);
      }
    }
    pipeline_bytes_15 = 0u;
    pipeline_head_9 = (pipeline_head_9 + 1u);
    if (((pipeline_head_9 % 2u) == 0u)) {
      pipeline_head_phase_10 = (pipeline_head_phase_10 ^ 1u);
    }
    subset_3 = (int)((unsigned)subset_0 - (unsigned)1);
    ws_wait_converged(&m_pipeline_full_0[(pipeline_tail_12 % 2u)], pipeline_tail_phase_13);
    out_4 = (int)((unsigned)subset_3 * (unsigned)256);
    staged_5 = (int)((unsigned)(int)((unsigned)(int)((unsigned)subset_3 % (unsigned)2) * (unsigned)2) * (unsigned)256);
    g_globalOut_0[(out_4 + (int)ws_thread_rank)] = (int)(int)((unsigned)((int)s_shared_0[(staged_5 + (int)ws_thread_rank)]) + (unsigned)(int)((unsigned)2 * (unsigned)((int)s_shared_0[(staged_5 + (256 + (int)ws_thread_rank))])));
    pipeline_tail_12 = (pipeline_tail_12 + 1u);
    if (((pipeline_tail_12 % 2u) == 0u)) {
      pipeline_tail_phase_13 = (pipeline_tail_phase_13 ^ 1u);
    }
    subset_0 = (int)((unsigned)subset_0 + (unsigned)1);
    if ((!(subset_0 < subsetCount_3))) {
      goto break_3;
    }
    subset_1 = subset_0;
    begin_2 = (int)((unsigned)subset_1 * (unsigned)256);
    __syncthreads();
    pipeline_bytes_15 = (pipeline_bytes_15 + ((unsigned)256 * 4u));
    if (copying_warp_16) {
      elected_17 = ws_elect();
      if (elected_17) {
        ws_fence_async_shared();
        ws_bulk_copy(s_shared_0 + (((int)((unsigned)subset_1 % (unsigned)2) * 2) * 256), g_global0_1 + begin_2, (unsigned)256 * 4u, &m_pipeline_full_0[(pipeline_head_9 % 2u)]);
      }
    }
    pipeline_bytes_15 = (pipeline_bytes_15 + ((unsigned)256 * 4u));
    if (copying_warp_16) {
      elected_17 = ws_elect();
      if (elected_17) {
        ws_bulk_copy(s_shared_0 + ((((int)((unsigned)subset_1 % (unsigned)2) * 2) * 256) + 256), g_global1_2 + begin_2, (unsigned)256 * 4u, &m_pipeline_full_0[(pipeline_head_9 % 2u)]);
        ws_arrive_expecting(&m_pipeline_full_0[(pipeline_head_9 % 2u)], pipeline_bytes_15);
      }
    }
    pipeline_bytes_15 = 0u;
    pipeline_head_9 = (pipeline_head_9 + 1u);
    if (((pipeline_head_9 % 2u) == 0u)) {
      pipeline_head_phase_10 = (pipeline_head_phase_10 ^ 1u);
    }
    subset_3 = (int)((unsigned)subset_0 - (unsigned)1);
    ws_wait_converged(&m_pipeline_full_0[(pipeline_tail_12 % 2u)], pipeline_tail_phase_13);
    out_4 = (int)((unsigned)subset_3 * (unsigned)256);
    staged_5 = (int)((unsigned)(int)((unsigned)(int)((unsigned)subset_3 % (unsigned)2) * (unsigned)2) * (unsigned)256);
    g_globalOut_0[(out_4 + (int)ws_thread_rank)] = (int)(int)((unsigned)((int)s_shared_0[(staged_5 + (int)ws_thread_rank)]) + (unsigned)(int)((unsigned)2 * (unsigned)((int)s_shared_0[(staged_5 + (256 + (int)ws_thread_rank))])));
    pipeline_tail_12 = (pipeline_tail_12 + 1u);
    if (((pipeline_tail_12 % 2u) == 0u)) {
      pipeline_tail_phase_13 = (pipeline_tail_phase_13 ^ 1u);
    }
    continue_3:;
    subset_0 = (int)((unsigned)subset_0 + (unsigned)1);
  }
  break_3:;
  subset_6 = (int)((unsigned)subsetCount_3 - (unsigned)1);
  ws_wait_converged(&m_pipeline_full_0[(pipeline_tail_12 % 2u)], pipeline_tail_phase_13);
  out_7 = (int)((unsigned)subset_6 * (unsigned)256);
  staged_8 = (int)((unsigned)(int)((unsigned)(subset_6 % 2) * (unsigned)2) * (unsigned)256);
  g_globalOut_0[(out_7 + (int)ws_thread_rank)] = (int)(int)((unsigned)((int)s_shared_0[(staged_8 + (int)ws_thread_rank)]) + (unsigned)(int)((unsigned)2 * (unsigned)((int)s_shared_0[(staged_8 + (256 + (int)ws_thread_rank))])));
  pipeline_tail_12 = (pipeline_tail_12 + 1u);
  if (((pipeline_tail_12 % 2u) == 0u)) {
    pipeline_tail_phase_13 = (pipeline_tail_phase_13 ^ 1u);
  }
}
