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
  unsigned pipeline_head_6 = 0;
  unsigned pipeline_head_phase_7 = 0;
  unsigned pipeline_tail_9 = 0;
  unsigned pipeline_tail_phase_10 = 0;
  unsigned pipeline_bytes_12 = 0;
  bool copying_warp_13 = 0;
  bool elected_14 = 0;
  int first_of_warp_15 = 0;
  __shared__ ws_barrier m_pipeline_full_0[4];
  first_of_warp_15 = __shfl_sync(4294967295u, (int)ws_thread_rank, 0 & 31, 32);
  copying_warp_13 = (first_of_warp_15 == 0);
  pipeline_head_6 = 0u;
  pipeline_head_phase_7 = 0u;
  pipeline_tail_9 = 0u;
  pipeline_tail_phase_10 = 0u;
  __syncthreads();
  if (((int)ws_thread_rank == 0)) {
    ws_init(&m_pipeline_full_0[0], 1u);
    ws_init(&m_pipeline_full_0[1], 1u);
    ws_init(&m_pipeline_full_0[2], 1u);
    ws_init(&m_pipeline_full_0[3], 1u);
    ws_fence_async_shared();
  }
  __syncthreads();
  computeBatch_0 = 0;
  fetchBatch_1 = 0;
  if ((computeBatch_0 < batchCount_2)) {
    while (((fetchBatch_1 < batchCount_2) ? (fetchBatch_1 < (int)((unsigned)computeBatch_0 + (unsigned)2)) : false)) {
      __syncthreads();
      batch_2 = fetchBatch_1;
      pipeline_bytes_12 = (pipeline_bytes_12 + ((unsigned)256 * 4u));
      if (copying_warp_13) {
        elected_14 = ws_elect();
        if (elected_14) {
          ws_fence_async_shared();
          ws_bulk_copy(s_shared_0 + ((int)((unsigned)fetchBatch_1 % (unsigned)4) * 256), g_globalIn_1 + (((int)blockIdx.x * 256) + (((((int)gridDim.z * (int)gridDim.y) * (int)gridDim.x) * 256) * batch_2)), (unsigned)256 * 4u, &m_pipeline_full_0[(pipeline_head_6 % 4u)]);
          ws_arrive_expecting(&m_pipeline_full_0[(pipeline_head_6 % 4u)], pipeline_bytes_12);
        }
      }
      pipeline_bytes_12 = 0u;
      pipeline_head_6 = (pipeline_head_6 + 1u);
      if (((pipeline_head_6 % 4u) == 0u)) {
        pipeline_head_phase_7 = (pipeline_head_phase_7 ^ 1u);
      }
      continue_1:;
      fetchBatch_1 = (int)((unsigned)fetchBatch_1 + (unsigned)1);
    }
    break_1:;
    while ((computeBatch_0 < (int)((unsigned)batchCount_2 - (unsigned)7))) {
      ws_wait_converged(&m_pipeline_full_0[(pipeline_tail_9 % 4u)], pipeline_tail_phase_10);
      batch_3 = computeBatch_0;
      out_4 = (int)((unsigned)(int)((unsigned)(int)blockIdx.x * (unsigned)256) + (unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)batch_3));
      staged_5 = (int)((unsigned)(int)((unsigned)computeBatch_0 % (unsigned)4) * (unsigned)256);
      g_globalOut_0[(out_4 + (int)ws_thread_rank)] = (int)(int)((unsigned)(int)((unsigned)((int)s_shared_0[(staged_5 + (int)ws_thread_rank)]) * (unsigned)3) + (unsigned)1);
      pipeline_tail_9 = (pipeline_tail_9 + 1u);
      if (((pipeline_tail_9 % 4u) == 0u)) {
        pipeline_tail_phase_10 = (pipeline_tail_phase_10 ^ 1u);
      }
      computeBatch_0 = (int)((unsigned)computeBatch_0 + (unsigned)1);
      __syncthreads();
      batch_2 = (int)((unsigned)computeBatch_0 + (unsigned)1);
      pipeline_bytes_12 = (pipeline_bytes_12 + ((unsigned)256 * 4u));
      if (copying_warp_13) {
        elected_14 = ws_elect();
        if (elected_14) {
          ws_fence_async_shared();
          ws_bulk_copy(s_shared_0 + ((int)((unsigned)(int)((unsigned)computeBatch_0 + (unsigned)1) % (unsigned)4) * 256), g_globalIn_1 + (((int)blockIdx.x * 256) + (int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)batch_2)), (unsigned)256 * 4u, &m_pipeline_full_0[((pipeline_tail_9 + 1u) % 4u)]);
        }
      }
      if (copying_warp_13) {
        elected_14 = ws_elect();
        if (elected_14) {
          ws_arrive_expecting(&m_pipeline_full_0[((pipeline_tail_9 + 1u) % 4u)], pipeline_bytes_12);
        }
      }
      if (copying_warp_13) {
        elected_14 = ws_elect();
        if (elected_14) {
          ws_prefetch(g_globalIn_1 + (((int)blockIdx.x * 256) + (int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)(int)((unsigned)computeBatch_0 + (unsigned)3))), (unsigned)256 * 4u);
        }
      }
      pipeline_bytes_12 = 0u;
      ws_wait_converged(&m_pipeline_full_0[(pipeline_tail_9 % 4u)], pipeline_tail_phase_10);
      batch_3 = computeBatch_0;
      out_4 = (int)((unsigned)(int)((unsigned)(int)blockIdx.x * (unsigned)256) + (unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)batch_3));
      staged_5 = (int)((unsigned)(int)((unsigned)computeBatch_0 % (unsigned)4) * (unsigned)256);
      g_globalOut_0[(out_4 + (int)ws_thread_rank)] = (int)(int)((unsigned)(int)((unsigned)((int)s_shared_0[(staged_5 + (int)ws_thread_rank)]) * (unsigned)3) + (unsigned)1);
      pipeline_tail_9 = (pipeline_tail_9 + 1u);
      if (((pipeline_tail_9 % 4u) == 0u)) {
        pipeline_tail_phase_10 = (pipeline_tail_phase_10 ^ 1u);
      }
      computeBatch_0 = (int)((unsigned)computeBatch_0 + (unsigned)1);
      batch_2 = (int)((unsigned)computeBatch_0 + (unsigned)1);
      pipeline_bytes_12 = (pipeline_bytes_12 + ((unsigned)256 * 4u));
      if (copying_warp_13) {
        elected_14 = ws_elect();
        if (elected_14) {
          ws_bulk_copy(s_shared_0 + ((int)((unsigned)(int)((unsigned)computeBatch_0 + (unsigned)1) % (unsigned)4) * 256), g_globalIn_1 + (((int)blockIdx.x * 256) + (int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)batch_2)), (unsigned)256 * 4u, &m_pipeline_full_0[((pipeline_tail_9 + 1u) % 4u)]);
        }
      }
      if (copying_warp_13) {
        elected_14 = ws_elect();
        if (elected_14) {
          ws_arrive_expecting(&m_pipeline_full_0[((pipeline_tail_9 + 1u) % 4u)], pipeline_bytes_12);
        }
      }
      if (copying_warp_13) {
        elected_14 = ws_elect();
        if (elected_14) {
          ws_prefetch(g_globalIn_1 + (((int)blockIdx.x * 256) + (int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)(int)((unsigned)computeBatch_0 + (unsigned)3))), (unsigned)256 * 4u);
        }
      }
      pipeline_bytes_12 = 0u;
      ws_wait_converged(&m_pipeline_full_0[(pipeline_tail_9 % 4u)], pipeline_tail_phase_10);
      batch_3 = computeBatch_0;
      out_4 = (int)((unsigned)(int)((unsigned)(int)blockIdx.x * (unsigned)256) + (unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)batch_3));
      staged_5 = (int)((unsigned)(int)((unsigned)computeBatch_0 % (unsigned)4) * (unsigned)256);
      g_globalOut_0[(out_4 + (int)ws_thread_rank)] = (int)(int)((unsigned)(int)((unsigned)((int)s_shared_0[(staged_5 + (int)ws_thread_rank)]) * (unsigned)3) + (unsigned)1);
      pipeline_tail_9 = (pipeline_tail_9 + 1u);
      if (((pipeline_tail_9 % 4u) == 0u)) {
        pipeline_tail_phase_10 = (pipeline_tail_phase_10 ^ 1u);
      }
      computeBatch_0 = (int)((unsigned)computeBatch_0 + (unsigned)1);
      __syncthreads();
      batch_2 = (int)((unsigned)computeBatch_0 + (unsigned)1);
      pipeline_bytes_12 = (pipeline_bytes_12 + ((unsigned)256 * 4u));
      if (copying_warp_13) {
        elected_14 = ws_elect();
        if (elected_14) {
          ws_fence_async_shared();
          ws_bulk_copy(s_shared_0 + ((int)((unsigned)(int)((unsigned)computeBatch_0 + (unsigned)1) % (unsigned)4) * 256), g_globalIn_1 + (((int)blockIdx.x * 256) + (int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)batch_2)), (unsigned)256 * 4u, &m_pipeline_full_0[((pipeline_tail_9 + 1u) % 4u)]);
        }
      }
      if (copying_warp_13) {
        elected_14 = ws_elect();
        if (elected_14) {
          ws_arrive_expecting(&m_pipeline_full_0[((pipeline_tail_9 + 1u) % 4u)], pipeline_bytes_12);
        }
      }
      if (copying_warp_13) {
        elected_14 = ws_elect();
        if (elected_14) {
          ws_prefetch(g_globalIn_1 + (((int)blockIdx.x * 256) + (int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)(int)((unsigned)computeBatch_0 + (unsigned)3))), (unsigned)256 * 4u);
        }
      }
      pipeline_bytes_12 = 0u;
      ws_wait_converged(&m_pipeline_full_0[(pipeline_tail_9 % 4u)], pipeline_tail_phase_10);
      batch_3 = computeBatch_0;
      out_4 = (int)((unsigned)(int)((unsigned)(int)blockIdx.x * (unsigned)256) + (unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)batch_3));
      staged_5 = (int)((unsigned)(int)((unsigned)computeBatch_0 % (unsigned)4) * (unsigned)256);
      g_globalOut_0[(out_4 + (int)ws_thread_rank)] = (int)(int)((unsigned)(int)((unsigned)((int)s_shared_0[(staged_5 + (int)ws_thread_rank)]) * (unsigned)3) + (unsigned)1);
      pipeline_tail_9 = (pipeline_tail_9 + 1u);
      if (((pipeline_tail_9 % 4u) == 0u)) {
        pipeline_tail_phase_10 = (pipeline_tail_phase_10 ^ 1u);
      }
      computeBatch_0 = (int)((unsigned)computeBatch_0 + (unsigned)1);
      batch_2 = (int)((unsigned)computeBatch_0 + (unsigned)1);
      pipeline_bytes_12 = (pipeline_bytes_12 + ((unsigned)256 * 4u));
      if (copying_warp_13) {
        elected_14 = ws_elect();
        if (elected_14) {
          ws_bulk_copy(s_shared_0 + ((int)((unsigned)(int)((unsigned)computeBatch_0 + (unsigned)1) % (unsigned)4) * 256), g_globalIn_1 + (((int)blockIdx.x * 256) + (int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)batch_2)), (unsigned)256 * 4u, &m_pipeline_full_0[((pipeline_tail_9 + 1u) % 4u)]);
        }
      }
      if (copying_warp_13) {
        elected_14 = ws_elect();
        if (elected_14) {
          ws_arrive_expecting(&m_pipeline_full_0[((pipeline_tail_9 + 1u) % 4u)], pipeline_bytes_12);
        }
      }
      if (copying_warp_13) {
        elected_14 = ws_elect();
        if (elected_14) {
          ws_prefetch(g_globalIn_1 + (((int)blockIdx.x * 256) + (int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)(int)((unsigned)computeBatch_0 + (unsigned)3))), (unsigned)256 * 4u);
        }
      }
      pipeline_bytes_12 = 0u;
      continue_2:;
    }
    break_2:;
    while (true) {
      ws_wait_converged(&m_pipeline_full_0[(pipeline_tail_9 % 4u)], pipeline_tail_phase_10);
      batch_3 = computeBatch_0;
      out_4 = (int)((unsigned)(int)((unsigned)(int)blockIdx.x * (unsigned)256) + (unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)batch_3));
      staged_5 = (int)((unsigned)(int)((unsigned)computeBatch_0 % (unsigned)4) * (unsigned)256);
      g_globalOut_0[(out_4 + (int)ws_thread_rank)] = (int)(int)((unsigned)(int)((unsigned)((int)s_shared_0[(staged_5 + (int)ws_thread_rank)]) * (unsigned)3) + (unsigned)1);
      pipeline_tail_9 = (pipeline_tail_9 + 1u);
      if (((pipeline_tail_9 % 4u) == 0u)) {
        pipeline_tail_phase_10 = (pipeline_tail_phase_10 ^ 1u);
      }
      computeBatch_0 = (int)((unsigned)computeBatch_0 + (unsigned)1);
      if ((!(computeBatch_0 < batchCount_2))) {
        goto break_0;
      }
      if ((computeBatch_0 < (int)((unsigned)batchCount_2 - (unsigned)1))) {
        __syncthreads();
        batch_2 = (int)((unsigned)computeBatch_0 + (unsigned)1);
        pipeline_bytes_12 = (pipeline_bytes_12 + ((unsigned)256 * 4u));
        if (copying_warp_13) {
          elected_14 = ws_elect();
          if (elected_14) {
            ws_fence_async_shared();
            ws_bulk_copy(s_shared_0 + ((int)((unsigned)(int)((unsigned)computeBatch_0 + (unsigned)1) % (unsigned)4) * 256), g_globalIn_1 + (((int)blockIdx.x * 256) + (int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)batch_2)), (unsigned)256 * 4u, &m_pipeline_full_0[((pipeline_tail_9 + 1u) % 4u)]);
            ws_arrive_expecting(&m_pipeline_full_0[((pipeline_tail_9 + 1u) % 4u)], pipeline_bytes_12);
          }
        }
        pipeline_bytes_12 = 0u;
      }
      continue_0:;
    }
    break_0:;
  }
}
