// What a kernel tests while it runs, and the places that it may tell the host of.
//
// In a checked kernel every access, copy and division of integers is tested before it is made. A
// test that fails calls the host's side by numbers: that of a site, and the values that were wrong
// (prelude-checks.ts); `faults.ts` makes words of them. Loops that may run for long look from time
// to time whether the launch is to stop. A kernel that is not checked has sites for what it prints and asserts.

import type { ArrayReference, Call, Expression, Program, Statement } from '../../compiler/ir.ts';
import type { CopyParts } from '../../compiler/ir-core.ts';
import type { Range } from '../../diagnostics/source.ts';
import { alignmentOf, bytesOf } from '../../kernel/layout.ts';
import { conjunctsOf, incrementOf, isVariable, type Loop } from '../analysis/counters.ts';
import { elementOf, lengthAs } from '../analysis/elements.ts';
import { type FactOf, type Facts, factsOf } from '../analysis/facts.ts';
import { isKnownInside } from '../analysis/known-bounds.ts';
import { anyStatement, assignedIn } from '../analysis/walk.ts';
import type { FaultSite } from '../executable.ts';
import type { Copy } from '../legalise/calls.ts';
import { formOf } from '../printed-line.ts';
import type { ExpressionWriter } from './expressions.ts';
import { arrayName, lengthName } from './types.ts';

/** A loop that counts to a constant up to this needs not look whether it is to stop. */
const shortLoop = 65536;

/** Where threads wait: for what a verb says, of a pipeline, of a barrier or of a group. */
export type WaitingPlace = Required<Pick<FaultSite, 'range' | 'verb'>> &
  Pick<FaultSite, 'pipeline' | 'barrier' | 'group'>;

/** The operands of a copy, as texts: offsets and counts in elements. */
export interface CopyTexts {
  readonly to: string;
  readonly from: string;
  readonly count: string;
  readonly zeros: string | null;
}

/** An access that may have several dimensions. */
type Bounded = Pick<Extract<Expression, { kind: 'load' }>, 'array' | 'bounds' | 'range'>;

export class Checks {
  readonly program: Program;
  /** Whether what is accessed is tested. */
  readonly checked: boolean;
  /** Whether a thread may fail, so that the others must look whether they are to stop: it is tested, or asserts. */
  readonly stops: boolean;
  /** What is known of expressions where the writer is. */
  factOf: FactOf;
  readonly #facts: Facts;
  readonly #sites: FaultSite[] = [];
  readonly #numbers = new Map<string, number>();

  constructor(program: Program, checked: boolean) {
    this.program = program;
    this.checked = checked;
    this.stops = checked || anyStatement(program.body, isAssertion);
    this.#facts = factsOf(program);
    this.factOf = this.#facts.at(null);
  }

  /** Says that a statement's own expressions are written next. */
  enter(statement: Statement): void {
    this.factOf = this.#facts.at(statement);
  }

  /** The places that were given numbers. */
  get sites(): readonly FaultSite[] {
    return this.#sites;
  }

  /** An index of an array, tested where it may be wrong. */
  index(
    text: string,
    index: Expression,
    array: ArrayReference,
    access: 'read' | 'write',
    range: Range,
  ): string {
    if (!this.checked || this.#isInside(index, array)) return text;
    const site = this.#site({ range, array: this.#nameOf(array), access });
    return `ws_inside(${text}, ${lengthName(this.program, array)}, ${site})`;
  }

  /** An index that is tested in each of its dimensions first, where it may be outside of one. */
  inside(
    text: string,
    { array, bounds = [], range }: Bounded,
    access: 'read' | 'write',
    write: (expression: Expression) => string,
  ): string {
    if (!this.checked) return text;
    const tests = bounds.flatMap((extent, position) => {
      const index = bounds[position - 1];
      if (position % 2 === 0 || index === undefined || isKnownInside(this.factOf, index, extent)) return [];
      const dimension = (position + 1) / 2;
      const site = this.#site({ range, array: this.#nameOf(array), access, dimension });
      return [
        `ws_inside((${this.#indexType})${write(index)}, (${this.#indexType})${write(extent)}, ${site})`,
      ];
    });
    return tests.length === 0 ? text : `(${tests.join(', ')}, ${text})`;
  }

  /** The divisor of an integer division, tested. */
  divisor(text: string, divisor: Expression, range: Range): string {
    if (!this.checked || (divisor.kind === 'constant' && Number(divisor.value) !== 0)) return text;
    return `ws_divisor(${text}, ${this.#site({ range })})`;
  }

  /** The number of one of an array of barriers, tested. */
  barrier(text: string, barrier: number, range: Range): string {
    const count = this.program.barriers[barrier]!.count;
    if (!this.checked || count === null) return text;
    return `ws_inside(${text}, (${this.#indexType})${count}, ${this.#site({ range, barrier })})`;
  }

  /** A statement that tests a copy as a whole; null where nothing is tested. */
  copy(
    { destination, source, alignment, range }: Pick<Copy, 'destination' | 'source' | 'alignment' | 'range'>,
    { to, from, count, zeros }: CopyTexts,
    parts?: CopyParts,
  ): string | null {
    if (!this.checked) return null;
    const { program } = this;
    const site = this.#site({
      range,
      access: 'copy',
      copy: { destination: destination.array, source: source.array, alignment },
    });
    const bytes = bytesOf(elementOf(program, source.array));
    const [target, origin] = [arrayName(program, destination.array), arrayName(program, source.array)];
    const wrong: string[] = [];
    const { space, id } = source.array;
    const mayOverlap =
      space === destination.array.space && (space === 'global' || id === destination.array.id);
    if (mayOverlap) wrong.push(`ws_overlap(${target} + ${to}, ${origin} + ${from}, ${count} * ${bytes})`);
    if (alignment > alignmentOf(elementOf(program, source.array))) {
      const addresses = `(unsigned long long)(${target} + ${to}) | (unsigned long long)(${origin} + ${from})`;
      wrong.push(`((${addresses} | (unsigned long long)(${count} * ${bytes})) & ${alignment - 1}) != 0`);
    }
    const operands = [
      `(${this.#indexType})${to}`,
      lengthName(program, destination.array),
      `(${this.#indexType})${from}`,
      lengthName(program, source.array),
      `(${this.#indexType})${count}`,
    ];
    const isWrong = wrong.length === 0 ? 'false' : wrong.join(' || ');
    if (parts !== undefined) {
      operands.push(isWrong, `${site}`, `${parts.count}`, `${parts.threads}u`);
      return `ws_check_parts(${operands.join(', ')});`;
    }
    operands.push(`(${this.#indexType})${zeros ?? '0'}`, isWrong, `${site}`);
    return `ws_check_copy(${operands.join(', ')});`;
  }

  /** A condition of a statement: that a part is inside its array, of what is not yet known to be used. */
  holds({ array, offset }: Copy['source'], count: Expression, expressions: ExpressionWriter): string {
    if (!this.checked) return '';
    const operands = [offset, count].map((one) => `(${this.#indexType})${expressions.write(one)}`);
    return `if (ws_holds(${lengthName(this.program, array)}, ${operands.join(', ')})) `;
  }

  /** What a wait takes besides its operands: the place. */
  wait(place: WaitingPlace): string {
    return this.stops ? `, ${this.#site(place)}` : '';
  }

  /** What a turn of a loop begins with; null where nothing is to be done. */
  turn(loop: Loop): string | null {
    return this.stops && !isShort(loop) ? 'WS_TURN();' : null;
  }

  /** The number of a printed line's place, or of an assertion's. */
  print(call: Extract<Call, { intrinsic: 'print' | 'assert' }>): number {
    const values = call.parts.flatMap((part) => (typeof part === 'string' ? [] : [part.type]));
    return this.#add({ range: call.range, ...formOf(call), values });
  }

  /** Whether an index is known to lie inside an array of known length. */
  #isInside(index: Expression, array: ArrayReference): boolean {
    const { space, id } = array;
    if (space === 'global') return false;
    const count =
      space === 'local'
        ? this.program.localArrays[id]!.count
        : constantOf(this.program.sharedArrays[id]!.count);
    const length = count === null ? null : lengthAs(this.program, array, count);
    const { least, most } = this.factOf(index);
    return length !== null && least >= 0 && most < length;
  }

  get #indexType(): string {
    return this.program.indexType === 'i64' ? 'long long' : 'int';
  }

  #nameOf({ space, id }: ArrayReference): string {
    const { parameters, sharedArrays, localArrays } = this.program;
    return { global: parameters, shared: sharedArrays, local: localArrays }[space][id]!.name;
  }

  /** The number of a place; one that was reported before has the same again. */
  #site(site: FaultSite): number {
    const key = JSON.stringify(site);
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    const number = this.#add(site);
    this.#numbers.set(key, number);
    return number;
  }

  #add(site: FaultSite): number {
    return this.#sites.push(site) - 1;
  }
}

function isAssertion(statement: Statement): boolean {
  return statement.kind === 'call' && statement.intrinsic === 'assert';
}

/** The value of a constant; of anything else a length that nothing is inside of. */
function constantOf(expression: Expression): number {
  return expression.kind === 'constant' ? Number(expression.value) : 0;
}

/** Whether a loop counts up by one, and nothing else, to a small constant. */
function isShort({ test, update, body }: Loop): boolean {
  const counter = incrementOf(update);
  if (counter === null || test === null || assignedIn(body).has(counter)) return false;
  return conjunctsOf(test).some(
    (each) =>
      each.kind === 'compare' &&
      (each.operator === 'less' || each.operator === 'lessEqual') &&
      isVariable(each.left, counter) &&
      each.right.kind === 'constant' &&
      Number(each.right.value) <= shortLoop,
  );
}
