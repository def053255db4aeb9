// Where the accesses of lanes are checked, all lanes at once, and where their addresses are computed.
//
// A checkpoint is the beginning of a list of statements that all lanes of a group are about to
// carry out: the region itself, where the whole row is checked, the body of a loop, a branch.
// An access is checked at the outermost one at which the bounds of its index are known and from
// which no branch that threads may not take leads to it. Where a check fails, nothing of the
// list has happened yet, and the threads go through it one by one; the one that is wrong stops
// there, at its own access.
//
// A branch that all threads take or none does is no checkpoint. What stands in it is asked with the rest, but only if its test holds,
// where that is known before: a launch may leave out an array that a flag leaves out.
//
// What an access asks are several things where its array has dimensions (limits.ts), and each has a check of its own, perhaps
// in a list of its own. The access itself asks nothing any more only if all of them have one.
//
// What is asked behind a branch, or for each of several rows, may be asked for the whole block too, in front of the region, where
// it is known there (block-checks.ts).
// Where only some lanes of a group are behind it, what they access is asked to lie inside of its array for all of them, so that
// it can be loaded.
//
// Its address is computed at the beginning of the outermost list at which the index itself is
// known. Accesses whose indices differ by a literal are a family: one check from the smallest
// to the largest, one address for all.

import type { ArrayReference, Expression, Statement } from '../../../compiler/ir.ts';
import { constantOf } from '../../analysis/elements.ts';
import { arrayKey, keyOf } from '../../analysis/expression-key.ts';
import type { Range } from '../../analysis/indices.ts';
import { assignedIn, expressionsOf, leaves, operandsOf } from '../../analysis/walk.ts';
import { negation } from '../../legalise/loops.ts';
import { copyOf } from '../copies.ts';
import type { Local } from '../encoder/code.ts';
import { familyKey, splitLiteral, widest } from './families.ts';
import type { Access } from './group.ts';
import type { Checkable, Lanes } from './lanes.ts';
import { dimensionsOf, type Indexed, type Limited, limitsOf } from './limits.ts';

/** Indices that are checked together: the first lane's are `common` plus what follows. */
export interface Check {
  /** What they lie below: an array's length, or an extent. */
  readonly limit: Expression;
  /** By how much they are larger from each lane to the next. */
  readonly step: number;
  /** Null stands for zero. */
  readonly common: Expression | null;
  readonly place: Expression;
  smallest: number;
  largest: number;
  /** How loops move the index, as far as that is not in `smallest` and `largest`. */
  readonly ranges: readonly Range[];
  /** It is asked only if all of these hold: tests of branches that all threads take or none does, on the way to what is accessed. */
  readonly when: readonly Expression[];
  /** Whether it may be asked for the whole block, too. */
  ofBlock: boolean;
  /** Whether it asks for the length of what is accessed, and not for a dimension alone. */
  ofArray: boolean;
}

/** Accesses that share an address: that of the element at `common + smallest` for the first lane. */
export interface Address {
  readonly array: ArrayReference;
  /** How many elements lie from each lane's to the next one's. */
  readonly step: number;
  readonly common: Expression | null;
  readonly place: Expression;
  smallest: number;
  /** The local that holds it, once it is written. */
  local: Local | null;
}

type List = readonly Statement[];
type Loop = Extract<Statement, { kind: 'loop' }>;

/** A list that the visit is inside of. */
interface Enclosing {
  readonly list: List;
  readonly assigned: ReadonlySet<number>;
  /** The loop whose body it is. */
  readonly loop: Loop | null;
  readonly isCheckpoint: boolean;
  /** Whether only some threads may come to it; then nothing in it is asked of the others. */
  readonly isGuarded: boolean;
  /** Of a branch that all threads take or none does, what says that they do. It is no list of its own: what is around it asks. */
  readonly test: Expression | null;
}

/** A check that can be made, and the list at whose beginning; the same in front of the region, if it is not that. */
interface Planned {
  readonly list: List;
  readonly check: Checkable;
  readonly ofBlock: Checkable | null;
  readonly ofArray: boolean;
  readonly when: readonly Expression[];
  readonly whenOfBlock: readonly Expression[];
}

export class Checkpoints {
  readonly #lanes: Lanes;
  readonly #checks = new Map<List, Map<string, Check>>();
  readonly #blockChecks = new Map<List, Map<string, Check>>();
  readonly #arrayChecks = new Map<List, Map<string, Check>>();
  readonly #wholeGroups = new Set<List>();
  readonly #addresses = new Map<List, Map<string, Address>>();
  readonly #locations = new Map<Access, { readonly address: Address; readonly literal: number }>();
  readonly #open = new Map<Access, readonly number[]>();
  #complete = true;

  constructor(lanes: Lanes, region: List) {
    this.#lanes = lanes;
    this.#list(region, [{ ...around(region), isCheckpoint: true }], false);
  }

  /** Whether every access is checked somewhere, or can be where it is. */
  get complete(): boolean {
    return this.#complete;
  }

  /** What is checked at the beginning of a list. */
  checksAt(list: List): readonly Check[] {
    return [...(this.#checks.get(list)?.values() ?? [])];
  }

  /**
   * What is asked besides where only some lanes carry out a list, and what it asks of dimensions holds for them alone. Null
   * where that is not enough.
   */
  arrayChecksAt(list: List): readonly Check[] | null {
    return this.#wholeGroups.has(list) ? null : [...(this.#arrayChecks.get(list)?.values() ?? [])];
  }

  /** The lists of which something may be asked for a whole block, and what that is for one of its threads. */
  get blockChecks(): readonly (readonly [List, readonly Check[]])[] {
    return [...this.#blockChecks].map(([list, checks]) => [list, [...checks.values()]]);
  }

  /** The addresses that are computed at the beginning of a list. */
  addressesAt(list: List): readonly Address[] {
    return [...(this.#addresses.get(list)?.values() ?? [])];
  }

  /** Whether anything is checked, or an address computed, at the beginning of a list. */
  asksOrFindsAt(list: List): boolean {
    return this.checksAt(list).length + this.addressesAt(list).length > 0;
  }

  /** Where an access is found: so many elements from an address. Null if it is checked where it is. */
  locate(access: Access): { readonly address: Address; readonly distance: number } | null {
    const known = this.#locations.get(access);
    if (known === undefined) return null;
    return { address: known.address, distance: known.literal - known.address.smallest };
  }

  /** The dimensions, counted from 0, of an access of lanes one by one that are checked where it is. */
  openDimensions(access: Access): readonly number[] {
    return this.#open.get(access) ?? [];
  }

  /** `masked`: lanes may go through this list under a mask, where nothing is checked any more. */
  #list(list: List, enclosing: readonly Enclosing[], masked: boolean): void {
    for (const statement of list) this.#statement(statement, enclosing, masked);
  }

  #statement(statement: Statement, enclosing: readonly Enclosing[], masked: boolean): void {
    if (statement.kind === 'store') {
      this.#access(statement, statement, enclosing, masked);
    }
    const copy = copyOf(statement);
    if (copy !== null) {
      for (const view of [copy.destination, copy.source]) {
        this.#access(view, { array: view.array, index: view.offset }, enclosing, masked);
      }
    }
    for (const expression of expressionsOf(statement)) this.#expression(expression, enclosing, masked);
    switch (statement.kind) {
      case 'if': {
        const mode = this.#lanes.modeOf(statement);
        const lists = [statement.then, statement.otherwise];
        if (mode === 'uniform' && !masked) {
          for (const [list, test] of [
            [statement.then, statement.test],
            [statement.otherwise, negation(statement.test)],
          ] as const)
            this.#list(list, [...enclosing, { ...around(list), test }], false);
          return;
        }
        const inside = masked || (mode !== 'uniform' && lists.every((list) => this.#lanes.canMask(list)));
        for (const list of lists) {
          const own = { ...around(list), isCheckpoint: true, isGuarded: true };
          this.#list(list, mode === 'branch' && !masked ? [...enclosing, own] : enclosing, inside);
        }
        return;
      }
      case 'loop': {
        const { body, update } = statement;
        const mode = this.#lanes.modeOf(statement);
        const inside = masked || mode === 'masked';
        // Threads can go on one by one only through what they all come out of at its end.
        const isCheckpoint = !inside && !leaves([statement]);
        const isGuarded = isCheckpoint && mode === 'branch';
        const own = { ...around(body), loop: statement, isCheckpoint, isGuarded };
        this.#list(body, [...enclosing, own], inside);
        this.#list(update, enclosing, inside);
        return;
      }
      case 'block':
        this.#list(statement.body, enclosing, masked || this.#lanes.modeOf(statement) === 'masked');
        return;
      default:
    }
  }

  /** `masked`: the value may be computed for lanes that do not want it. */
  #expression(expression: Expression, enclosing: readonly Enclosing[], masked: boolean): void {
    switch (expression.kind) {
      case 'load':
        for (const operand of operandsOf(expression)) this.#expression(operand, enclosing, masked);
        this.#access(expression, expression, enclosing, masked);
        return;
      case 'conditional': {
        // One that all lanes decide alike is computed as one thread would.
        const both = masked || !this.#lanes.isUniform(expression);
        this.#expression(expression.test, enclosing, masked);
        this.#expression(expression.then, enclosing, both);
        this.#expression(expression.otherwise, enclosing, both);
        return;
      }
      default:
        for (const operand of operandsOf(expression)) this.#expression(operand, enclosing, masked);
    }
  }

  #access(access: Access, place: Indexed, enclosing: readonly Enclosing[], masked: boolean): void {
    const { unit } = this.#lanes;
    const { array, bounds } = place;
    if (bounds !== undefined) {
      if (!unit.does('extents')) this.#complete = false;
      unit.tell('extents', 'indices of dimensions that are tested for lanes together');
    }
    const shape = this.#lanes.shapeOf(place);
    if (array.space === 'local' || shape === 'separate') {
      this.#inPlace(access, place, shape === 'separate', enclosing);
      return;
    }
    // What is known to be inside, whichever thread it is, needs an address alone.
    const asked = limitsOf(place).filter((limited) => !unit.isBelow(limited));
    const ofArray = (limited: Limited) => isOfArray(limited, place);
    const planned = asked.map((limited) => this.#plan(limited, enclosing, ofArray(limited)));
    if (!planned.includes(null) && this.#addressAt(access, place, enclosing)) {
      for (const each of planned) this.#addCheck(each!);
      if (place.fits) this.#addArrayChecks(place, enclosing, new Set(planned.map((each) => each!.list)));
      return;
    }
    // What is uniform is checked where it is, as one thread would, but not for lanes that are not there.
    if (shape !== 'uniform' || masked) this.#complete = false;
  }

  /** Has it asked, where only some lanes may be inside of its dimensions, whether it lies inside its array for all of them. */
  #addArrayChecks(place: Indexed, enclosing: readonly Enclosing[], lists: ReadonlySet<List>): void {
    const { type, range } = place.index;
    const limit = { kind: 'length', type, array: place.array, range } as const;
    for (const [position, { list, assigned }] of enclosing.entries()) {
      if (!lists.has(list)) continue;
      const loops = enclosing.slice(position + 1).flatMap(({ loop }) => (loop === null ? [] : [loop]));
      const check = this.#lanes.checkBefore({ index: place.index, limit }, list, assigned, loops);
      if (check === null) this.#wholeGroups.add(list);
      else addCheck(this.#arrayChecks, list, check, { ofBlock: false, ofArray: true, when: [] });
    }
  }

  /** These are checked where they are, and never under a mask; of lanes one by one what can be is checked before. */
  #inPlace(access: Access, place: Indexed, oneByOne: boolean, enclosing: readonly Enclosing[]): void {
    if (!oneByOne) {
      const isAlike = (bounds: Limited) => Object.values(bounds).every((each) => this.#lanes.isUniform(each));
      if (!dimensionsOf(place).every(isAlike)) this.#complete = false;
      return;
    }
    const open = dimensionsOf(place).flatMap((limited, dimension) => {
      if (this.#lanes.unit.isBelow(limited)) return [];
      const planned = this.#plan(limited, enclosing);
      if (planned === null) return [dimension];
      this.#addCheck(planned);
      return [];
    });
    if (open.length > 0) this.#open.set(access, open);
  }

  /** The outermost checkpoint at which something can be asked; null if there is none. */
  #plan(limited: Limited, enclosing: readonly Enclosing[], ofArray = false): Planned | null {
    const guard = enclosing.findLastIndex(({ isGuarded }) => isGuarded);
    for (const [position, { list, assigned, isCheckpoint }] of enclosing.entries()) {
      if (!isCheckpoint || position < guard) continue;
      const loops = enclosing.slice(position + 1).flatMap(({ loop }) => (loop === null ? [] : [loop]));
      const check = this.#lanes.checkBefore(limited, list, assigned, loops);
      if (check === null) continue;
      const [, y, z] = this.#lanes.program.block;
      const asksBlock = (position > 0 || y * z > 1) && this.#lanes.unit.does('blocks');
      const ofBlock = asksBlock ? this.#inFront(limited, enclosing) : null;
      const tests = enclosing.slice(position + 1).flatMap(({ test }) => (test === null ? [] : [test]));
      const when = this.#knownBefore(tests, assigned);
      const whenOfBlock = this.#knownBefore(tests, enclosing[0]!.assigned);
      return { list, check, ofBlock, ofArray, when, whenOfBlock };
    }
    return null;
  }

  /** Those of some tests that have one value for all lanes, and are known in front of a list that assigns these variables. */
  #knownBefore(tests: readonly Expression[], assigned: ReadonlySet<number>): readonly Expression[] {
    return tests.flatMap((test) => {
      const known = this.#lanes.indices.knownBefore(test, assigned);
      return known !== null && this.#lanes.isUniform(known) ? [known] : [];
    });
  }

  /** What can be asked in front of the region. */
  #inFront(limited: Limited, enclosing: readonly Enclosing[]): Checkable | null {
    const [region, ...inside] = enclosing as [Enclosing, ...Enclosing[]];
    const loops = inside.flatMap(({ loop }) => (loop === null ? [] : [loop]));
    return this.#lanes.checkBefore(limited, region.list, region.assigned, loops);
  }

  /** Has the address computed at the outermost list where the index is known, if there is one. */
  #addressAt(access: Access, place: Indexed, enclosing: readonly Enclosing[]): boolean {
    for (const { list, assigned, test } of enclosing) {
      if (test !== null) continue;
      const known = this.#lanes.indices.knownBefore(place.index, assigned);
      if (known === null) continue;
      this.#addAddress(access, list, place, known);
      return true;
    }
    return false;
  }

  #addCheck({ list, check, ofBlock, ofArray, when, whenOfBlock }: Planned): void {
    addCheck(this.#checks, list, check, { ofBlock: ofBlock !== null, ofArray, when });
    if (ofBlock !== null)
      addCheck(this.#blockChecks, list, ofBlock, { ofBlock: true, ofArray, when: whenOfBlock });
  }

  #addAddress(access: Access, list: List, place: Indexed, known: Expression): void {
    const { array } = place;
    const { common, literal } = splitLiteral(known);
    const step = this.#lanes.stepOf(place.index);
    const key = familyKey(arrayKey(array), common, literal, []);
    const addresses = this.#addresses.get(list) ?? new Map<string, Address>();
    const made = { array, step, common, place: known, smallest: literal, local: null };
    const address = addresses.get(key) ?? made;
    address.smallest = Math.min(address.smallest, literal);
    addresses.set(key, address);
    this.#addresses.set(list, addresses);
    this.#locations.set(access, { address, literal });
  }
}

/** A list as what is around its statements; by itself it asks nothing. */
function around(list: List): Enclosing {
  return { list, assigned: assignedIn(list), loop: null, isCheckpoint: false, isGuarded: false, test: null };
}

/** Adds a check to those of a list, to the one of its family if there is one. */
function addCheck(
  all: Map<List, Map<string, Check>>,
  list: List,
  { limit, step, start, ranges }: Checkable,
  asks: Pick<Check, 'ofBlock' | 'ofArray' | 'when'>,
): void {
  const { common, literal } = splitLiteral(start);
  let smallest = literal;
  let largest = literal;
  const open = ranges.filter(({ factor, from, to, largest: most }) => {
    const [by, first, last] = [factor, from, to].map(constantOf);
    if (by == null || first == null || last == null || last > most) return true;
    const distance = by * Math.max(last - first, 0);
    if (Math.abs(distance) > widest) return true;
    smallest += Math.min(distance, 0);
    largest += Math.max(distance, 0);
    return false;
  });
  const rangeKeys = open.map(({ factor, from, to }) => [factor, from, to].map(keyOf).join());
  const whenKeys = asks.when.map((test) => `if ${keyOf(test)}`);
  const key = familyKey(`${keyOf(limit)} ${step}`, common, literal, [...rangeKeys, ...whenKeys]);
  const checks = all.get(list) ?? new Map<string, Check>();
  const known = checks.get(key);
  if (known === undefined) {
    checks.set(key, { limit, step, common, place: start, smallest, largest, ranges: open, ...asks });
  } else {
    known.smallest = Math.min(known.smallest, smallest);
    known.largest = Math.max(known.largest, largest);
    known.ofBlock &&= asks.ofBlock;
    known.ofArray ||= asks.ofArray;
  }
  all.set(list, checks);
}

/** Whether what an access asks is that its index lies inside of the array itself. */
function isOfArray({ index, limit }: Limited, place: Indexed): boolean {
  return limit.kind === 'length' && index === place.index && arrayKey(limit.array) === arrayKey(place.array);
}
