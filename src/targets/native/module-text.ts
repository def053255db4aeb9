// A module of WebAssembly as C.
//
// Each exported function becomes one of the library, by the name `ws_export_…`, that takes what a call has and its
// parameters. Its result is below 2^32; above that, how it ended early, as `endings` of the prelude says. A function of
// the host is called by its number among the imports: its operands lie in `values`, and so does its result then.

import { usedDefinitions } from '../used-definitions.ts';
import {
  type DecodedModule,
  decodeModule,
  type ImportedFunction,
  signatureOf,
} from '../wasm/encoder/decode.ts';
import type { Times } from './copies.ts';
import { cTypes, declarationOf, functionText } from './function-text.ts';
import { withNarrow } from './narrow.ts';
import { prelude, types } from './prelude.ts';

export interface NativeText {
  readonly text: string;
  /** The functions that it calls, by number. */
  readonly imports: readonly ImportedFunction[];
  /** How many parameters each exported function has. */
  readonly exports: Readonly<Record<string, number>>;
}

/** `widest`: how many vectors of 128 bits one may be: 2 with AVX2, 4 with AVX-512. */
export function nativeText(bytes: Uint8Array, widest: 1 | Times = 1): NativeText {
  const decoded = decodeModule(bytes);
  const functions = decoded.functions.map((each) => ({ ...each, body: withNarrow(each.body) }));
  const module = { ...decoded, functions };
  const { imports, exports } = module;
  const numberOf = (position: number) => imports.length + position;
  const own = [
    ...imports.map(importText),
    ...functions.map((each, position) => `${declarationOf(numberOf(position), each)};\n`),
    ...functions.map((_, position) => functionText(module, numberOf(position), widest)),
    ...[...exports].map(([name, number]) => exportText(module, name, number)),
  ].join('');
  return {
    text: `${types(decoded.addressType)}${usedDefinitions([prelude], own)}${own}`,
    imports,
    exports: Object.fromEntries(
      [...exports].map(([name, number]) => [name, functions[number - imports.length]!.parameters.length]),
    ),
  };
}

function importText(imported: ImportedFunction, number: number): string {
  const { parameters, results } = imported;
  const bits = { i32: '', i64: '', f32: 'ws_bits_f32', f64: 'ws_bits_f64', v128: '' };
  const back = { i32: '(uint32_t)', i64: '', f32: 'ws_f32', f64: 'ws_f64', v128: '' };
  const given = parameters.map((type, i) => `  e->values[${i}] = ${bits[type]}(l${i});\n`).join('');
  const [result] = results;
  const taken = result === undefined ? '' : `  return ${back[result]}(e->values[0]);\n`;
  return `// ${imported.module}.${imported.name}\n${declarationOf(number, imported)} {\n${given}  e->host(${number});\n${taken}}\n`;
}

function exportText(module: DecodedModule, name: string, number: number): string {
  const { parameters, results } = signatureOf(module, number);
  const list = parameters.map((type, i) => `, ${cTypes[type]} l${i}`).join('');
  const call = `f${number}(${['e', ...parameters.map((_, i) => `l${i}`)].join(', ')})`;
  return `__attribute__((visibility("default"))) uint64_t ws_export_${name}(struct ws_env *e, ws_host *host${list}) {
  jmp_buf outside;
  e->host = host;
  e->outside = &outside;
  const int ending = setjmp(outside);
  if (ending != 0) return (uint64_t)ending << 32;
  ${results.length > 0 ? `return ${call};` : `${call};\n  return 0;`}
}
`;
}
