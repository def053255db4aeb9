// The names that a function captures from outside, and what to do about each.

import type { Function as FunctionNode } from 'acorn';
import type { Code } from '../diagnostics/codes.ts';
import type { FixInText } from '../diagnostics/fix.ts';
import { locationOf, type Range } from '../diagnostics/source.ts';
import { membersOf } from '../kernel/intrinsics.ts';
import { parseDeviceSchema, type SchemaParameter } from '../kernel/parameters.ts';
import type { DeviceSchema } from '../kernel/schema.ts';
import type { Lowering } from './lowering.ts';
import { nearestName, sameName } from './nearest.ts';
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
  BigInt: { kind: 'namespace', name: 'BigInt' },
  console: { kind: 'namespace', name: 'console' },
  isNaN: { kind: 'intrinsic', name: 'Number.isNaN', receiver: null },
  isFinite: { kind: 'intrinsic', name: 'Number.isFinite', receiver: null },
  Boolean: { kind: 'intrinsic', name: 'cuda.bool', receiver: null },
};

/** Globals of JavaScript that make no sense in a kernel, by pattern, with what there is instead. */
const absentGlobals: Readonly<Record<string, string>> = {
  arguments: 'name the parameters: ({ y, a }, cuda) => { … }',
  '(Big)?(Float|Int|Uint)\\d+(Clamped)?Array|Array|ArrayBuffer|SharedArrayBuffer|Map|Set|WeakMap|WeakSet':
    "arrays come from the schema, cuda.sharedArray and cuda.localArray('f32', 4)",
  'parseInt|parseFloat': 'cast numbers: cuda.i32(x), cuda.f32(x)',
  'String|Symbol|RegExp|JSON|Intl': "kernels do not work on text; print values by console.log('x', x)",
  'Date|performance': 'measure on the host, by the events of a stream',
  Atomics: 'use cuda.atomicAdd(array, index, value) and its like',
  'Promise|setTimeout|setInterval|queueMicrotask': 'waiting is done by pipelines and sync()',
  '(Range|Type|Syntax|Reference|Eval|URI|Aggregate)?Error':
    'nothing is thrown in a kernel; write a flag to an array, and look at it on the host',
  'Object|Function|Reflect|Proxy|Iterator': 'use numbers, arrays and plain functions',
  'globalThis|window|self|process|global|require|module|exports': 'pass what is needed through the schema',
};

/** Reports every name that a function captures, all at once. */
export function refuseCaptures(
  lowering: Lowering,
  { node: function_, resolution, shift }: ParsedFunction,
  source: number,
  schema: DeviceSchema,
): void {
  const captured = resolution.captured.filter(({ name }) => !Object.hasOwn(globals, name));
  if (captured.length === 0) return;
  const parameters = parseDeviceSchema(schema);
  const declared = [...resolution.declarations.values()].map(({ name }) => name);
  // A coverage counter stands in every statement; once said is enough.
  const counter = captured.find(({ name }) => isCoverageCounter(name));
  for (const one of counter === undefined ? captured : [counter]) {
    const range = { source, start: one.node.start - shift, end: one.node.end - shift };
    // A minifier may have renamed it: say what the user wrote.
    const written = locationOf(lowering.sources, range).name ?? one.name;
    const { code, message, hint, fix } = explain({ ...one, name: written }, parameters, declared);
    const fixes = fix === undefined ? [] : fixOf(fix, function_, range, shift);
    lowering.mistakes.note({ code, message, hint, fixes, range });
  }
  lowering.broken();
}

interface Explanation {
  readonly code: Code;
  readonly message: string;
  readonly hint: string;
  readonly fix?: FixOfName;
}

/** What mends a captured name: another parameter of the function, or another text in place of the name. */
type FixOfName = { readonly take: string } | { readonly takeIntrinsics: true } | { readonly write: string };

/** The edits of a fix in a function's text. */
function fixOf(fix: FixOfName, node: FunctionNode, name: Range, shift: number): readonly FixInText[] {
  const { source } = name;
  const insertion = (at: number, replacement: string) => ({
    range: { source, start: at - shift, end: at - shift },
    replacement,
  });
  const [data, intrinsics] = node.params;
  if ('write' in fix) {
    const needsIntrinsics = /^cuda\./.test(fix.write) && intrinsics?.type !== 'Identifier';
    if (needsIntrinsics) return [];
    const own =
      intrinsics?.type === 'Identifier' ? fix.write.replace(/^cuda\./, `${intrinsics.name}.`) : fix.write;
    return [{ title: `write ${own}`, within: name, edits: [{ range: name, replacement: own }] }];
  }
  if (data?.type !== 'ObjectPattern') return [];
  const within = { source, start: data.start - shift, end: data.end - shift };
  if ('takeIntrinsics' in fix) {
    if (intrinsics !== undefined) return [];
    return [{ title: 'take cuda as the second parameter', within, edits: [insertion(data.end, ', cuda')] }];
  }
  const last = data.properties.at(-1);
  if (last?.type === 'RestElement') return [];
  const edit =
    last === undefined ? insertion(data.start + 1, ` ${fix.take} `) : insertion(last.end, `, ${fix.take}`);
  return [{ title: `take ${fix.take} from the first parameter`, within, edits: [edit] }];
}

function explain(
  captured: Captured,
  parameters: readonly SchemaParameter[],
  declared: readonly string[],
): Explanation {
  const { name } = captured;
  if (isCoverageCounter(name)) {
    return {
      code: 'WS1011',
      message: `a coverage tool has put its counters (${name}) into this function`,
      hint: "collect coverage with V8's own (vitest: coverage.provider 'v8'; c8), or leave the file out: /* istanbul ignore file */",
    };
  }
  const absent = Object.entries(absentGlobals).find(([pattern]) => new RegExp(`^(${pattern})$`).test(name));
  if (absent !== undefined) {
    return { code: 'WS1006', message: `kernels do not have '${name}'`, hint: absent[1] };
  }
  if (
    /^_*(using|usingCtx|callDispose|(ts_)?add_?disposable_?resource|(ts_)?dispose_?resources)\d*$/i.test(name)
  ) {
    return {
      code: 'WS1006',
      message: `a tool has made calls of '${name}' out of 'using'`,
      hint: 'write const in place of using: a pipeline quits at the end of its block',
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
      fix: { take: wanted },
    };
  }
  if (wanted === 'cuda') {
    return {
      code: 'WS1002',
      message,
      hint: 'take the intrinsics as the second parameter: (data, cuda) => …',
      fix: { takeIntrinsics: true },
    };
  }
  const intrinsic = sameName(wanted, membersOf('cuda'));
  if (intrinsic !== undefined && (captured.use === 'called' || captured.member !== null)) {
    return {
      code: 'WS1002',
      message: `'${wanted}' is not known here without 'cuda'`,
      hint: `write cuda.${intrinsic}; cuda is the second parameter`,
      ...(wanted === name && { fix: { write: `cuda.${intrinsic}` } }),
    };
  }
  const nearest = nearestName(wanted, declared);
  const guess = nearest === null ? '' : `did you mean '${nearest}'? if not, `;
  const fix = nearest !== null && wanted === name ? { fix: { write: nearest } } : {};
  return { code: 'WS1002', message, hint: guess + remedy(captured, wanted), ...fix };
}

/** How bundlers name the modules that imports come from. */
function isModule(name: string): boolean {
  return /^(__vite|__vi_|import_|_|[\w$]+_(js|ts|default)$|[a-zA-Z]{1,2}\d*$)/.test(name);
}

function isCoverageCounter(name: string): boolean {
  return /^(cov_|__cov|__coverage__|stryCov_|stryMutAct_)/.test(name);
}

/** The line of the schema that a captured name needs, guessed from its use. */
function remedy({ use, member, property }: Captured, name: string): string {
  // Of an import its object's member, as `settings.gain` becomes `module.settings.gain`.
  const read = member === name ? property : member;
  if (use === 'read' && read === 'length') return arrayRemedy(name, 'readonly ');
  if (use === 'read' && read !== null) {
    return `objects stay on the host: add ${read}: 'f32' or ${read}: 'constant f32' to the schema, and take it from the first parameter`;
  }
  switch (use) {
    case 'called':
      return `make it a device function, add '${name}' to the schema, and take it from the first parameter`;
    case 'indexed':
      return arrayRemedy(name, 'readonly ');
    case 'stored':
      return arrayRemedy(name, '');
    case 'written':
      return `threads share arrays alone: add ${name}: 'f32[]' to the schema, and write ${name}[0]`;
    case 'constructed':
      return 'kernels have no objects of classes; keep their numbers in arrays';
    case 'read':
      return `add ${name}: 'f32' or ${name}: 'constant f32' to the schema, and take it from the first parameter`;
  }
}

function arrayRemedy(name: string, access: 'readonly ' | ''): string {
  return `add ${name}: '${access}f32[]' to the schema, and take it from the first parameter`;
}
