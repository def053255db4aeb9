// Modules as they are written, parsed and never run: what their names are bound to, as far as the text says it.
//
// A value is known if it is written out: strings, objects of them, constants with such values, in this module or
// in one that it imports by a relative path; and what `kernel()`, `deviceFunction()` and `struct()` make of them.

import { dirname, resolve } from 'node:path';
import { tsPlugin } from '@sveltejs/acorn-typescript';
import { type AnyNode, type CallExpression, Parser, type Program } from 'acorn';
import { WarpstageError } from '../../diagnostics/error.ts';
import { lineAndColumn } from '../../diagnostics/lines.ts';
import { type AnyFunction, functionOfFile } from '../../diagnostics/source.ts';
import { deviceFunction, type Kernel, kernel } from '../../kernel/kernel.ts';
import type { DeviceFunction } from '../../kernel/schema.ts';
import { struct } from '../../kernel/struct.ts';
import { type TypedNode, typedChildren, withoutAssertions, withoutTypes } from './types-out.ts';

/** The text of a file as it is now; undefined if there is none. */
export type ReadText = (path: string) => string | undefined;

/** A value that the text does not say. */
export class Unknown extends Error {}

const TypeScriptParser = Parser.extend(tsPlugin() as unknown as Parameters<typeof Parser.extend>[0]);

type Known = string | number | boolean | KnownObject | DeviceFunction | Kernel;
interface KnownObject {
  readonly [name: string]: Known;
}

/** What a name of a module stands for. */
type Binding =
  | { readonly kind: 'value' | 'function'; readonly node: TypedNode }
  | { readonly kind: 'import'; readonly from: string; readonly name: string };

/** The modules of a run, each parsed once. */
export class Modules {
  readonly #read: ReadText;
  readonly #modules = new Map<string, Module | undefined>();

  constructor(read: ReadText) {
    this.#read = read;
  }

  /** The module of a file. Throws WS5002 if it cannot be parsed; undefined where there is no file. */
  get(path: string): Module | undefined {
    if (!this.#modules.has(path)) {
      const text = this.#read(path);
      this.#modules.set(path, text === undefined ? undefined : new Module(path, text, this));
    }
    return this.#modules.get(path);
  }

  /** The module that another imports by a relative path. */
  imported(from: string, specifier: string): Module | undefined {
    if (!specifier.startsWith('.')) return undefined;
    const path = resolve(dirname(from), specifier);
    const stem = path.replace(/\.([cm]?)js$/, '.$1ts');
    for (const candidate of [path, stem, `${path}.ts`, `${path}.js`, `${path}/index.ts`]) {
      const module = this.get(candidate);
      if (module !== undefined) return module;
    }
    return undefined;
  }
}

/** The functions of warpstage whose results are known. */
const makers = ['kernel', 'deviceFunction', 'struct'] as const;
type Maker = (typeof makers)[number];

export class Module {
  readonly path: string;
  readonly text: string;
  readonly #modules: Modules;
  readonly #program: Program;
  readonly #bindings = new Map<string, Binding>();
  readonly #exports = new Map<string, string>();
  readonly #made = new Map<CallExpression, Known>();
  /** Calls that are being evaluated, as a text may name what it defines. */
  readonly #open = new Set<TypedNode>();

  constructor(path: string, text: string, modules: Modules) {
    this.path = path;
    this.text = text;
    this.#modules = modules;
    this.#program = parse(path, text);
    for (const node of this.#program.body) this.#bind(node as AnyNode);
  }

  /** The calls of warpstage's `kernel` anywhere in the module, with the name that each is given. */
  kernels(): readonly { readonly call: CallExpression; readonly name: string }[] {
    const found: { call: CallExpression; name: string }[] = [];
    const visit = (node: TypedNode, name: string) => {
      if (node.type === 'CallExpression' && this.#maker(node as CallExpression) === 'kernel') {
        found.push({ call: node as CallExpression, name });
      }
      const { type, id } = node as unknown as { type: string; id?: { name?: string } };
      const named = type === 'VariableDeclarator' ? (id?.name ?? name) : name;
      for (const child of typedChildren(node)) visit(child, named);
    };
    visit(this.#program as TypedNode, 'kernel');
    return found;
  }

  /** The value of an expression. Throws Unknown where the text does not say it. */
  valueOf(expression: TypedNode): Known {
    const node = withoutAssertions(expression);
    if (this.#open.has(node)) throw new Unknown();
    this.#open.add(node);
    try {
      return this.#valueOf(node);
    } finally {
      this.#open.delete(node);
    }
  }

  #valueOf(node: AnyNode): Known {
    switch (node.type) {
      case 'Literal': {
        const { value } = node;
        if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
          return value;
        break;
      }
      case 'TemplateLiteral':
        if (node.expressions.length === 0) return node.quasis[0]!.value.cooked ?? '';
        break;
      case 'Identifier':
        return this.#named(node.name);
      case 'ObjectExpression': {
        const members: Record<string, Known> = {};
        for (const property of node.properties) {
          if (property.type === 'SpreadElement') {
            Object.assign(members, this.valueOf(property.argument));
            continue;
          }
          const key = property.key as AnyNode;
          if (property.computed) throw new Unknown();
          const name = key.type === 'Identifier' ? key.name : String((key as { value?: unknown }).value);
          members[name] = this.valueOf(property.value);
        }
        return members;
      }
      case 'MemberExpression': {
        const object = this.valueOf(node.object);
        const property = node.property as AnyNode;
        if (node.computed || property.type !== 'Identifier' || typeof object !== 'object') break;
        const value = (object as KnownObject)[property.name];
        if (value !== undefined) return value;
        break;
      }
      case 'CallExpression': {
        const known = this.#made.get(node);
        if (known !== undefined) return known;
        const made = this.#make(node);
        this.#made.set(node, made);
        return made;
      }
    }
    throw new Unknown();
  }

  /** The value of a name of this module. */
  #named(name: string): Known {
    const binding = this.#bindings.get(name);
    if (binding?.kind === 'value') return this.valueOf(binding.node);
    if (binding?.kind !== 'import') throw new Unknown();
    const other = this.#modules.imported(this.path, binding.from);
    if (other === undefined) throw new Unknown();
    return other.#exported(binding.name);
  }

  #exported(name: string): Known {
    const local = this.#exports.get(name);
    if (local === undefined) throw new Unknown();
    return this.#named(local);
  }

  #make(call: CallExpression): Known {
    const maker = this.#maker(call);
    const [schema, body, options] = call.arguments as TypedNode[];
    if (maker === null || schema === undefined) throw new Unknown();
    const given = this.valueOf(schema) as never;
    try {
      if (maker === 'struct') return struct(given) as unknown as Known;
      if (body === undefined) throw new Unknown();
      const fn = this.#functionOf(body);
      if (maker === 'deviceFunction') return deviceFunction(given, fn as never) as unknown as Known;
      const name =
        options === undefined
          ? undefined
          : Object.entries(this.valueOf(options)).find(([key]) => key === 'name')?.[1];
      const own = typeof name === 'string' ? { name } : {};
      return kernel(given, fn as never, own) as unknown as Known;
    } catch (error) {
      throw error instanceof WarpstageError ? this.#placed(error, schema) : error;
    }
  }

  /** An error of a schema has its place there. */
  #placed(error: WarpstageError, { start, end }: TypedNode): WarpstageError {
    const [first = ''] = this.text.slice(start, end).split('\n');
    const location = {
      file: this.path,
      ...lineAndColumn(this.text, start),
      text: this.text,
      length: Math.max(1, first.length),
    };
    return new WarpstageError(
      error.issues.map((issue) => ({ ...issue, location: issue.location ?? location })),
    );
  }

  /** Which of warpstage's makers a call is of. */
  #maker({ callee }: CallExpression): Maker | null {
    const node = withoutAssertions(callee);
    const named = (name: string, member: string) => {
      const binding = this.#bindings.get(name);
      const isOurs = binding?.kind === 'import' && /^warpstage(\/browser)?$/.test(binding.from);
      if (!isOurs) return null;
      const original = binding.name === '*' ? member : binding.name;
      return makers.find((maker) => maker === original) ?? null;
    };
    if (node.type === 'Identifier') return named(node.name, '');
    if (node.type !== 'MemberExpression' || node.object.type !== 'Identifier') return null;
    return node.property.type === 'Identifier' ? named(node.object.name, node.property.name) : null;
  }

  /** A function of the text, or one that a name of the module stands for. */
  #functionOf(expression: TypedNode): AnyFunction {
    const node = withoutAssertions(expression);
    switch (node.type) {
      case 'ArrowFunctionExpression':
      case 'FunctionExpression':
      case 'FunctionDeclaration': {
        const { start } = node;
        return functionOfFile(withoutTypes(this.text, node), { file: this.path, text: this.text, start });
      }
      case 'Identifier': {
        const binding = this.#bindings.get(node.name);
        if (binding?.kind === 'function' || binding?.kind === 'value') return this.#functionOf(binding.node);
      }
    }
    throw new Unknown();
  }

  #bind(node: AnyNode): void {
    switch (node.type) {
      case 'ImportDeclaration':
        for (const one of node.specifiers) {
          const imported = one.type === 'ImportSpecifier' ? (one.imported as AnyNode) : null;
          const name =
            imported === null
              ? one.type === 'ImportNamespaceSpecifier'
                ? '*'
                : 'default'
              : imported.type === 'Identifier'
                ? imported.name
                : String((imported as { value?: unknown }).value);
          this.#bindings.set(one.local.name, { kind: 'import', from: String(node.source.value), name });
        }
        break;
      case 'ExportNamedDeclaration':
        if (node.declaration) {
          const before = new Set(this.#bindings.keys());
          this.#bind(node.declaration as AnyNode);
          for (const name of this.#bindings.keys()) if (!before.has(name)) this.#exports.set(name, name);
        }
        for (const { exported, local } of node.specifiers) {
          if (exported.type === 'Identifier' && local.type === 'Identifier' && !node.source)
            this.#exports.set(exported.name, local.name);
        }
        break;
      case 'VariableDeclaration':
        if (node.kind !== 'const') break;
        for (const { id, init } of node.declarations) {
          if (id.type === 'Identifier' && init) this.#bindings.set(id.name, { kind: 'value', node: init });
        }
        break;
      case 'FunctionDeclaration':
        if (node.id) this.#bindings.set(node.id.name, { kind: 'function', node });
    }
  }
}

function parse(path: string, text: string): Program {
  try {
    return TypeScriptParser.parse(text, {
      ecmaVersion: 'latest',
      sourceType: 'module',
      allowHashBang: true,
      locations: true,
    });
  } catch (error) {
    if (!(error instanceof SyntaxError && 'pos' in error)) throw error;
    const location = { file: path, ...lineAndColumn(text, Number(error.pos)), text, length: 1 };
    throw new WarpstageError({
      code: 'WS5002',
      message: `this file cannot be parsed: ${error.message.replace(/ \(\d+:\d+\)$/, '')}`,
      hint: 'let `npx tsc --noEmit` say what is wrong with it',
      location,
    });
  }
}
