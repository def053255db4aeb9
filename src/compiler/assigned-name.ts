// The name under which the user's file keeps a kernel whose function has no name of its own.
//
// `const scale = kernel({ … }, ({ … }) => { … })` passes an arrow function on, which JavaScript leaves
// nameless. The script that the function stands in says what its kernel is assigned to: a
// variable, a property or, where that is `kernel` as in a job, what that is part of. The script is
// parsed when the name is first shown, which launches never do.

import { type AnyNode, parse } from 'acorn';
import { findFunction, type Script } from '../diagnostics/inspector.ts';
import { offsetAt } from '../diagnostics/lines.ts';
import { type AnyFunction, writtenBy } from '../diagnostics/source.ts';
import { mappedPlace } from '../diagnostics/sourcemap.ts';

/** Characters of a script above which parsing it for a name is not worth while. */
const longest = 4_000_000;

const found = new WeakMap<AnyFunction, string | null>();

/** The name, or null if the runtime cannot tell or there is none. Never throws. */
export function assignedName(fn: AnyFunction): string | null {
  let name = found.get(fn);
  if (name === undefined) {
    try {
      name = look(fn);
    } catch {
      name = null;
    }
    found.set(fn, name);
  }
  return name;
}

function look(given: AnyFunction): string | null {
  const fn = writtenBy(given);
  const text = Function.prototype.toString.call(fn);
  const place = findFunction(fn, text);
  if (place === undefined || place.script.text.length > longest) return null;
  const { script, offset } = place;
  const path = pathTo(parsed(script.text), offset, offset + text.length);
  const identifier = path === null ? null : nameAround(path);
  return identifier && nameInFile(script, identifier);
}

function parsed(text: string): AnyNode {
  const options = { ecmaVersion: 'latest', allowHashBang: true, allowReturnOutsideFunction: true } as const;
  try {
    return parse(text, { ...options, sourceType: 'module' });
  } catch {
    return parse(text, { ...options, sourceType: 'script' });
  }
}

/** The nodes from the outermost to the one that is the text from `start` to `end`. */
function pathTo(root: AnyNode, start: number, end: number): AnyNode[] | null {
  const path = [root];
  for (let node: AnyNode | undefined = root; ; ) {
    if (node.start === start && node.end === end && node !== root) return path;
    node = childrenOf(node).find((child) => child.start <= start && end <= child.end);
    if (node === undefined) return null;
    path.push(node);
  }
}

function childrenOf(node: AnyNode): AnyNode[] {
  const isNode = (value: unknown): value is AnyNode =>
    typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string';
  return Object.values(node)
    .flatMap((value: unknown) => (Array.isArray(value) ? value : [value]))
    .filter(isNode);
}

interface Named {
  readonly name: string;
  readonly offset: number;
}

/** What the innermost node of a path is assigned to, as far as it is handed on as it is or in an object. */
function nameAround(path: readonly AnyNode[]): Named | null {
  for (const node of path.slice(0, -1).reverse()) {
    switch (node.type) {
      case 'CallExpression':
      case 'ObjectExpression':
      case 'AwaitExpression':
      case 'ParenthesizedExpression':
        continue;
      case 'Property': {
        const key = node.computed ? null : named(node.key);
        if (key?.name === 'kernel') continue;
        return key;
      }
      case 'VariableDeclarator':
        return named(node.id);
      case 'AssignmentExpression':
        return named(node.left);
      case 'PropertyDefinition':
        return node.computed ? null : named(node.key);
      default:
        return null;
    }
  }
  return null;
}

function named(node: AnyNode): Named | null {
  if (node.type === 'Identifier') return { name: node.name, offset: node.start };
  if (node.type === 'Literal' && typeof node.value === 'string')
    return { name: node.value, offset: node.start };
  return node.type === 'MemberExpression' && !node.computed ? named(node.property) : null;
}

/** What the user's file calls it, where a tool gave it another name. */
function nameInFile(script: Script, { name, offset }: Named): string {
  const place = mappedPlace(script, offset);
  if (place === undefined || place.text === '') return name;
  const at = offsetAt(place.text, place);
  const written =
    at === undefined ? null : /^[\p{ID_Start}$_][\p{ID_Continue}$]*/u.exec(place.text.slice(at));
  return written?.[0] ?? name;
}
