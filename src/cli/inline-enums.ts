// Writes the values of enums where their members are read, as TypeScript does for `const enum`.
//
// A kernel's body is compiled from its own text, in which `Mode.Fast` would be an object of the host's. What is
// inlined is what one file tells: members of the file's own top-level enums whose values are constant, where
// no other declaration hides the enum. Babel calls it, for jiti, before it takes the enums away.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

type Value = number | string;

/** What is used of Babel's syntax tree. */
interface Node {
  readonly type: string;
  readonly name?: string;
  readonly value?: unknown;
  readonly computed?: boolean;
  readonly object?: Node;
  readonly property?: Node;
  readonly id?: Node;
}

/** What is used of Babel's paths: nodes with what is around them. */
interface Path {
  readonly node: Node;
  readonly parentPath: Path | null;
  readonly scope: { getBinding(name: string): { readonly path: Path } | undefined };
  get(key: 'members'): Path[];
  get(key: 'initializer'): Path;
  evaluate(): { readonly confident: boolean; readonly value?: unknown };
  replaceWith(node: Node): void;
  traverse(visitors: Readonly<Record<string, (path: Path) => void>>): void;
}

interface Babel {
  readonly types: { valueToNode(value: Value): Node };
}

/** A preset of Babel's: jiti passes on presets, and keeps plugins for itself. */
export function inlineEnums({ types }: Babel): object {
  return { plugins: [{ pre: ({ path }: { readonly path: Path }) => inlineIn(path, types.valueToNode) }] };
}

/** Tells this transformation from those of other versions: what one of them made of a module is not another's. */
export function versionOfInlining(): string {
  const text = readFileSync(fileURLToPath(import.meta.url));
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

function inlineIn(program: Path, toNode: (value: Value) => Node): void {
  const enums = new Map<string, Map<string, Value>>();
  const hidden = new Set<string>();
  const inline = (path: Path): void => {
    const value = valueOfMember(path, enums);
    if (value !== undefined) path.replaceWith(toNode(value));
  };
  program.traverse({
    TSEnumDeclaration(path) {
      const name = path.node.id!.name!;
      if (!isTopLevel(path)) {
        hidden.add(name);
        return;
      }
      const values = enums.get(name) ?? new Map<string, Value>();
      enums.set(name, values);
      readMembers(path, values, inline, toNode);
    },
  });
  for (const name of hidden) enums.delete(name);
  if (enums.size > 0) program.traverse({ MemberExpression: inline });
}

/** Adds an enum's constant members. A member may be made of those before it, and counts on where it has no value. */
function readMembers(
  declaration: Path,
  values: Map<string, Value>,
  inline: (path: Path) => void,
  toNode: (value: Value) => Node,
): void {
  let next: Value | undefined = 0;
  for (const member of declaration.get('members')) {
    const initializer = member.get('initializer');
    if (initializer.node) {
      member.traverse({
        MemberExpression: inline,
        Identifier(path) {
          const value = path.node === member.node.id ? undefined : values.get(path.node.name!);
          if (value !== undefined && isRead(path)) path.replaceWith(toNode(value));
        },
      });
      const { confident, value } = member.get('initializer').evaluate();
      // As in TypeScript, a negative zero is none.
      next = confident && isValue(value) ? (value === 0 ? 0 : value) : undefined;
    }
    if (next !== undefined) values.set(nameOf(member.node.id!), next);
    next = typeof next === 'number' ? next + 1 : undefined;
  }
}

/** What `Mode.Fast` or `Mode['Fast']` is, or undefined. */
function valueOfMember(
  { node, scope }: Path,
  enums: ReadonlyMap<string, ReadonlyMap<string, Value>>,
): Value | undefined {
  const { object, property, computed } = node;
  if (object?.type !== 'Identifier' || (computed && property?.type !== 'StringLiteral')) return undefined;
  const declared = scope.getBinding(object.name!);
  if (declared !== undefined && declared.path.node.type !== 'TSEnumDeclaration') return undefined;
  return enums.get(object.name!)?.get(nameOf(property!));
}

function isTopLevel({ parentPath }: Path): boolean {
  const around = parentPath?.node.type === 'ExportNamedDeclaration' ? parentPath.parentPath : parentPath;
  return around?.node.type === 'Program';
}

/** Not the name of a member that is read from something else. */
function isRead({ node, parentPath }: Path): boolean {
  const around = parentPath?.node;
  return around?.type !== 'MemberExpression' || around.property !== node || around.computed === true;
}

function nameOf({ name, value }: Node): string {
  return name ?? String(value);
}

function isValue(value: unknown): value is Value {
  return typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value));
}
