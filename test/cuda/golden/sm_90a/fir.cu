extern "C" __global__ void __launch_bounds__(256) kernel(float* g_y_0, int g_y_0_length, const float* g_x_1, int g_x_1_length, const float* g_weights_2, int g_weights_2_length) {
  const unsigned ws_thread_rank = threadIdx.x;
  int i_0 = 0;
  float sum_1 = 0;
  int k_2 = 0;
  i_0 = (int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)blockIdx.z * (unsigned)(int)gridDim.y) + (unsigned)(int)blockIdx.y) * (unsigned)(int)gridDim.x) + (unsigned)(int)blockIdx.x) * (unsigned)256) + (unsigned)(int)ws_thread_rank);
  if ((i_0 >= g_y_0_length)) {
    return;
  }
  sum_1 = 0.0f;
  k_2 = 0;
  while ((k_2 < g_weights_2_length)) {
    sum_1 = (sum_1 + (((float)g_weights_2[k_2]) * ((float)g_x_1[(i_0 + k_2)])));
    continue_0:;
    k_2 = (int)((unsigned)k_2 + (unsigned)1);
  }
  break_0:;
  g_y_0[i_0] = (float)sum_1;
}
