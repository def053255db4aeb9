// What the lanes of a warp do together, in CUDA C++: the instructions of the hardware, under the
// mask of the tile or the one that the kernel gives.

import type { Call, Expression, Program } from '../../compiler/ir.ts';
import type { WarpOperator } from '../../compiler/ir-warps.ts';
import { forEachCall } from '../legalise/calls.ts';
import type { ExpressionWriter } from './expressions.ts';
import { identifier } from './types.ts';

type WarpCall = Extract<Call, { intrinsic: 'warp' }>;

const functions: Record<WarpOperator, string> = {
  shfl: '__shfl_sync',
  shflUp: '__shfl_up_sync',
  shflDown: '__shfl_down_sync',
  shflXor: '__shfl_xor_sync',
  ballot: '__ballot_sync',
  any: '__any_sync',
  all: '__all_sync',
  matchAny: '__match_any_sync',
  matchAll: 'ws_match_all',
  reduceAdd: 'ws_reduce_add',
  reduceMin: 'ws_reduce_min',
  reduceMax: 'ws_reduce_max',
  reduceAnd: 'ws_reduce_and',
  reduceOr: 'ws_reduce_or',
  reduceXor: 'ws_reduce_xor',
  activemask: '__activemask',
};

/** The statement of a call. */
export function warpStatement(expressions: ExpressionWriter, call: WarpCall): string {
  const value = warpCall(expressions, call);
  if (call.result === null) return `${value};`;
  const { name, type } = expressions.program.variables[call.result]!;
  const isTruth = type === 'bool';
  return `${identifier(name, call.result)} = ${isTruth ? `${value} != 0` : value};`;
}

function warpCall(
  expressions: ExpressionWriter,
  { operator, group, mask, value, lane, width }: WarpCall,
): string {
  const name = functions[operator];
  if (operator === 'activemask') return `${name}()`;
  const areAll = mask === undefined ? group.size === 32 : namesAll(mask);
  const lanes = mask === undefined ? `ws_tile_mask<${group.size}>(ws_thread_rank)` : expressions.write(mask);
  const operands = [expressions.write(value)];
  // The low five bits of the operand count; of a distance CUDA's functions say nothing beyond them.
  if (lane !== null) operands.push(`${expressions.write(lane)} & 31`, `${width}`);
  return ofLanes(areAll, lanes, (those) => `${name}(${[those, ...operands].join(', ')})`);
}

/** Whether a mask names all lanes of a warp, whatever it finds. */
export function namesAll(mask: Expression): boolean {
  return mask.kind === 'constant' && (Number(mask.value) | 0) === -1;
}

/** What lanes do together: those of a part of a warp meet again before they go on. */
export function ofLanes(areAll: boolean, lanes: string, operation: (lanes: string) => string): string {
  return areAll
    ? operation(lanes)
    : `ws_apart(${lanes}, [&](unsigned lanes) { return ${operation('lanes')}; })`;
}

/** The functions that a kernel's calls need. */
export function warpPreludeOf(program: Program): string {
  let isNeeded = false;
  forEachCall(program.body, (call) => {
    if (call.intrinsic === 'warp' && functions[call.operator].startsWith('ws_')) isNeeded = true;
  });
  return isNeeded ? warpPrelude : '';
}

/** Reductions in one instruction from sm_80 on, and lane by lane before. */
const warpPrelude = `template <typename T> WS_DEVICE unsigned ws_match_all(unsigned lanes, T value) {
  int same;
  return __match_all_sync(lanes, value, &same);
}
${reduction('add', '(T)((unsigned long long)a + (unsigned long long)b)')}${reduction('min', 'b < a ? b : a')}${reduction('max', 'a < b ? b : a')}${reduction('and', 'a & b')}${reduction('or', 'a | b')}${reduction('xor', 'a ^ b')}`;

/** The combination of two values `a` and `b`, and how the hardware's own function takes and gives them. */
function reduction(name: string, combined: string): string {
  const isBitwise = name === 'and' || name === 'or' || name === 'xor';
  const one = isBitwise
    ? `(T)__reduce_${name}_sync(lanes, (unsigned)value)`
    : `__reduce_${name}_sync(lanes, value)`;
  return `template <typename T> WS_DEVICE T ws_reduce_${name}(unsigned lanes, T value) {
#if __CUDA_ARCH__ >= 800
  if constexpr (sizeof(T) == 4) return ${one};
#endif
  // Lanes that have returned are named, and bring nothing.
  unsigned rest = __ballot_sync(lanes, 1);
  T a = __shfl_sync(lanes, value, __ffs(rest) - 1);
  while ((rest &= rest - 1) != 0) {
    T b = __shfl_sync(lanes, value, __ffs(rest) - 1);
    a = ${combined};
  }
  return a;
}
`;
}
