// What threads may do with a barrier, and what a token and a parity mean, however its phases are counted.

import type { Expression, Statement } from '../../../compiler/ir.ts';
import type { BarrierCall } from '../../../compiler/ir-barriers.ts';
import type { CoreOperation } from '../../../compiler/ir-core.ts';
import { constantOf } from '../../analysis/elements.ts';
import type { Frame } from '../frame.ts';
import type { Words } from '../words.ts';

export type IndexedCall = Extract<BarrierCall, { index: unknown }>;
export type WaitCall = Extract<BarrierCall, { intrinsic: 'barrierWait' }>;
type BarrierFault = Extract<CoreOperation, { kind: 'barrierMisused' }>['fault'];

export class BarrierChecks {
  readonly #barrier: number;
  readonly #count: number;
  /** Of the wait that is looked at: its token, and the phase that it is for. */
  readonly #token: number;
  readonly #awaited: number;

  constructor(frame: Frame, barrier: number) {
    const { name, count } = frame.program.barriers[barrier]!;
    this.#barrier = barrier;
    this.#count = count ?? 1;
    this.#token = frame.variable(`${name}.token`, 'i64');
    this.#awaited = frame.variable(`${name}.awaited`, 'i32');
  }

  /** Stops a thread or the block if there is no such barrier. `isMissing` where it may not have been made. */
  presence({ index }: IndexedCall, isMissing: Expression | null, words: Words): Statement[] {
    const none = words.constant('i32', 0);
    const isMade =
      isMissing === null ? [] : [words.when(isMissing, [this.misused('notMade', none, [], words)])];
    const known = constantOf(index);
    if (known !== null && known >= 0 && known < this.#count) return isMade;
    const unsigned = index.type === 'i64' ? 'u64' : 'u32';
    const isOutside = words.compare(
      'greaterEqual',
      words.convert(index, unsigned),
      words.constant(unsigned, this.#count),
    );
    return [...isMade, words.when(isOutside, [this.misused('noSuchBarrier', none, [index], words)])];
  }

  /** The token of an arrival, when so many phases are over. */
  token(index: Expression, over: Expression, words: Words): Expression {
    return words.binary(
      'or',
      words.binary('shiftLeft', words.convert(index, 'i64'), words.constant('i64', 32)),
      words.convert(words.binary('add', over, words.constant('i32', 1)), 'i64'),
    );
  }

  /** The phase that a wait is for, an i32. */
  awaited(words: Words): Expression {
    return words.read(this.#awaited, 'i32');
  }

  /** Finds that phase, when so many are over, or stops. */
  findAwaited(call: WaitCall, over: () => Expression, words: Words): Statement[] {
    if (call.by === 'parity')
      return [words.assign(this.#awaited, this.#phaseOfParity(call.phase, over, words))];
    return this.#phaseOfToken(call, over, words);
  }

  /** The current phase if it has that parity, else the one before it. */
  #phaseOfParity(parity: Expression, over: () => Expression, words: Words): Expression {
    const own = words.binary('and', over(), words.constant('i32', 1));
    const isOther = words.compare('notEqual', own, words.convert(parity, 'i32'));
    return words.binary('subtract', over(), words.convert(isOther, 'i32'));
  }

  #phaseOfToken({ index, phase }: WaitCall, over: () => Expression, words: Words): Statement[] {
    const wide = (value: number) => words.constant('i64', value);
    const token = () => words.read(this.#token, 'i64');
    const awaited = () => this.awaited(words);
    const at = () => words.convert(index, 'i32');
    const named = () => words.binary('and', words.binary('shiftRight', token(), wide(32)), wide(0x7fffffff));
    const since = words.binary('subtract', over(), awaited());
    const stopIf = (test: Expression, fault: BarrierFault, values: readonly Expression[]) =>
      words.when(test, [this.misused(fault, at(), values, words)]);
    return [
      words.assign(this.#token, phase),
      stopIf(words.compare('equal', token(), wide(0)), 'noToken', []),
      stopIf(words.compare('notEqual', named(), words.convert(index, 'i64')), 'otherToken', [named()]),
      words.assign(
        this.#awaited,
        words.binary('subtract', words.convert(token(), 'i32'), words.constant('i32', 1)),
      ),
      stopIf(words.compare('greater', since, words.constant('i32', 1)), 'staleToken', [awaited(), over()]),
    ];
  }

  misused(fault: BarrierFault, at: Expression, values: readonly Expression[], words: Words): Statement {
    const [first, second] = [0, 1].map((i) => words.convert(values[i] ?? words.constant('i64', 0), 'i64'));
    const barrier = this.#barrier;
    return words.core({ kind: 'barrierMisused', barrier, fault, at, first: first!, second: second! });
  }
}
