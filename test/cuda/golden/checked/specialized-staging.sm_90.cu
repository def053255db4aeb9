extern "C" __global__ void __launch_bounds__(256) kernel(int* g_globalOut_0, int g_globalOut_0_length, const int* g_globalIn_1, int g_globalIn_1_length, int batchCount_2, ws_channel* ws_host, unsigned ws_launch) {
  if (ws_begins_late(ws_host, ws_launch)) return;
  unsigned ws_turns = 0;
  ws_host_of_block = ws_host;
  ws_launch_of_block = ws_launch;
  const unsigned ws_thread_rank = threadIdx.x;
  extern __shared__ __align__(128) unsigned char ws_shared_memory[];
  int* const s_shared_0 = (int*)(ws_shared_memory + 0);
  const int s_shared_0_length = 256;
  int role_0 = 0;
  int elementsPerBatch_1 = 0;
  int threadIdx_2 = 0;
  int computeBatch_3 = 0;
  int fetchBatch_4 = 0;
  int batch_5 = 0;
  int batch_6 = 0;
  int batch_7 = 0;
  int batch_8 = 0;
  int out_9 = 0;
  int staged_10 = 0;
  int first_of_warp_11 = 0;
  bool elected_12 = 0;
  int rank_13 = 0;
  unsigned pipeline_head_14 = 0;
  unsigned pipeline_head_phase_15 = 0;
  unsigned pipeline_tail_17 = 0;
  unsigned pipeline_tail_phase_18 = 0;
  unsigned pipeline_bytes_20 = 0;
  __shared__ ws_barrier m_pipeline_full_0[2];
  __shared__ ws_barrier m_pipeline_empty_1[2];
  first_of_warp_11 = __shfl_sync(4294967295u, (int)ws_thread_rank, 0 & 31, 32);
  rank_13 = (((int)ws_thread_rank < 128) ? (int)((unsigned)(int)ws_thread_rank * (unsigned)2) : (int)((unsigned)(int)((unsigned)(int)((unsigned)(int)ws_thread_rank - (unsigned)128) * (unsigned)2) + (unsigned)1));
  role_0 = (((int)((unsigned)rank_13 % (unsigned)2) == 0) ? 0 : 1);
  elementsPerBatch_1 = (int)((unsigned)128 * (unsigned)(int)gridDim.x);
  threadIdx_2 = (rank_13 / 2);
  pipeline_head_14 = 0u;
  pipeline_head_phase_15 = 0u;
  pipeline_tail_17 = 0u;
  pipeline_tail_phase_18 = 0u;
  __syncthreads();
  if (((int)ws_thread_rank == 0)) {
    ws_init(&m_pipeline_full_0[0], 1u);
    ws_init(&m_pipeline_empty_1[0], (256u - (unsigned)128));
    ws_init(&m_pipeline_full_0[1], 1u);
    ws_init(&m_pipeline_empty_1[1], (256u - (unsigned)128));
    ws_fence_async_shared();
  }
  __syncthreads();
  computeBatch_3 = 0;
  fetchBatch_4 = 0;
  if ((first_of_warp_11 == 0)) {
    elected_12 = ws_elect();
    if (elected_12) {
      while ((fetchBatch_4 < batchCount_2)) {
        WS_TURN();
        ws_wait(&m_pipeline_empty_1[(pipeline_head_14 % 2u)], (pipeline_head_phase_15 ^ 1u), 0);
        batch_5 = fetchBatch_4;
        batch_6 = fetchBatch_4;
        pipeline_bytes_20 = (pipeline_bytes_20 + ((unsigned)128 * 4u));
        ws_check_parts((int)(int)((unsigned)(int)((unsigned)(int)((unsigned)batch_5 % (unsigned)2) * (unsigned)128) + (unsigned)0), s_shared_0_length, (int)(int)((unsigned)(int)((unsigned)(int)((unsigned)elementsPerBatch_1 * (unsigned)batch_6) + (unsigned)(int)((unsigned)128 * (unsigned)(int)blockIdx.x)) + (unsigned)0), g_globalIn_1_length, (int)128, false, 1, 128, 1u);
        ws_fence_async_shared();
        ws_bulk_copy(s_shared_0 + (int)((unsigned)(int)((unsigned)(int)((unsigned)batch_5 % (unsigned)2) * (unsigned)128) + (unsigned)0), g_globalIn_1 + (int)((unsigned)(int)((unsigned)(int)((unsigned)elementsPerBatch_1 * (unsigned)batch_6) + (unsigned)(int)((unsigned)128 * (unsigned)(int)blockIdx.x)) + (unsigned)0), (unsigned)128 * 4u, &m_pipeline_full_0[(pipeline_head_14 % 2u)]);
        ws_arrive_expecting(&m_pipeline_full_0[(pipeline_head_14 % 2u)], pipeline_bytes_20);
        pipeline_bytes_20 = 0u;
        if ((fetchBatch_4 < (int)((unsigned)batchCount_2 - (unsigned)6))) {
          if (ws_holds(g_globalIn_1_length, (int)(int)((unsigned)(int)((unsigned)(int)((unsigned)elementsPerBatch_1 * (unsigned)(int)((unsigned)fetchBatch_4 + (unsigned)6)) + (unsigned)(int)((unsigned)128 * (unsigned)(int)blockIdx.x)) + (unsigned)0), (int)128)) ws_prefetch(g_globalIn_1 + (int)((unsigned)(int)((unsigned)(int)((unsigned)elementsPerBatch_1 * (unsigned)(int)((unsigned)fetchBatch_4 + (unsigned)6)) + (unsigned)(int)((unsigned)128 * (unsigned)(int)blockIdx.x)) + (unsigned)0), (unsigned)128 * 4u);
        }
        pipeline_head_14 = (pipeline_head_14 + 1u);
        if (((pipeline_head_14 % 2u) == 0u)) {
          pipeline_head_phase_15 = (pipeline_head_phase_15 ^ 1u);
        }
        fetchBatch_4 = (int)((unsigned)fetchBatch_4 + (unsigned)1);
        if ((!(fetchBatch_4 < batchCount_2))) {
          goto break_2;
        }
        ws_wait(&m_pipeline_empty_1[(pipeline_head_14 % 2u)], (pipeline_head_phase_15 ^ 1u), 0);
        batch_5 = fetchBatch_4;
        batch_6 = fetchBatch_4;
        pipeline_bytes_20 = (pipeline_bytes_20 + ((unsigned)128 * 4u));
        ws_check_parts((int)(int)((unsigned)(int)((unsigned)(int)((unsigned)batch_5 % (unsigned)2) * (unsigned)128) + (unsigned)0), s_shared_0_length, (int)(int)((unsigned)(int)((unsigned)(int)((unsigned)elementsPerBatch_1 * (unsigned)batch_6) + (unsigned)(int)((unsigned)128 * (unsigned)(int)blockIdx.x)) + (unsigned)0), g_globalIn_1_length, (int)128, false, 1, 128, 1u);
        ws_fence_async_shared();
        ws_bulk_copy(s_shared_0 + (int)((unsigned)(int)((unsigned)(int)((unsigned)batch_5 % (unsigned)2) * (unsigned)128) + (unsigned)0), g_globalIn_1 + (int)((unsigned)(int)((unsigned)(int)((unsigned)elementsPerBatch_1 * (unsigned)batch_6) + (unsigned)(int)((unsigned)128 * (unsigned)(int)blockIdx.x)) + (unsigned)0), (unsigned)128 * 4u, &m_pipeline_full_0[(pipeline_head_14 % 2u)]);
        ws_arrive_expecting(&m_pipeline_full_0[(pipeline_head_14 % 2u)], pipeline_bytes_20);
        pipeline_bytes_20 = 0u;
        if ((fetchBatch_4 < (int)((unsigned)batchCount_2 - (unsigned)6))) {
          if (ws_holds(g_globalIn_1_length, (int)(int)((unsigned)(int)((unsigned)(int)((unsigned)elementsPerBatch_1 * (unsigned)(int)((unsigned)fetchBatch_4 + (unsigned)6)) + (unsigned)(int)((unsigned)128 * (unsigned)(int)blockIdx.x)) + (unsigned)0), (int)128)) ws_prefetch(g_globalIn_1 + (int)((unsigned)(int)((unsigned)(int)((unsigned)elementsPerBatch_1 * (unsigned)(int)((unsigned)fetchBatch_4 + (unsigned)6)) + (unsigned)(int)((unsigned)128 * (unsigned)(int)blockIdx.x)) + (unsigned)0), (unsigned)128 * 4u);
        }
        pipeline_head_14 = (pipeline_head_14 + 1u);
        if (((pipeline_head_14 % 2u) == 0u)) {
          pipeline_head_phase_15 = (pipeline_head_phase_15 ^ 1u);
        }
        continue_2:;
        fetchBatch_4 = (int)((unsigned)fetchBatch_4 + (unsigned)1);
      }
      break_2:;
    }
  }
  else {
    if ((first_of_warp_11 >= 128)) {
      while ((computeBatch_3 < batchCount_2)) {
        WS_TURN();
        ws_wait_converged(&m_pipeline_full_0[(pipeline_tail_17 % 2u)], pipeline_tail_phase_18, 2);
        batch_7 = computeBatch_3;
        batch_8 = computeBatch_3;
        out_9 = (int)((unsigned)(int)((unsigned)(int)((unsigned)elementsPerBatch_1 * (unsigned)batch_7) + (unsigned)(int)((unsigned)128 * (unsigned)(int)blockIdx.x)) + (unsigned)threadIdx_2);
        staged_10 = ((int)s_shared_0[(int)((unsigned)(int)((unsigned)(int)((unsigned)batch_8 % (unsigned)2) * (unsigned)128) + (unsigned)threadIdx_2)]);
        g_globalOut_0[ws_inside(out_9, g_globalOut_0_length, 3)] = (int)(int)((unsigned)(int)((unsigned)staged_10 * (unsigned)3) + (unsigned)1);
        ws_arrive(&m_pipeline_empty_1[(pipeline_tail_17 % 2u)]);
        pipeline_tail_17 = (pipeline_tail_17 + 1u);
        if (((pipeline_tail_17 % 2u) == 0u)) {
          pipeline_tail_phase_18 = (pipeline_tail_phase_18 ^ 1u);
        }
        computeBatch_3 = (int)((unsigned)computeBatch_3 + (unsigned)1);
        if ((!(computeBatch_3 < batchCount_2))) {
          goto break_0;
        }
        ws_wait_converged(&m_pipeline_full_0[(pipeline_tail_17 % 2u)], pipeline_tail_phase_18, 2);
        batch_7 = computeBatch_3;
        batch_8 = computeBatch_3;
        out_9 = (int)((unsigned)(int)((unsigned)(int)((unsigned)elementsPerBatch_1 * (unsigned)batch_7) + (unsigned)(int)((unsigned)128 * (unsigned)(int)blockIdx.x)) + (unsigned)threadIdx_2);
        staged_10 = ((int)s_shared_0[(int)((unsigned)(int)((unsigned)(int)((unsigned)batch_8 % (unsigned)2) * (unsigned)128) + (unsigned)threadIdx_2)]);
        g_globalOut_0[ws_inside(out_9, g_globalOut_0_length, 3)] = (int)(int)((unsigned)(int)((unsigned)staged_10 * (unsigned)3) + (unsigned)1);
        ws_arrive(&m_pipeline_empty_1[(pipeline_tail_17 % 2u)]);
        pipeline_tail_17 = (pipeline_tail_17 + 1u);
        if (((pipeline_tail_17 % 2u) == 0u)) {
          pipeline_tail_phase_18 = (pipeline_tail_phase_18 ^ 1u);
        }
        continue_0:;
        computeBatch_3 = (int)((unsigned)computeBatch_3 + (unsigned)1);
      }
      break_0:;
    }
  }
}
