extern "C" __global__ void __launch_bounds__(256) kernel(float* g_y_0, int g_y_0_length, const float* g_x_1, int g_x_1_length, float a_2, float b_3, ws_channel* ws_host, unsigned ws_launch) {
  if (ws_begins_late(ws_host, ws_launch)) return;
  unsigned ws_turns = 0;
  ws_host_of_block = ws_host;
  ws_launch_of_block = ws_launch;
  const unsigned ws_thread_rank = threadIdx.x;
  int i_0 = 0;
  i_0 = (int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)blockIdx.z * (unsigned)(int)gridDim.y) + (unsigned)(int)blockIdx.y) * (unsigned)(int)gridDim.x) + (unsigned)(int)blockIdx.x) * (unsigned)256) + (unsigned)(int)ws_thread_rank);
  if ((i_0 < g_y_0_length)) {
    g_y_0[ws_inside(i_0, g_y_0_length, 1)] = (float)((a_2 * ((float)g_x_1[ws_inside(i_0, g_x_1_length, 0)])) + b_3);
  }
}
