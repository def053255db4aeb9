extern "C" __global__ void __launch_bounds__(256) kernel(int* g_globalOut_0, int g_globalOut_0_length, const int* g_globalIn_1, int g_globalIn_1_length, int batchCount_2) {
  const unsigned ws_thread_rank = threadIdx.x;
  extern __shared__ __align__(128) unsigned char ws_shared_memory[];
  int* const s_shared_0 = (int*)(ws_shared_memory + 0);
  const int s_shared_0_length = 512;
  int batch_0 = 0;
  int batch_1 = 0;
  int begin_2 = 0;
  int fetched_3 = 0;
  unsigned pipeline_head_4 = 0;
  unsigned pipeline_head_phase_5 = 0;
  unsigned pipeline_tail_7 = 0;
  unsigned pipeline_tail_phase_8 = 0;
  unsigned pipeline_bytes_10 = 0;
  bool copying_warp_11 = 0;
  bool elected_12 = 0;
  int first_of_warp_13 = 0;
  __shared__ ws_barrier m_pipeline_full_0[2];
  first_of_warp_13 = __shfl_sync(4294967295u, (int)ws_thread_rank, 0 & 31, 32);
  copying_warp_11 = (first_of_warp_13 == 0);
  pipeline_head_4 = 0u;
  pipeline_head_phase_5 = 0u;
  pipeline_tail_7 = 0u;
  pipeline_tail_phase_8 = 0u;
  __syncthreads();
  if (((int)ws_thread_rank == 0)) {
    ws_init(&m_pipeline_full_0[0], 1u);
    ws_init(&m_pipeline_full_0[1], 1u);
    ws_fence_async_shared();
  }
  __syncthreads();
  batch_0 = 0;
  fetched_3 = 0;
  if ((batch_0 < batchCount_2)) {
    while (((fetched_3 < batchCount_2) ? (fetched_3 < (int)((unsigned)batch_0 + (unsigned)2)) : false)) {
      __syncthreads();
      pipeline_bytes_10 = (pipeline_bytes_10 + ((unsigned)256 * 4u));
      if (copying_warp_11) {
        elected_12 = ws_elect();
        if (elected_12) {
          ws_fence_async_shared();
          ws_bulk_copy(s_shared_0 + ((int)((unsigned)fetched_3 % (unsigned)2) * 256), g_globalIn_1 + (((int)blockIdx.x * 256) + (((((int)gridDim.z * (int)gridDim.y) * (int)gridDim.x) * 256) * fetched_3)), (unsigned)256 * 4u, &m_pipeline_full_0[(pipeline_head_4 % 2u)]);
          ws_arrive_expecting(&m_pipeline_full_0[(pipeline_head_4 % 2u)], pipeline_bytes_10);
        }
      }
      pipeline_bytes_10 = 0u;
      pipeline_head_4 = (pipeline_head_4 + 1u);
      if (((pipeline_head_4 % 2u) == 0u)) {
        pipeline_head_phase_5 = (pipeline_head_phase_5 ^ 1u);
      }
      continue_1:;
      fetched_3 = (int)((unsigned)fetched_3 + (unsigned)1);
    }
    break_1:;
    while ((batch_0 < (int)((unsigned)batchCount_2 - (unsigned)5))) {
      batch_1 = batch_0;
      begin_2 = (int)((unsigned)(int)((unsigned)(int)blockIdx.x * (unsigned)256) + (unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)batch_1));
      ws_wait_converged(&m_pipeline_full_0[(pipeline_tail_7 % 2u)], pipeline_tail_phase_8);
      g_globalOut_0[(begin_2 + (int)ws_thread_rank)] = (int)(int)((unsigned)(int)((unsigned)((int)s_shared_0[(((int)((unsigned)batch_0 % (unsigned)2) * 256) + (int)ws_thread_rank)]) * (unsigned)3) + (unsigned)1);
      pipeline_tail_7 = (pipeline_tail_7 + 1u);
      if (((pipeline_tail_7 % 2u) == 0u)) {
        pipeline_tail_phase_8 = (pipeline_tail_phase_8 ^ 1u);
      }
      batch_0 = (int)((unsigned)batch_0 + (unsigned)1);
      __syncthreads();
      pipeline_bytes_10 = (pipeline_bytes_10 + ((unsigned)256 * 4u));
      if (copying_warp_11) {
        elected_12 = ws_elect();
        if (elected_12) {
          ws_fence_async_shared();
          ws_bulk_copy(s_shared_0 + ((int)((unsigned)(int)((unsigned)batch_0 + (unsigned)1) % (unsigned)2) * 256), g_globalIn_1 + (((int)blockIdx.x * 256) + (int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)(int)((unsigned)batch_0 + (unsigned)1))), (unsigned)256 * 4u, &m_pipeline_full_0[((pipeline_tail_7 + 1u) % 2u)]);
        }
      }
      if (copying_warp_11) {
        elected_12 = ws_elect();
        if (elected_12) {
          ws_arrive_expecting(&m_pipeline_full_0[((pipeline_tail_7 + 1u) % 2u)], pipeline_bytes_10);
        }
      }
      if (copying_warp_11) {
        elected_12 = ws_elect();
        if (elected_12) {
          ws_prefetch(g_globalIn_1 + (((int)blockIdx.x * 256) + (int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)(int)((unsigned)batch_0 + (unsigned)3))), (unsigned)256 * 4u);
        }
      }
      pipeline_bytes_10 = 0u;
      batch_1 = batch_0;
      begin_2 = (int)((unsigned)(int)((unsigned)(int)blockIdx.x * (unsigned)256) + (unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)batch_1));
      ws_wait_converged(&m_pipeline_full_0[(pipeline_tail_7 % 2u)], pipeline_tail_phase_8);
      g_globalOut_0[(begin_2 + (int)ws_thread_rank)] = (int)(int)((unsigned)(int)((unsigned)((int)s_shared_0[(((int)((unsigned)batch_0 % (unsigned)2) * 256) + (int)ws_thread_rank)]) * (unsigned)3) + (unsigned)1);
      pipeline_tail_7 = (pipeline_tail_7 + 1u);
      if (((pipeline_tail_7 % 2u) == 0u)) {
        pipeline_tail_phase_8 = (pipeline_tail_phase_8 ^ 1u);
      }
      batch_0 = (int)((unsigned)batch_0 + (unsigned)1);
      __syncthreads();
      pipeline_bytes_10 = (pipeline_bytes_10 + ((unsigned)256 * 4u));
      if (copying_warp_11) {
        elected_12 = ws_elect();
        if (elected_12) {
          ws_fence_async_shared();
          ws_bulk_copy(s_shared_0 + ((int)((unsigned)(int)((unsigned)batch_0 + (unsigned)1) % (unsigned)2) * 256), g_globalIn_1 + (((int)blockIdx.x * 256) + (int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)(int)((unsigned)batch_0 + (unsigned)1))), (unsigned)256 * 4u, &m_pipeline_full_0[((pipeline_tail_7 + 1u) % 2u)]);
        }
      }
      if (copying_warp_11) {
        elected_12 = ws_elect();
        if (elected_12) {
          ws_arrive_expecting(&m_pipeline_full_0[((pipeline_tail_7 + 1u) % 2u)], pipeline_bytes_10);
        }
      }
      if (copying_warp_11) {
        elected_12 = ws_elect();
        if (elected_12) {
          ws_prefetch(g_globalIn_1 + (((int)blockIdx.x * 256) + (int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)(int)((unsigned)batch_0 + (unsigned)3))), (unsigned)256 * 4u);
        }
      }
      pipeline_bytes_10 = 0u;
      continue_2:;
    }
    break_2:;
    while (true) {
      batch_1 = batch_0;
      begin_2 = (int)((unsigned)(int)((unsigned)(int)blockIdx.x * (unsigned)256) + (unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)batch_1));
      ws_wait_converged(&m_pipeline_full_0[(pipeline_tail_7 % 2u)], pipeline_tail_phase_8);
      g_globalOut_0[(begin_2 + (int)ws_thread_rank)] = (int)(int)((unsigned)(int)((unsigned)((int)s_shared_0[(((int)((unsigned)batch_0 % (unsigned)2) * 256) + (int)ws_thread_rank)]) * (unsigned)3) + (unsigned)1);
      pipeline_tail_7 = (pipeline_tail_7 + 1u);
      if (((pipeline_tail_7 % 2u) == 0u)) {
        pipeline_tail_phase_8 = (pipeline_tail_phase_8 ^ 1u);
      }
      batch_0 = (int)((unsigned)batch_0 + (unsigned)1);
      if ((!(batch_0 < batchCount_2))) {
        goto break_0;
      }
      if ((batch_0 < (int)((unsigned)batchCount_2 - (unsigned)1))) {
        __syncthreads();
        pipeline_bytes_10 = (pipeline_bytes_10 + ((unsigned)256 * 4u));
        if (copying_warp_11) {
          elected_12 = ws_elect();
          if (elected_12) {
            ws_fence_async_shared();
            ws_bulk_copy(s_shared_0 + ((int)((unsigned)(int)((unsigned)batch_0 + (unsigned)1) % (unsigned)2) * 256), g_globalIn_1 + (((int)blockIdx.x * 256) + (int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)(int)((unsigned)batch_0 + (unsigned)1))), (unsigned)256 * 4u, &m_pipeline_full_0[((pipeline_tail_7 + 1u) % 2u)]);
            ws_arrive_expecting(&m_pipeline_full_0[((pipeline_tail_7 + 1u) % 2u)], pipeline_bytes_10);
          }
        }
        pipeline_bytes_10 = 0u;
      }
      continue_0:;
    }
    break_0:;
  }
}
