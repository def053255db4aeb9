// Barriers that the whole block uses together: all that is left of one is how many phases are over.
//
// All threads of the block arrive together, so that a phase is over when they have, and a wait is
// over as soon as it begins, unless it is for a phase that nobody has arrived in: that is a deadlock. A
// token is what ir-barriers.ts says.

import type { ArrayReference, Expression, Statement } from '../../../compiler/ir.ts';
import type { BarrierCall } from '../../../compiler/ir-barriers.ts';
import { forEachIndex } from '../barriers.ts';
import type { Frame } from '../frame.ts';
import type { Words } from '../words.ts';
import { BarrierChecks, type IndexedCall, type WaitCall } from './barrier-checks.ts';
import { surelyMade } from './surely-made.ts';

/** What the block keeps of barriers that are made together. */
interface Phases {
  /** How many phases are over: a variable for one barrier, an array for several. */
  readonly over: number | ArrayReference;
  readonly count: number;
  /** A variable that says whether they are made; null where they surely are. */
  readonly made: number | null;
  readonly checks: BarrierChecks;
}

export class BarrierPhases {
  readonly #frame: Frame;
  readonly #phases: readonly Phases[];

  constructor(frame: Frame) {
    const { barriers, body } = frame.program;
    const surely = surelyMade(body, 'barrier');
    this.#frame = frame;
    this.#phases = barriers.map(({ name, count }, id) => ({
      over:
        (count ?? 1) === 1
          ? frame.variable(`${name}.phase`, 'i32')
          : frame.shared(`${name}.phases`, 'i32', count!),
      count: count ?? 1,
      made: surely.has(id) ? null : frame.variable(`${name}.made`, 'bool'),
      checks: new BarrierChecks(frame, id),
    }));
  }

  /** The start of a block: no barrier is made. */
  begin(words: Words): Statement[] {
    return this.#phases.flatMap(({ made }) =>
      made === null ? [] : [words.assign(made, words.constant('bool', false))],
    );
  }

  /** A call that all threads of the block make together. */
  lower(call: BarrierCall, words: Words): Statement[] {
    const phases = this.#phases[call.barrier]!;
    switch (call.intrinsic) {
      case 'makeBarrier': {
        const zero = (index: Expression) => [this.#setOver(phases, index, words.constant('i32', 0), words)];
        return [
          ...forEachIndex(this.#frame, phases.count, zero, words),
          ...(phases.made === null ? [] : [words.assign(phases.made, words.constant('bool', true))]),
        ];
      }
      case 'barrierArrive':
        return [...this.presence(call, words), ...this.#arrive(call, phases, words)];
      case 'barrierWait':
        return [...this.presence(call, words), ...this.#wait(call, phases, words)];
      // Copies are done when they are issued.
      case 'barrierBind':
        return this.presence(call, words);
      default:
        throw new TypeError(`${call.intrinsic} is not what all threads of a block do together`);
    }
  }

  /** Stops a thread or the block if there is no such barrier. */
  presence(call: IndexedCall, words: Words): Statement[] {
    const { made, checks } = this.#phases[call.barrier]!;
    const isMissing =
      made === null ? null : words.compare('equal', words.read(made, 'bool'), words.constant('bool', false));
    return checks.presence(call, isMissing, words);
  }

  #arrive(
    { index, result }: Extract<BarrierCall, { intrinsic: 'barrierArrive' }>,
    phases: Phases,
    words: Words,
  ): Statement[] {
    const over = () => this.#over(phases, index, words);
    const next = words.binary('add', over(), words.constant('i32', 1));
    return [
      ...(result === null ? [] : [words.assign(result, phases.checks.token(index, over(), words))]),
      this.#setOver(phases, index, next, words),
    ];
  }

  /** A wait that asks gets its answer; one that waits does so in vain or not at all. */
  #wait(call: WaitCall, phases: Phases, words: Words): Statement[] {
    const { index, limit, result, barrier } = call;
    const awaited = () => phases.checks.awaited(words);
    const over = () => this.#over(phases, index, words);
    const isOver = (operator: 'greater' | 'lessEqual') => words.compare(operator, over(), awaited());
    const at = () => words.convert(index, 'i32');
    const stuck = words.core({ kind: 'stuckAtBarrier', barrier, at: at(), phase: awaited() });
    return [
      ...phases.checks.findAwaited(call, over, words),
      ...(limit === null ? [words.when(isOver('lessEqual'), [stuck])] : []),
      ...(result === null ? [] : [words.assign(result, isOver('greater'))]),
    ];
  }

  #over({ over }: Phases, index: Expression, words: Words): Expression {
    if (typeof over === 'number') return words.read(over, 'i32');
    return { kind: 'load', array: over, index, type: 'i32', range: words.range };
  }

  #setOver({ over }: Phases, index: Expression, value: Expression, words: Words): Statement {
    return typeof over === 'number' ? words.assign(over, value) : words.store(over, index, value);
  }
}
