extern "C" __global__ void __launch_bounds__(64) kernel(int* g_out_0, int g_out_0_length, const int* g_x_1, int g_x_1_length, const int* g_labels_2, int g_labels_2_length, int per_3) {
  const unsigned ws_thread_rank = threadIdx.x;
  extern __shared__ __align__(128) unsigned char ws_shared_memory[];
  int* const s_shared_0 = (int*)(ws_shared_memory + 0);
  const int s_shared_0_length = 4096;
  unsigned matchAny_0 = 0;
  int here_1 = 0;
  bool above_2 = 0;
  unsigned lane_3 = 0;
  int left_4 = 0;
  int here_5 = 0;
  bool above_6 = 0;
  unsigned lane_7 = 0;
  int left_8 = 0;
  int here_9 = 0;
  bool above_10 = 0;
  unsigned lane_11 = 0;
  int left_12 = 0;
  int here_13 = 0;
  bool above_14 = 0;
  unsigned lane_15 = 0;
  int left_16 = 0;
  int here_17 = 0;
  bool above_18 = 0;
  unsigned lane_19 = 0;
  int left_20 = 0;
  int shfl_21 = 0;
  int count_22 = 0;
  int own_23 = 0;
  int from_24 = 0;
  int step_25 = 0;
  int i_26 = 0;
  unsigned queue_filled_27 = 0;
  queue_filled_27 = 0u;
  matchAny_0 = __match_any_sync(ws_tile_mask<32>(ws_thread_rank), ((int)g_labels_2[(int)ws_thread_rank]));
  here_1 = (int)(unsigned)__popc((unsigned)(matchAny_0 & 65535u));
  above_2 = (0 >= here_1);
  lane_3 = (above_2 ? 16u : 0u);
  left_4 = (above_2 ? (int)((unsigned)0 - (unsigned)here_1) : 0);
  here_5 = (int)(unsigned)__popc((unsigned)((matchAny_0 >> ((int)lane_3 & 31)) & 255u));
  above_6 = (left_4 >= here_5);
  lane_7 = (above_6 ? (lane_3 + 8u) : lane_3);
  left_8 = (above_6 ? (int)((unsigned)left_4 - (unsigned)here_5) : left_4);
  here_9 = (int)(unsigned)__popc((unsigned)((matchAny_0 >> ((int)lane_7 & 31)) & 15u));
  above_10 = (left_8 >= here_9);
  lane_11 = (above_10 ? (lane_7 + 4u) : lane_7);
  left_12 = (above_10 ? (int)((unsigned)left_8 - (unsigned)here_9) : left_8);
  here_13 = (int)(unsigned)__popc((unsigned)((matchAny_0 >> ((int)lane_11 & 31)) & 3u));
  above_14 = (left_12 >= here_13);
  lane_15 = (above_14 ? (lane_11 + 2u) : lane_11);
  left_16 = (above_14 ? (int)((unsigned)left_12 - (unsigned)here_13) : left_12);
  here_17 = (int)(unsigned)__popc((unsigned)((matchAny_0 >> ((int)lane_15 & 31)) & 1u));
  above_18 = (left_16 >= here_17);
  lane_19 = (above_18 ? (lane_15 + 1u) : lane_15);
  left_20 = (above_18 ? (int)((unsigned)left_16 - (unsigned)here_17) : left_16);
  shfl_21 = ws_apart(matchAny_0, [&](unsigned lanes) { return __shfl_sync(lanes, (int)ws_thread_rank, (int)lane_19 & 31, 32); });
  count_22 = (int)((unsigned)(int)(unsigned)__popc((unsigned)matchAny_0) * (unsigned)per_3);
  own_23 = (int)((unsigned)64 * (unsigned)shfl_21);
  from_24 = (int)((unsigned)8 * (unsigned)shfl_21);
  step_25 = (int)(unsigned)__popc((unsigned)matchAny_0);
  if ((count_22 < 0)) {
    ws_copy_async<4>(s_shared_0 + own_23, g_x_1 + from_24, (unsigned long long)count_22 * 4u, 0, 1u);
  }
  i_26 = (int)(unsigned)__popc((unsigned)(matchAny_0 & ((1u << ((int)(unsigned)((int)ws_thread_rank & 31) & 31)) - 1u)));
  while ((i_26 < count_22)) {
    ws_copy_async<4>(s_shared_0 + (int)((unsigned)own_23 + (unsigned)i_26), g_x_1 + (int)((unsigned)from_24 + (unsigned)i_26), (unsigned long long)1 * 4u, 0, 1u);
    continue_0:;
    i_26 = (int)((unsigned)i_26 + (unsigned)step_25);
  }
  break_0:;
  ws_commit();
  queue_filled_27 = (queue_filled_27 + 1u);
  ws_wait_group<0>();
  if ((queue_filled_27 > 0u)) {
    queue_filled_27 = 0u;
  }
  ws_sync_lanes(matchAny_0);
  g_out_0[(int)ws_thread_rank] = (int)((count_22 == 0) ? (-1) : ((int)s_shared_0[(own_23 + ((int)((unsigned)(int)((unsigned)(int)(unsigned)__popc((unsigned)(matchAny_0 & ((1u << ((int)(unsigned)((int)ws_thread_rank & 31) & 31)) - 1u))) * (unsigned)5) + (unsigned)1) % count_22))]));
}
