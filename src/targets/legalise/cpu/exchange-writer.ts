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
  Statement,
  ValueType,
} from '../../../compiler/ir.ts';
import type { Range } from '../../../diagnostics/source.ts';
import type { ElementType } from '../../../kernel/types.ts';
import { type LaneMeeting, warpSize } from '../../lanes.ts';
import { Frame } from '../frame.ts';

export class ExchangeWriter {
  protected readonly frame: Frame;
  /** All threads of the block come to each exchange together. */
  protected readonly asRegions: boolean;
  readonly #exchanges = new Map<string, ArrayReference>();
  readonly #turns = new Map<string, number>();
  protected range: Range;
  protected out: Statement[] = [];

  constructor(program: Program, asRegions: boolean) {
    this.frame = new Frame(program);
    this.asRegions = asRegions;
    this.range = program.body[0]!.range;
  }

  /** The statements that `write` emits, for what stands at a place. */
  protected written(range: Range, write: () => void): readonly Statement[] {
    this.range = range;
    this.out = [];
    write();
    return this.out;
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
      array = this.frame.exchange(meeting, type as ElementType, this.range);
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
    return variable(this.frame.variable(name, type), type, this.range);
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
    return builtin('threadRank', this.frame.program.indexType, this.range);
  }

  protected lane(): Expression {
    return this.operation('and', this.rank(), this.index(warpSize - 1));
  }

  protected bit(lane: Expression): Expression {
    return binary('shiftLeft', this.u32(1), convert(lane, 'u32', this.range), this.range);
  }

  protected index(value: number): Expression {
    return numberConstant(this.frame.program.indexType, value, this.range);
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
