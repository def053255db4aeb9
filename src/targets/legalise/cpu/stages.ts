// Pipelines whose threads wait for one another, said by words: how often each stage was committed and released, by
// all threads together.
//
// A thread keeps its cursors in variables: which stage its head and its tail are at, and how often it has used that
// stage before. A stage is there for the n-th use when its producers have committed it n times each, and may be
// filled again when its consumers have released it as often. No count is set back before the pipeline is made again.

import type { ArrayReference, Expression, Statement } from '../../../compiler/ir.ts';
import {
  isTimedWait,
  type Pipeline,
  type PipelineCall,
  pipelineVerbs,
  type StageCall,
  type TimedWait,
  verbOf,
} from '../../../compiler/ir-pipelines.ts';
import { pipelineStates } from '../../pipeline-misuse.ts';
import { forEachIndex } from '../barriers.ts';
import type { Frame } from '../frame.ts';
import type { Words } from '../words.ts';
import { Making } from './making.ts';
import { Sharing } from './sharing.ts';

/** What a thread waits for by itself alone is over when it begins. */
export type StagesCall = Exclude<PipelineCall, { prior: number }>;
type MakeCall = Extract<StagesCall, { intrinsic: 'makePipeline' }>;
type Verb = Exclude<StagesCall, MakeCall>;

/** Where a thread is, and the words that count what was done with the stages there. */
interface Cursor {
  readonly stage: number;
  readonly use: number;
  readonly done: ArrayReference;
}

export class Stages {
  readonly #frame: Frame;
  readonly #declaration: Pipeline;
  readonly #sharing: Sharing;
  readonly #making: Making;
  readonly #head: Cursor;
  readonly #tail: Cursor;
  /** One of `pipelineStates`, or null where nobody asks. */
  readonly #state: number | null;
  /** Threads of the group that have not quit, null where nobody asks; and those that made the pipeline and returned. */
  readonly #owners: ArrayReference | null;
  readonly #returned: ArrayReference;

  /** `surelyMade`: wherever it is used; `asksForLast`: a thread wants to know whether it quit last. */
  constructor(frame: Frame, id: number, given: { surelyMade: boolean; asksForLast: boolean }) {
    const declaration = frame.program.pipelines[id]!;
    const { name, group, stages, partition } = declaration;
    const sharing = new Sharing(frame, name, group);
    const groups = sharing.count;
    const cursor = (what: string, done: string): Cursor => ({
      stage: frame.variable(`${name}.${what}`, 'i32'),
      use: frame.variable(`${name}.${what}.use`, 'i32'),
      done: frame.counts(`${name}.${done}`, 'i32', groups * stages),
    });
    this.#frame = frame;
    this.#declaration = declaration;
    this.#sharing = sharing;
    this.#making = new Making(frame, id, sharing);
    this.#head = cursor('head', 'produced');
    this.#tail = cursor('tail', 'consumed');
    const asks = given.asksForLast || partition === 'role' || !given.surelyMade;
    this.#state = asks ? frame.variable(`${name}.state`, 'i32') : null;
    this.#owners = given.asksForLast ? frame.counts(`${name}.owners`, 'i32', groups) : null;
    this.#returned = frame.counts(`${name}.returned`, 'i32', groups);
  }

  /** The start of a block. */
  begin(words: Words): Statement[] {
    return [...this.#making.begin(words), ...this.#enter('absent', words)];
  }

  lower(call: StagesCall, words: Words): Statement[] {
    if (call.intrinsic === 'makePipeline') return this.#make(call, words);
    return [...this.presence(call, words), ...this.#use(call, words)];
  }

  #use(call: Verb, words: Words): Statement[] {
    switch (call.intrinsic) {
      case 'quit':
        return [...this.#quit(call.result, words), ...this.#enter('quit', words)];
      case 'memcpyAsync':
        return [words.copyNow(call)];
      default: {
        const { role, waits } = pipelineVerbs[call.intrinsic];
        if (!waits) return this.#pass(role === 'producer' ? this.#head : this.#tail, words);
        if (!isTimedWait(call)) return [this.#wait(call, null, words)];
        // A wait with a limit was made a loop of looks before.
        return call.result === null ? [] : [this.#wait(call, call.result, words)];
      }
    }
  }

  /** Stops a thread that may not make this call: it has not made the pipeline, has quit it, or has another role. */
  presence(call: Verb, words: Words): Statement[] {
    const state = this.#state;
    if (state === null) return [];
    const { pipeline } = call;
    const verb = verbOf(call);
    const read = () => words.read(state, 'i32');
    const isWrong =
      this.#declaration.partition !== 'role'
        ? words.compare('notEqual', read(), words.constant('i32', pipelineStates.made))
        : call.intrinsic === 'quit'
          ? words.compare('less', read(), words.constant('i32', pipelineStates.producer))
          : words.compare(
              'notEqual',
              read(),
              words.constant('i32', pipelineStates[pipelineVerbs[call.intrinsic].role]),
            );
    return [words.when(isWrong, [words.core({ kind: 'pipelineMisused', pipeline, verb, state: read() })])];
  }

  /** The thread returns. */
  leave(words: Words): Statement[] {
    const owners = this.#owners;
    const gives =
      owners === null
        ? []
        : [
            words.when(
              words.compare(
                'notEqual',
                words.read(this.#state!, 'i32'),
                words.constant('i32', pipelineStates.quit),
              ),
              [this.#add(owners, -1, words)],
            ),
          ];
    const made = [this.#add(this.#returned, 1, words), ...gives];
    return [...this.#making.leave(words), words.when(this.#making.isMade(words), made)];
  }

  #make(call: MakeCall, words: Words): Statement[] {
    const zero = () => words.constant('i32', 0);
    const { stages } = this.#declaration;
    const clear = (index: Expression) =>
      [this.#head, this.#tail].map(({ done }) => words.store(done, this.#at(index, words), zero()));
    const at = () => this.#sharing.instance(words);
    const setUp = [
      ...forEachIndex(this.#frame, stages, clear, words),
      words.store(this.#returned, at(), zero()),
      ...(this.#owners === null ? [] : [words.store(this.#owners, at(), this.#making.size(words))]),
    ];
    const isRole = this.#declaration.partition === 'role';
    return [
      ...this.#making.make(call, (state) => this.#enter(state, words), setUp, words),
      ...(isRole ? [] : this.#enter('made', words)),
      ...[this.#head, this.#tail].flatMap(({ stage, use }) => [
        words.assign(stage, zero()),
        words.assign(use, zero()),
      ]),
    ];
  }

  /**
   * Waits until a cursor's stage was used by the others as often as it must have been, or gives whether it was: for
   * a thread that fills it as often as it did itself, for one that reads it once more.
   */
  #wait(call: StageCall | TimedWait, result: number | null, words: Words): Statement {
    const fills = pipelineVerbs[call.intrinsic].role === 'producer';
    const { stage, use } = fills ? this.#head : this.#tail;
    const { done } = fills ? this.#tail : this.#head;
    const uses = () => words.read(use, 'i32');
    const one = words.constant('i32', 1);
    const times = fills ? uses() : words.binary('add', uses(), one);
    const expected = () => (fills ? this.#making.consumers(words) : this.#making.producers(words));
    const at = () => this.#at(words.convert(words.read(stage, 'i32'), words.indexType), words);
    const count = () => words.load(done, at(), 'i32');
    const beyond = words.binary('subtract', count(), words.binary('multiply', times, expected()));
    return words.core(
      {
        kind: 'waitUntil',
        array: done,
        index: at(),
        test: words.compare('greaterEqual', beyond, words.constant('i32', 0)),
        phase: fills ? words.binary('subtract', uses(), one) : uses(),
        waits: result === null,
        waiting: { verb: verbOf(call), pipeline: call.pipeline },
        place: words.read(stage, 'i32'),
        arrived: words.binary('remainder', count(), expected()),
        expected: expected(),
        left: words.load(this.#returned, this.#sharing.instance(words), 'i32'),
      },
      result,
    );
  }

  /** What the thread did with the stage is counted, and its cursor goes on to the next. */
  #pass({ stage, use, done }: Cursor, words: Words): Statement[] {
    const read = (variable: number) => words.read(variable, 'i32');
    const next = (variable: number) =>
      words.assign(variable, words.binary('add', read(variable), words.constant('i32', 1)));
    const index = this.#at(words.convert(read(stage), words.indexType), words);
    const isLast = words.compare('equal', read(stage), words.constant('i32', this.#declaration.stages));
    return [
      this.#sharing.post(done, index, 1, words, { phase: read(use) }),
      next(stage),
      words.when(isLast, [words.assign(stage, words.constant('i32', 0)), next(use)]),
    ];
  }

  #quit(result: number | null, words: Words): Statement[] {
    const owners = this.#owners;
    if (owners === null) return [];
    if (result === null) return [this.#add(owners, -1, words)];
    const left = this.#frame.variable(`${this.#declaration.name}.owners.left`, 'i32');
    const isNobody = words.compare('equal', words.read(left, 'i32'), words.constant('i32', 0));
    return [this.#add(owners, -1, words, left), words.assign(result, isNobody)];
  }

  #enter(state: keyof typeof pipelineStates, words: Words): Statement[] {
    if (this.#state === null) return [];
    return [words.assign(this.#state, words.constant('i32', pipelineStates[state]))];
  }

  #add(array: ArrayReference, by: number, words: Words, result: number | null = null): Statement {
    return this.#sharing.post(array, this.#sharing.instance(words), by, words, { result });
  }

  /** The index of a stage's word: those of a group lie one after the other. */
  #at(stage: Expression, words: Words): Expression {
    if (this.#sharing.count === 1) return stage;
    const first = words.binary(
      'multiply',
      this.#sharing.instance(words),
      words.index(this.#declaration.stages),
    );
    return words.binary('add', first, stage);
  }
}
