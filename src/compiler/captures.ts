// The names that a function captures from outside, and what to do about each.

import type { Code } from '../diagnostics/codes.ts';
import { parseSchema, type SchemaParameter } from '../kernel/parameters.ts';
import type { Schema } from '../kernel/schema.ts';
import type { Lowering } from './lowering.ts';
import type { ParsedFunction } from './parse.ts';
import type { Captured } from './resolve.ts';
import { literal, undefinedValue, type Value } from './values.ts';

/** What the names mean that every kernel may use without declaring them. */
export const globals: Readonly<Record<string, Value>> = {
  undefined: undefinedValue,
  NaN: literal(Number.NaN),
  Infinity: literal(Number.POSITIVE_INFINITY),
  Math: { kind: 'namespace', name: 'Math' },
  Number: { kind: 'namespace', name: 'Number' },
  console: { kind: 'namespace', name: 'console' },
  isNaN: { kind: 'intrinsic', name: 'Number.isNaN', receiver: null },
  isFinite: { kind: 'intrinsic', name: 'Number.isFinite', receiver: null },
  Boolean: { kind: 'intrinsic', name: 'cuda.bool', receiver: null },
};

/** esbuild wraps functions so, to keep their names: `__name(function, 'name')`. */
export const keepsName = '__name';

/** Reports every name that a function captures, all at once. */
export function refuseCaptures(
  lowering: Lowering,
  { resolution, shift }: ParsedFunction,
  source: number,
  schema: Schema,
): void {
  const captured = resolution.captured.filter(
    ({ name }) => !Object.hasOwn(globals, name) && name !== keepsName,
  );
  if (captured.length === 0) return;
  const parameters = parseSchema(schema);
  // A coverage counter stands in every statement; once said is enough.
  const counter = captured.find(({ name }) => isCoverageCounter(name));
  for (const one of counter === undefined ? captured : [counter]) {
    const { code, message, hint } = explain(one, parameters);
    const range = { source, start: one.node.start - shift, end: one.node.end - shift };
    lowering.report(range, code, message, hint);
  }
  lowering.broken();
}

interface Explanation {
  readonly code: Code;
  readonly message: string;
  readonly hint: string;
}

function explain(captured: Captured, parameters: readonly SchemaParameter[]): Explanation {
  const { name } = captured;
  if (isCoverageCounter(name)) {
    return {
      code: 'WS1011',
      message: `a coverage tool has put its counters (${name}) into this function`,
      hint: "collect coverage with V8's own (vitest: coverage.provider 'v8'; c8), or leave the file out: /* istanbul ignore file */",
    };
  }
  if (name === 'arguments') {
    return {
      code: 'WS1006',
      message: "kernels do not have 'arguments'",
      hint: 'name the parameters: ({ y, a }, cuda) => { … }',
    };
  }
  const imported = captured.member !== null && isModule(name);
  const wanted = imported ? captured.member! : name;
  const message = `'${wanted}' is captured from outside the function`;
  if (parameters.some((parameter) => parameter.name === wanted)) {
    const all = parameters.map((parameter) => parameter.name).join(', ');
    return {
      code: 'WS1002',
      message: `'${wanted}' is in the schema, but is not taken from the first parameter`,
      hint: `take it: ({ ${all} }, cuda) => …`,
    };
  }
  if (wanted === 'cuda') {
    return {
      code: 'WS1002',
      message,
      hint: 'take the intrinsics as the second parameter: (data, cuda) => …',
    };
  }
  return {
    code: 'WS1002',
    message,
    hint: `add it to the schema, ${schemaLine(captured, wanted)}, and take it from the first parameter`,
  };
}

/** How bundlers name the modules that imports come from. */
function isModule(name: string): boolean {
  return /^(__vite|__vi_|import_|_|[\w$]+_(js|ts|default)$|[a-zA-Z]{1,2}\d*$)/.test(name);
}

function isCoverageCounter(name: string): boolean {
  return /^(cov_|__cov|__coverage__|stryCov_|stryMutAct_)/.test(name);
}

/** The line of the schema that a captured name needs, guessed from its use. */
function schemaLine({ use }: Captured, name: string): string {
  switch (use) {
    case 'called':
      return `${name} (made by deviceFunction())`;
    case 'indexed':
      return `${name}: 'readonly f32[]'`;
    case 'written':
      return `${name}: 'f32[]' (kernels write to arrays alone)`;
    case 'read':
      return `${name}: 'f32' or ${name}: 'constant f32'`;
  }
}
