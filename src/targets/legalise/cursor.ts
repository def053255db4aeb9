// Where the head or the tail of a pipeline with mbarriers stands.
//
// A cursor is a count and the parity of the phase. Where the number of stages is a power of two the
// count goes on and its low bits are the stage: in a loop that is repeated once for each stage the
// compiler then knows the stages, and turns the parity once a round. How often all stages were used
// is counted by a ghost, for the interpreter alone.

import type { Expression, Statement } from '../../compiler/ir.ts';
import type { Frame } from './frame.ts';
import type { Words } from './words.ts';

/** The stage, the parity of its phase, and the number of the phase: u32, u32 and i32. */
export interface Position {
  readonly stage: Expression;
  readonly parity: Expression;
  readonly phase: Expression;
}

export class Cursor {
  readonly #stages: number;
  readonly #count: number;
  readonly #parity: number;
  readonly #batch: number;

  constructor(frame: Frame, name: string, stages: number) {
    this.#stages = stages;
    this.#count = frame.variable(name, 'u32');
    this.#parity = frame.variable(`${name}_phase`, 'u32');
    this.#batch = frame.variable(`${name}_batch`, 'i32', { ghost: true });
  }

  get #goesOn(): boolean {
    return (this.#stages & (this.#stages - 1)) === 0;
  }

  reset(words: Words): Statement[] {
    return [
      words.assign(this.#count, words.u32(0)),
      words.assign(this.#parity, words.u32(0)),
      words.assign(this.#batch, words.constant('i32', 0)),
    ];
  }

  advance(words: Words): Statement[] {
    const count = () => words.read(this.#count, 'u32');
    const turn = words.assign(
      this.#parity,
      words.binary('xor', words.read(this.#parity, 'u32'), words.u32(1)),
    );
    const next = words.assign(this.#count, words.binary('add', count(), words.u32(1)));
    const batch = words.binary('add', words.read(this.#batch, 'i32'), words.constant('i32', 1));
    const counted = words.assign(this.#batch, batch);
    if (this.#goesOn) {
      const round = words.compare('equal', this.#stage(words), words.u32(0));
      return [next, words.when(round, [turn]), counted];
    }
    const round = words.compare('equal', count(), words.u32(this.#stages));
    return [next, words.when(round, [words.assign(this.#count, words.u32(0)), turn]), counted];
  }

  #stage(words: Words): Expression {
    const count = words.read(this.#count, 'u32');
    return this.#goesOn ? words.binary('remainder', count, words.u32(this.#stages)) : count;
  }

  /** Of one stage, the phase that was begun last; the one before the first where it was never filled. */
  last(words: Words, stage: number): Position {
    const parity = words.read(this.#parity, 'u32');
    const isFilled = words.compare('less', words.u32(stage), this.#stage(words));
    const before = words.binary('xor', parity, words.u32(1));
    const [stages, batch] = [this.#stages, words.read(this.#batch, 'i32')];
    const filled = words.binary('add', batch, words.constant('i32', stages - 1 - stage));
    const rounds = words.binary('divide', filled, words.constant('i32', stages));
    return {
      stage: words.u32(stage),
      parity: words.choose(isFilled, parity, before),
      phase: words.binary('subtract', rounds, words.constant('i32', 1)),
    };
  }

  /** The position, or one that is so many stages ahead. */
  position(words: Words, ahead = 0): Position {
    const stages = words.u32(this.#stages);
    const parity = words.read(this.#parity, 'u32');
    const batch = words.binary('add', words.read(this.#batch, 'i32'), words.constant('i32', ahead));
    const phase = words.binary('divide', batch, words.constant('i32', this.#stages));
    if (ahead === 0) return { stage: this.#stage(words), parity, phase };
    const later = words.binary('add', words.read(this.#count, 'u32'), words.u32(ahead));
    const rounds = words.binary('divide', words.binary('add', this.#stage(words), words.u32(ahead)), stages);
    return {
      stage: words.binary('remainder', later, stages),
      parity: words.binary('and', words.binary('add', rounds, parity), words.u32(1)),
      phase,
    };
  }
}
