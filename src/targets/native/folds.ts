// What all vectors of a group have in common, or have together: one after the other in WebAssembly, here the wide variables
// first, and then the parts of what comes of them. Bits are put together in any order.

import type { Instruction } from '../wasm/encoder/decode.ts';
import type { Times, WideLocal, WideLocals } from './copies.ts';

/** What comes of parts of wide variables that are put together from some position on. */
export interface Fold {
  readonly type: 'v128' | 'i32';
  readonly text: string;
  /** The position behind it. */
  readonly end: number;
}

/** Whether from a position on all parts of wide variables are put together: the vector, or whether any bit of it is set. */
export function foldAt(body: readonly Instruction[], at: number, wide: WideLocals): Fold | null {
  const first = body[at];
  const whole = first?.kind === 'get' ? wide.of(first.local) : undefined;
  const second = body[at + 2];
  if (whole === undefined || second?.kind !== 'plain') return null;
  const { name } = second;
  if (name !== 'v128.or' && name !== 'v128.and') return null;
  const { times } = whole;
  const wholes = wholesOf(localsOf(body, at, name), wide, times);
  if (wholes.length === 0) return null;
  const end = at + 2 * times * wholes.length - 1;
  const isOr = name === 'v128.or';
  const all = wholes.map((each) => each.name).join(isOr ? ' | ' : ' & ');
  const next = body[end];
  if (isOr && next?.kind === 'plain' && next.name === 'v128.any_true')
    return { type: 'i32', text: `ws_any_true_${times}(${all})`, end: end + 1 };
  return { type: 'v128', text: `ws_${isOr ? 'or' : 'and'}_${times}(${all})`, end };
}

/** The locals that an instruction puts together, one after the other. */
function localsOf(body: readonly Instruction[], at: number, name: string): readonly number[] {
  const locals = [(body[at] as { readonly local: number }).local];
  for (let i = at + 1; i + 1 < body.length; i += 2) {
    const [get, put] = [body[i]!, body[i + 1]!];
    if (get.kind !== 'get' || put.kind !== 'plain' || put.name !== name) break;
    locals.push(get.local);
  }
  return locals;
}

/** The wide variables, as many as there are, that locals are all parts of, in order. */
function wholesOf(locals: readonly number[], wide: WideLocals, times: Times): readonly WideLocal[] {
  const wholes: WideLocal[] = [];
  for (let taken = 0; taken + times <= locals.length; taken += times) {
    const found = wide.of(locals[taken]!);
    if (found?.times !== times || !found.parts.every((part, i) => part === locals[taken + i])) break;
    wholes.push(found);
  }
  return wholes;
}
