// Relaxed SIMD in a Node that has it behind a flag alone, as Node 20 does.

import { setFlagsFromString } from 'node:v8';
import { hasRelaxedSimd } from '#warpstage/targets/wasm/encoder/module.js';

const flag = 'experimental-wasm-relaxed-simd';

/** Runs something while the engine has relaxed SIMD. */
export function withRelaxedSimd<T>(run: () => T): T {
  if (hasRelaxedSimd()) return run();
  setFlagsFromString(`--${flag}`);
  try {
    return run();
  } finally {
    setFlagsFromString(`--no-${flag}`);
  }
}
