extern "C" __global__ void __launch_bounds__(64) kernel(int* g_out_0, int g_out_0_length, const int* g_x_1, int g_x_1_length, const int* g_labels_2, int g_labels_2_length) {
  const unsigned ws_thread_rank = threadIdx.x;
  extern __shared__ __align__(128) unsigned char ws_shared_memory[];
  int* const s_shared_0 = (int*)(ws_shared_memory + 0);
  const int s_shared_0_length = 192;
  unsigned matchAny_0 = 0;
  int rank_1 = 0;
  int half_2 = 0;
  int sum_3 = 0;
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
  int here_21 = 0;
  bool above_22 = 0;
  unsigned lane_23 = 0;
  int left_24 = 0;
  int shfl_25 = 0;
  bool own_26 = 0;
  unsigned votes_27 = 0;
  int agreed_28 = 0;
  int batch_29 = 0;
  int stage_30 = 0;
  unsigned pipeline_place_31 = 0;
  unsigned pipeline_head_32 = 0;
  unsigned pipeline_head_phase_33 = 0;
  unsigned pipeline_tail_35 = 0;
  unsigned pipeline_tail_phase_36 = 0;
  __shared__ ws_barrier m_pipeline_full_0[192];
  __shared__ ws_barrier m_pipeline_empty_1[192];
  matchAny_0 = __match_any_sync(ws_tile_mask<32>(ws_thread_rank), ((int)g_labels_2[(int)ws_thread_rank]));
  rank_1 = (int)(unsigned)__popc((unsigned)(matchAny_0 & ((1u << ((int)(unsigned)((int)ws_thread_rank & 31) & 31)) - 1u)));
  half_2 = ((int)(unsigned)__popc((unsigned)matchAny_0) / 2);
  sum_3 = (-1);
  if ((half_2 > 0)) {
    left_4 = (int)((unsigned)rank_1 % (unsigned)half_2);
    here_5 = (int)(unsigned)__popc((unsigned)(matchAny_0 & 65535u));
    above_6 = (left_4 >= here_5);
    lane_7 = (above_6 ? 16u : 0u);
    left_8 = (above_6 ? (int)((unsigned)left_4 - (unsigned)here_5) : left_4);
    here_9 = (int)(unsigned)__popc((unsigned)((matchAny_0 >> ((int)lane_7 & 31)) & 255u));
    above_10 = (left_8 >= here_9);
    lane_11 = (above_10 ? (lane_7 + 8u) : lane_7);
    left_12 = (above_10 ? (int)((unsigned)left_8 - (unsigned)here_9) : left_8);
    here_13 = (int)(unsigned)__popc((unsigned)((matchAny_0 >> ((int)lane_11 & 31)) & 15u));
    above_14 = (left_12 >= here_13);
    lane_15 = (above_14 ? (lane_11 + 4u) : lane_11);
    left_16 = (above_14 ? (int)((unsigned)left_12 - (unsigned)here_13) : left_12);
    here_17 = (int)(unsigned)__popc((unsigned)((matchAny_0 >> ((int)lane_15 & 31)) & 3u));
    above_18 = (left_16 >= here_17);
    lane_19 = (above_18 ? (lane_15 + 2u) : lane_15);
    left_20 = (above_18 ? (int)((unsigned)left_16 - (unsigned)here_17) : left_16);
    here_21 = (int)(unsigned)__popc((unsigned)((matchAny_0 >> ((int)lane_19 & 31)) & 1u));
    above_22 = (left_20 >= here_21);
    lane_23 = (above_22 ? (lane_19 + 1u) : lane_19);
    left_24 = (above_22 ? (int)((unsigned)left_20 - (unsigned)here_21) : left_20);
    shfl_25 = ws_apart(matchAny_0, [&](unsigned lanes) { return __shfl_sync(lanes, (int)ws_thread_rank, (int)lane_23 & 31, 32); });
    own_26 = (((rank_1 < half_2) ? 0 : 1) == 0);
    votes_27 = ws_apart(matchAny_0, [&](unsigned lanes) { return __ballot_sync(lanes, own_26); });
    agreed_28 = (int)(unsigned)__popc((unsigned)votes_27);
    ws_sync_lanes(matchAny_0);
    pipeline_head_32 = 0u;
    pipeline_head_phase_33 = 0u;
    pipeline_tail_35 = 0u;
    pipeline_tail_phase_36 = 0u;
    pipeline_place_31 = (unsigned)(int)((unsigned)((int)ws_thread_rank & (-32)) + (unsigned)(int)(unsigned)__popc((unsigned)((~matchAny_0) & (matchAny_0 - 1u))));
    if (((int)ws_thread_rank == (int)((unsigned)((int)ws_thread_rank & (-32)) + (unsigned)(int)(unsigned)__popc((unsigned)((~matchAny_0) & (matchAny_0 - 1u)))))) {
      ws_init(&m_pipeline_full_0[pipeline_place_31 * 3u + 0], (unsigned)agreed_28);
      ws_init(&m_pipeline_empty_1[pipeline_place_31 * 3u + 0], ((unsigned)__popc((unsigned)matchAny_0) - (unsigned)agreed_28));
      ws_init(&m_pipeline_full_0[pipeline_place_31 * 3u + 1], (unsigned)agreed_28);
      ws_init(&m_pipeline_empty_1[pipeline_place_31 * 3u + 1], ((unsigned)__popc((unsigned)matchAny_0) - (unsigned)agreed_28));
      ws_init(&m_pipeline_full_0[pipeline_place_31 * 3u + 2], (unsigned)agreed_28);
      ws_init(&m_pipeline_empty_1[pipeline_place_31 * 3u + 2], ((unsigned)__popc((unsigned)matchAny_0) - (unsigned)agreed_28));
    }
    ws_sync_lanes(matchAny_0);
    batch_29 = 0;
    while ((batch_29 < 5)) {
      stage_30 = (int)((unsigned)(int)((unsigned)batch_29 % (unsigned)3) * (unsigned)64);
      if ((rank_1 < half_2)) {
        ws_wait(&m_pipeline_empty_1[pipeline_place_31 * 3u + pipeline_head_32], (pipeline_head_phase_33 ^ 1u));
        ws_copy_async<4>(s_shared_0 + (stage_30 + (int)ws_thread_rank), g_x_1 + ((64 * batch_29) + (int)ws_thread_rank), (unsigned long long)1 * 4u, 0, 1u);
        ws_arrive_by_copies(&m_pipeline_full_0[pipeline_place_31 * 3u + pipeline_head_32]);
        pipeline_head_32 = (pipeline_head_32 + 1u);
        if ((pipeline_head_32 == 3u)) {
          pipeline_head_32 = 0u;
          pipeline_head_phase_33 = (pipeline_head_phase_33 ^ 1u);
        }
      }
      else {
        ws_wait(&m_pipeline_full_0[pipeline_place_31 * 3u + pipeline_tail_35], pipeline_tail_phase_36);
        sum_3 = (int)((unsigned)(int)((unsigned)sum_3 * (unsigned)3) + (unsigned)((int)s_shared_0[(stage_30 + shfl_25)]));
        ws_arrive(&m_pipeline_empty_1[pipeline_place_31 * 3u + pipeline_tail_35]);
        pipeline_tail_35 = (pipeline_tail_35 + 1u);
        if ((pipeline_tail_35 == 3u)) {
          pipeline_tail_35 = 0u;
          pipeline_tail_phase_36 = (pipeline_tail_phase_36 ^ 1u);
        }
      }
      continue_0:;
      batch_29 = (int)((unsigned)batch_29 + (unsigned)1);
    }
    break_0:;
  }
  g_out_0[(int)ws_thread_rank] = (int)sum_3;
  ws_finish_copies();
}
