extern "C" __global__ void __launch_bounds__(256) kernel(int* g_globalOut_0, int g_globalOut_0_length, const int* g_globalIn_1, int g_globalIn_1_length, int batchCount_2, ws_channel* ws_host, unsigned ws_launch) {
  if (ws_begins_late(ws_host, ws_launch)) return;
  unsigned ws_turns = 0;
  ws_host_of_block = ws_host;
  ws_launch_of_block = ws_launch;
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
  unsigned pipeline_filled_6 = 0;
  pipeline_filled_6 = 0u;
  __syncthreads();
  computeBatch_0 = 0;
  fetchBatch_1 = 0;
  if ((computeBatch_0 < batchCount_2)) {
    while (((fetchBatch_1 < batchCount_2) ? (fetchBatch_1 < (int)((unsigned)computeBatch_0 + (unsigned)4)) : false)) {
      WS_TURN();
      __syncthreads();
      batch_2 = fetchBatch_1;
      ws_check_copy((int)(int)((unsigned)(int)((unsigned)fetchBatch_1 % (unsigned)4) * (unsigned)256), s_shared_0_length, (int)(int)((unsigned)(int)((unsigned)(int)blockIdx.x * (unsigned)256) + (unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)batch_2)), g_globalIn_1_length, (int)256, (int)0, false, 0);
      ws_copy_async<16>(s_shared_0 + (int)((unsigned)(int)((unsigned)fetchBatch_1 % (unsigned)4) * (unsigned)256), g_globalIn_1 + (int)((unsigned)(int)((unsigned)(int)blockIdx.x * (unsigned)256) + (unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)batch_2)), (unsigned long long)256 * 4u, ws_thread_rank, 256u);
      ws_commit();
      pipeline_filled_6 = (pipeline_filled_6 + 1u);
      continue_1:;
      fetchBatch_1 = (int)((unsigned)fetchBatch_1 + (unsigned)1);
    }
    break_1:;
    while ((pipeline_filled_6 < 4u)) {
      ws_commit();
      continue_2:;
      pipeline_filled_6 = (pipeline_filled_6 + 1u);
    }
    break_2:;
    while (true) {
      WS_TURN();
      ws_wait_group<3>();
      __syncthreads();
      batch_3 = computeBatch_0;
      out_4 = (int)((unsigned)(int)((unsigned)(int)blockIdx.x * (unsigned)256) + (unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)batch_3));
      staged_5 = (int)((unsigned)(int)((unsigned)computeBatch_0 % (unsigned)4) * (unsigned)256);
      g_globalOut_0[ws_inside((int)((unsigned)out_4 + (unsigned)(int)ws_thread_rank), g_globalOut_0_length, 1)] = (int)(int)((unsigned)(int)((unsigned)((int)s_shared_0[(int)((unsigned)staged_5 + (unsigned)(int)ws_thread_rank)]) * (unsigned)3) + (unsigned)1);
      computeBatch_0 = (int)((unsigned)computeBatch_0 + (unsigned)1);
      if ((!(computeBatch_0 < batchCount_2))) {
        goto break_0;
      }
      if ((computeBatch_0 < (int)((unsigned)batchCount_2 - (unsigned)3))) {
        __syncthreads();
        batch_2 = (int)((unsigned)computeBatch_0 + (unsigned)3);
        ws_check_copy((int)(int)((unsigned)(int)((unsigned)(int)((unsigned)computeBatch_0 + (unsigned)3) % (unsigned)4) * (unsigned)256), s_shared_0_length, (int)(int)((unsigned)(int)((unsigned)(int)blockIdx.x * (unsigned)256) + (unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)batch_2)), g_globalIn_1_length, (int)256, (int)0, false, 0);
        ws_copy_async<16>(s_shared_0 + (int)((unsigned)(int)((unsigned)(int)((unsigned)computeBatch_0 + (unsigned)3) % (unsigned)4) * (unsigned)256), g_globalIn_1 + (int)((unsigned)(int)((unsigned)(int)blockIdx.x * (unsigned)256) + (unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)batch_2)), (unsigned long long)256 * 4u, ws_thread_rank, 256u);
        ws_commit();
      }
      else {
        ws_commit();
      }
      continue_0:;
    }
    break_0:;
  }
  ws_finish_copies();
}
