// Which declaration each name of a function means, by JavaScript's scopes.
//
// Besides, for every declaration: whether it changes after it was declared. Minifiers turn
// `const` into `let`, and older targets turn both into `var`, so what is constant is read from
// what the text does, not from the keyword. What no declaration explains is captured from
// outside the function.

import type {
  AnyNode,
  CallExpression,
  Function as FunctionNode,
  Identifier,
  MemberExpression,
  Node,
  Pattern,
} from 'acorn';
import { componentNames } from '../kernel/types.ts';
import { boundNames, children, isFunction, patternExpressions } from './nodes.ts';

/** A name that the function declares: a variable, a parameter or a function. */
export interface Declaration {
  readonly name: string;
  readonly kind: 'const' | 'let' | 'var' | 'parameter' | 'function';
  /** Where it is declared. */
  readonly node: Identifier;
  /** Whether it is assigned after its declaration, or can be seen before it. */
  changes: boolean;
  /** Whether a member of it is assigned that is named as the components of vectors are. */
  hasParts: boolean;
  /** Whether an element of it is chosen by a computed index, or assigned. */
  indexed: boolean;
}

/** A name that is used and not declared. */
export interface Captured {
  readonly name: string;
  /** Its first use. */
  readonly node: Identifier;
  /** `stored`: one of its elements is written. */
  readonly use: 'called' | 'constructed' | 'indexed' | 'stored' | 'read' | 'written';
  /** Of `module.name`: the member, as bundlers write imports. */
  readonly member: string | null;
  /** Of `module.name.property`: what is read of the member. */
  readonly property: string | null;
}

export interface Resolution {
  /** By the declaring identifiers and the using ones alike. */
  readonly declarations: ReadonlyMap<Identifier, Declaration>;
  readonly captured: readonly Captured[];
  /** How many return statements each function has, those of functions inside it not counted. */
  readonly returns: ReadonlyMap<Node, number>;
}

interface Scope {
  readonly names: Map<string, Declaration>;
  readonly parent: Scope | null;
  readonly node: Node;
}

/** Resolves every name of a function. */
export function resolve(root: FunctionNode): Resolution {
  const resolver = new Resolver();
  resolver.functionNode(root, null);
  return {
    declarations: resolver.declarations,
    captured: [...resolver.captured.values()],
    returns: resolver.returns,
  };
}

class Resolver {
  readonly declarations = new Map<Identifier, Declaration>();
  readonly captured = new Map<string, Captured>();
  readonly returns = new Map<Node, number>();
  /** The block that a `var` was declared in, within which it behaves as a `const` might. */
  readonly #blocks = new Map<Declaration, Node>();
  #function: Node | null = null;
  /** The nodes around the one that is visited, outermost first. */
  readonly #around: AnyNode[] = [];

  functionNode(node: FunctionNode, outer: Scope | null): void {
    const scope: Scope = { names: new Map(), parent: outer, node };
    const enclosing = this.#function;
    this.#function = node;
    this.returns.set(node, 0);
    if (node.type === 'FunctionExpression' && node.id) this.#declare(node.id, 'function', scope);
    for (const parameter of node.params) this.#pattern(parameter, 'parameter', scope);
    const body = node.body as AnyNode;
    if (body.type === 'BlockStatement') {
      for (const statement of body.body) this.#hoistVars(statement, scope, body);
      this.#block(body.body, scope);
    } else {
      this.#visit(body, scope);
    }
    this.#function = enclosing;
  }

  #declare(node: Identifier, kind: Declaration['kind'], scope: Scope): Declaration {
    const known = scope.names.get(node.name);
    if (known !== undefined) {
      known.changes = true;
      this.declarations.set(node, known);
      return known;
    }
    const declaration: Declaration = {
      name: node.name,
      kind,
      node,
      changes: false,
      hasParts: false,
      indexed: false,
    };
    scope.names.set(node.name, declaration);
    this.declarations.set(node, declaration);
    return declaration;
  }

  /** Declares the names of a pattern; visits its computed keys and defaults. */
  #pattern(pattern: Pattern, kind: Declaration['kind'], scope: Scope): void {
    switch (pattern.type) {
      case 'Identifier':
        this.#declare(pattern, kind, scope);
        break;
      case 'AssignmentPattern':
        this.#pattern(pattern.left, kind, scope);
        this.#visit(pattern.right as AnyNode, scope);
        break;
      case 'RestElement':
        this.#pattern(pattern.argument, kind, scope);
        break;
      case 'ArrayPattern':
        for (const element of pattern.elements) if (element !== null) this.#pattern(element, kind, scope);
        break;
      case 'ObjectPattern':
        for (const property of pattern.properties) {
          if (property.type === 'RestElement') this.#pattern(property.argument, kind, scope);
          else {
            if (property.computed) this.#visit(property.key as AnyNode, scope);
            this.#pattern(property.value, kind, scope);
          }
        }
    }
  }

  /** `var` belongs to the function, wherever in it it stands. */
  #hoistVars(node: AnyNode, scope: Scope, block: Node): void {
    if (node.type === 'VariableDeclaration' && node.kind === 'var') {
      for (const declarator of node.declarations) {
        for (const identifier of boundNames(declarator.id)) {
          const declaration = this.#declare(identifier, 'var', scope);
          // Without a value it is declared for assignments to come.
          if (declarator.init === undefined || declarator.init === null) declaration.changes = true;
          this.#blocks.set(declaration, block);
        }
      }
      return;
    }
    if (isFunction(node)) return;
    const inner = opensScope(node) ? node : block;
    for (const child of children(node)) this.#hoistVars(child, scope, inner);
  }

  #block(statements: readonly AnyNode[], scope: Scope): void {
    for (const statement of statements) {
      if (statement.type === 'FunctionDeclaration')
        this.#declare(statement.id as Identifier, 'function', scope);
      if (statement.type === 'ClassDeclaration') this.#declare(statement.id as Identifier, 'let', scope);
      if (statement.type === 'VariableDeclaration' && statement.kind !== 'var')
        this.#lexical(statement, scope);
    }
    for (const statement of statements) this.#visit(statement, scope);
  }

  #lexical(node: AnyNode, scope: Scope): void {
    if (node.type !== 'VariableDeclaration' || node.kind === 'var') return;
    for (const declarator of node.declarations) {
      for (const identifier of boundNames(declarator.id)) {
        const declaration = this.#declare(identifier, node.kind === 'let' ? 'let' : 'const', scope);
        if (declarator.init === undefined || declarator.init === null) declaration.changes = true;
      }
    }
  }

  #visit(node: AnyNode, outer: Scope): void {
    if (isFunction(node)) {
      this.functionNode(node, outer);
      return;
    }
    const scope = opensScope(node) ? { names: new Map(), parent: outer, node } : outer;
    switch (node.type) {
      case 'Identifier':
        this.#use(node, scope);
        return;
      case 'BlockStatement':
        this.#block(node.body, scope);
        return;
      // Refused as a whole where it stands; tools write calls into it that keep its name.
      case 'ClassDeclaration':
      case 'ClassExpression':
        return;
      case 'SwitchStatement':
        this.#visit(node.discriminant as AnyNode, outer);
        this.#block(
          node.cases.flatMap((one) => one.consequent),
          scope,
        );
        for (const { test } of node.cases) if (test) this.#visit(test as AnyNode, scope);
        return;
      case 'ForStatement':
        if (node.init) this.#lexical(node.init as AnyNode, scope);
        break;
      case 'ForInStatement':
      case 'ForOfStatement':
        this.#lexical(node.left as AnyNode, scope);
        break;
      case 'VariableDeclaration':
        for (const { id, init } of node.declarations) {
          for (const child of patternExpressions(id)) this.#visit(child, scope);
          if (init) this.#visit(init as AnyNode, scope);
        }
        return;
      case 'CatchClause':
        if (node.param) this.#pattern(node.param, 'let', scope);
        this.#visit(node.body as AnyNode, scope);
        return;
      case 'AssignmentExpression':
      case 'UpdateExpression':
        this.#write((node.type === 'AssignmentExpression' ? node.left : node.argument) as AnyNode, scope);
        break;
      case 'ReturnStatement':
        this.returns.set(this.#function!, this.returns.get(this.#function!)! + 1);
        break;
      case 'MemberExpression':
        if (node.computed && node.object.type === 'Identifier' && node.property.type !== 'Literal') {
          const declaration = find(node.object.name, scope);
          if (declaration !== undefined) declaration.indexed = true;
        }
    }
    this.#around.push(node);
    for (const child of children(node)) this.#visit(child, scope);
    this.#around.pop();
  }

  /** Marks what an assignment changes. */
  #write(target: AnyNode, scope: Scope): void {
    switch (target.type) {
      case 'Identifier': {
        const declaration = find(target.name, scope);
        if (declaration !== undefined) declaration.changes = true;
        break;
      }
      case 'MemberExpression':
        if (target.object.type === 'Identifier') {
          const declaration = find(target.object.name, scope);
          if (declaration === undefined) break;
          if (isComponent(target)) declaration.hasParts = true;
          else declaration.indexed = true;
        }
        break;
      default:
        for (const child of children(target)) this.#write(child, scope);
    }
  }

  #use(node: Identifier, scope: Scope): void {
    const declaration = find(node.name, scope);
    if (declaration === undefined) {
      const parent = this.#around.at(-1);
      const isFunctionName = (name: Identifier) => find(name.name, scope)?.kind === 'function';
      const isCallee = parent?.type === 'CallExpression' && parent.callee === node;
      if (isCallee && keepsName(parent, isFunctionName)) return;
      if (!this.captured.has(node.name)) this.captured.set(node.name, capturedBy(node, this.#around));
      return;
    }
    this.declarations.set(node, declaration);
    const block = this.#blocks.get(declaration);
    if (block === undefined) return;
    const settled =
      node.start >= declaration.node.start && node.start >= block.start && node.end <= block.end;
    if (!settled) declaration.changes = true;
  }
}

/** Whether a member is named as the components of vectors are. */
function isComponent({ computed, property }: Extract<AnyNode, { type: 'MemberExpression' }>): boolean {
  return (
    !computed &&
    property.type === 'Identifier' &&
    (componentNames as readonly string[]).includes(property.name)
  );
}

/**
 * Whether a call of a captured function only keeps a function's name: esbuild writes
 * `__name(() => …, 'scale')`, and calls `__name` something shorter when it minifies.
 */
export function keepsName(call: CallExpression, isFunctionName: (name: Identifier) => boolean): boolean {
  const [fn, name, ...more] = call.arguments as AnyNode[];
  if (fn === undefined || name?.type !== 'Literal' || more.length > 0) return false;
  return (
    typeof name.value === 'string' && (isFunction(fn) || (fn.type === 'Identifier' && isFunctionName(fn)))
  );
}

function capturedBy(node: Identifier, around: readonly AnyNode[]): Captured {
  const { name } = node;
  const parent = around.at(-1);
  if (parent?.type !== 'MemberExpression' || parent.object !== node) {
    return { name, node, use: useOf(node, around), member: null, property: null };
  }
  const whole = around.at(-2);
  if (parent.computed) {
    const isStored = useOf(parent, around.slice(0, -1)) === 'written';
    return { name, node, use: isStored ? 'stored' : 'indexed', member: null, property: null };
  }
  const property = whole?.type === 'MemberExpression' && whole.object === parent ? nameOfMember(whole) : null;
  return { name, node, use: useOf(parent, around.slice(0, -1)), member: nameOfMember(parent), property };
}

function nameOfMember({ property, computed }: MemberExpression): string | null {
  return property.type === 'Identifier' && !computed ? property.name : null;
}

function useOf(node: Node, around: readonly AnyNode[]): Captured['use'] {
  const parent = around.at(-1);
  switch (parent?.type) {
    case 'CallExpression':
      return parent.callee === node ? 'called' : 'read';
    case 'NewExpression':
      return parent.callee === node ? 'constructed' : 'read';
    case 'MemberExpression':
      return parent.object === node && parent.computed ? 'indexed' : 'read';
    case 'AssignmentExpression':
      return parent.left === node ? 'written' : 'read';
    case 'UpdateExpression':
      return 'written';
    case 'SequenceExpression':
      // `(0, module.name)(…)`, as bundlers write the call of an import.
      return parent.expressions.at(-1) === node ? useOf(parent, around.slice(0, -1)) : 'read';
    default:
      return 'read';
  }
}

function find(name: string, scope: Scope): Declaration | undefined {
  for (let at: Scope | null = scope; at !== null; at = at.parent) {
    const declaration = at.names.get(name);
    if (declaration !== undefined) return declaration;
  }
  return undefined;
}

function opensScope(node: AnyNode): boolean {
  switch (node.type) {
    case 'BlockStatement':
    case 'ForStatement':
    case 'ForInStatement':
    case 'ForOfStatement':
    case 'SwitchStatement':
    case 'CatchClause':
      return true;
    default:
      return false;
  }
}
