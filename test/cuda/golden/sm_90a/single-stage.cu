extern "C" __global__ void __launch_bounds__(256) kernel(int* g_globalOut_0, int g_globalOut_0_length, const int* g_globalIn_1, int g_globalIn_1_length, int batchCount_2) {
  const unsigned ws_thread_rank = threadIdx.x;
  extern __shared__ __align__(128) unsigned char ws_shared_memory[];
  int* const s_shared_0 = (int*)(ws_shared_memory + 0);
  const int s_shared_0_length = 256;
  int batch_0 = 0;
  int batch_1 = 0;
  int begin_2 = 0;
  const bool ws_copying_warp = __shfl_sync(0xffffffffu, ws_thread_rank, 0) == 0;
  unsigned p_pipeline_0_head = 0, p_pipeline_0_head_phase = 0; unsigned p_pipeline_0_tail = 0, p_pipeline_0_tail_phase = 0;
  unsigned p_pipeline_0_bytes = 0;
  __shared__ ws_barrier p_pipeline_0_full_all[1];
  ws_barrier* const p_pipeline_0_full = p_pipeline_0_full_all + 0 * 1;
  p_pipeline_0_head = 0; p_pipeline_0_head_phase = 0; p_pipeline_0_tail = 0; p_pipeline_0_tail_phase = 0;
  {
    __syncthreads();
    if (ws_thread_rank == 0) {
      for (int stage = 0; stage < 1; ++stage) {
        ws_init(&p_pipeline_0_full[stage], 1u);
      }
      ws_fence_async();
    }
    __syncthreads();
  }
  batch_0 = 0;
  while ((batch_0 < batchCount_2)) {
    batch_1 = batch_0;
    begin_2 = (int)((unsigned)(int)((unsigned)(int)blockIdx.x * (unsigned)256) + (unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)batch_1));
    __syncthreads();
    if (((int)((unsigned)batch_0 + (unsigned)3) < batchCount_2)) if (ws_copying_warp) if (ws_elect()) ws_prefetch(g_globalIn_1 + (((int)blockIdx.x * 256) + (int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)(int)((unsigned)batch_0 + (unsigned)3))), (unsigned)256 * 4u);
    if (ws_copying_warp) if (ws_elect()) { ws_fence_async(); ws_bulk_copy(s_shared_0 + 0, g_globalIn_1 + begin_2, (unsigned)256 * 4u, &p_pipeline_0_full[p_pipeline_0_head % 1]); }
    p_pipeline_0_bytes += (unsigned)256 * 4u;
    if (ws_copying_warp) if (ws_elect()) ws_arrive_expecting(&p_pipeline_0_full[p_pipeline_0_head % 1], p_pipeline_0_bytes);
    p_pipeline_0_bytes = 0;
    if (++p_pipeline_0_head % 1 == 0) p_pipeline_0_head_phase ^= 1;
    ws_wait_in_step(&p_pipeline_0_full[p_pipeline_0_tail % 1], p_pipeline_0_tail_phase);
    g_globalOut_0[(begin_2 + (int)ws_thread_rank)] = (int)(int)((unsigned)(int)((unsigned)((int)s_shared_0[(int)ws_thread_rank]) * (unsigned)3) + (unsigned)1);
    if (++p_pipeline_0_tail % 1 == 0) p_pipeline_0_tail_phase ^= 1;
    continue_0:;
    batch_0 = (int)((unsigned)batch_0 + (unsigned)1);
  }
  break_0:;
}
