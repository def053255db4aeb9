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
  unsigned pipeline_head_11 = 0;
  unsigned pipeline_head_phase_12 = 0;
  unsigned pipeline_tail_14 = 0;
  unsigned pipeline_tail_phase_15 = 0;
  unsigned producers_17 = 0;
  __shared__ ws_barrier m_pipeline_full_0[2];
  __shared__ ws_barrier m_pipeline_empty_1[2];
  role_0 = (((int)((unsigned)(int)ws_thread_rank % (unsigned)2) == 0) ? 0 : 1);
  elementsPerBatch_1 = (int)((unsigned)128 * (unsigned)(int)gridDim.x);
  threadIdx_2 = ((int)ws_thread_rank / 2);
  pipeline_head_11 = 0u;
  pipeline_head_phase_12 = 0u;
  pipeline_tail_14 = 0u;
  pipeline_tail_phase_15 = 0u;
  producers_17 = __syncthreads_count((role_0 == 0));
  __syncthreads();
  if (((int)ws_thread_rank == 0)) {
    ws_init(&m_pipeline_full_0[0], producers_17);
    ws_init(&m_pipeline_empty_1[0], (256u - producers_17));
    ws_init(&m_pipeline_full_0[1], producers_17);
    ws_init(&m_pipeline_empty_1[1], (256u - producers_17));
  }
  __syncthreads();
  computeBatch_3 = 0;
  fetchBatch_4 = 0;
  if ((computeBatch_3 < batchCount_2)) {
    while (((fetchBatch_4 < batchCount_2) ? (fetchBatch_4 < (int)((unsigned)computeBatch_3 + (unsigned)2)) : false)) {
      WS_TURN();
      if ((role_0 == 0)) {
        ws_wait(&m_pipeline_empty_1[(pipeline_head_11 % 2u)], (pipeline_head_phase_12 ^ 1u), 0);
        batch_5 = fetchBatch_4;
        batch_6 = fetchBatch_4;
        ws_check_copy((int)(int)((unsigned)(int)((unsigned)(int)((unsigned)batch_5 % (unsigned)2) * (unsigned)128) + (unsigned)threadIdx_2), s_shared_0_length, (int)(int)((unsigned)(int)((unsigned)(int)((unsigned)elementsPerBatch_1 * (unsigned)batch_6) + (unsigned)(int)((unsigned)128 * (unsigned)(int)blockIdx.x)) + (unsigned)threadIdx_2), g_globalIn_1_length, (int)1, (int)0, false, 1);
        ws_copy_async<4>(s_shared_0 + (int)((unsigned)(int)((unsigned)(int)((unsigned)batch_5 % (unsigned)2) * (unsigned)128) + (unsigned)threadIdx_2), g_globalIn_1 + (int)((unsigned)(int)((unsigned)(int)((unsigned)elementsPerBatch_1 * (unsigned)batch_6) + (unsigned)(int)((unsigned)128 * (unsigned)(int)blockIdx.x)) + (unsigned)threadIdx_2), (unsigned long long)1 * 4u, 0, 1u);
        ws_arrive_by_copies(&m_pipeline_full_0[(pipeline_head_11 % 2u)]);
        pipeline_head_11 = (pipeline_head_11 + 1u);
        if (((pipeline_head_11 % 2u) == 0u)) {
          pipeline_head_phase_12 = (pipeline_head_phase_12 ^ 1u);
        }
      }
      continue_1:;
      fetchBatch_4 = (int)((unsigned)fetchBatch_4 + (unsigned)1);
    }
    break_1:;
    while ((computeBatch_3 < (int)((unsigned)batchCount_2 - (unsigned)3))) {
      WS_TURN();
      if ((role_0 == 1)) {
        ws_wait(&m_pipeline_full_0[(pipeline_tail_14 % 2u)], pipeline_tail_phase_15, 2);
        batch_7 = computeBatch_3;
        batch_8 = computeBatch_3;
        out_9 = (int)((unsigned)(int)((unsigned)(int)((unsigned)elementsPerBatch_1 * (unsigned)batch_7) + (unsigned)(int)((unsigned)128 * (unsigned)(int)blockIdx.x)) + (unsigned)threadIdx_2);
        staged_10 = ((int)s_shared_0[(int)((unsigned)(int)((unsigned)(int)((unsigned)batch_8 % (unsigned)2) * (unsigned)128) + (unsigned)threadIdx_2)]);
        g_globalOut_0[ws_inside(out_9, g_globalOut_0_length, 3)] = (int)(int)((unsigned)(int)((unsigned)staged_10 * (unsigned)3) + (unsigned)1);
        ws_arrive(&m_pipeline_empty_1[(pipeline_tail_14 % 2u)]);
        pipeline_tail_14 = (pipeline_tail_14 + 1u);
        if (((pipeline_tail_14 % 2u) == 0u)) {
          pipeline_tail_phase_15 = (pipeline_tail_phase_15 ^ 1u);
        }
      }
      computeBatch_3 = (int)((unsigned)computeBatch_3 + (unsigned)1);
      if ((role_0 == 0)) {
        ws_wait(&m_pipeline_empty_1[(pipeline_head_11 % 2u)], (pipeline_head_phase_12 ^ 1u), 0);
        batch_5 = (int)((unsigned)computeBatch_3 + (unsigned)1);
        batch_6 = (int)((unsigned)computeBatch_3 + (unsigned)1);
        ws_check_copy((int)(int)((unsigned)(int)((unsigned)(int)((unsigned)batch_5 % (unsigned)2) * (unsigned)128) + (unsigned)threadIdx_2), s_shared_0_length, (int)(int)((unsigned)(int)((unsigned)(int)((unsigned)elementsPerBatch_1 * (unsigned)batch_6) + (unsigned)(int)((unsigned)128 * (unsigned)(int)blockIdx.x)) + (unsigned)threadIdx_2), g_globalIn_1_length, (int)1, (int)0, false, 1);
        ws_copy_async<4>(s_shared_0 + (int)((unsigned)(int)((unsigned)(int)((unsigned)batch_5 % (unsigned)2) * (unsigned)128) + (unsigned)threadIdx_2), g_globalIn_1 + (int)((unsigned)(int)((unsigned)(int)((unsigned)elementsPerBatch_1 * (unsigned)batch_6) + (unsigned)(int)((unsigned)128 * (unsigned)(int)blockIdx.x)) + (unsigned)threadIdx_2), (unsigned long long)1 * 4u, 0, 1u);
        ws_arrive_by_copies(&m_pipeline_full_0[(pipeline_head_11 % 2u)]);
        pipeline_head_11 = (pipeline_head_11 + 1u);
        if (((pipeline_head_11 % 2u) == 0u)) {
          pipeline_head_phase_12 = (pipeline_head_phase_12 ^ 1u);
        }
      }
      if ((role_0 == 1)) {
        ws_wait(&m_pipeline_full_0[(pipeline_tail_14 % 2u)], pipeline_tail_phase_15, 2);
        batch_7 = computeBatch_3;
        batch_8 = computeBatch_3;
        out_9 = (int)((unsigned)(int)((unsigned)(int)((unsigned)elementsPerBatch_1 * (unsigned)batch_7) + (unsigned)(int)((unsigned)128 * (unsigned)(int)blockIdx.x)) + (unsigned)threadIdx_2);
        staged_10 = ((int)s_shared_0[(int)((unsigned)(int)((unsigned)(int)((unsigned)batch_8 % (unsigned)2) * (unsigned)128) + (unsigned)threadIdx_2)]);
        g_globalOut_0[ws_inside(out_9, g_globalOut_0_length, 3)] = (int)(int)((unsigned)(int)((unsigned)staged_10 * (unsigned)3) + (unsigned)1);
        ws_arrive(&m_pipeline_empty_1[(pipeline_tail_14 % 2u)]);
        pipeline_tail_14 = (pipeline_tail_14 + 1u);
        if (((pipeline_tail_14 % 2u) == 0u)) {
          pipeline_tail_phase_15 = (pipeline_tail_phase_15 ^ 1u);
        }
      }
      computeBatch_3 = (int)((unsigned)computeBatch_3 + (unsigned)1);
      if ((role_0 == 0)) {
        ws_wait(&m_pipeline_empty_1[(pipeline_head_11 % 2u)], (pipeline_head_phase_12 ^ 1u), 0);
        batch_5 = (int)((unsigned)computeBatch_3 + (unsigned)1);
        batch_6 = (int)((unsigned)computeBatch_3 + (unsigned)1);
        ws_check_copy((int)(int)((unsigned)(int)((unsigned)(int)((unsigned)batch_5 % (unsigned)2) * (unsigned)128) + (unsigned)threadIdx_2), s_shared_0_length, (int)(int)((unsigned)(int)((unsigned)(int)((unsigned)elementsPerBatch_1 * (unsigned)batch_6) + (unsigned)(int)((unsigned)128 * (unsigned)(int)blockIdx.x)) + (unsigned)threadIdx_2), g_globalIn_1_length, (int)1, (int)0, false, 1);
        ws_copy_async<4>(s_shared_0 + (int)((unsigned)(int)((unsigned)(int)((unsigned)batch_5 % (unsigned)2) * (unsigned)128) + (unsigned)threadIdx_2), g_globalIn_1 + (int)((unsigned)(int)((unsigned)(int)((unsigned)elementsPerBatch_1 * (unsigned)batch_6) + (unsigned)(int)((unsigned)128 * (unsigned)(int)blockIdx.x)) + (unsigned)threadIdx_2), (unsigned long long)1 * 4u, 0, 1u);
        ws_arrive_by_copies(&m_pipeline_full_0[(pipeline_head_11 % 2u)]);
        pipeline_head_11 = (pipeline_head_11 + 1u);
        if (((pipeline_head_11 % 2u) == 0u)) {
          pipeline_head_phase_12 = (pipeline_head_phase_12 ^ 1u);
        }
      }
      continue_2:;
    }
    break_2:;
    while (true) {
      WS_TURN();
      if ((role_0 == 1)) {
        ws_wait(&m_pipeline_full_0[(pipeline_tail_14 % 2u)], pipeline_tail_phase_15, 2);
        batch_7 = computeBatch_3;
        batch_8 = computeBatch_3;
        out_9 = (int)((unsigned)(int)((unsigned)(int)((unsigned)elementsPerBatch_1 * (unsigned)batch_7) + (unsigned)(int)((unsigned)128 * (unsigned)(int)blockIdx.x)) + (unsigned)threadIdx_2);
        staged_10 = ((int)s_shared_0[(int)((unsigned)(int)((unsigned)(int)((unsigned)batch_8 % (unsigned)2) * (unsigned)128) + (unsigned)threadIdx_2)]);
        g_globalOut_0[ws_inside(out_9, g_globalOut_0_length, 3)] = (int)(int)((unsigned)(int)((unsigned)staged_10 * (unsigned)3) + (unsigned)1);
        ws_arrive(&m_pipeline_empty_1[(pipeline_tail_14 % 2u)]);
        pipeline_tail_14 = (pipeline_tail_14 + 1u);
        if (((pipeline_tail_14 % 2u) == 0u)) {
          pipeline_tail_phase_15 = (pipeline_tail_phase_15 ^ 1u);
        }
      }
      computeBatch_3 = (int)((unsigned)computeBatch_3 + (unsigned)1);
      if ((!(computeBatch_3 < batchCount_2))) {
        goto break_0;
      }
      if ((computeBatch_3 < (int)((unsigned)batchCount_2 - (unsigned)1))) {
        if ((role_0 == 0)) {
          ws_wait(&m_pipeline_empty_1[(pipeline_head_11 % 2u)], (pipeline_head_phase_12 ^ 1u), 0);
          batch_5 = (int)((unsigned)computeBatch_3 + (unsigned)1);
          batch_6 = (int)((unsigned)computeBatch_3 + (unsigned)1);
          ws_check_copy((int)(int)((unsigned)(int)((unsigned)(int)((unsigned)batch_5 % (unsigned)2) * (unsigned)128) + (unsigned)threadIdx_2), s_shared_0_length, (int)(int)((unsigned)(int)((unsigned)(int)((unsigned)elementsPerBatch_1 * (unsigned)batch_6) + (unsigned)(int)((unsigned)128 * (unsigned)(int)blockIdx.x)) + (unsigned)threadIdx_2), g_globalIn_1_length, (int)1, (int)0, false, 1);
          ws_copy_async<4>(s_shared_0 + (int)((unsigned)(int)((unsigned)(int)((unsigned)batch_5 % (unsigned)2) * (unsigned)128) + (unsigned)threadIdx_2), g_globalIn_1 + (int)((unsigned)(int)((unsigned)(int)((unsigned)elementsPerBatch_1 * (unsigned)batch_6) + (unsigned)(int)((unsigned)128 * (unsigned)(int)blockIdx.x)) + (unsigned)threadIdx_2), (unsigned long long)1 * 4u, 0, 1u);
          ws_arrive_by_copies(&m_pipeline_full_0[(pipeline_head_11 % 2u)]);
          pipeline_head_11 = (pipeline_head_11 + 1u);
          if (((pipeline_head_11 % 2u) == 0u)) {
            pipeline_head_phase_12 = (pipeline_head_phase_12 ^ 1u);
          }
        }
      }
      continue_0:;
    }
    break_0:;
  }
  ws_finish_copies();
}
