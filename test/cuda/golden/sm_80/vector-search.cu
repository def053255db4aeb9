extern "C" __global__ void __launch_bounds__(256) kernel(const float* g_embeddings_0, int g_embeddings_0_length, const float* g_queries_1, int g_queries_1_length, float* g_scores_2, int g_scores_2_length, int* g_rows_3, int g_rows_3_length, int width_4, int k_5, int firstRow_6) {
  const unsigned ws_thread_rank = threadIdx.x;
  int queryCount_0 = 0;
  int rowCount_1 = 0;
  int row_2 = 0;
  int embedding_3 = 0;
  float lengthSquared_4 = 0;
  int d_5 = 0;
  int q_6 = 0;
  int query_7 = 0;
  float dot_8 = 0;
  float querySquared_9 = 0;
  int d_10 = 0;
  float score_11 = 0;
  int list_12 = 0;
  int place_13 = 0;
  queryCount_0 = (g_queries_1_length / width_4);
  rowCount_1 = (g_embeddings_0_length / width_4);
  row_2 = (int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)blockIdx.z * (unsigned)(int)gridDim.y) + (unsigned)(int)blockIdx.y) * (unsigned)(int)gridDim.x) + (unsigned)(int)blockIdx.x) * (unsigned)256) + (unsigned)(int)ws_thread_rank);
  while ((row_2 < rowCount_1)) {
    embedding_3 = (int)((unsigned)row_2 * (unsigned)width_4);
    lengthSquared_4 = 0.0f;
    d_5 = 0;
    while ((d_5 < width_4)) {
      lengthSquared_4 = (lengthSquared_4 + (((float)g_embeddings_0[(embedding_3 + d_5)]) * ((float)g_embeddings_0[(embedding_3 + d_5)])));
      continue_1:;
      d_5 = (int)((unsigned)d_5 + (unsigned)1);
    }
    break_1:;
    q_6 = 0;
    while ((q_6 < queryCount_0)) {
      query_7 = (int)((unsigned)q_6 * (unsigned)width_4);
      dot_8 = 0.0f;
      querySquared_9 = 0.0f;
      d_10 = 0;
      while ((d_10 < width_4)) {
        dot_8 = (dot_8 + (((float)g_embeddings_0[(embedding_3 + d_10)]) * ((float)g_queries_1[(query_7 + d_10)])));
        querySquared_9 = (querySquared_9 + (((float)g_queries_1[(query_7 + d_10)]) * ((float)g_queries_1[(query_7 + d_10)])));
        continue_3:;
        d_10 = (int)((unsigned)d_10 + (unsigned)1);
      }
      break_3:;
      score_11 = (dot_8 / sqrtf((lengthSquared_4 * querySquared_9)));
      list_12 = (int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)blockIdx.z * (unsigned)(int)gridDim.y) + (unsigned)(int)blockIdx.y) * (unsigned)(int)gridDim.x) + (unsigned)(int)blockIdx.x) * (unsigned)256) + (unsigned)(int)ws_thread_rank) * (unsigned)queryCount_0) + (unsigned)q_6) * (unsigned)k_5);
      place_13 = k_5;
      while (((place_13 > 0) ? (score_11 > ((float)g_scores_2[(int)((unsigned)(int)((unsigned)list_12 + (unsigned)place_13) - (unsigned)1)])) : false)) {
        place_13 = (int)((unsigned)place_13 - (unsigned)1);
        if ((place_13 < (int)((unsigned)k_5 - (unsigned)1))) {
          g_scores_2[((list_12 + place_13) + 1)] = (float)((float)g_scores_2[(list_12 + place_13)]);
          g_rows_3[((list_12 + place_13) + 1)] = (int)((int)g_rows_3[(list_12 + place_13)]);
        }
        continue_4:;
      }
      break_4:;
      if ((place_13 < k_5)) {
        g_scores_2[(int)((unsigned)list_12 + (unsigned)place_13)] = (float)score_11;
        g_rows_3[(int)((unsigned)list_12 + (unsigned)place_13)] = (int)(int)((unsigned)firstRow_6 + (unsigned)row_2);
      }
      continue_2:;
      q_6 = (int)((unsigned)q_6 + (unsigned)1);
    }
    break_2:;
    continue_0:;
    row_2 = (int)((unsigned)row_2 + (unsigned)(int)((unsigned)(int)((unsigned)(int)((unsigned)(int)gridDim.z * (unsigned)(int)gridDim.y) * (unsigned)(int)gridDim.x) * (unsigned)256));
  }
  break_0:;
}
