// What a random program computes with: its arrays, scalars and variables, and random values made of them.

import { type Expression, elementValueType, type Statement, type ValueType } from '#warpstage/compiler/ir.js';
import { componentCount, type ElementType } from '#warpstage/kernel/types.js';
import {
  type ArrayHandle,
  add,
  binary,
  compare,
  constant,
  convert,
  load,
  multiply,
  ProgramBuilder,
  store,
  type VariableHandle,
} from '../support/ir.ts';
import { randomExpression, type Scope, valueTypes } from './random-expression.ts';
import type { Tape } from './tape.ts';

export const elementTypes: readonly ElementType[] = [
  'i32',
  'f32',
  'u32',
  'f64',
  'u8',
  'i16',
  'i8',
  'u16',
  'i64',
  'u64',
  'f16',
  'f32x4',
  'i32x2',
  'f64x2',
];

// Half of the programs keep to what four lanes of 128 bits hold, so that lanes run them too.
const narrowTypes: readonly ValueType[] = ['i32', 'f32', 'bool', 'u32'];
const narrowElements: readonly ElementType[] = ['i32', 'f32', 'u32', 'bf16', 'u32x4', 'f32x2'];

/** All of them: every program has the same parameters to write to. */
export const allElements = [...new Set([...elementTypes, ...narrowElements])];

/** Elements of each input: any index up to `inputMask`, and a block more. */
export const inputLength = 512;
export const inputMask = 255;

/** Elements that each thread owns in each output. */
export const ownElements = 6;

/** Elements of the array that all threads count in. */
export const counterLength = 8;

/** Something of a type that is readable in some place only. */
export interface Leaf {
  readonly type: ValueType;
  make(): Expression;
}

/** What a value may be made of, beside what is readable everywhere. */
export interface Surroundings {
  readonly extra: readonly Leaf[];
}

export class RandomData {
  readonly p: ProgramBuilder;
  readonly grid: number;
  readonly inputs: readonly ArrayHandle[];
  readonly outputs: readonly ArrayHandle[];
  readonly counters: ArrayHandle;
  readonly locals: readonly ArrayHandle[];
  readonly variables: readonly (readonly [ValueType, VariableHandle])[];
  /** Element types that the program uses. */
  readonly elements: readonly ElementType[];
  readonly #tape: Tape;
  readonly #count: Expression;
  readonly #scalars: readonly Expression[];
  readonly #types: readonly ValueType[];
  readonly #exact: boolean;
  #made = 0;

  constructor(tape: Tape, exact: boolean) {
    this.#tape = tape;
    this.#exact = exact;
    const size = tape.pick([4, 32, 1, 64, 7, 33]);
    const narrow = tape.chance(1, 2);
    this.#types = narrow ? narrowTypes : valueTypes;
    this.elements = narrow ? narrowElements : elementTypes;
    const indexType = narrow ? 'i32' : tape.pick(['i32', 'i64'] as const);
    this.p = new ProgramBuilder('random', size, { indexType });
    this.grid = tape.pick([1, 2, 3]);
    const p = this.p;
    this.outputs = allElements.map((element) => p.array(`out_${element}`, element));
    this.inputs = this.elements.map((element) => p.array(`in_${element}`, element, 'readonly'));
    this.counters = p.array('counters', 'u32');
    this.#count = p.scalar('count', p.indexType);
    this.#scalars = valueTypes.map((type) => p.scalar(`scalar_${type}`, type));
    this.locals = [p.local('local_i32', 'i32', 4), ...(narrow ? [] : [p.local('local_f64', 'f64', 2)])];
    this.variables = this.#types.flatMap((type) =>
      [1, 2].map((n) => [type, p.variable(`${type}_${n}`, type)] as const),
    );
  }

  /** The first variable of a type. */
  variableOf(type: ValueType): VariableHandle {
    return this.variables.find(([of]) => of === type)![1];
  }

  /** Stores a value in one of the elements that the thread owns. */
  storeOwn(element: ElementType, slot: number, value: Expression): Statement {
    const array = this.outputs.find((output) => output.element === element)!;
    const p = this.p;
    return store(
      array,
      add(multiply(p.gridRank(), p.index(ownElements)), p.index(slot)),
      value,
      this.#tape.below(componentCount(element)),
    );
  }

  /** New shared memory. */
  shared(element: ElementType, count: number): ArrayHandle {
    this.#made += 1;
    return this.p.shared(`shared${this.#made}`, element, count);
  }

  /** A new variable to count with. */
  counter(): { variable: VariableHandle; leaf: Leaf } {
    this.#made += 1;
    const variable = this.p.variable(`i${this.#made}`, this.p.indexType);
    return { variable, leaf: { type: this.p.indexType, make: () => variable.value } };
  }

  /** Any value of a type. */
  value(place: Surroundings, type: ValueType): Expression {
    return randomExpression(this.#tape, this.#scope(place), type, 3);
  }

  #scope({ extra }: Surroundings): Scope {
    const p = this.p;
    return {
      types: this.#types,
      exact: this.#exact,
      leaves: (type) => [
        ...this.variables
          .filter(([of]) => of === type)
          .map(
            ([, variable]) =>
              () =>
                variable.value,
          ),
        ...extra.filter((leaf) => leaf.type === type).map((leaf) => leaf.make),
        ...this.#scalars.filter((scalar) => scalar.type === type).map((scalar) => () => scalar),
        ...[...this.inputs, ...this.locals]
          .filter(({ element }) => elementValueType(element) === type)
          .map(
            (array) => () =>
              load(array, this.#indexOf(array), this.#tape.below(componentCount(array.element))),
          ),
        ...(type === p.indexType ? this.#ownPlace() : []),
      ],
    };
  }

  #ownPlace(): (() => Expression)[] {
    const p = this.p;
    const names = ['threadRank', 'blockIdx.x', 'gridDim.x', 'threadIdx.x', 'threadIdx.y'] as const;
    return [
      ...names.map((name) => () => p.builtin(name)),
      () => p.gridRank(),
      () => p.length(this.inputs[0]!),
    ];
  }

  /** An index of an input or local array: the thread's own place, a shifted one, a constant, or anything. */
  #indexOf(array: ArrayHandle): Expression {
    const p = this.p;
    const mask = array.space === 'global' ? inputMask : array.element === 'i32' ? 3 : 1;
    switch (this.#tape.below(4)) {
      case 0:
        return array.space === 'global' ? p.gridRank() : p.index(0);
      case 1:
        return binary('and', add(p.gridRank(), p.index(this.#tape.below(9))), p.index(mask));
      case 2:
        return p.index(this.#tape.below(mask + 1));
      default:
        return this.masked({ extra: [] }, mask);
    }
  }

  /** Any index up to a mask. */
  masked({ extra }: Surroundings, mask: number): Expression {
    const p = this.p;
    const variable = this.#tape.pick(this.variables.filter(([type]) => type !== 'bool'))[1];
    const leaf = extra[0];
    const value = leaf !== undefined && this.#tape.chance(1, 3) ? leaf.make() : variable.value;
    return binary('and', convert(value, p.indexType), p.index(mask));
  }

  /** The rank of some thread of the block. */
  threadOfBlock(place: Surroundings): Expression {
    const p = this.p;
    const rank = p.builtin('threadRank');
    const size = p.index(p.blockSize);
    switch (this.#tape.below(4)) {
      case 0:
        return rank;
      case 1:
        return binary('subtract', p.index(p.blockSize - 1), rank);
      case 2:
        return binary('remainder', add(rank, p.index(1)), size);
      default:
        return binary('remainder', this.masked(place, 255), size);
    }
  }

  /** A count of 0 to 3 that differs from thread to thread. */
  smallCount(place: Surroundings): Expression {
    return binary('and', this.value(place, 'u32'), constant('u32', 3));
  }

  /** A count that is the same for all threads of a block. */
  uniformCount(): Expression {
    const p = this.p;
    return this.#tape.pick([
      () => this.#count,
      () => p.index(2),
      () => add(p.builtin('blockIdx.x'), p.index(1)),
      () => p.index(5),
      () => p.index(1),
      () => p.index(0),
    ])();
  }

  /** A condition that is the same for all threads of a block. */
  uniformTest(): Expression {
    const p = this.p;
    return this.#tape.pick([
      () => compare('less', p.builtin('blockIdx.x'), p.index(1)),
      () => compare('less', this.#count, p.index(3)),
      () => compare('greater', p.builtin('gridDim.x'), p.index(1)),
    ])();
  }
}
