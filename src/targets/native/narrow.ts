// Loads and stores of lanes of 8 and 16 bits, each as one instruction.
//
// WebAssembly takes several: it loads bytes and widens them twice, or shuffles the low bytes to the front and stores
// these. Processors have one for each, of any width, and side by side what such instructions do is again one. So where
// the writers' sequence stands it is replaced by an instruction that the module does not have: `v128.load8x4_s` and `_u`,
// `v128.store8x4`, `v128.store16x4` and `v128.store8x8`. Whatever else the sequence leaves in locals is left there still.

import type { Instruction } from '../wasm/encoder/decode.ts';

/** The body of a function with such instructions where they can be. */
export function withNarrow(body: readonly Instruction[]): readonly Instruction[] {
  const made: Instruction[] = [];
  for (let at = 0; at < body.length; at += 1) {
    const found = narrowLoad(body, at) ?? narrowStore(body, at);
    if (found === null) made.push(body[at]!);
    else {
      made.push(found);
      at += 2;
    }
  }
  return made;
}

/** Four bytes that are loaded and widened twice with one sign. */
function narrowLoad(body: readonly Instruction[], at: number): Instruction | null {
  const [load, half, whole] = body.slice(at, at + 3);
  if (load?.kind !== 'memory' || load.name !== 'v128.load32_zero') return null;
  if (half?.kind !== 'plain' || whole?.kind !== 'plain') return null;
  for (const sign of ['s', 'u']) {
    if (half.name !== `i16x8.extend_low_i8x16_${sign}`) continue;
    if (whole.name !== `i32x4.extend_low_i16x8_${sign}`) continue;
    return { ...load, name: `v128.load8x4_${sign}` };
  }
  return null;
}

/** A vector with itself, whose lanes' low bytes come to the front and are stored. */
function narrowStore(body: readonly Instruction[], at: number): Instruction | null {
  const before = body[at - 1];
  const [again, order, store] = body.slice(at, at + 3);
  if (before?.kind !== 'tee' || again?.kind !== 'get' || again.local !== before.local) return null;
  if (order?.kind !== 'shuffle' || store?.kind !== 'lane memory' || store.lane !== 0) return null;
  const stored = store.name === 'v128.store32_lane' ? 4 : 8;
  for (const [lanes, bytes] of [
    [4, stored / 4],
    [8, 1],
  ] as const) {
    const isLow = (byte: number, position: number) =>
      byte % 16 === (16 / lanes) * Math.floor(position / bytes) + (position % bytes);
    if (lanes * bytes === stored && order.bytes.slice(0, stored).every(isLow))
      return { kind: 'memory', name: `v128.store${8 * bytes}x${lanes}`, offset: store.offset };
  }
  return null;
}
