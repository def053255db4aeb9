extern "C" __global__ void __launch_bounds__(256) kernel(int* g_globalOut_0, int g_globalOut_0_length, const int* g_globalIn_1, int g_globalIn_1_length, int batchCount_2) {
  const unsigned ws_thread_rank = threadIdx.x;
  extern __shared__ __align__(128) unsigned char ws_shared_memory[];
  int* const s_shared_0 = (int*)(ws_shared_memory + 0);
  const int s_shared_0_length = 1024;
  int computeBatch_0 = 0;
  int fetchBatch_1 = 0;
  int batch_2 = 0;
  int batch_3 = 0;
  int out_4 = 0;
  int staged_5 = 0;
  const bool ws_copying_warp = __shfl_sync(0xffffffffu, ws_thread_rank, 0) == 0;
  unsigned p_pipeline_0_head = 0, p_pipeline_0_head_phase = 0; unsigned p_pipeline_0_tail = 0, p_pipeline_0_tail_phase = 0;
  unsigned p_pipeline_0_bytes = 0;
  __shared__ ws_barrier p_pipeline_0_full_all[4];
  ws_barrier* const p_pipeline_0_full = p_pipeline_0_full_all + 0 * 4;
  p_pipeline_0_head = 0; p_pipeline_0_head_phase = 0; p_pipeline_0_tail = 0; p_pipeline_0_tail_phase = 0;
  {
    __syncthreads();
    if (ws_thread_rank == 0) {
      for (int stage = 0; stage < 4; ++stage) {
        ws_init(&p_pipeline_0_full[stage], 1u);
      }
      ws_fence_async();
    }
    __syncthreads();
  }
  computeBatch_0 = 0;
  fetchBatch_1 = 0;
  if ((computeBatch_0 < batchCount_2)) {
    while (((fetchBatch_1 < batchCount_2) ? (fetchBatch_1 < (int)((unsigned)computeBatch_0 + (unsigned)2)) : false)) {
      __syncthreads();
      batch_2 = fetchBatch_1;
      if (ws_copying_warp) if (ws_elect()) { ws_fence_async(); ws_bulk_copy(s_shared_0 + ((int)((unsigned)fetchBatch_1 % (unsigned)4) * 256), g_globalIn_1 + (((int)blockIdx.x * 256) + (int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)batch_2)), (unsigned)256 * 4u, &p_pipeline_0_full[p_pipeline_0_head % 4]); }
      p_pipeline_0_bytes += (unsigned)256 * 4u;
      if (ws_copying_warp) if (ws_elect()) ws_arrive_expecting(&p_pipeline_0_full[p_pipeline_0_head % 4], p_pipeline_0_bytes);
      p_pipeline_0_bytes = 0;
      if (++p_pipeline_0_head % 4 == 0) p_pipeline_0_head_phase ^= 1;
      continue_1:;
      fetchBatch_1 = (int)((unsigned)fetchBatch_1 + (unsigned)1);
    }
    break_1:;
    while ((((int)((unsigned)computeBatch_0 + (unsigned)7) < batchCount_2) ? ((int)((unsigned)computeBatch_0 + (unsigned)7) < batchCount_2) : false)) {
      ws_wait_in_step(&p_pipeline_0_full[p_pipeline_0_tail % 4], p_pipeline_0_tail_phase);
      batch_3 = computeBatch_0;
      out_4 = (int)((unsigned)(int)((unsigned)(int)blockIdx.x * (unsigned)256) + (unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)batch_3));
      staged_5 = (int)((unsigned)(int)((unsigned)computeBatch_0 % (unsigned)4) * (unsigned)256);
      g_globalOut_0[(out_4 + (int)ws_thread_rank)] = (int)(int)((unsigned)(int)((unsigned)((int)s_shared_0[(staged_5 + (int)ws_thread_rank)]) * (unsigned)3) + (unsigned)1);
      if (++p_pipeline_0_tail % 4 == 0) p_pipeline_0_tail_phase ^= 1;
      computeBatch_0 = (int)((unsigned)computeBatch_0 + (unsigned)1);
      __syncthreads();
      batch_2 = (int)((unsigned)computeBatch_0 + (unsigned)1);
      if (ws_copying_warp) if (ws_elect()) ws_prefetch(g_globalIn_1 + (((int)blockIdx.x * 256) + (int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)(int)((unsigned)computeBatch_0 + (unsigned)3))), (unsigned)256 * 4u);
      if (ws_copying_warp) if (ws_elect()) { ws_fence_async(); ws_bulk_copy(s_shared_0 + ((int)((unsigned)(int)((unsigned)computeBatch_0 + (unsigned)1) % (unsigned)4) * 256), g_globalIn_1 + (((int)blockIdx.x * 256) + (int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)batch_2)), (unsigned)256 * 4u, &p_pipeline_0_full[(p_pipeline_0_tail + 1) % 4]); }
      p_pipeline_0_bytes += (unsigned)256 * 4u;
      if (ws_copying_warp) if (ws_elect()) ws_arrive_expecting(&p_pipeline_0_full[(p_pipeline_0_tail + 1) % 4], p_pipeline_0_bytes);
      p_pipeline_0_bytes = 0;
      ws_wait_in_step(&p_pipeline_0_full[p_pipeline_0_tail % 4], p_pipeline_0_tail_phase);
      batch_3 = computeBatch_0;
      out_4 = (int)((unsigned)(int)((unsigned)(int)blockIdx.x * (unsigned)256) + (unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)batch_3));
      staged_5 = (int)((unsigned)(int)((unsigned)computeBatch_0 % (unsigned)4) * (unsigned)256);
      g_globalOut_0[(out_4 + (int)ws_thread_rank)] = (int)(int)((unsigned)(int)((unsigned)((int)s_shared_0[(staged_5 + (int)ws_thread_rank)]) * (unsigned)3) + (unsigned)1);
      if (++p_pipeline_0_tail % 4 == 0) p_pipeline_0_tail_phase ^= 1;
      computeBatch_0 = (int)((unsigned)computeBatch_0 + (unsigned)1);
      batch_2 = (int)((unsigned)computeBatch_0 + (unsigned)1);
      if (ws_copying_warp) if (ws_elect()) ws_prefetch(g_globalIn_1 + (((int)blockIdx.x * 256) + (int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)(int)((unsigned)computeBatch_0 + (unsigned)3))), (unsigned)256 * 4u);
      if (ws_copying_warp) if (ws_elect()) ws_bulk_copy(s_shared_0 + ((int)((unsigned)(int)((unsigned)computeBatch_0 + (unsigned)1) % (unsigned)4) * 256), g_globalIn_1 + (((int)blockIdx.x * 256) + (int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)batch_2)), (unsigned)256 * 4u, &p_pipeline_0_full[(p_pipeline_0_tail + 1) % 4]);
      p_pipeline_0_bytes += (unsigned)256 * 4u;
      if (ws_copying_warp) if (ws_elect()) ws_arrive_expecting(&p_pipeline_0_full[(p_pipeline_0_tail + 1) % 4], p_pipeline_0_bytes);
      p_pipeline_0_bytes = 0;
      ws_wait_in_step(&p_pipeline_0_full[p_pipeline_0_tail % 4], p_pipeline_0_tail_phase);
      batch_3 = computeBatch_0;
      out_4 = (int)((unsigned)(int)((unsigned)(int)blockIdx.x * (unsigned)256) + (unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)batch_3));
      staged_5 = (int)((unsigned)(int)((unsigned)computeBatch_0 % (unsigned)4) * (unsigned)256);
      g_globalOut_0[(out_4 + (int)ws_thread_rank)] = (int)(int)((unsigned)(int)((unsigned)((int)s_shared_0[(staged_5 + (int)ws_thread_rank)]) * (unsigned)3) + (unsigned)1);
      if (++p_pipeline_0_tail % 4 == 0) p_pipeline_0_tail_phase ^= 1;
      computeBatch_0 = (int)((unsigned)computeBatch_0 + (unsigned)1);
      __syncthreads();
      batch_2 = (int)((unsigned)computeBatch_0 + (unsigned)1);
      if (ws_copying_warp) if (ws_elect()) ws_prefetch(g_globalIn_1 + (((int)blockIdx.x * 256) + (int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)(int)((unsigned)computeBatch_0 + (unsigned)3))), (unsigned)256 * 4u);
      if (ws_copying_warp) if (ws_elect()) { ws_fence_async(); ws_bulk_copy(s_shared_0 + ((int)((unsigned)(int)((unsigned)computeBatch_0 + (unsigned)1) % (unsigned)4) * 256), g_globalIn_1 + (((int)blockIdx.x * 256) + (int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)batch_2)), (unsigned)256 * 4u, &p_pipeline_0_full[(p_pipeline_0_tail + 1) % 4]); }
      p_pipeline_0_bytes += (unsigned)256 * 4u;
      if (ws_copying_warp) if (ws_elect()) ws_arrive_expecting(&p_pipeline_0_full[(p_pipeline_0_tail + 1) % 4], p_pipeline_0_bytes);
      p_pipeline_0_bytes = 0;
      ws_wait_in_step(&p_pipeline_0_full[p_pipeline_0_tail % 4], p_pipeline_0_tail_phase);
      batch_3 = computeBatch_0;
      out_4 = (int)((unsigned)(int)((unsigned)(int)blockIdx.x * (unsigned)256) + (unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)batch_3));
      staged_5 = (int)((unsigned)(int)((unsigned)computeBatch_0 % (unsigned)4) * (unsigned)256);
      g_globalOut_0[(out_4 + (int)ws_thread_rank)] = (int)(int)((unsigned)(int)((unsigned)((int)s_shared_0[(staged_5 + (int)ws_thread_rank)]) * (unsigned)3) + (unsigned)1);
      if (++p_pipeline_0_tail % 4 == 0) p_pipeline_0_tail_phase ^= 1;
      computeBatch_0 = (int)((unsigned)computeBatch_0 + (unsigned)1);
      batch_2 = (int)((unsigned)computeBatch_0 + (unsigned)1);
      if (ws_copying_warp) if (ws_elect()) ws_prefetch(g_globalIn_1 + (((int)blockIdx.x * 256) + (int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)(int)((unsigned)computeBatch_0 + (unsigned)3))), (unsigned)256 * 4u);
      if (ws_copying_warp) if (ws_elect()) ws_bulk_copy(s_shared_0 + ((int)((unsigned)(int)((unsigned)computeBatch_0 + (unsigned)1) % (unsigned)4) * 256), g_globalIn_1 + (((int)blockIdx.x * 256) + (int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)batch_2)), (unsigned)256 * 4u, &p_pipeline_0_full[(p_pipeline_0_tail + 1) % 4]);
      p_pipeline_0_bytes += (unsigned)256 * 4u;
      if (ws_copying_warp) if (ws_elect()) ws_arrive_expecting(&p_pipeline_0_full[(p_pipeline_0_tail + 1) % 4], p_pipeline_0_bytes);
      p_pipeline_0_bytes = 0;
      continue_2:;
    }
    break_2:;
    while (true) {
      ws_wait_in_step(&p_pipeline_0_full[p_pipeline_0_tail % 4], p_pipeline_0_tail_phase);
      batch_3 = computeBatch_0;
      out_4 = (int)((unsigned)(int)((unsigned)(int)blockIdx.x * (unsigned)256) + (unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)batch_3));
      staged_5 = (int)((unsigned)(int)((unsigned)computeBatch_0 % (unsigned)4) * (unsigned)256);
      g_globalOut_0[(out_4 + (int)ws_thread_rank)] = (int)(int)((unsigned)(int)((unsigned)((int)s_shared_0[(staged_5 + (int)ws_thread_rank)]) * (unsigned)3) + (unsigned)1);
      if (++p_pipeline_0_tail % 4 == 0) p_pipeline_0_tail_phase ^= 1;
      computeBatch_0 = (int)((unsigned)computeBatch_0 + (unsigned)1);
      if ((!(computeBatch_0 < batchCount_2))) {
        goto break_0;
      }
      if (((int)((unsigned)computeBatch_0 + (unsigned)1) < batchCount_2)) {
        __syncthreads();
        batch_2 = (int)((unsigned)computeBatch_0 + (unsigned)1);
        if (ws_copying_warp) if (ws_elect()) { ws_fence_async(); ws_bulk_copy(s_shared_0 + ((int)((unsigned)(int)((unsigned)computeBatch_0 + (unsigned)1) % (unsigned)4) * 256), g_globalIn_1 + (((int)blockIdx.x * 256) + (int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)batch_2)), (unsigned)256 * 4u, &p_pipeline_0_full[(p_pipeline_0_tail + 1) % 4]); }
        p_pipeline_0_bytes += (unsigned)256 * 4u;
        if (ws_copying_warp) if (ws_elect()) ws_arrive_expecting(&p_pipeline_0_full[(p_pipeline_0_tail + 1) % 4], p_pipeline_0_bytes);
        p_pipeline_0_bytes = 0;
      }
      continue_0:;
    }
    break_0:;
  }
}
