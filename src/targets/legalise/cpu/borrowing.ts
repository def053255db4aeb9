// Shared arrays that blocks fill by copies alone, and read as they are: what is copied can be read where it comes from.
//
// Such an array is cut into slots of one length, a power of two. Each copy fills a slot as a whole, out of an array of the launch
// that the kernel only reads; and all that a region reads of it lies in one slot, the same for all threads. So a slot need not be
// filled: it is enough to know where its elements are. Nothing else writes to the array, and nobody sees its elements otherwise.
// Copies that the threads of a region make one by one count as one where they fill a slot side by side, out of elements side by side:
// each of them alone says the same of where the slot lies.
//
// That the source stays as it is until it is read, is up to the launch: another parameter may be the same memory. Indices are tested
// against the shared array as ever, and operands of copies where they are made.

import type { ArrayReference, Expression, Program, Region, Statement } from '../../../compiler/ir.ts';
import { isNumberElement } from '../../../kernel/layout.ts';
import { AffineForms, integer } from '../../analysis/affine.ts';
import { constantOf } from '../../analysis/elements.ts';
import { keyOf } from '../../analysis/expression-key.ts';
import { factsOf } from '../../analysis/facts.ts';
import {
  anyOperand,
  anyStatement,
  assignedIn,
  expressionsOf,
  forEachOperand,
  forEachStatement,
  readBy,
} from '../../analysis/walk.ts';

type Load = Extract<Expression, { kind: 'load' }>;
type Copy = Extract<
  Extract<Statement, { kind: 'call'; intrinsic: 'core' }>['operation'],
  { kind: 'copyNow' }
>;

/** How an array is filled: elements of a slot, and how many slots there are. */
export interface Borrowing {
  readonly length: number;
  readonly slots: number;
}

/** More slots would lengthen what each block begins with. */
const mostSlots = 16;

/** The shared arrays of a program of regions that may be read where they are copied from. */
export function borrowingsIn(program: Program): ReadonlyMap<number, Borrowing> {
  const found = new Map<number, Borrowing>();
  if (program.indexType !== 'i32' || !anyStatement(program.body, (each) => copyIn(each) !== null))
    return found;
  const others = anyStatement(program.body, (each) => each.kind === 'call' && !isPlain(each));
  if (others) return found;
  program.sharedArrays.forEach((array, id) => {
    if (array.exchanges || array.own || array.counts || !isNumberElement(array.element)) return;
    const count = constantOf(array.count);
    const borrowing = count === null ? null : new Reading(program, id).borrowing(count);
    if (borrowing !== null) found.set(id, borrowing);
  });
  return found;
}

function copyIn(statement: Statement): Copy | null {
  if (statement.kind !== 'call' || statement.intrinsic !== 'core') return null;
  return statement.operation.kind === 'copyNow' ? statement.operation : null;
}

/** Calls of which it is known what they touch. */
function isPlain(call: Extract<Statement, { kind: 'call' }>): boolean {
  if (call.intrinsic === 'mark' || call.intrinsic === 'atomic') return true;
  return (
    call.intrinsic === 'core' &&
    ['copyNow', 'stuckAtStage', 'pipelineMisused', 'barrierMisused'].includes(call.operation.kind)
  );
}

class Reading {
  readonly #program: Program;
  readonly #id: number;
  /** What threads assign differs among them, or from one statement to the next. */
  readonly #ofThreads = new Set<number>();

  constructor(program: Program, id: number) {
    this.#program = program;
    this.#id = id;
    forEachStatement(program.body, (each) => {
      if (each.kind === 'region') for (const variable of assignedIn(each.body)) this.#ofThreads.add(variable);
    });
  }

  borrowing(count: number): Borrowing | null {
    const copies: Copy[] = [];
    let others = false;
    forEachStatement(this.#program.body, (each) => {
      const copy = copyIn(each);
      if (copy !== null && this.#isOf(copy.source.array)) others = true;
      if (copy !== null && this.#isOf(copy.destination.array)) copies.push(copy);
      else if (
        (each.kind === 'store' || (each.kind === 'call' && each.intrinsic === 'atomic')) &&
        this.#isOf(each.array)
      )
        others = true;
    });
    const length = copies[0] === undefined ? null : (this.#filledBy(copies[0])?.length ?? null);
    if (others || length === null || length <= 0 || (length & (length - 1)) !== 0) return null;
    const slots = count / length;
    if (!Number.isInteger(slots) || slots > mostSlots) return null;
    const isRight =
      copies.every((copy) => this.#fills(copy, length)) && this.#isReadInSlots(this.#program.body, length);
    return isRight ? { length, slots } : null;
  }

  #isOf({ space, id }: ArrayReference): boolean {
    return space === 'shared' && id === this.#id;
  }

  /** Where a copy begins to fill the array, and how many elements; with those of all threads, where each makes its own. */
  #filledBy({
    group,
    count,
    destination,
    source,
  }: Copy): { readonly begin: Expression; readonly length: number } | null {
    const each = constantOf(count);
    if (each === null) return null;
    if (group.kind === 'block') return { begin: destination.offset, length: each };
    const [row, ...others] = this.#program.block;
    if (group.kind !== 'thread' || others.some((extent) => extent !== 1)) return null;
    const uniformity = factsOf(this.#program).among('block');
    const forms = new AffineForms(this.#program, (expression) => uniformity.isUniform(expression));
    const isBase = (base: Expression | null) =>
      base === null || [...readBy(base)].every((variable) => !this.#ofThreads.has(variable));
    const [to, from] = [forms.of(destination.offset), forms.of(source.offset)];
    if (to?.coefficient !== each || from?.coefficient !== each || !isBase(to.base) || !isBase(from.base))
      return null;
    return { begin: to.base ?? integer(destination.offset, 0), length: each * row };
  }

  /** Whether a copy fills one slot: as the block's own work, or as all that the threads of a region do. */
  #fills(copy: Copy, length: number): boolean {
    const { zeroFill, destination, source } = copy;
    const parameter = source.array.space === 'global' ? this.#program.parameters[source.array.id] : undefined;
    const filled = this.#filledBy(copy);
    return (
      filled?.length === length &&
      zeroFill === null &&
      destination.array.as === undefined &&
      source.array.as === undefined &&
      parameter?.kind === 'array' &&
      parameter.readonly &&
      parameter.element === this.#program.sharedArrays[this.#id]!.element &&
      this.#isMultiple(filled.begin, length)
    );
  }

  /** Whether what each region reads lies in one slot, and one that copies does nothing else. */
  #isReadInSlots(list: readonly Statement[], length: number): boolean {
    return list.every((each) => {
      if (each.kind === 'region') return this.#isRegionRight(each, length);
      if (expressionsOf(each).some((expression) => this.#reads(expression))) return false;
      if (each.kind === 'if') return this.#isReadInSlots([...each.then, ...each.otherwise], length);
      if (each.kind === 'loop') return this.#isReadInSlots([...each.body, ...each.update], length);
      return each.kind !== 'block' || this.#isReadInSlots(each.body, length);
    });
  }

  #isRegionRight({ body }: Region, length: number): boolean {
    const reads = (each: Statement) => expressionsOf(each).some((expression) => this.#reads(expression));
    const fills = (each: Statement) => {
      const copy = copyIn(each);
      return copy !== null && this.#isOf(copy.destination.array);
    };
    // A copy by the block that stands in a region is made by shares, and nobody says where it lies.
    if (anyStatement(body, fills)) {
      const copy = body.length === 1 ? copyIn(body[0]!) : null;
      return copy?.group.kind === 'thread' && !reads(body[0]!);
    }
    const slots = new Set<string | null>();
    forEachStatement(body, (statement) => {
      for (const expression of expressionsOf(statement))
        forEachOperand(expression, (each) => {
          if (each.kind === 'load' && this.#isOf(each.array)) slots.add(this.#slotOf(each, length));
        });
    });
    return slots.size === 0 || (slots.size === 1 && !slots.has(null));
  }

  #reads(expression: Expression): boolean {
    return anyOperand(expression, (each) => each.kind === 'load' && this.#isOf(each.array));
  }

  /** What says which slot a load reads; null where all of its threads do not surely read the same one. */
  #slotOf({ array, index, bounds }: Load, length: number): string | null {
    if (array.as !== undefined || bounds !== undefined) return null;
    const terms = termsOf(index);
    const isSlot = (term: Expression) =>
      term.kind !== 'constant' &&
      this.#isMultiple(term, length) &&
      !anyOperand(
        term,
        (each) => each.kind === 'load' || (each.kind === 'builtin' && each.name.startsWith('thread')),
      ) &&
      [...readBy(term)].every((variable) => !this.#ofThreads.has(variable));
    const factOf = factsOf(this.#program).at(null);
    const rest = terms.filter((term) => !isSlot(term)).map(factOf);
    const least = rest.reduce((sum, fact) => sum + fact.least, 0);
    const most = rest.reduce((sum, fact) => sum + fact.most, 0);
    if (!(least >= 0 && most < length)) return null;
    return terms.filter(isSlot).map(keyOf).sort().join(' + ');
  }

  /** Whether an integer is a multiple of a power of two, however it wraps. */
  #isMultiple(expression: Expression, length: number): boolean {
    const isMultiple = (each: Expression) => this.#isMultiple(each, length);
    const literal = constantOf(expression);
    if (literal !== null) return literal % length === 0;
    if (expression.kind === 'variable') {
      const definition = factsOf(this.#program).definitions.get(expression.id);
      return definition !== undefined && isMultiple(definition);
    }
    if (expression.kind !== 'binary') return false;
    const { operator, left, right } = expression;
    if (operator === 'multiply') return isMultiple(left) || isMultiple(right);
    return (operator === 'add' || operator === 'subtract') && isMultiple(left) && isMultiple(right);
  }
}

function termsOf(sum: Expression): readonly Expression[] {
  if (sum.kind === 'binary' && sum.operator === 'add') return [...termsOf(sum.left), ...termsOf(sum.right)];
  return constantOf(sum) === 0 ? [] : [sum];
}
