// Writes statements of the IR for what stands at one place of a program, with variables and exchange
// arrays of its own. An exchange array has a slot for each thread of the block.

import {
  binary,
  builtin,
  compare,
  conditional,
  convert,
  numberConstant,
  variable,
} from '../../../compiler/build.ts';
import type {
  ArrayReference,
  BinaryOperator,
  Expression,
  Program,
  SharedArray,
  Statement,
  ValueType,
  Variable,
} from '../../../compiler/ir.ts';
import type { Range } from '../../../diagnostics/source.ts';
import type { ElementType } from '../../../kernel/types.ts';
import { forEachStatement } from '../../analysis/walk.ts';
import { type LaneMeeting, warpSize } from '../../lanes.ts';

export class ExchangeWriter {
  protected readonly original: Program;
  /** All threads of the block come to each exchange together. */
  protected readonly asRegions: boolean;
  /** Of a block. */
  protected readonly threads: number;
  protected readonly variables: Variable[];
  protected readonly sharedArrays: SharedArray[];
  readonly #exchanges = new Map<string, ArrayReference>();
  readonly #turns = new Map<string, number>();
  #label = 0;
  protected range: Range;
  protected out: Statement[] = [];

  constructor(program: Program, asRegions: boolean) {
    const [x, y, z] = program.block;
    this.original = program;
    this.asRegions = asRegions;
    this.threads = x * y * z;
    this.variables = [...program.variables];
    this.sharedArrays = [...program.sharedArrays];
    this.range = program.body[0]!.range;
    forEachStatement(program.body, (statement) => {
      if ('label' in statement) this.#label = Math.max(this.#label, statement.label + 1);
    });
  }

  /** The statements that `write` emits, for what stands at a place. */
  protected written(range: Range, write: () => void): readonly Statement[] {
    this.range = range;
    this.out = [];
    write();
    return this.out;
  }

  protected newLabel(): number {
    return this.#label++;
  }

  /** An array with a slot for each thread. In regions two of a kind take turns. */
  protected exchange(name: string, meeting: LaneMeeting, type: ValueType): ArrayReference {
    const kind = `${name} ${type}`;
    const takesTurns = this.asRegions && name !== 'there';
    const turn = takesTurns ? ((this.#turns.get(kind) ?? 1) + 1) % 2 : 0;
    this.#turns.set(kind, turn);
    const key = `${kind} ${turn}`;
    let array = this.#exchanges.get(key);
    if (array === undefined) {
      const count = this.index(this.threads);
      const exchange = {
        name: meeting,
        element: type as ElementType,
        count,
        exchanges: true,
        range: this.range,
      };
      array = { space: 'shared', id: this.sharedArrays.push(exchange) - 1 };
      this.#exchanges.set(key, array);
    }
    return array;
  }

  protected store(array: ArrayReference, index: Expression, value: Expression): void {
    this.out.push({ kind: 'store', array, index, value, range: this.range });
  }

  protected if(test: Expression, write: () => void): void {
    const outer = this.out;
    this.out = [];
    write();
    const then = this.out;
    this.out = outer;
    this.out.push({ kind: 'if', test, then, otherwise: [], range: this.range });
  }

  protected assign(id: number | null, value: Expression): void {
    if (id !== null) this.out.push({ kind: 'assign', variable: id, value, range: this.range });
  }

  protected set(target: Expression, value: Expression): void {
    if (target.kind === 'variable') this.assign(target.id, value);
  }

  protected newVariable(name: string, type: ValueType): Expression {
    return variable(this.variables.push({ name, type }) - 1, type, this.range);
  }

  /** The value as it is now. */
  protected kept(name: string, value: Expression): Expression {
    if (value.kind === 'constant') return value;
    const kept = this.newVariable(name, value.type);
    this.set(kept, value);
    return kept;
  }

  // Expressions

  protected rank(): Expression {
    return builtin('threadRank', this.original.indexType, this.range);
  }

  protected lane(): Expression {
    return this.operation('and', this.rank(), this.index(warpSize - 1));
  }

  protected bit(lane: Expression): Expression {
    return binary('shiftLeft', this.u32(1), convert(lane, 'u32', this.range), this.range);
  }

  protected index(value: number): Expression {
    return numberConstant(this.original.indexType, value, this.range);
  }

  protected u32(value: number): Expression {
    return numberConstant('u32', value, this.range);
  }

  protected operation(operator: BinaryOperator, left: Expression, right: Expression): Expression {
    return binary(operator, left, right, this.range);
  }

  protected choose(
    operator: 'less' | 'lessEqual' | 'greaterEqual',
    left: Expression,
    right: Expression,
    then: Expression,
    otherwise: Expression,
  ): Expression {
    return conditional(compare(operator, left, right, this.range), then, otherwise, this.range);
  }
}
