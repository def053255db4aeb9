extern "C" __global__ void __launch_bounds__(256) kernel(int* g_globalOut_0, int g_globalOut_0_length, const int* g_globalIn_1, int g_globalIn_1_length, int batchCount_2) {
  const unsigned ws_thread_rank = threadIdx.x;
  extern __shared__ __align__(128) unsigned char ws_shared_memory[];
  int* const s_shared_0 = (int*)(ws_shared_memory + 0);
  const int s_shared_0_length = 512;
  int computeBatch_0 = 0;
  int fetchBatch_1 = 0;
  int batch_2 = 0;
  int batch_3 = 0;
  int out_4 = 0;
  int staged_5 = 0;
  unsigned pipeline_filled_6 = 0;
  pipeline_filled_6 = 0u;
  computeBatch_0 = 0;
  fetchBatch_1 = 0;
  if ((computeBatch_0 < batchCount_2)) {
    while (((fetchBatch_1 < batchCount_2) ? (fetchBatch_1 < (int)((unsigned)computeBatch_0 + (unsigned)2)) : false)) {
      batch_2 = fetchBatch_1;
      ws_copy_async<4>(s_shared_0 + (((int)((unsigned)fetchBatch_1 % (unsigned)2) * 256) + (int)ws_thread_rank), g_globalIn_1 + ((((int)blockIdx.x * 256) + (((((int)gridDim.z * (int)gridDim.y) * (int)gridDim.x) * 256) * batch_2)) + (int)ws_thread_rank), (unsigned long long)1 * 4u, 0, 1u);
      ws_commit();
      pipeline_filled_6 = (pipeline_filled_6 + 1u);
      continue_1:;
      fetchBatch_1 = (int)((unsigned)fetchBatch_1 + (unsigned)1);
    }
    break_1:;
    while ((pipeline_filled_6 < 2u)) {
      ws_commit();
      continue_3:;
      pipeline_filled_6 = (pipeline_filled_6 + 1u);
    }
    break_3:;
    while ((computeBatch_0 < (int)((unsigned)batchCount_2 - (unsigned)3))) {
      ws_wait_group<1>();
      __syncthreads();
      batch_3 = computeBatch_0;
      out_4 = (int)((unsigned)(int)((unsigned)(int)blockIdx.x * (unsigned)256) + (unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)batch_3));
      staged_5 = (int)((unsigned)(int)((unsigned)computeBatch_0 % (unsigned)2) * (unsigned)256);
      g_globalOut_0[(out_4 + (int)ws_thread_rank)] = (int)(int)((unsigned)(int)((unsigned)((int)s_shared_0[(staged_5 + (int)ws_thread_rank)]) * (unsigned)3) + (unsigned)1);
      __syncthreads();
      computeBatch_0 = (int)((unsigned)computeBatch_0 + (unsigned)1);
      batch_2 = (int)((unsigned)computeBatch_0 + (unsigned)1);
      ws_copy_async<4>(s_shared_0 + (((int)((unsigned)(int)((unsigned)computeBatch_0 + (unsigned)1) % (unsigned)2) * 256) + (int)ws_thread_rank), g_globalIn_1 + ((((int)blockIdx.x * 256) + (int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)batch_2)) + (int)ws_thread_rank), (unsigned long long)1 * 4u, 0, 1u);
      ws_commit();
      ws_wait_group<1>();
      __syncthreads();
      batch_3 = computeBatch_0;
      out_4 = (int)((unsigned)(int)((unsigned)(int)blockIdx.x * (unsigned)256) + (unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)batch_3));
      staged_5 = (int)((unsigned)(int)((unsigned)computeBatch_0 % (unsigned)2) * (unsigned)256);
      g_globalOut_0[(out_4 + (int)ws_thread_rank)] = (int)(int)((unsigned)(int)((unsigned)((int)s_shared_0[(staged_5 + (int)ws_thread_rank)]) * (unsigned)3) + (unsigned)1);
      __syncthreads();
      computeBatch_0 = (int)((unsigned)computeBatch_0 + (unsigned)1);
      batch_2 = (int)((unsigned)computeBatch_0 + (unsigned)1);
      ws_copy_async<4>(s_shared_0 + (((int)((unsigned)(int)((unsigned)computeBatch_0 + (unsigned)1) % (unsigned)2) * 256) + (int)ws_thread_rank), g_globalIn_1 + ((((int)blockIdx.x * 256) + (int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)batch_2)) + (int)ws_thread_rank), (unsigned long long)1 * 4u, 0, 1u);
      ws_commit();
      continue_2:;
    }
    break_2:;
    while (true) {
      ws_wait_group<1>();
      __syncthreads();
      batch_3 = computeBatch_0;
      out_4 = (int)((unsigned)(int)((unsigned)(int)blockIdx.x * (unsigned)256) + (unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)batch_3));
      staged_5 = (int)((unsigned)(int)((unsigned)computeBatch_0 % (unsigned)2) * (unsigned)256);
      g_globalOut_0[(out_4 + (int)ws_thread_rank)] = (int)(int)((unsigned)(int)((unsigned)((int)s_shared_0[(staged_5 + (int)ws_thread_rank)]) * (unsigned)3) + (unsigned)1);
      __syncthreads();
      computeBatch_0 = (int)((unsigned)computeBatch_0 + (unsigned)1);
      if ((!(computeBatch_0 < batchCount_2))) {
        goto break_0;
      }
      if ((computeBatch_0 < (int)((unsigned)batchCount_2 - (unsigned)1))) {
        batch_2 = (int)((unsigned)computeBatch_0 + (unsigned)1);
        ws_copy_async<4>(s_shared_0 + (((int)((unsigned)(int)((unsigned)computeBatch_0 + (unsigned)1) % (unsigned)2) * 256) + (int)ws_thread_rank), g_globalIn_1 + ((((int)blockIdx.x * 256) + (int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)batch_2)) + (int)ws_thread_rank), (unsigned long long)1 * 4u, 0, 1u);
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
