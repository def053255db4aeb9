extern "C" __global__ void __launch_bounds__(256) kernel(int* g_globalOut_0, int g_globalOut_0_length, const int* g_globalIn_1, int g_globalIn_1_length, int batchCount_2) {
  const unsigned ws_thread_rank = threadIdx.x;
  extern __shared__ __align__(128) unsigned char ws_shared_memory[];
  int* const s_shared_0 = (int*)(ws_shared_memory + 0);
  const int s_shared_0_length = 256;
  int batch_0 = 0;
  int batch_1 = 0;
  int begin_2 = 0;
  unsigned pipeline_filled_3 = 0;
  bool copying_warp_4 = 0;
  bool elected_5 = 0;
  int first_of_warp_6 = 0;
  first_of_warp_6 = __shfl_sync(4294967295u, (int)ws_thread_rank, 0 & 31, 32);
  copying_warp_4 = (first_of_warp_6 == 0);
  pipeline_filled_3 = 0u;
  __syncthreads();
  batch_0 = 0;
  while ((batch_0 < batchCount_2)) {
    batch_1 = batch_0;
    begin_2 = (int)((unsigned)(int)((unsigned)(int)blockIdx.x * (unsigned)256) + (unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)batch_1));
    __syncthreads();
    ws_copy_async<16>(s_shared_0 + 0, g_globalIn_1 + begin_2, (unsigned long long)256 * 4u, ws_thread_rank, 256u);
    ws_commit();
    if (copying_warp_4) {
      elected_5 = ws_elect();
      if (elected_5) {
        if ((batch_0 < (int)((unsigned)batchCount_2 - (unsigned)3))) {
          ws_prefetch(g_globalIn_1 + (((int)blockIdx.x * 256) + (int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256) * (unsigned)(int)((unsigned)batch_0 + (unsigned)3))), (unsigned)256 * 4u);
        }
      }
    }
    pipeline_filled_3 = (pipeline_filled_3 + 1u);
    ws_wait_groups<0>((pipeline_filled_3 - 1u));
    __syncthreads();
    g_globalOut_0[(begin_2 + (int)ws_thread_rank)] = (int)(int)((unsigned)(int)((unsigned)((int)s_shared_0[(int)ws_thread_rank]) * (unsigned)3) + (unsigned)1);
    pipeline_filled_3 = (pipeline_filled_3 - 1u);
    continue_0:;
    batch_0 = (int)((unsigned)batch_0 + (unsigned)1);
  }
  break_0:;
  ws_finish_copies();
}
