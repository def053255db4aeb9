// The text of expressions, with as few parentheses as they need, and the names of what they read.

import { layoutOf } from '../kernel/layout.ts';
import type { Element } from '../kernel/types.ts';
import type {
  ArrayReference,
  BinaryOperator,
  CompareOperator,
  Expression,
  Program,
  ValueType,
} from './ir.ts';

const binaryText: { readonly [O in BinaryOperator]?: readonly [text: string, precedence: number] } = {
  or: ['|', 3],
  xor: ['^', 4],
  and: ['&', 5],
  shiftLeft: ['<<', 8],
  shiftRight: ['>>', 8],
  add: ['+', 9],
  subtract: ['-', 9],
  multiply: ['*', 10],
  divide: ['/', 10],
  remainder: ['%', 10],
};

const compareText: { readonly [O in CompareOperator]: readonly [text: string, precedence: number] } = {
  equal: ['==', 6],
  notEqual: ['!=', 6],
  less: ['<', 7],
  lessEqual: ['<=', 7],
  greater: ['>', 7],
  greaterEqual: ['>=', 7],
};

const unaryText = { negate: '-', not: '!', complement: '~' } as const;

const precedence = { conditional: 0, logicalOr: 1, logicalAnd: 2, unary: 11, primary: 12 } as const;

/** One name for each thing of the program: its own, with a number where another has it already. */
export class Names {
  readonly #taken = new Map<string, number>();
  readonly #elements: Readonly<Record<ArrayReference['space'], readonly Element[]>>;
  readonly parameters: readonly string[];
  readonly shared: readonly string[];
  readonly local: readonly string[];
  readonly pipelines: readonly string[];
  readonly barriers: readonly string[];
  readonly mbarriers: readonly string[];
  readonly variables: readonly string[];

  constructor(program: Program) {
    this.#elements = {
      global: program.parameters.map((parameter) => (parameter.kind === 'array' ? parameter.element : 'i32')),
      shared: program.sharedArrays.map(({ element }) => element),
      local: program.localArrays.map(({ element }) => element),
    };
    const unique = ({ name }: { readonly name: string }) => this.#unique(name);
    this.parameters = program.parameters.map(unique);
    this.shared = program.sharedArrays.map(unique);
    this.local = program.localArrays.map(unique);
    this.pipelines = program.pipelines.map(unique);
    this.barriers = program.barriers.map(unique);
    this.mbarriers = (program.mbarriers ?? []).map(unique);
    this.variables = program.variables.map(unique);
  }

  #unique(name: string): string {
    const uses = (this.#taken.get(name) ?? 0) + 1;
    this.#taken.set(name, uses);
    return uses === 1 ? name : this.#unique(`${name}.${uses}`);
  }

  /** Of an access to a part of an element its name, `.x` and its like. */
  part({ array, component }: { readonly array: ArrayReference; readonly component?: number }): string {
    if (component === undefined) return '';
    const element = array.as ?? this.#elements[array.space][array.id]!;
    return `.${layoutOf(element).parts[component]!.name}`;
  }

  array(array: ArrayReference): string {
    const names = { global: this.parameters, shared: this.shared, local: this.local }[array.space];
    const name = names[array.id] ?? `${array.space}#${array.id}`;
    return array.as === undefined ? name : `${name}.as.${array.as}`;
  }
}

export class ExpressionPrinter {
  readonly #names: Names;

  constructor(names: Names) {
    this.#names = names;
  }

  /** What an index of several dimensions is checked for, `within y < 16, x < 17`. */
  bounds({ bounds = [] }: { readonly bounds?: readonly Expression[] }): string {
    const tests = bounds.flatMap((each, position) =>
      position % 2 === 1 ? [`${this.print(bounds[position - 1]!)} < ${this.print(each)}`] : [],
    );
    return tests.length === 0 ? '' : ` within ${tests.join(', ')}`;
  }

  /** The expression, in parentheses if what stands around it binds more tightly. */
  print(expression: Expression, around = 0): string {
    const [text, own] = this.#text(expression);
    return own < around ? `(${text})` : text;
  }

  #text(expression: Expression): [text: string, precedence: number] {
    const names = this.#names;
    switch (expression.kind) {
      case 'constant': {
        const text = printConstant(expression.value, expression.type);
        return [text, text.startsWith('-') ? precedence.unary : precedence.primary];
      }
      case 'variable':
        return [names.variables[expression.id] ?? `variable#${expression.id}`, precedence.primary];
      case 'scalar':
        return [names.parameters[expression.id] ?? `scalar#${expression.id}`, precedence.primary];
      case 'builtin':
        return [expression.name, precedence.primary];
      case 'length':
        return [`${names.array(expression.array)}.length`, precedence.primary];
      case 'load':
        return [
          `${names.array(expression.array)}[${this.print(expression.index)}${this.bounds(expression)}]${names.part(expression)}`,
          precedence.primary,
        ];
      case 'unary': {
        const { operator } = expression;
        return operator === 'negate' || operator === 'not' || operator === 'complement'
          ? [unaryText[operator] + this.print(expression.operand, precedence.primary), precedence.unary]
          : this.#call(operator, [expression.operand]);
      }
      case 'binary': {
        const infix = expression.fast ? undefined : binaryText[expression.operator];
        return infix === undefined
          ? this.#call(expression.fast ? `fast ${expression.operator}` : expression.operator, [
              expression.left,
              expression.right,
            ])
          : this.#infix(...infix, expression.left, expression.right);
      }
      case 'compare':
        return this.#infix(...compareText[expression.operator], expression.left, expression.right);
      case 'convert':
        return this.#call(conversionText(expression), [expression.operand]);
      case 'math':
        return this.#call(
          expression.fast ? `fast ${expression.function}` : expression.function,
          expression.operands,
        );
      case 'conditional':
        return this.#conditional(expression);
      default:
        return expression satisfies never;
    }
  }

  #conditional(expression: Expression & { readonly kind: 'conditional' }): [string, number] {
    const { test, then, otherwise } = expression;
    if (otherwise.kind === 'constant' && otherwise.value === false) {
      return this.#infix('&&', precedence.logicalAnd, test, then);
    }
    if (then.kind === 'constant' && then.value === true) {
      return this.#infix('||', precedence.logicalOr, test, otherwise);
    }
    const text = `${this.print(test, precedence.logicalOr)} ? ${this.print(then)} : ${this.print(otherwise)}`;
    return [text, precedence.conditional];
  }

  #infix(text: string, own: number, left: Expression, right: Expression): [string, number] {
    return [`${this.print(left, own)} ${text} ${this.print(right, own + 1)}`, own];
  }

  #call(name: string, operands: readonly Expression[]): [string, number] {
    return [`${name}(${operands.map((operand) => this.print(operand)).join(', ')})`, precedence.primary];
  }
}

/** `f32`, or `f32.of.f16` and `f16.bits` for floats of 16 bits. */
function conversionText({ type, format }: Expression & { readonly kind: 'convert' }): string {
  if (format === undefined) return type;
  if (format === 'bits') return `${type}.bits`;
  return type === 'f32' ? `f32.of.${format}` : `${format}.bits`;
}

function printConstant(value: number | bigint | boolean, type: ValueType): string {
  switch (type) {
    case 'bool':
    case 'i32':
      return String(value);
    case 'u32':
      return `${value}u`;
    case 'i64':
      return `${value}n`;
    case 'u64':
      return `${value}un`;
    case 'f32':
      return `${printFloat(value as number)}f`;
    case 'f64': {
      const text = printFloat(value as number);
      return /^-?\d+$/.test(text) ? `${text}.0` : text;
    }
    default:
      return type satisfies never;
  }
}

function printFloat(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}
