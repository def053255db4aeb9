/**
 * Semantic search without an index: the k nearest of many embeddings for every query, by cosine
 * similarity, read from an `.npy` of any number of rows.
 *
 *     node examples/make-npy.mjs embeddings.npy 200Kx128
 *     node examples/make-npy.mjs queries.npy 3x128 --seed 7
 *     npx warpstage run examples/vector-search.ts embeddings.npy queries.npy --set k=5
 *
 * The embeddings stream through; the queries are read whole and stay on the device, as do the
 * results so far: every thread keeps its own k best rows for every query, in order, and the
 * lists of all threads are merged when the last chunk has passed. The width of a row is that of
 * the file.
 */

import { job, kernel, type SettingValue } from 'warpstage';

const blocks = 16;
const threads = 64;

const nearest = kernel(
  {
    embeddings: 'readonly f32[]',
    queries: 'readonly f32[]',
    scores: 'f32[]',
    rows: 'i32[]',
    width: 'index',
    k: 'index',
    firstRow: 'index',
  },
  ({ embeddings, queries, scores, rows, width, k, firstRow }, cuda) => {
    const grid = cuda.thisGrid();
    const queryCount = Math.trunc(queries.length / width);
    const rowCount = Math.trunc(embeddings.length / width);
    for (let row = grid.threadRank(); row < rowCount; row += grid.size()) {
      const embedding = embeddings.subarray(row * width);
      let lengthSquared = cuda.f32(0);
      for (let d = 0; d < width; d++) lengthSquared += embedding[d]! * embedding[d]!;

      for (let q = 0; q < queryCount; q++) {
        const query = queries.subarray(q * width);
        let dot = cuda.f32(0);
        let querySquared = cuda.f32(0);
        for (let d = 0; d < width; d++) {
          dot += embedding[d]! * query[d]!;
          querySquared += query[d]! * query[d]!;
        }
        const score = dot / Math.sqrt(lengthSquared * querySquared);

        // This thread's list for this query: insert where it belongs, the worst falls off the end.
        const list = (grid.threadRank() * queryCount + q) * k;
        let place = k;
        while (place > 0 && score > scores[list + place - 1]!) {
          place--;
          if (place < k - 1) {
            scores[list + place + 1] = scores[list + place]!;
            rows[list + place + 1] = rows[list + place]!;
          }
        }
        if (place < k) {
          scores[list + place] = score;
          rows[list + place] = cuda.i32(firstRow + row);
        }
      }
    }
  },
);

/** One of the nearest rows. */
export interface Neighbour {
  readonly query: number;
  readonly row: number;
  readonly score: number;
}

export const vectorSearch = job({
  description: 'the k nearest embeddings of every query, by cosine similarity',
  kernel: nearest,
  inputs: { embeddings: { width: 'width' } },
  arrays: { queries: { operand: true, width: 'width' } },
  accumulators: {
    scores: { length: ({ settings, lengths }) => listElements(settings, lengths), initial: -Infinity },
    rows: { length: ({ settings, lengths }) => listElements(settings, lengths), initial: -1 },
  },
  settings: {
    k: { default: 10, minimum: 1, maximum: 1000, description: 'how many rows for each query' },
    width: {},
  },
  offset: 'firstRow',
  launch: { grid: blocks, block: threads },
  finish: ({ scores, rows }, { settings, lengths }) => {
    const k = Number(settings.k);
    const queryCount = lengths.queries! / Number(settings.width);
    return Array.from({ length: queryCount }, (_, query) => merge(scores, rows, query, queryCount, k)).flat();
  },
});

/** Every thread has a list of k for every query. */
function listElements(
  settings: Readonly<Record<string, SettingValue>>,
  lengths: Readonly<Record<string, number>>,
): number {
  return blocks * threads * (lengths.queries! / Number(settings.width)) * Number(settings.k);
}

/** The best k of all threads' lists for one query. */
function merge(
  scores: Float32Array,
  rows: Int32Array,
  query: number,
  queryCount: number,
  k: number,
): Neighbour[] {
  const found: Neighbour[] = [];
  for (let thread = 0; thread < blocks * threads; thread++) {
    for (let place = 0; place < k; place++) {
      const at = (thread * queryCount + query) * k + place;
      if (rows[at]! >= 0) found.push({ query, row: rows[at]!, score: scores[at]! });
    }
  }
  return found.sort((a, b) => b.score - a.score || a.row - b.row).slice(0, k);
}
