// A module as text, for tests that look at the code.

import createWabt from 'wabt';

const wabt = await createWabt();

/** The text of a module, folded; with the names of functions and locals. */
export function disassemble(bytes: Uint8Array): string {
  const features = {
    simd: true,
    relaxed_simd: true,
    threads: true,
    bulk_memory: true,
    sat_float_to_int: true,
  };
  const module = wabt.readWasm(bytes, { readDebugNames: true, ...features });
  try {
    module.applyNames();
    return module.toText({ foldExprs: true, inlineExport: true });
  } finally {
    module.destroy();
  }
}

/** The text of one function of a module. */
export function functionText(bytes: Uint8Array, name: string): string {
  const text = disassemble(bytes);
  const start = text.indexOf(`  (func $${name} `);
  const end = text.indexOf('\n  (func ', start + 1);
  return text.slice(start, end < 0 ? text.lastIndexOf(')') : end).trimEnd();
}
