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
  const bool ws_copying_warp = __shfl_sync(0xffffffffu, ws_thread_rank, 0) == 0;
  unsigned p_pipeline_0_head = 0, p_pipeline_0_head_phase = 0; unsigned p_pipeline_0_tail = 0, p_pipeline_0_tail_phase = 0;
  unsigned p_pipeline_0_bytes = 0;
  __shared__ ws_barrier p_pipeline_0_full_all[2];
  ws_barrier* const p_pipeline_0_full = p_pipeline_0_full_all + 0 * 2;
  p_pipeline_0_head = 0; p_pipeline_0_head_phase = 0; p_pipeline_0_tail = 0; p_pipeline_0_tail_phase = 0;
  {
    __syncthreads();
    if (ws_thread_rank == 0) {
      for (int stage = 0; stage < 2; ++stage) {
        ws_init(&p_pipeline_0_full[stage], 1u);
      }
      ws_fence_async();
    }
    __syncthreads();
  }
  if ((subsetCount_3 == 0)) {
    return;
  }
  __syncthreads();
  if (ws_copying_warp) if (ws_elect()) { ws_fence_async(); ws_bulk_copy(s_shared_0 + 0, g_global0_1 + 0, (unsigned)256 * 4u, &p_pipeline_0_full[p_pipeline_0_head % 2]); }
  p_pipeline_0_bytes += (unsigned)256 * 4u;
  if (ws_copying_warp) if (ws_elect()) ws_bulk_copy(s_shared_0 + 256, g_global1_2 + 0, (unsigned)256 * 4u, &p_pipeline_0_full[p_pipeline_0_head % 2]);
  p_pipeline_0_bytes += (unsigned)256 * 4u;
  if (ws_copying_warp) if (ws_elect()) ws_arrive_expecting(&p_pipeline_0_full[p_pipeline_0_head % 2], p_pipeline_0_bytes);
  p_pipeline_0_bytes = 0;
  if (++p_pipeline_0_head % 2 == 0) p_pipeline_0_head_phase ^= 1;
  subset_0 = 1;
  while ((subset_0 < subsetCount_3)) {
    subset_1 = subset_0;
    begin_2 = (int)((unsigned)subset_1 * (unsigned)256);
    __syncthreads();
    if (ws_copying_warp) if (ws_elect()) { ws_fence_async(); ws_bulk_copy(s_shared_0 + (((int)((unsigned)subset_1 % (unsigned)2) * 2) * 256), g_global0_1 + begin_2, (unsigned)256 * 4u, &p_pipeline_0_full[p_pipeline_0_head % 2]); }
    p_pipeline_0_bytes += (unsigned)256 * 4u;
    if (ws_copying_warp) if (ws_elect()) ws_bulk_copy(s_shared_0 + ((((int)((unsigned)subset_1 % (unsigned)2) * 2) * 256) + 256), g_global1_2 + begin_2, (unsigned)256 * 4u, &p_pipeline_0_full[p_pipeline_0_head % 2]);
    p_pipeline_0_bytes += (unsigned)256 * 4u;
    if (ws_copying_warp) if (ws_elect()) ws_arrive_expecting(&p_pipeline_0_full[p_pipeline_0_head % 2], p_pipeline_0_bytes);
    p_pipeline_0_bytes = 0;
    if (++p_pipeline_0_head % 2 == 0) p_pipeline_0_head_phase ^= 1;
    subset_3 = (int)((unsigned)subset_0 - (unsigned)1);
    ws_wait_in_step(&p_pipeline_0_full[p_pipeline_0_tail % 2], p_pipeline_0_tail_phase);
    out_4 = (int)((unsigned)subset_3 * (unsigned)256);
    staged_5 = (int)((unsigned)(int)((unsigned)(int)((unsigned)subset_3 % (unsigned)2) * (unsigned)2) * (unsigned)256);
    g_globalOut_0[(out_4 + (int)ws_thread_rank)] = (int)(int)((unsigned)((int)s_shared_0[(staged_5 + (int)ws_thread_rank)]) + (unsigned)(int)((unsigned)2 * (unsigned)((int)s_shared_0[(staged_5 + (256 + (int)ws_thread_rank))])));
    if (++p_pipeline_0_tail % 2 == 0) p_pipeline_0_tail_phase ^= 1;
    subset_0 = (int)((unsigned)subset_0 + (unsigned)1);
    if ((!(subset_0 < subsetCount_3))) {
      goto break_3;
    }
    subset_1 = subset_0;
    begin_2 = (int)((unsigned)subset_1 * (unsigned)256);
    __syncthreads();
    if (ws_copying_warp) if (ws_elect()) { ws_fence_async(); ws_bulk_copy(s_shared_0 + (((int)((unsigned)subset_1 % (unsigned)2) * 2) * 256), g_global0_1 + begin_2, (unsigned)256 * 4u, &p_pipeline_0_full[p_pipeline_0_head % 2]); }
    p_pipeline_0_bytes += (unsigned)256 * 4u;
    if (ws_copying_warp) if (ws_elect()) ws_bulk_copy(s_shared_0 + ((((int)((unsigned)subset_1 % (unsigned)2) * 2) * 256) + 256), g_global1_2 + begin_2, (unsigned)256 * 4u, &p_pipeline_0_full[p_pipeline_0_head % 2]);
    p_pipeline_0_bytes += (unsigned)256 * 4u;
    if (ws_copying_warp) if (ws_elect()) ws_arrive_expecting(&p_pipeline_0_full[p_pipeline_0_head % 2], p_pipeline_0_bytes);
    p_pipeline_0_bytes = 0;
    if (++p_pipeline_0_head % 2 == 0) p_pipeline_0_head_phase ^= 1;
    subset_3 = (int)((unsigned)subset_0 - (unsigned)1);
    ws_wait_in_step(&p_pipeline_0_full[p_pipeline_0_tail % 2], p_pipeline_0_tail_phase);
    out_4 = (int)((unsigned)subset_3 * (unsigned)256);
    staged_5 = (int)((unsigned)(int)((unsigned)(int)((unsigned)subset_3 % (unsigned)2) * (unsigned)2) * (unsigned)256);
    g_globalOut_0[(out_4 + (int)ws_thread_rank)] = (int)(int)((unsigned)((int)s_shared_0[(staged_5 + (int)ws_thread_rank)]) + (unsigned)(int)((unsigned)2 * (unsigned)((int)s_shared_0[(staged_5 + (256 + (int)ws_thread_rank))])));
    if (++p_pipeline_0_tail % 2 == 0) p_pipeline_0_tail_phase ^= 1;
    continue_3:;
    subset_0 = (int)((unsigned)subset_0 + (unsigned)1);
  }
  break_3:;
  subset_6 = (int)((unsigned)subsetCount_3 - (unsigned)1);
  ws_wait_in_step(&p_pipeline_0_full[p_pipeline_0_tail % 2], p_pipeline_0_tail_phase);
  out_7 = (int)((unsigned)subset_6 * (unsigned)256);
  staged_8 = (int)((unsigned)(int)((unsigned)(subset_6 % 2) * (unsigned)2) * (unsigned)256);
  g_globalOut_0[(out_7 + (int)ws_thread_rank)] = (int)(int)((unsigned)((int)s_shared_0[(staged_8 + (int)ws_thread_rank)]) + (unsigned)(int)((unsigned)2 * (unsigned)((int)s_shared_0[(staged_8 + (256 + (int)ws_thread_rank))])));
  if (++p_pipeline_0_tail % 2 == 0) p_pipeline_0_tail_phase ^= 1;
}
