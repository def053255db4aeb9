extern "C" __global__ void __launch_bounds__(256) kernel(int* g_globalOut_0, int g_globalOut_0_length, const int* g_globalIn_1, int g_globalIn_1_length, int batchCount_2) {
  const unsigned ws_thread_rank = threadIdx.x;
  extern __shared__ __align__(128) unsigned char ws_shared_memory[];
  int* const s_shared_0 = (int*)(ws_shared_memory + 0);
  const int s_shared_0_length = 512;
  int batch_0 = 0;
  int batch_1 = 0;
  int batch_2 = 0;
  int batch_3 = 0;
  int batch_4 = 0;
  int out_5 = 0;
  int staged_6 = 0;
  int batch_7 = 0;
  int batch_8 = 0;
  int out_9 = 0;
  int staged_10 = 0;
  unsigned pipeline_head_11 = 0;
  unsigned pipeline_head_phase_12 = 0;
  unsigned pipeline_tail_14 = 0;
  unsigned pipeline_tail_phase_15 = 0;
  unsigned pipeline_bytes_17 = 0;
  bool copying_warp_18 = 0;
  bool elected_19 = 0;
  int first_of_warp_20 = 0;
  __shared__ ws_barrier m_pipeline_full_0[2];
  first_of_warp_20 = __shfl_sync(4294967295u, (int)ws_thread_rank, 0 & 31, 32);
  copying_warp_18 = (first_of_warp_20 == 0);
  pipeline_head_11 = 0u;
  pipeline_head_phase_12 = 0u;
  pipeline_tail_14 = 0u;
  pipeline_tail_phase_15 = 0u;
  __syncthreads();
  if (((int)ws_thread_rank == 0)) {
    ws_init(&m_pipeline_full_0[0], 1u);
    ws_init(&m_pipeline_full_0[1], 1u);
    ws_fence_async_shared();
  }
  __syncthreads();
  if ((batchCount_2 == 0)) {
    return;
  }
  __syncthreads();
  pipeline_bytes_17 = (pipeline_bytes_17 + ((unsigned)256 * 4u));
  if (copying_warp_18) {
    elected_19 = ws_elect();
    if (elected_19) {
      ws_fence_async_shared();
      ws_bulk_copy(s_shared_0 + 0, g_globalIn_1 + ((int)blockIdx.x * 256), (unsigned)256 * 4u, &m_pipeline_full_0[(pipeline_head_11 % 2u)]);
      ws_arrive_expecting(&m_pipeline_full_0[(pipeline_head_11 % 2u)], pipeline_bytes_17);
    }
  }
  pipeline_bytes_17 = 0u;
  pipeline_head_11 = (pipeline_head_11 + 1u);
  if (((pipeline_head_11 % 2u) == 0u)) {
    pipeline_head_phase_12 = (pipeline_head_phase_12 ^ 1u);
  }
  batch_0 = 1;
  while ((batch_0 < batchCount_2)) {
    __syncthreads();
    batch_1 = batch_0;
    batch_2 = batch_0;
    pipeline_bytes_17 = (pipeline_bytes_17 + ((unsigned)256 * 4u));
    if (copying_warp_18) {
      elected_19 = ws_elect();
      if (elected_19) {
        ws_fence_async_shared();
        ws_bulk_copy(s_shared_0 + ((int)((unsigned)batch_1 % (unsigned)2) * 256), g_globalIn_1 + (((int)blockIdx.x * 256) + (int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)batch_2)), (unsigned)256 * 4u, &m_pipeline_full_0[(pipeline_head_11 % 2u)]);
        ws_arrive_expecting(&m_pipeline_full_0[(pipeline_head_11 % 2u)], pipeline_bytes_17);
        if ((batch_0 < (int)((unsigned)batchCount_2 - (unsigned)2))) {
          ws_prefetch(g_globalIn_1 + (((int)blockIdx.x * 256) + (int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)(int)((unsigned)batch_0 + (unsigned)2))), (unsigned)256 * 4u);
        }
      }
    }
    pipeline_bytes_17 = 0u;
    pipeline_head_11 = (pipeline_head_11 + 1u);
    if (((pipeline_head_11 % 2u) == 0u)) {
      pipeline_head_phase_12 = (pipeline_head_phase_12 ^ 1u);
    }
    ws_wait_converged(&m_pipeline_full_0[(pipeline_tail_14 % 2u)], pipeline_tail_phase_15);
    batch_3 = (int)((unsigned)batch_0 - (unsigned)1);
    batch_4 = (int)((unsigned)batch_0 - (unsigned)1);
    out_5 = (int)((unsigned)(int)((unsigned)(int)blockIdx.x * (unsigned)256) + (unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)batch_3));
    staged_6 = (int)((unsigned)(int)((unsigned)batch_4 % (unsigned)2) * (unsigned)256);
    g_globalOut_0[(out_5 + (int)ws_thread_rank)] = (int)(int)((unsigned)(int)((unsigned)((int)s_shared_0[(staged_6 + (int)ws_thread_rank)]) * (unsigned)3) + (unsigned)1);
    pipeline_tail_14 = (pipeline_tail_14 + 1u);
    if (((pipeline_tail_14 % 2u) == 0u)) {
      pipeline_tail_phase_15 = (pipeline_tail_phase_15 ^ 1u);
    }
    batch_0 = (int)((unsigned)batch_0 + (unsigned)1);
    if ((!(batch_0 < batchCount_2))) {
      goto break_2;
    }
    __syncthreads();
    batch_1 = batch_0;
    batch_2 = batch_0;
    pipeline_bytes_17 = (pipeline_bytes_17 + ((unsigned)256 * 4u));
    if (copying_warp_18) {
      elected_19 = ws_elect();
      if (elected_19) {
        ws_fence_async_shared();
        ws_bulk_copy(s_shared_0 + ((int)((unsigned)batch_1 % (unsigned)2) * 256), g_globalIn_1 + (((int)blockIdx.x * 256) + (int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)batch_2)), (unsigned)256 * 4u, &m_pipeline_full_0[(pipeline_head_11 % 2u)]);
        ws_arrive_expecting(&m_pipeline_full_0[(pipeline_head_11 % 2u)], pipeline_bytes_17);
        if ((batch_0 < (int)((unsigned)batchCount_2 - (unsigned)2))) {
          ws_prefetch(g_globalIn_1 + (((int)blockIdx.x * 256) + (int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)(int)((unsigned)batch_0 + (unsigned)2))), (unsigned)256 * 4u);
        }
      }
    }
    pipeline_bytes_17 = 0u;
    pipeline_head_11 = (pipeline_head_11 + 1u);
    if (((pipeline_head_11 % 2u) == 0u)) {
      pipeline_head_phase_12 = (pipeline_head_phase_12 ^ 1u);
    }
    ws_wait_converged(&m_pipeline_full_0[(pipeline_tail_14 % 2u)], pipeline_tail_phase_15);
    batch_3 = (int)((unsigned)batch_0 - (unsigned)1);
    batch_4 = (int)((unsigned)batch_0 - (unsigned)1);
    out_5 = (int)((unsigned)(int)((unsigned)(int)blockIdx.x * (unsigned)256) + (unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)batch_3));
    staged_6 = (int)((unsigned)(int)((unsigned)batch_4 % (unsigned)2) * (unsigned)256);
    g_globalOut_0[(out_5 + (int)ws_thread_rank)] = (int)(int)((unsigned)(int)((unsigned)((int)s_shared_0[(staged_6 + (int)ws_thread_rank)]) * (unsigned)3) + (unsigned)1);
    pipeline_tail_14 = (pipeline_tail_14 + 1u);
    if (((pipeline_tail_14 % 2u) == 0u)) {
      pipeline_tail_phase_15 = (pipeline_tail_phase_15 ^ 1u);
    }
    continue_2:;
    batch_0 = (int)((unsigned)batch_0 + (unsigned)1);
  }
  break_2:;
  ws_wait_converged(&m_pipeline_full_0[(pipeline_tail_14 % 2u)], pipeline_tail_phase_15);
  batch_7 = (int)((unsigned)batchCount_2 - (unsigned)1);
  batch_8 = (int)((unsigned)batchCount_2 - (unsigned)1);
  out_9 = (int)((unsigned)(int)((unsigned)(int)blockIdx.x * (unsigned)256) + (unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)batch_7));
  staged_10 = (int)((unsigned)(batch_8 % 2) * (unsigned)256);
  g_globalOut_0[(out_9 + (int)ws_thread_rank)] = (int)(int)((unsigned)(int)((unsigned)((int)s_shared_0[(staged_10 + (int)ws_thread_rank)]) * (unsigned)3) + (unsigned)1);
  pipeline_tail_14 = (pipeline_tail_14 + 1u);
  if (((pipeline_tail_14 % 2u) == 0u)) {
    pipeline_tail_phase_15 = (pipeline_tail_phase_15 ^ 1u);
  }
}
