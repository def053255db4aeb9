// The types of variables that change.
//
// A variable that starts as a literal, or with nothing, has no type of its own: it takes one
// from what it is given and what it is combined with. Lowering runs in passes. In the first
// such a variable is open, and facts about it are gathered under a key that is the same in
// every pass; solving them settles its type for the next pass. Passes repeat until no type
// changes. Types only widen, so they come to an end.
//
// - What is assigned to a variable binds it hard: it must be able to hold it.
// - What it is combined or compared with binds it softly: only if nothing binds it hard, and an
//   integer use goes before a float use.
// - Nothing at all leaves i32, or f32 if a literal had a fraction, or i64 if it was a bigint.
//
// Which arrays a variable stands for, and which members of an object are assigned, is found in the same way.

import { isBigint, isFloat, isInteger, isSmallInteger, join, type NumberType } from './number-types.ts';
import { isSameArray, type Numeric, type QuotientValue, type ViewValue } from './values.ts';

interface Facts {
  /** The type that it started with, if that was no literal. */
  start: NumberType | null;
  literal: boolean;
  fractional: boolean;
  /** A literal was a bigint. */
  bigint: boolean;
  readonly hard: Set<NumberType>;
  readonly hardFrom: Set<string>;
  readonly soft: Set<NumberType>;
  readonly softFrom: Set<string>;
}

/** What passes find of keys. What one finds, the next one knows. */
class Learned<T> {
  readonly #known = new Map<string, readonly T[]>();
  readonly #found = new Map<string, T[]>();
  readonly #isSame: (one: T, other: T) => boolean;

  constructor(isSame: (one: T, other: T) => boolean) {
    this.#isSame = isSame;
  }

  known(key: string): readonly T[] {
    return this.#known.get(key) ?? [];
  }

  /** With what this pass has found so far. */
  all(key: string): readonly T[] {
    return [...this.known(key), ...(this.#found.get(key) ?? [])];
  }

  learn(key: string, item: T): void {
    if (this.all(key).some((one) => this.#isSame(one, item))) return;
    this.#found.set(key, [...(this.#found.get(key) ?? []), item]);
  }

  /** Ends a pass. True if a key has more than before, and at least so many that a pass must know of them. */
  settle(least: number): boolean {
    const grown = [...this.#found.keys()];
    for (const key of grown) this.#known.set(key, this.all(key));
    this.#found.clear();
    return grown.some((key) => this.known(key).length >= least);
  }
}

export class Inference {
  readonly #settled = new Map<string, NumberType>();
  #facts = new Map<string, Facts>();
  readonly #arrays = new Learned<ViewValue>(isSameArray);
  readonly #assigned = new Learned<string>((one, other) => one === other);

  /** The arrays that a variable may stand for, as far as former passes have found them. */
  arraysOf(key: string): readonly ViewValue[] {
    return this.#arrays.known(key);
  }

  /** The first array that a variable was found to stand for. */
  firstArrayOf(key: string): ViewValue | undefined {
    return this.#arrays.all(key)[0];
  }

  /** A variable is given one of these arrays. False if a further pass must know of more than one. */
  mayBe(key: string, views: readonly ViewValue[]): boolean {
    for (const view of views) this.#arrays.learn(key, view);
    const known = this.arraysOf(key);
    return known.length > 0
      ? views.every((view) => known.some((one) => isSameArray(one, view)))
      : this.#arrays.all(key).length === 1;
  }

  /** The members of an object that are assigned, as far as former passes have found them. */
  assignedMembers(key: string): readonly string[] {
    return this.#assigned.known(key);
  }

  /** A member of an object is assigned. False if a further pass must know of it. */
  assigns(key: string, member: string): boolean {
    this.#assigned.learn(key, member);
    return this.assignedMembers(key).includes(member);
  }

  /** The type of a variable, or undefined while it is open. */
  typeOf(key: string): NumberType | undefined {
    return this.#settled.get(key);
  }

  /** The variable starts with a value of a type. */
  starts(key: string, type: NumberType): void {
    this.#factsOf(key).start = type;
    if (!this.#settled.has(key)) this.#settled.set(key, type);
  }

  /** The variable is given a value. A quotient of integers says nothing of its type: it becomes a float in one. */
  receives(key: string, value: Numeric | QuotientValue): void {
    const facts = this.#factsOf(key);
    switch (value.kind) {
      case 'quotient':
        break;
      case 'number':
        facts.hard.add(value.type);
        break;
      case 'open':
        for (const cell of value.cells) facts.hardFrom.add(cell);
        facts.fractional ||= value.fractional;
        break;
      case 'literal':
        facts.literal = true;
        if (typeof value.value === 'bigint') facts.bigint = true;
        else facts.fractional ||= !Number.isInteger(value.value);
        break;
      case 'either':
        this.receives(key, value.then);
        this.receives(key, value.otherwise);
    }
  }

  /** A value is combined with one of a type. */
  meets(value: Numeric, type: NumberType): void {
    if (value.kind !== 'open') return;
    for (const cell of value.cells) this.#factsOf(cell).soft.add(type);
  }

  /** Open values are combined with each other. */
  link(cells: readonly string[]): void {
    for (const cell of cells) {
      for (const other of cells) if (other !== cell) this.#factsOf(cell).softFrom.add(other);
    }
  }

  /** Ends a pass: settles what its facts say. True if a type has changed. */
  solve(): boolean {
    const [widened, moreArrays, moreMembers] = [
      this.#widen(),
      this.#arrays.settle(2),
      this.#assigned.settle(1),
    ];
    let changed = widened || moreArrays || moreMembers;
    const open = [...this.#facts.keys()].filter((key) => !this.#settled.has(key));
    while (this.#settleOne(open)) {
      changed = true;
      this.#widen();
    }
    this.#facts = new Map();
    return changed;
  }

  #factsOf(key: string): Facts {
    let facts = this.#facts.get(key);
    if (facts === undefined) {
      facts = {
        start: null,
        literal: false,
        fractional: false,
        bigint: false,
        hard: new Set(),
        hardFrom: new Set(),
        soft: new Set(),
        softFrom: new Set(),
      };
      this.#facts.set(key, facts);
    }
    return facts;
  }

  /** Applies the hard bounds until nothing changes. */
  #widen(): boolean {
    let changed = false;
    for (let again = true; again; ) {
      again = false;
      for (const [key, facts] of this.#facts) {
        const before = this.#settled.get(key);
        const after = facts.start === null ? this.#hardType(key, facts) : this.#widenedStart(key, facts);
        if (after === undefined || after === before) continue;
        this.#settled.set(key, after);
        again = true;
        changed = true;
      }
    }
    return changed;
  }

  #hardBounds(facts: Facts): NumberType[] {
    const types = [...facts.hard];
    for (const other of facts.hardFrom) {
      const type = this.#settled.get(other);
      if (type !== undefined) types.push(type);
    }
    return types;
  }

  /** An integer variable widens to index, a float variable to f64; it never changes its kind. */
  #widenedStart(key: string, facts: Facts): NumberType {
    let type = this.#settled.get(key)!;
    for (const bound of this.#hardBounds(facts)) {
      const sameKind = (isInteger(type) && isInteger(bound)) || (isFloat(type) && isFloat(bound));
      if (sameKind) type = join(type, bound) ?? type;
    }
    return type;
  }

  #hardType(key: string, facts: Facts): NumberType | undefined {
    let type = this.#settled.get(key);
    for (const bound of this.#hardBounds(facts))
      type = type === undefined ? bound : (join(type, bound) ?? type);
    if (type === undefined) return undefined;
    if (type === 'bool' && facts.literal) type = 'i32';
    return facts.fractional && !isFloat(type) && !isBigint(type) ? 'f32' : type;
  }

  /** Settles one of the open variables by its soft bounds, or the first without any. */
  #settleOne(open: readonly string[]): boolean {
    const waiting = open.filter((key) => !this.#settled.has(key));
    for (const key of waiting) {
      const type = this.#softType(this.#facts.get(key)!);
      if (type === undefined) continue;
      this.#settled.set(key, type);
      return true;
    }
    // Whoever is given another open variable's value waits for that one.
    const first = waiting.find((key) => this.#waitsForNone(key)) ?? waiting[0];
    if (first === undefined) return false;
    const { bigint, fractional } = this.#facts.get(first)!;
    this.#settled.set(first, bigint ? 'i64' : fractional ? 'f32' : 'i32');
    return true;
  }

  #softType(facts: Facts): NumberType | undefined {
    const types = [...facts.soft];
    for (const other of facts.softFrom) {
      const type = this.#settled.get(other);
      if (type !== undefined) types.push(type);
    }
    const [first, ...rest] = softest(facts, types);
    // i32 and u32 together, or i64 and u64: the use that does not fit is reported where it stands.
    return first && rest.reduce<NumberType>((type, next) => join(type, next) ?? type, first);
  }

  #waitsForNone(key: string): boolean {
    const { hardFrom } = this.#facts.get(key)!;
    return [...hardFrom].every((other) => other === key || this.#settled.has(other));
  }
}

/** The types of uses that decide: bigints where a literal was one, else integers before floats. */
function softest({ bigint, literal, fractional }: Facts, types: readonly NumberType[]): NumberType[] {
  const bigints = types.filter(isBigint);
  if (bigint) return bigints;
  const integers = fractional ? [] : types.filter(isSmallInteger);
  if (integers.length > 0) return integers;
  const floats = types.filter(isFloat);
  return floats.length > 0 || literal ? floats : bigints;
}
