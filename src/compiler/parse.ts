// The text of a function, parsed.
//
// Function.prototype.toString gives the text of exactly one function: an arrow function, a
// function expression or a method in shorthand. A function is parsed once, however often it is
// compiled.

import { type AnyNode, type Function as FunctionNode, parseExpressionAt } from 'acorn';
import { WarpstageError } from '../diagnostics/error.ts';
import { type AnyFunction, type KernelSource, locationOf } from '../diagnostics/source.ts';
import { type Resolution, resolve } from './resolve.ts';
import { restoreUsing } from './using.ts';

/** A function that was parsed and whose names were resolved. */
export interface ParsedFunction {
  readonly node: FunctionNode;
  /** What a node's offset is beyond its offset in the text. */
  readonly shift: number;
  readonly resolution: Resolution;
}

const parsed = new WeakMap<AnyFunction, ParsedFunction>();

/**
 * Parses a function, whose text `source` has.
 *
 * @throws WarpstageError WS1001 for text that cannot be a kernel's
 */
export function parseFunction(fn: AnyFunction, source: KernelSource): ParsedFunction {
  const known = parsed.get(fn);
  if (known !== undefined) return known;
  const { node, shift } = functionNode(source);
  if (node.async || node.generator) {
    // A method's node begins at its parameters, the word before them with the text.
    const [word] = /^(async|function\s*\*?|[*]|)/.exec(source.text)!;
    throw syntaxError(
      source,
      { start: 0, end: Math.max(1, word.length) },
      `'${source.name}' is ${node.async ? 'an async function' : 'a generator'}`,
      'every thread runs a kernel as a plain function; waiting is done by pipelines and sync()',
    );
  }
  restoreUsing(node as AnyNode);
  const result = { node, shift, resolution: resolve(node) };
  parsed.set(fn, result);
  return result;
}

function functionNode(source: KernelSource): { node: FunctionNode; shift: number } {
  const { text } = source;
  if (/\{\s*\[native code\]\s*\}\s*$/.test(text)) {
    const hint = 'pass the function itself, as written: bind() hides its text';
    throw syntaxError(
      source,
      { start: 0, end: text.length },
      `'${source.name.replace(/^bound ?/, '') || 'the function'}' has no text: it is native or bound`,
      hint,
    );
  }
  const written = attempt(text, 0);
  if (written.node !== undefined && written.node.end === text.length) return { node: written.node, shift: 0 };
  // A method in shorthand, `scale({ y }, cuda) { … }`, is a function inside an object only.
  const method = attempt(`({${text}})`, 1);
  if (method.node !== undefined) return { node: method.node, shift: 2 };
  const { pos, message } = written.error ?? { pos: 0, message: 'it is no function' };
  const start = Math.min(pos, Math.max(0, text.length - 1));
  throw syntaxError(
    source,
    { start, end: start + 1 },
    `'${source.name}' cannot be parsed: ${message}`,
    'a kernel is an arrow function, a function or a method, in JavaScript once types are stripped',
  );
}

interface Attempt {
  readonly node?: FunctionNode;
  readonly error?: { readonly pos: number; readonly message: string };
}

function attempt(text: string, at: number): Attempt {
  try {
    const node = parseExpressionAt(text, at, { ecmaVersion: 'latest', sourceType: 'module' });
    if (node.type === 'ArrowFunctionExpression' || node.type === 'FunctionExpression') return { node };
    const property = node.type === 'ObjectExpression' ? node.properties[0] : undefined;
    if (property?.type !== 'Property' || property.kind !== 'init') return {};
    return property.value.type === 'FunctionExpression' ? { node: property.value } : {};
  } catch (error) {
    if (!(error instanceof SyntaxError && 'pos' in error)) throw error;
    return { error: { pos: Number(error.pos), message: error.message.replace(/ \(\d+:\d+\)$/, '') } };
  }
}

function syntaxError(
  source: KernelSource,
  part: { readonly start: number; readonly end: number },
  message: string,
  hint: string,
): WarpstageError {
  const location = locationOf([source], { source: 0, ...part });
  return new WarpstageError({ code: 'WS1001', message, hint, location });
}
