// The intrinsics of a warp's 32 lanes: shuffles, votes, matches and reductions; those of tiles, which
// are parts of a warp; and the bits of a mask.

import type { Form, Intrinsic } from './entry.ts';

/** All lanes named in the mask must come, and exchange values; they order no memory. */
const meets = { synchronises: 'barrier', involves: 'warp' } as const;
const tileMeets = { synchronises: 'barrier', involves: 'group' } as const;

const vote = [{ mask: 'lanes', predicate: 'number' }] as const satisfies readonly Form[];
const match = [{ mask: 'lanes', value: 'number or bigint' }] as const satisfies readonly Form[];
const moved = [
  { mask: 'lanes', value: 'number or bigint', delta: 'index', width: 'constant?' },
] as const satisfies readonly Form[];
const movedInTile = [{ value: 'number or bigint', delta: 'index' }] as const satisfies readonly Form[];
const bits = [{ x: 'number or bigint' }] as const satisfies readonly Form[];

export const warpIntrinsics = {
  'cuda.warpSize': { cuda: 'warpSize', result: 'constant', doc: 'The lanes of a warp: 32.' },
  'cuda.laneId': {
    cuda: '%laneid',
    result: 'index',
    doc: 'The place of this thread in its warp: its rank in the block modulo 32.',
  },
  'cuda.syncwarp': {
    cuda: '__syncwarp(mask)',
    forms: [{ mask: 'lanes?' }],
    result: 'nothing',
    ...meets,
    doc: 'Waits until the lanes that the mask names, or all of the warp, are here; what they wrote before is then visible to them.',
  },
  'cuda.activemask': {
    cuda: '__activemask()',
    forms: [{}],
    result: 'u32',
    doc: 'Lanes that are here at this moment. CUDA promises no more than the calling lane, and on a CPU it is that lane alone.',
  },
  'cuda.shflSync': {
    cuda: '__shfl_sync(mask, value, lane, width)',
    forms: [{ mask: 'lanes', value: 'number or bigint', lane: 'index', width: 'constant?' }],
    result: 'number',
    ...meets,
    doc: 'The value of a lane, counted within parts of the warp of so many lanes (32 unless it is given).',
  },
  'cuda.shflUpSync': {
    cuda: '__shfl_up_sync(mask, value, delta, width)',
    forms: moved,
    result: 'number',
    ...meets,
    doc: 'The value of the lane so many places below, or of the own where there is none.',
  },
  'cuda.shflDownSync': {
    cuda: '__shfl_down_sync(mask, value, delta, width)',
    forms: moved,
    result: 'number',
    ...meets,
    doc: 'The value of the lane so many places above, or of the own where there is none.',
  },
  'cuda.shflXorSync': {
    cuda: '__shfl_xor_sync(mask, value, laneMask, width)',
    forms: [{ mask: 'lanes', value: 'number or bigint', laneMask: 'index', width: 'constant?' }],
    result: 'number',
    ...meets,
    doc: 'The value of the lane whose number differs in these bits.',
  },
  'cuda.ballotSync': {
    cuda: '__ballot_sync(mask, predicate)',
    forms: vote,
    result: 'u32',
    ...meets,
    doc: 'The lanes for which the predicate holds.',
  },
  'cuda.anySync': {
    cuda: '__any_sync(mask, predicate)',
    forms: vote,
    result: 'bool',
    ...meets,
    doc: 'Whether the predicate holds for a lane.',
  },
  'cuda.allSync': {
    cuda: '__all_sync(mask, predicate)',
    forms: vote,
    result: 'bool',
    ...meets,
    doc: 'Whether the predicate holds for all lanes.',
  },
  'cuda.matchAnySync': {
    cuda: '__match_any_sync(mask, value)',
    forms: match,
    result: 'u32',
    ...meets,
    doc: 'The lanes with the same value, to the bit, as this one.',
  },
  'cuda.matchAllSync': {
    cuda: '__match_all_sync(mask, value, &pred)',
    forms: match,
    result: 'u32',
    ...meets,
    doc: 'The lanes of the mask if all have the same value, to the bit; else 0.',
  },
  'cuda.reduceAddSync': {
    cuda: '__reduce_add_sync(mask, value)',
    forms: match,
    result: 'number',
    ...meets,
    doc: 'The sum of the values, which are integers.',
  },
  'cuda.reduceMinSync': {
    cuda: '__reduce_min_sync(mask, value)',
    forms: match,
    result: 'number',
    ...meets,
    doc: 'The least of the values, which are integers.',
  },
  'cuda.reduceMaxSync': {
    cuda: '__reduce_max_sync(mask, value)',
    forms: match,
    result: 'number',
    ...meets,
    doc: 'The greatest of the values, which are integers.',
  },
  'cuda.reduceAndSync': {
    cuda: '__reduce_and_sync(mask, value)',
    forms: match,
    result: 'number',
    ...meets,
    doc: 'The bits that are set in all values.',
  },
  'cuda.reduceOrSync': {
    cuda: '__reduce_or_sync(mask, value)',
    forms: match,
    result: 'number',
    ...meets,
    doc: 'The bits that are set in a value.',
  },
  'cuda.reduceXorSync': {
    cuda: '__reduce_xor_sync(mask, value)',
    forms: match,
    result: 'number',
    ...meets,
    doc: 'The bits that are set in an odd number of values.',
  },

  'cuda.popc': {
    cuda: '__popc(x), __popcll(x)',
    forms: bits,
    result: 'i32',
    doc: 'How many of the 32 bits are set, or of the 64 of a bigint.',
  },
  'cuda.clz': {
    cuda: '__clz(x), __clzll(x)',
    forms: bits,
    result: 'i32',
    doc: 'How many of the 32 bits, or of the 64 of a bigint, are zero, from the highest on.',
  },
  'cuda.ffs': {
    cuda: '__ffs(x), __ffsll(x)',
    forms: bits,
    result: 'i32',
    doc: 'The place of the lowest bit that is set, counted from 1; 0 if there is none.',
  },
  'cuda.brev': {
    cuda: '__brev(x), __brevll(x)',
    forms: bits,
    result: 'number',
    doc: 'The 32 bits in reverse order; of a bigint the 64, as a u64.',
  },

  'tile.shfl': {
    cuda: 'thread_block_tile::shfl(value, rank)',
    forms: [{ value: 'number or bigint', rank: 'index' }],
    result: 'number',
    ...tileMeets,
    doc: 'The value of the thread with this rank in the tile.',
  },
  'tile.shflUp': {
    cuda: 'thread_block_tile::shfl_up(value, delta)',
    forms: movedInTile,
    result: 'number',
    ...tileMeets,
    doc: 'The value of the thread so many ranks below, or of the own where there is none.',
  },
  'tile.shflDown': {
    cuda: 'thread_block_tile::shfl_down(value, delta)',
    forms: movedInTile,
    result: 'number',
    ...tileMeets,
    doc: 'The value of the thread so many ranks above, or of the own where there is none.',
  },
  'tile.shflXor': {
    cuda: 'thread_block_tile::shfl_xor(value, laneMask)',
    forms: [{ value: 'number or bigint', laneMask: 'index' }],
    result: 'number',
    ...tileMeets,
    doc: 'The value of the thread whose rank differs in these bits.',
  },
  'tile.any': {
    cuda: 'thread_block_tile::any(predicate)',
    forms: [{ predicate: 'number' }],
    result: 'bool',
    ...tileMeets,
    doc: 'Whether the predicate holds for a thread of the tile.',
  },
  'tile.all': {
    cuda: 'thread_block_tile::all(predicate)',
    forms: [{ predicate: 'number' }],
    result: 'bool',
    ...tileMeets,
    doc: 'Whether the predicate holds for all threads of the tile.',
  },
  'tile.ballot': {
    cuda: 'thread_block_tile::ballot(predicate)',
    forms: [{ predicate: 'number' }],
    result: 'u32',
    ...tileMeets,
    doc: 'The threads, by their rank in the tile, for which the predicate holds.',
  },
  'tile.matchAny': {
    cuda: 'thread_block_tile::match_any(value)',
    forms: [{ value: 'number or bigint' }],
    result: 'u32',
    ...tileMeets,
    doc: 'The threads, by their rank in the tile, with the same value, to the bit, as this one.',
  },
  'tile.matchAll': {
    cuda: 'thread_block_tile::match_all(value, pred)',
    forms: [{ value: 'number or bigint' }],
    result: 'u32',
    ...tileMeets,
    doc: 'All threads of the tile, by their rank, if they have the same value, to the bit; else 0.',
  },

  'cg.reduce': {
    cuda: 'cooperative_groups::reduce(tile, value, cooperative_groups::plus<T>())',
    forms: [{ tile: 'block or tile', value: 'number or bigint', operation: 'combination' }],
    result: 'number',
    ...tileMeets,
    doc: "All values of a tile of at most 32 threads combined by 'plus', 'less', 'greater', 'bitAnd', 'bitOr' or 'bitXor'; each thread gets the same.",
  },
  'cg.inclusiveScan': {
    cuda: 'cooperative_groups::inclusive_scan(tile, value, cooperative_groups::plus<T>())',
    forms: [{ tile: 'block or tile', value: 'number or bigint', operation: 'combination?' }],
    result: 'number',
    ...tileMeets,
    doc: "The values of a tile's threads up to this one combined; 'plus' unless another operation is given.",
  },
  'cg.exclusiveScan': {
    cuda: 'cooperative_groups::exclusive_scan(tile, value, cooperative_groups::plus<T>())',
    forms: [{ tile: 'block or tile', value: 'number or bigint', operation: 'combination?' }],
    result: 'number',
    ...tileMeets,
    doc: "The values of a tile's threads before this one combined; the first gets what changes nothing: 0, or of 'less' the greatest value.",
  },
} as const satisfies Readonly<Record<string, Intrinsic>>;
