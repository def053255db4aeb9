// The text of a program: what the compiler understood, for people and for golden tests.
//
// The text is stable: it depends on nothing but the program. Every type can be read from it:
// declarations carry theirs, a literal says it by its form (1 is i32, 1u u32, 1n i64, 1un u64,
// 1f f32, 1.0 f64), and a conversion is written as a call of the type.

import { componentNames } from '../kernel/types.ts';
import type {
  ArrayReference,
  BinaryOperator,
  Call,
  CompareOperator,
  Expression,
  Group,
  Program,
  Statement,
  ValueType,
  View,
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

/** The program as text, one statement a line. */
export function printProgram(program: Program): string {
  const names = new Names(program);
  const expressions = new ExpressionPrinter(names);
  const lines = [`kernel ${program.name} block ${program.block.join('x')} index ${program.indexType}`];
  program.parameters.forEach((parameter, id) => {
    const type =
      parameter.kind === 'array'
        ? `${parameter.readonly ? 'readonly ' : ''}${parameter.element}[]`
        : parameter.type;
    lines.push(`parameter ${names.parameters[id]}: ${type}`);
  });
  program.sharedArrays.forEach((array, id) => {
    lines.push(`shared ${names.shared[id]}: ${array.element}[${expressions.print(array.count)}]`);
  });
  program.localArrays.forEach((array, id) => {
    lines.push(`local ${names.local[id]}: ${array.element}[${array.count}]`);
  });
  program.pipelines.forEach((pipeline, id) => {
    const stages = pipeline.scope !== 'thread' ? `, ${pipeline.stages} stages, ${pipeline.partition}` : '';
    lines.push(
      `pipeline ${names.pipelines[id]}: ${pipeline.scope} scope${stages}, group ${printGroup(pipeline.group)}`,
    );
  });
  program.barriers.forEach(({ count, group, completes }, id) => {
    const many = count === null ? '' : `[${count}]`;
    lines.push(
      `barrier ${names.barriers[id]}${many}: group ${printGroup(group)}${completes ? ', completes' : ''}`,
    );
  });
  program.variables.forEach((variable, id) => {
    lines.push(`variable ${names.variables[id]}: ${variable.type}`);
  });
  lines.push('');
  new StatementPrinter(names, expressions, lines).printAll(program.body, '');
  return `${lines.join('\n')}\n`;
}

/** One name for each thing of the program: its own, with a number where another has it already. */
class Names {
  readonly #taken = new Map<string, number>();
  readonly parameters: readonly string[];
  readonly shared: readonly string[];
  readonly local: readonly string[];
  readonly pipelines: readonly string[];
  readonly barriers: readonly string[];
  readonly variables: readonly string[];

  constructor(program: Program) {
    const unique = ({ name }: { readonly name: string }) => this.#unique(name);
    this.parameters = program.parameters.map(unique);
    this.shared = program.sharedArrays.map(unique);
    this.local = program.localArrays.map(unique);
    this.pipelines = program.pipelines.map(unique);
    this.barriers = program.barriers.map(unique);
    this.variables = program.variables.map(unique);
  }

  #unique(name: string): string {
    const uses = (this.#taken.get(name) ?? 0) + 1;
    this.#taken.set(name, uses);
    return uses === 1 ? name : this.#unique(`${name}.${uses}`);
  }

  array(array: ArrayReference): string {
    const names = { global: this.parameters, shared: this.shared, local: this.local }[array.space];
    return names[array.id] ?? `${array.space}#${array.id}`;
  }
}

class ExpressionPrinter {
  readonly #names: Names;

  constructor(names: Names) {
    this.#names = names;
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
          `${names.array(expression.array)}[${this.print(expression.index)}]${componentText(expression)}`,
          precedence.primary,
        ];
      case 'unary': {
        const { operator } = expression;
        return operator === 'negate' || operator === 'not' || operator === 'complement'
          ? [unaryText[operator] + this.print(expression.operand, precedence.primary), precedence.unary]
          : this.#call(operator, [expression.operand]);
      }
      case 'binary': {
        const infix = binaryText[expression.operator];
        return infix === undefined
          ? this.#call(expression.operator, [expression.left, expression.right])
          : this.#infix(...infix, expression.left, expression.right);
      }
      case 'compare':
        return this.#infix(...compareText[expression.operator], expression.left, expression.right);
      case 'convert':
        return this.#call(conversionText(expression), [expression.operand]);
      case 'math':
        return this.#call(expression.function, expression.operands);
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

/** `.x` and its like. */
function componentText({ component }: { readonly component?: number }): string {
  return component === undefined ? '' : `.${componentNames[component]}`;
}

/** `f32`, or `f32.of.f16` and `f16.bits` for floats of 16 bits. */
function conversionText({ type, format }: Expression & { readonly kind: 'convert' }): string {
  if (format === undefined) return type;
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

function printGroup(group: Group): string {
  return group.kind === 'tile' ? `tile(${group.size})` : group.kind;
}

class StatementPrinter {
  readonly #names: Names;
  readonly #expressions: ExpressionPrinter;
  readonly #lines: string[];

  constructor(names: Names, expressions: ExpressionPrinter, lines: string[]) {
    this.#names = names;
    this.#expressions = expressions;
    this.#lines = lines;
  }

  printAll(statements: readonly Statement[], indent: string): void {
    for (const statement of statements) this.#print(statement, indent);
  }

  #print(statement: Statement, indent: string): void {
    const line = (text: string) => this.#lines.push(indent + text);
    const nested = (statements: readonly Statement[]) => this.printAll(statements, `${indent}  `);
    const print = (expression: Expression) => this.#expressions.print(expression);
    switch (statement.kind) {
      case 'assign':
        line(`${this.#variable(statement.variable)} = ${print(statement.value)}`);
        return;
      case 'store':
        line(
          `${this.#names.array(statement.array)}[${print(statement.index)}]${componentText(statement)} = ${print(statement.value)}`,
        );
        return;
      case 'if':
        line(`if (${print(statement.test)}) {`);
        nested(statement.then);
        if (statement.otherwise.length > 0) {
          line('} else {');
          nested(statement.otherwise);
        }
        line('}');
        return;
      case 'loop': {
        const test = `while (${statement.test === null ? 'true' : print(statement.test)})`;
        line(`${label(statement)}: ${statement.testFirst ? test : 'do'} {`);
        nested(statement.body);
        if (statement.update.length > 0) {
          line('} update {');
          nested(statement.update);
        }
        line(statement.testFirst ? '}' : `} ${test}`);
        return;
      }
      case 'block':
        line(`${label(statement)}: {`);
        nested(statement.body);
        line('}');
        return;
      case 'break':
      case 'continue':
        line(`${statement.kind} ${label(statement)}`);
        return;
      case 'return':
        line('return');
        return;
      case 'call':
        line(this.#call(statement));
        return;
      default:
        statement satisfies never;
    }
  }

  #call(call: Call): string {
    const print = (expression: Expression) => this.#expressions.print(expression);
    switch (call.intrinsic) {
      case 'sync':
        return `sync(${printGroup(call.group)}${this.#mask(call)})`;
      case 'warp': {
        const shuffles = call.lane === null ? '' : `, ${print(call.lane)}, width ${call.width}`;
        const operands = `${printGroup(call.group)}${this.#mask(call)}, ${print(call.value)}${shuffles}`;
        return `${this.#result(call.result)}${call.operator}(${operands})`;
      }
      case 'makePipeline': {
        const producers = call.producers === null ? '' : `producers: ${print(call.producers)}`;
        return `${this.#pipeline(call.pipeline)}.makePipeline(${producers})`;
      }
      case 'producerAcquire':
      case 'producerCommit':
      case 'consumerWait':
      case 'consumerRelease':
        return `${this.#pipeline(call.pipeline)}.${call.intrinsic}()`;
      case 'consumerWaitPrior':
        return `${this.#pipeline(call.pipeline)}.consumerWaitPrior(${call.prior})`;
      case 'consumerWaitFor':
      case 'consumerWaitUntil':
        return `${this.#result(call.result)}${this.#pipeline(call.pipeline)}.${call.intrinsic}(${print(call.time)})`;
      case 'globaltimer':
      case 'clock64':
        return `${this.#result(call.result)}${call.intrinsic}()`;
      case 'nanosleep':
        return `nanosleep(${print(call.duration)})`;
      case 'quit':
        return `${this.#result(call.result)}${this.#pipeline(call.pipeline)}.quit()`;
      case 'memcpyAsync': {
        const operands = [
          printGroup(call.group),
          this.#view(call.destination),
          this.#view(call.source),
          print(call.count),
          ...(call.zeroFill === null ? [] : [`zeros ${print(call.zeroFill)}`]),
          `align ${call.alignment}`,
          'barrier' in call ? this.#barrier(call) : this.#pipeline(call.pipeline),
        ];
        return `memcpyAsync(${operands.join(', ')})`;
      }
      case 'makeBarrier': {
        const expected = call.expected === null ? '' : print(call.expected);
        return `${this.#names.barriers[call.barrier]}.makeBarrier(${expected})`;
      }
      case 'barrierArrive': {
        const count = call.count === null ? '' : print(call.count);
        const verb = call.drop ? 'arriveAndDrop' : 'arrive';
        return `${this.#result(call.result)}${this.#barrier(call)}.${verb}(${count})`;
      }
      case 'barrierWait': {
        const limit = call.limit === null ? '' : `, ${call.until ? 'until' : 'at most'} ${print(call.limit)}`;
        return `${this.#result(call.result)}${this.#barrier(call)}.wait(${call.by} ${print(call.phase)}${limit})`;
      }
      case 'barrierComplete':
        return `${this.#barrier(call)}.complete()`;
      case 'barrierBind':
        return `${this.#barrier(call)}.bindCopies()`;
      case 'atomic': {
        const operands = [call.compare, call.value].filter((operand) => operand !== null).map(print);
        const name =
          call.operator === 'cas' ? 'CAS' : call.operator[0]!.toUpperCase() + call.operator.slice(1);
        const place = `${this.#names.array(call.array)}[${print(call.index)}]`;
        return `${this.#result(call.result)}atomic${name}(${[place, ...operands].join(', ')})`;
      }
      case 'print':
        return `print(${call.parts.map((part) => (typeof part === 'string' ? JSON.stringify(part) : print(part))).join(', ')})`;
      default:
        return call satisfies never;
    }
  }

  #mask({ mask }: { readonly mask?: Expression }): string {
    return mask === undefined ? '' : `, lanes ${this.#expressions.print(mask)}`;
  }

  #variable(id: number): string {
    return this.#names.variables[id] ?? `variable#${id}`;
  }

  #pipeline(id: number): string {
    return this.#names.pipelines[id] ?? `pipeline#${id}`;
  }

  #barrier({ barrier, index }: { readonly barrier: number; readonly index: Expression }): string {
    const name = this.#names.barriers[barrier] ?? `barrier#${barrier}`;
    const isOnly = index.kind === 'constant' && Number(index.value) === 0;
    return isOnly ? name : `${name}[${this.#expressions.print(index)}]`;
  }

  #result(id: number | null): string {
    return id === null ? '' : `${this.#variable(id)} = `;
  }

  #view(view: View): string {
    return `${this.#names.array(view.array)}.subarray(${this.#expressions.print(view.offset)})`;
  }
}

function label(statement: { readonly label: number }): string {
  return `L${statement.label}`;
}
