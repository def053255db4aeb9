// Barriers that the whole block uses together: all that is left of one is how many phases are over.
//
// All threads of the block arrive together, so that a phase is over when they have, and a wait is
// over as soon as it begins, unless it is for a phase that nobody has arrived in: that is a deadlock. A
// token is what ir-barriers.ts says.

import type { ArrayReference, Expression, Statement } from '../../../compiler/ir.ts';
import type { BarrierCall } from '../../../compiler/ir-barriers.ts';
import type { CoreOperation } from '../../../compiler/ir-core.ts';
import { constantOf } from '../../analysis/elements.ts';
import { forEachIndex } from '../barriers.ts';
import type { Frame } from '../frame.ts';
import type { Words } from '../words.ts';
import { surelyMade } from './surely-made.ts';

/** What the block keeps of barriers that are made together. */
interface Phases {
  /** How many phases are over: a variable for one barrier, an array for several. */
  readonly over: number | ArrayReference;
  readonly count: number;
  /** A variable that says whether they are made; null where they surely are. */
  readonly made: number | null;
  /** Of the wait that is looked at: its token, and the phase that it is for. */
  readonly token: number;
  readonly awaited: number;
}

type BarrierFault = Extract<CoreOperation, { kind: 'barrierMisused' }>['fault'];
type Indexed = Extract<BarrierCall, { index: unknown }>;

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
      token: frame.variable(`${name}.token`, 'i64'),
      awaited: frame.variable(`${name}.awaited`, 'i32'),
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
  presence(call: Indexed, words: Words): Statement[] {
    const { made, count } = this.#phases[call.barrier]!;
    const { index } = call;
    const none = words.constant('i32', 0);
    const isMade =
      made === null
        ? []
        : [
            words.when(words.compare('equal', words.read(made, 'bool'), words.constant('bool', false)), [
              this.#misused(call, 'notMade', none, [], words),
            ]),
          ];
    const known = constantOf(index);
    if (known !== null && known >= 0 && known < count) return isMade;
    const unsigned = index.type === 'i64' ? 'u64' : 'u32';
    const isOutside = words.compare(
      'greaterEqual',
      words.convert(index, unsigned),
      words.constant(unsigned, count),
    );
    return [...isMade, words.when(isOutside, [this.#misused(call, 'noSuchBarrier', none, [index], words)])];
  }

  #arrive(
    { index, result }: Extract<BarrierCall, { intrinsic: 'barrierArrive' }>,
    phases: Phases,
    words: Words,
  ): Statement[] {
    const next = () => words.binary('add', this.#over(phases, index, words), words.constant('i32', 1));
    const token = () =>
      words.binary(
        'or',
        words.binary('shiftLeft', words.convert(index, 'i64'), words.constant('i64', 32)),
        words.convert(next(), 'i64'),
      );
    return [
      ...(result === null ? [] : [words.assign(result, token())]),
      this.#setOver(phases, index, next(), words),
    ];
  }

  /** A wait that asks gets its answer; one that waits does so in vain or not at all. */
  #wait(call: Extract<BarrierCall, { intrinsic: 'barrierWait' }>, phases: Phases, words: Words): Statement[] {
    const { index, by, phase, limit, result, barrier } = call;
    const awaited = () => words.read(phases.awaited, 'i32');
    const over = () => this.#over(phases, index, words);
    const isOver = (operator: 'greater' | 'lessEqual') => words.compare(operator, over(), awaited());
    const at = () => words.convert(index, 'i32');
    const stuck = words.core({ kind: 'stuckAtBarrier', barrier, at: at(), phase: awaited() });
    return [
      ...(by === 'parity'
        ? [words.assign(phases.awaited, this.#phaseOfParity(phase, over, words))]
        : this.#phaseOfToken(call, phases, words)),
      ...(limit === null ? [words.when(isOver('lessEqual'), [stuck])] : []),
      ...(result === null ? [] : [words.assign(result, isOver('greater'))]),
    ];
  }

  /** The current phase if it has that parity, else the one before it. */
  #phaseOfParity(parity: Expression, over: () => Expression, words: Words): Expression {
    const own = words.binary('and', over(), words.constant('i32', 1));
    const isOther = words.compare('notEqual', own, words.convert(parity, 'i32'));
    return words.binary('subtract', over(), words.convert(isOther, 'i32'));
  }

  #phaseOfToken(
    call: Extract<BarrierCall, { intrinsic: 'barrierWait' }>,
    phases: Phases,
    words: Words,
  ): Statement[] {
    const { index } = call;
    const wide = (value: number) => words.constant('i64', value);
    const token = () => words.read(phases.token, 'i64');
    const awaited = () => words.read(phases.awaited, 'i32');
    const over = () => this.#over(phases, index, words);
    const at = () => words.convert(index, 'i32');
    const named = () => words.binary('and', words.binary('shiftRight', token(), wide(32)), wide(0x7fffffff));
    const since = words.binary('subtract', over(), awaited());
    const stopIf = (test: Expression, fault: BarrierFault, values: readonly Expression[]) =>
      words.when(test, [this.#misused(call, fault, at(), values, words)]);
    return [
      words.assign(phases.token, call.phase),
      stopIf(words.compare('equal', token(), wide(0)), 'noToken', []),
      stopIf(words.compare('notEqual', named(), words.convert(index, 'i64')), 'otherToken', [named()]),
      words.assign(
        phases.awaited,
        words.binary('subtract', words.convert(token(), 'i32'), words.constant('i32', 1)),
      ),
      stopIf(words.compare('greater', since, words.constant('i32', 1)), 'staleToken', [awaited(), over()]),
    ];
  }

  #over({ over }: Phases, index: Expression, words: Words): Expression {
    if (typeof over === 'number') return words.read(over, 'i32');
    return { kind: 'load', array: over, index, type: 'i32', range: words.range };
  }

  #setOver({ over }: Phases, index: Expression, value: Expression, words: Words): Statement {
    return typeof over === 'number' ? words.assign(over, value) : words.store(over, index, value);
  }

  #misused(
    { barrier }: BarrierCall,
    fault: BarrierFault,
    at: Expression,
    values: readonly Expression[],
    words: Words,
  ): Statement {
    const [first, second] = [0, 1].map((i) => words.convert(values[i] ?? words.constant('i64', 0), 'i64'));
    return words.core({ kind: 'barrierMisused', barrier, fault, at, first: first!, second: second! });
  }
}
