extern "C" __global__ void __launch_bounds__(64) kernel(int* g_out_0, int g_out_0_length, const int* g_x_1, int g_x_1_length, const int* g_flags_2, int g_flags_2_length, ws_channel* ws_host, unsigned ws_launch) {
  if (ws_begins_late(ws_host, ws_launch)) return;
  unsigned ws_turns = 0;
  ws_host_of_block = ws_host;
  ws_launch_of_block = ws_launch;
  const unsigned ws_thread_rank = threadIdx.x;
  extern __shared__ __align__(128) unsigned char ws_shared_memory[];
  int* const s_shared_0 = (int*)(ws_shared_memory + 0);
  const int s_shared_0_length = 512;
  unsigned* const s_own_votes_1 = (unsigned*)(ws_shared_memory + 2048);
  const int s_own_votes_1_length = 4;
  bool flag_0 = 0;
  unsigned half_1 = 0;
  int warp_2 = 0;
  unsigned votes_3 = 0;
  unsigned votes_4 = 0;
  int present_5 = 0;
  unsigned lanes_6 = 0;
  unsigned lanes_7 = 0;
  unsigned below_8 = 0;
  int size_9 = 0;
  int rank_10 = 0;
  int base_11 = 0;
  long long token_12 = 0;
  long long token_13 = 0;
  int mine_14 = 0;
  int next_15 = 0;
  int sum_16 = 0;
  int filled_17 = 0;
  int batch_18 = 0;
  unsigned own_place_19 = 0;
  unsigned pipe_place_20 = 0;
  unsigned pipe_head_21 = 0;
  unsigned pipe_head_phase_22 = 0;
  unsigned pipe_tail_24 = 0;
  unsigned pipe_tail_phase_25 = 0;
  __shared__ ws_barrier m_own_0[2];
  __shared__ ws_barrier m_pipe_full_1[4];
  __shared__ ws_barrier m_pipe_empty_2[4];
  flag_0 = (((int)g_flags_2[(int)ws_thread_rank]) > 0);
  half_1 = (flag_0 ? 0u : 1u);
  warp_2 = ((int)ws_thread_rank >> ((int)5 & 31));
  votes_3 = __ballot_sync(ws_tile_mask<32>(ws_thread_rank), flag_0);
  votes_4 = __ballot_sync(ws_tile_mask<32>(ws_thread_rank), (!flag_0));
  if ((((int)ws_thread_rank & 31) == 0)) {
    s_own_votes_1[(warp_2 * 2)] = (unsigned)votes_3;
    s_own_votes_1[((warp_2 * 2) + 1)] = (unsigned)votes_4;
  }
  present_5 = __syncthreads_count(true);
  if (!((present_5 == 64))) ws_report(0, (long long)ws_bits(present_5), 0, 0, 0);
  lanes_6 = ((unsigned)s_own_votes_1[(int)half_1]);
  lanes_7 = ((unsigned)s_own_votes_1[((int)half_1 + 2)]);
  below_8 = ((1u << ((int)(unsigned)((int)ws_thread_rank & 31) & 31)) - 1u);
  size_9 = (int)((unsigned)(int)(unsigned)__popc((unsigned)lanes_6) + (unsigned)(int)(unsigned)__popc((unsigned)lanes_7));
  own_place_19 = (unsigned)(int)half_1;
  if (((int)ws_thread_rank == ((lanes_6 == 0u) ? ((lanes_7 == 0u) ? 0 : (int)((unsigned)32 + (unsigned)(int)(unsigned)__popc((unsigned)((~lanes_7) & (lanes_7 - 1u))))) : (int)((unsigned)0 + (unsigned)(int)(unsigned)__popc((unsigned)((~lanes_6) & (lanes_6 - 1u))))))) {
    ws_init(&m_own_0[own_place_19 * 1u], ((unsigned)__popc((unsigned)lanes_6) + (unsigned)__popc((unsigned)lanes_7)));
  }
  __syncthreads();
  rank_10 = (int)((unsigned)(int)(unsigned)__popc((unsigned)(lanes_6 & ((warp_2 > 0) ? 4294967295u : ((warp_2 == 0) ? below_8 : 0u)))) + (unsigned)(int)(unsigned)__popc((unsigned)(lanes_7 & ((warp_2 > 1) ? 4294967295u : ((warp_2 == 1) ? below_8 : 0u)))));
  base_11 = (flag_0 ? 0 : (int)((unsigned)64 - (unsigned)size_9));
  token_12 = ws_arrive_token(&m_own_0[own_place_19 * 1u], 1u);
  ws_await(&m_own_0[own_place_19 * 1u], token_12, 1);
  pipe_head_21 = 0u;
  pipe_head_phase_22 = 0u;
  pipe_tail_24 = 0u;
  pipe_tail_phase_25 = 0u;
  pipe_place_20 = (unsigned)(int)half_1;
  if (((int)ws_thread_rank == ((lanes_6 == 0u) ? ((lanes_7 == 0u) ? 0 : (int)((unsigned)32 + (unsigned)(int)(unsigned)__popc((unsigned)((~lanes_7) & (lanes_7 - 1u))))) : (int)((unsigned)0 + (unsigned)(int)(unsigned)__popc((unsigned)((~lanes_6) & (lanes_6 - 1u))))))) {
    ws_init(&m_pipe_full_1[pipe_place_20 * 2u + 0], ((unsigned)__popc((unsigned)lanes_6) + (unsigned)__popc((unsigned)lanes_7)));
    ws_init(&m_pipe_empty_2[pipe_place_20 * 2u + 0], ((unsigned)__popc((unsigned)lanes_6) + (unsigned)__popc((unsigned)lanes_7)));
    ws_init(&m_pipe_full_1[pipe_place_20 * 2u + 1], ((unsigned)__popc((unsigned)lanes_6) + (unsigned)__popc((unsigned)lanes_7)));
    ws_init(&m_pipe_empty_2[pipe_place_20 * 2u + 1], ((unsigned)__popc((unsigned)lanes_6) + (unsigned)__popc((unsigned)lanes_7)));
  }
  token_13 = ws_arrive_token(&m_own_0[own_place_19 * 1u], 1u);
  ws_await(&m_own_0[own_place_19 * 1u], token_13, 1);
  mine_14 = (flag_0 ? 0 : 256);
  next_15 = (int)((unsigned)(int)((unsigned)rank_10 + (unsigned)1) % (unsigned)size_9);
  sum_16 = 0;
  filled_17 = 0;
  batch_18 = 0;
  if ((batch_18 < 5)) {
    while (((filled_17 < 5) ? (filled_17 < (int)((unsigned)batch_18 + (unsigned)2)) : false)) {
      ws_wait(&m_pipe_empty_2[pipe_place_20 * 2u + (pipe_head_21 % 2u)], (pipe_head_phase_22 ^ 1u), 2);
      ws_copy_async<4>(s_shared_0 + (mine_14 + (((int)((unsigned)filled_17 % (unsigned)2) * 128) + rank_10)), g_x_1 + ((128 * filled_17) + (int)ws_thread_rank), (unsigned long long)1 * 4u, 0, 1u);
      ws_arrive_after_copies(&m_pipe_full_1[pipe_place_20 * 2u + (pipe_head_21 % 2u)]);
      ws_arrive(&m_pipe_full_1[pipe_place_20 * 2u + (pipe_head_21 % 2u)]);
      pipe_head_21 = (pipe_head_21 + 1u);
      if (((pipe_head_21 % 2u) == 0u)) {
        pipe_head_phase_22 = (pipe_head_phase_22 ^ 1u);
      }
      continue_1:;
      filled_17 = (int)((unsigned)filled_17 + (unsigned)1);
    }
    break_1:;
    while ((batch_18 < (int)((unsigned)5 - (unsigned)3))) {
      WS_TURN();
      ws_wait(&m_pipe_full_1[pipe_place_20 * 2u + (pipe_tail_24 % 2u)], pipe_tail_phase_25, 3);
      sum_16 = (int)((unsigned)(int)((unsigned)sum_16 * (unsigned)3) + (unsigned)((int)s_shared_0[(mine_14 + (((int)((unsigned)batch_18 % (unsigned)2) * 128) + next_15))]));
      ws_arrive(&m_pipe_empty_2[pipe_place_20 * 2u + (pipe_tail_24 % 2u)]);
      pipe_tail_24 = (pipe_tail_24 + 1u);
      if (((pipe_tail_24 % 2u) == 0u)) {
        pipe_tail_phase_25 = (pipe_tail_phase_25 ^ 1u);
      }
      batch_18 = (int)((unsigned)batch_18 + (unsigned)1);
      ws_wait(&m_pipe_empty_2[pipe_place_20 * 2u + ((pipe_tail_24 + 1u) % 2u)], ((((((pipe_tail_24 % 2u) + 1u) / 2u) + pipe_tail_phase_25) & 1u) ^ 1u), 2);
      ws_copy_async<4>(s_shared_0 + (mine_14 + (((int)((unsigned)(int)((unsigned)batch_18 + (unsigned)1) % (unsigned)2) * 128) + rank_10)), g_x_1 + ((128 * (batch_18 + 1)) + (int)ws_thread_rank), (unsigned long long)1 * 4u, 0, 1u);
      ws_arrive_after_copies(&m_pipe_full_1[pipe_place_20 * 2u + ((pipe_tail_24 + 1u) % 2u)]);
      ws_arrive(&m_pipe_full_1[pipe_place_20 * 2u + ((pipe_tail_24 + 1u) % 2u)]);
      ws_wait(&m_pipe_full_1[pipe_place_20 * 2u + (pipe_tail_24 % 2u)], pipe_tail_phase_25, 3);
      sum_16 = (int)((unsigned)(int)((unsigned)sum_16 * (unsigned)3) + (unsigned)((int)s_shared_0[(mine_14 + (((int)((unsigned)batch_18 % (unsigned)2) * 128) + next_15))]));
      ws_arrive(&m_pipe_empty_2[pipe_place_20 * 2u + (pipe_tail_24 % 2u)]);
      pipe_tail_24 = (pipe_tail_24 + 1u);
      if (((pipe_tail_24 % 2u) == 0u)) {
        pipe_tail_phase_25 = (pipe_tail_phase_25 ^ 1u);
      }
      batch_18 = (int)((unsigned)batch_18 + (unsigned)1);
      ws_wait(&m_pipe_empty_2[pipe_place_20 * 2u + ((pipe_tail_24 + 1u) % 2u)], ((((((pipe_tail_24 % 2u) + 1u) / 2u) + pipe_tail_phase_25) & 1u) ^ 1u), 2);
      ws_copy_async<4>(s_shared_0 + (mine_14 + (((int)((unsigned)(int)((unsigned)batch_18 + (unsigned)1) % (unsigned)2) * 128) + rank_10)), g_x_1 + ((128 * (batch_18 + 1)) + (int)ws_thread_rank), (unsigned long long)1 * 4u, 0, 1u);
      ws_arrive_after_copies(&m_pipe_full_1[pipe_place_20 * 2u + ((pipe_tail_24 + 1u) % 2u)]);
      ws_arrive(&m_pipe_full_1[pipe_place_20 * 2u + ((pipe_tail_24 + 1u) % 2u)]);
      continue_2:;
    }
    break_2:;
    while (true) {
      WS_TURN();
      ws_wait(&m_pipe_full_1[pipe_place_20 * 2u + (pipe_tail_24 % 2u)], pipe_tail_phase_25, 3);
      sum_16 = (int)((unsigned)(int)((unsigned)sum_16 * (unsigned)3) + (unsigned)((int)s_shared_0[(mine_14 + (((int)((unsigned)batch_18 % (unsigned)2) * 128) + next_15))]));
      ws_arrive(&m_pipe_empty_2[pipe_place_20 * 2u + (pipe_tail_24 % 2u)]);
      pipe_tail_24 = (pipe_tail_24 + 1u);
      if (((pipe_tail_24 % 2u) == 0u)) {
        pipe_tail_phase_25 = (pipe_tail_phase_25 ^ 1u);
      }
      batch_18 = (int)((unsigned)batch_18 + (unsigned)1);
      if ((!(batch_18 < 5))) {
        goto break_0;
      }
      if ((batch_18 < (int)((unsigned)5 - (unsigned)1))) {
        ws_wait(&m_pipe_empty_2[pipe_place_20 * 2u + ((pipe_tail_24 + 1u) % 2u)], ((((((pipe_tail_24 % 2u) + 1u) / 2u) + pipe_tail_phase_25) & 1u) ^ 1u), 2);
        ws_copy_async<4>(s_shared_0 + (mine_14 + (((int)((unsigned)(int)((unsigned)batch_18 + (unsigned)1) % (unsigned)2) * 128) + rank_10)), g_x_1 + ((128 * (batch_18 + 1)) + (int)ws_thread_rank), (unsigned long long)1 * 4u, 0, 1u);
        ws_arrive_after_copies(&m_pipe_full_1[pipe_place_20 * 2u + ((pipe_tail_24 + 1u) % 2u)]);
        ws_arrive(&m_pipe_full_1[pipe_place_20 * 2u + ((pipe_tail_24 + 1u) % 2u)]);
      }
      continue_0:;
    }
    break_0:;
  }
  g_out_0[(int)ws_thread_rank] = (int)sum_16;
  ws_finish_copies();
}
