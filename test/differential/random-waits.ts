// Random programs whose threads wait in their own ways: syncs, tiles, pipelines and barriers under any control
// flow, in any order. Many of them deadlock, or use a pipeline wrongly; that is part of the test.
//
// Threads touch nothing but their own elements and variables, and what each does depends on its
// rank, on its own data and on uniform values. So how far each gets, and what it waits for in the
// end, is the same in whatever order the threads run.

import type { Expression, Group, Program, Statement } from '#warpstage/compiler/ir.js';
import {
  type ArrayHandle,
  add,
  atomic,
  binary,
  block,
  compare,
  constant,
  convert,
  finish,
  leave,
  load,
  loop,
  makePipeline,
  memcpyAsync,
  multiply,
  ProgramBuilder,
  pipelineCall,
  quit,
  store,
  sync,
  type VariableHandle,
  when,
} from '../support/ir.ts';
import {
  countsFromZero,
  declareBarrier,
  makesOf,
  meeting,
  type RandomBarrier,
  type Surroundings,
} from './random-barriers.ts';
import type { Tape } from './tape.ts';

/** Elements that each thread has in the array `log`. */
export const logLength = 8;

export interface WaitingProgram {
  readonly program: Program;
  readonly grid: number;
  readonly threads: number;
}

interface Place {
  readonly depth: number;
  readonly breakable: readonly number[];
  readonly continuable: readonly number[];
  /** Barriers at which a thread has arrived and not waited yet. */
  readonly arrived: readonly RandomBarrier[];
}

interface PipelineHandle {
  readonly id: number;
  readonly stages: number;
  readonly partition: 'unified' | 'role' | 'count';
  readonly group: Group;
  readonly shared: ArrayHandle;
}

export function waitingProgram(tape: Tape): WaitingProgram {
  return new Generator(tape).generate();
}

const tileSizes = [4, 2, 8, 3, 1, 64];

class Generator {
  readonly #tape: Tape;
  readonly #p: ProgramBuilder;
  readonly #log: ArrayHandle;
  readonly #input: ArrayHandle;
  readonly #count: Expression;
  readonly #state: VariableHandle;
  readonly #uniform: VariableHandle;
  readonly #local: ArrayHandle;
  readonly #pipelines: PipelineHandle[] = [];
  readonly #barriers: RandomBarrier[] = [];
  #counters = 0;

  constructor(tape: Tape) {
    this.#tape = tape;
    this.#p = new ProgramBuilder('waits', tape.pick([4, 8, 1, 32, 12]), {
      indexType: tape.pick(['i32', 'i64'] as const),
    });
    this.#log = this.#p.array('log', 'i32');
    this.#input = this.#p.array('input', 'i32', 'readonly');
    this.#count = this.#p.scalar('count', this.#p.indexType);
    this.#state = this.#p.variable('state', 'i32');
    this.#uniform = this.#p.variable('uniform', 'i32');
    this.#local = this.#p.local('local', 'i32', 4);
  }

  generate(): WaitingProgram {
    const p = this.#p;
    const tape = this.#tape;
    const pipelines = tape.below(3);
    for (let n = 0; n < pipelines; n += 1) this.#declarePipeline(n);
    const barriers = tape.below(3);
    for (let n = 0; n < barriers; n += 1) {
      this.#barriers.push(declareBarrier(this.#surroundings, n, tileSizes));
    }
    const makes = [
      ...this.#pipelines.map((pipeline) => this.#make(pipeline)),
      ...(tape.chance(1, 8) ? [] : makesOf(this.#barriers)),
    ];
    const place: Place = { depth: 3, breakable: [], continuable: [], arrived: [] };
    const body = [
      this.#state.set(convert(p.builtin('threadRank'), 'i32')),
      ...countsFromZero(this.#surroundings, this.#barriers),
      ...[0, 1, 2, 3].map((i) => store(this.#local, p.index(i), constant('i32', i))),
      // Mostly at the beginning, where all threads come.
      ...(tape.chance(1, 8) ? [] : makes),
      ...this.#some(place, 6),
      this.#write(logLength - 1, this.#state.value),
    ];
    return { program: p.build(body), grid: tape.pick([1, 2]), threads: p.blockSize };
  }

  #declarePipeline(n: number): void {
    const p = this.#p;
    const tape = this.#tape;
    const stages = tape.pick([2, 1, 3]);
    const partition = tape.pick(['unified', 'role', 'count'] as const);
    const group: Group = tape.chance(1, 3) ? { kind: 'tile', size: tape.pick(tileSizes) } : { kind: 'block' };
    const id = p.pipeline(`pipeline${n}`, stages, partition, group);
    this.#pipelines.push({
      id,
      stages,
      partition,
      group,
      shared: p.shared(`shared${n}`, 'i32', p.blockSize),
    });
  }

  #make({ id, partition }: PipelineHandle): Statement {
    if (partition === 'unified') return makePipeline(id);
    if (partition === 'role') return makePipeline(id, this.#isProducer());
    const count = this.#tape.chance(1, 12) ? this.#rank(5) : this.#p.index(1 + this.#tape.below(3));
    return makePipeline(id, count);
  }

  #isProducer(): Expression {
    return compare('equal', this.#rank(2), this.#p.index(0));
  }

  #rank(modulo: number): Expression {
    return binary('remainder', this.#p.builtin('threadRank'), this.#p.index(modulo));
  }

  #some(place: Place, atMost: number): Statement[] {
    const statements: Statement[] = [];
    for (let n = this.#tape.below(atMost + 1); n > 0 && !this.#tape.ended; n -= 1) {
      statements.push(...this.#statement({ ...place, depth: place.depth - 1 }));
    }
    return statements;
  }

  #statement(place: Place): Statement[] {
    const tape = this.#tape;
    switch (tape.below(place.depth > 0 ? 16 : 9)) {
      case 0:
        return [this.#state.set(this.#mixed())];
      case 1:
        return [this.#write(tape.below(logLength), this.#state.value)];
      case 2:
        return [
          this.#uniform.set(
            add(multiply(this.#uniform.value, constant('i32', 5)), constant('i32', tape.below(9))),
          ),
        ];
      case 3:
        return [sync()];
      case 4:
        return [sync({ kind: 'tile', size: tape.pick(tileSizes) })];
      case 5:
        return [store(this.#local, this.#masked(3), this.#state.value)];
      case 6:
      case 7:
        return this.#batch();
      case 8:
        return this.#verb();
      case 9:
      case 10:
        return [this.#if(place)];
      case 11:
      case 12:
        return this.#loop(place);
      case 13:
      case 14:
        return this.#meeting(place);
      default:
        return [this.#switch(place)];
    }
  }

  /** A new value of a thread's state, out of all that the thread has. */
  #mixed(): Expression {
    const p = this.#p;
    const source = this.#tape.pick([
      () => load(this.#local, this.#masked(3)),
      () => load(this.#input, binary('and', convert(this.#state.value, p.indexType), p.index(63))),
      () => this.#uniform.value,
      () => load(this.#log, this.#own(this.#tape.below(logLength))),
    ]);
    return add(multiply(this.#state.value, constant('i32', 31)), source());
  }

  #masked(mask: number): Expression {
    return binary('and', convert(this.#state.value, this.#p.indexType), this.#p.index(mask));
  }

  #own(slot: number): Expression {
    const p = this.#p;
    return add(multiply(p.gridRank(), p.index(logLength)), p.index(slot));
  }

  #write(slot: number, value: Expression): Statement {
    return this.#tape.chance(1, 4)
      ? atomic('add', [this.#log, this.#own(slot)], value)
      : store(this.#log, this.#own(slot), value);
  }

  #test(): Expression {
    const p = this.#p;
    const tape = this.#tape;
    switch (tape.below(6)) {
      case 0:
        return compare('less', this.#count, p.index(tape.below(5)));
      case 1:
        return compare(
          'equal',
          binary('and', this.#uniform.value, constant('i32', 1)),
          constant('i32', tape.below(2)),
        );
      case 2:
        return compare('less', p.builtin('threadRank'), p.index(1 + tape.below(p.blockSize)));
      case 3:
        return this.#isProducer();
      case 4:
        return compare('equal', this.#rank(3), p.index(tape.below(3)));
      default:
        return compare(
          'equal',
          binary('and', binary('shiftRight', this.#state.value, constant('i32', 3)), constant('i32', 1)),
          constant('i32', 0),
        );
    }
  }

  /** A stage is used as it should be; partitioned, by the threads of each role. */
  #batch(): Statement[] {
    if (this.#pipelines.length === 0) return [this.#state.set(this.#mixed())];
    const { id, partition, shared, group } = this.#tape.pick(this.#pipelines);
    const rank = this.#p.builtin('threadRank');
    const copy = memcpyAsync({
      group: { kind: 'thread' },
      to: [shared, rank],
      from: [this.#input, rank],
      count: this.#p.index(1),
      pipeline: id,
    });
    const produce = [
      pipelineCall('producerAcquire', id),
      ...(this.#tape.chance(1, 2) ? [copy] : []),
      pipelineCall('producerCommit', id),
    ];
    const consume = [pipelineCall('consumerWait', id), pipelineCall('consumerRelease', id)];
    if (partition === 'unified') return [...produce, ...consume];
    // By count the first of a group produce, which is right if the count says so.
    const first = group.kind === 'tile' ? this.#rank(group.size) : rank;
    const produces =
      partition === 'role'
        ? this.#isProducer()
        : compare('less', first, this.#p.index(1 + this.#tape.below(3)));
    return [when(produces, produce, consume)];
  }

  /** Nothing leads out of what is done between an arrival and the wait, but the thread's end. */
  #meeting(place: Place): Statement[] {
    const free = this.#barriers.filter((barrier) => !place.arrived.includes(barrier));
    if (free.length === 0) return [this.#state.set(this.#mixed())];
    const barrier = this.#tape.pick(free);
    if (place.arrived.length === 0 && this.#tape.chance(1, 16)) return makesOf([barrier]);
    const arrived = [...place.arrived, barrier];
    const between = this.#some({ ...place, breakable: [], continuable: [], arrived }, 2);
    return meeting(this.#surroundings, barrier, between);
  }

  get #surroundings(): Surroundings {
    return { p: this.#p, tape: this.#tape, input: this.#input, state: this.#state };
  }

  #verb(): Statement[] {
    if (this.#pipelines.length === 0) return [this.#state.set(this.#mixed())];
    const tape = this.#tape;
    const pipeline = tape.pick(this.#pipelines);
    switch (tape.below(12)) {
      case 0:
      case 1:
        return [pipelineCall('producerAcquire', pipeline.id)];
      case 2:
      case 3:
      case 4:
        return [pipelineCall('producerCommit', pipeline.id)];
      case 5:
      case 6:
        return [pipelineCall('consumerWait', pipeline.id)];
      case 7:
      case 8:
        return [pipelineCall('consumerRelease', pipeline.id)];
      case 9:
      case 10:
        return [this.#make(pipeline)];
      default:
        return [quit(pipeline.id)];
    }
  }

  #if(place: Place): Statement {
    return when(this.#test(), this.#branch(place), this.#tape.chance(1, 2) ? this.#branch(place) : []);
  }

  #branch(place: Place): Statement[] {
    const statements = this.#some(place, 3);
    if (!this.#tape.chance(1, 3)) return statements;
    const jumps = [
      ...place.continuable.map((label) => leave('continue', label)),
      ...place.breakable.map((label) => leave('break', label)),
      finish(),
    ];
    return [...statements, this.#tape.pick(jumps)];
  }

  /** A loop of a few rounds, the same for all threads or not, with the test first, last or nowhere. */
  #loop(place: Place): Statement[] {
    const p = this.#p;
    const tape = this.#tape;
    const label = p.label();
    const round = p.variable(`round${this.#counters++}`, p.indexType);
    const limit = tape.chance(1, 2) ? add(this.#rank(3), p.index(1)) : p.index(1 + tape.below(3));
    const inside: Place = {
      ...place,
      breakable: [...place.breakable, label],
      continuable: [...place.continuable, label],
    };
    const advance = round.set(add(round.value, p.index(1)));
    const goesOn = compare('less', round.value, limit);
    const start = round.set(p.index(0));
    if (tape.chance(1, 3)) {
      const body = [when(goesOn, [], [leave('break', label)]), advance, ...this.#some(inside, 3)];
      return [start, loop(label, tape.chance(1, 2) ? null : this.#test(), body, [], tape.chance(1, 2))];
    }
    const update = tape.chance(1, 4)
      ? [advance, sync({ kind: 'tile', size: tape.pick(tileSizes) })]
      : [advance];
    return [start, loop(label, goesOn, this.#some(inside, 3), update, tape.chance(3, 4))];
  }

  /** What a switch becomes: a block that is left by breaks. */
  #switch(place: Place): Statement {
    const label = this.#p.label();
    const inside = { ...place, breakable: [...place.breakable, label] };
    return block(label, [
      when(this.#test(), [...this.#some(inside, 2), leave('break', label)]),
      ...this.#some(inside, 2),
    ]);
  }
}
