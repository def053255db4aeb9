// The text of statements, one a line.

import type { Call, Expression, Group, Makers, Program, SharingGroup, Statement, View } from './ir.ts';
import type { CoreOperation } from './ir-core.ts';
import { isTimedWait, verbOf } from './ir-pipelines.ts';
import type { ExpressionPrinter, Names } from './print-expressions.ts';

export function printGroup(group: SharingGroup): string {
  return group.kind === 'tile' ? `tile(${group.size})` : group.kind;
}

export function printVariables({ variables }: Program, names: Names): string[] {
  return variables.map(({ type }, id) => `variable ${names.variables[id]}: ${type}`);
}

export class StatementPrinter {
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

  /** The parts of a line; a value with a format is written behind that. */
  #printed({ parts, formats = [] }: Extract<Call, { intrinsic: 'print' }>): readonly string[] {
    let at = 0;
    return parts.map((part) => {
      if (typeof part === 'string') return JSON.stringify(part);
      const format = formats[at++];
      return `${format ? `${JSON.stringify(format.text)} ` : ''}${this.#expressions.print(part)}`;
    });
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
          `${this.#names.array(statement.array)}[${print(statement.index)}${this.#expressions.bounds(statement)}]${this.#names.part(statement)} = ${print(statement.value)}`,
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
      case 'region': {
        const variables = (what: string, ids: readonly number[]) =>
          ids.length === 0 ? '' : ` ${what} ${ids.map((id) => this.#variable(id)).join(', ')}`;
        const { loads, stores, resets } = statement;
        const kept = `${variables('loads', loads)}${variables('stores', stores)}${variables('resets', resets)}`;
        line(`all threads${kept} {`);
        nested(statement.body);
        line('}');
        return;
      }
      case 'break':
      case 'continue':
        line(`${statement.kind} ${label(statement)}`);
        return;
      case 'return':
        line('return');
        return;
      case 'call':
        line(this.call(statement));
        return;
      default:
        statement satisfies never;
    }
  }

  /** A call in one line. */
  call(call: Call): string {
    const print = (expression: Expression) => this.#expressions.print(expression);
    if (isTimedWait(call))
      return `${this.#result(call.result)}${this.#pipeline(call.pipeline)}.${verbOf(call)}(${print(call.limit)})`;
    switch (call.intrinsic) {
      case 'sync':
        return `sync(${printGroup(call.group)}${this.#mask(call)})`;
      case 'warp': {
        const shuffles = call.lane === null ? '' : `, ${print(call.lane)}, width ${call.width}`;
        const operands = `${printGroup(call.group)}${this.#mask(call)}, ${print(call.value)}${shuffles}`;
        return `${this.#result(call.result)}${call.operator}(${operands})`;
      }
      case 'makePipeline': {
        const producers = call.producers === null ? [] : [`producers: ${print(call.producers)}`];
        return `${this.#pipeline(call.pipeline)}.makePipeline(${[...producers, ...this.#makers(call)].join(', ')})`;
      }
      case 'pipelineConsumerWaitPrior':
        return `${this.#pipeline(call.pipeline)}.consumerWaitPrior(${call.prior})`;
      case 'globaltimer':
      case 'clock64':
        return `${this.#result(call.result)}${call.intrinsic}()`;
      case 'mark':
        return `${this.#pipeline(call.of)}.mark(${call.at}, ${print(call.made)}, ${print(call.batch)})`;
      case 'core':
        return `${this.#result(call.result)}${this.#core(call.operation)}`;
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
        const expected = call.expected === null ? [] : [print(call.expected)];
        const operands = [...expected, ...this.#makers(call)].join(', ');
        return `${this.#names.barriers[call.barrier]}.makeBarrier(${operands})`;
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
        const value = call.operator === 'load' ? null : call.value;
        const operands = [call.compare, value].filter((operand) => operand !== null).map(print);
        const orders = [call.order, call.scope].filter((each) => each !== undefined);
        const name =
          call.operator === 'cas' ? 'CAS' : call.operator[0]!.toUpperCase() + call.operator.slice(1);
        const place = `${this.#names.array(call.array)}[${print(call.index)}]`;
        return `${this.#result(call.result)}atomic${name}(${[place, ...operands, ...orders].join(', ')})`;
      }
      case 'print':
        return `print(${this.#printed(call).join(', ')})`;
      case 'assert': {
        const parts = call.parts.map((part) =>
          typeof part === 'string' ? JSON.stringify(part) : print(part),
        );
        return `assert(${[print(call.test), ...parts].join(', ')})`;
      }
      default:
        return `${this.#pipeline(call.pipeline)}.${call.intrinsic}()`;
    }
  }

  /** The operation with its operands by name, in the order of its declaration. */
  #core(operation: CoreOperation): string {
    const { kind, ...operands } = operation;
    const at =
      'mbarrier' in operation
        ? `${this.#names.mbarriers[operation.mbarrier]}[${this.#expressions.print(operation.index)}].`
        : 'array' in operation
          ? `${this.#names.array(operation.array)}[${this.#expressions.print(operation.index)}].`
          : '';
    const texts = Object.entries(operands).flatMap(([name, operand]) => {
      if (unprinted.has(name) || operand === null || operand === false) return [];
      return [operand === true ? name : `${name} ${this.#operand(operand)}`];
    });
    return `${at}${kind}(${texts.join(', ')})`;
  }

  #operand(operand: string | number | Expression | View | Group): string {
    if (typeof operand !== 'object') return `${operand}`;
    if ('offset' in operand) return this.#view(operand);
    return 'range' in operand ? this.#expressions.print(operand) : printGroup(operand);
  }

  #mask({ mask }: { readonly mask?: Expression }): string {
    return mask === undefined ? '' : `, lanes ${this.#expressions.print(mask)}`;
  }

  /** The lanes that make something together, and what they agreed on. */
  #makers({ masks = [], half, agreed }: Makers): string[] {
    const print = (expression: Expression) => this.#expressions.print(expression);
    return [
      ...(agreed === undefined ? [] : [`agreed ${print(agreed)}`]),
      ...(half === undefined ? [] : [`half ${print(half)}`]),
      ...(masks.length === 0 ? [] : [`lanes ${masks.map(print).join(' ')}`]),
    ];
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

/** Fields of an operation that stand before its name, or are said for reports alone. */
const unprinted = new Set(['mbarrier', 'array', 'index', 'waiting', 'place', 'arrived', 'expected', 'left']);

function label(statement: { readonly label: number }): string {
  return `L${statement.label}`;
}
