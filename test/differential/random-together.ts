// What all threads of a block do together in a random program: exchanges through shared memory,
// parted by syncs, and pipelines of every kind.

import { type Expression, elementValueType, type Statement } from '#warpstage/compiler/ir.js';
import { alignmentOf, bytesOf } from '#warpstage/kernel/layout.js';
import {
  type ArrayHandle,
  add,
  binary,
  compare,
  constant,
  core,
  load,
  loop,
  makePipeline,
  memcpyAsync,
  multiply,
  pipelineCall,
  store,
  sync,
  type VariableHandle,
  when,
} from '../support/ir.ts';
import { counterLength, inputMask, type Leaf, type RandomData } from './random-data.ts';
import type { Place } from './random-program.ts';
import type { Tape } from './tape.ts';

/** What stands between the waits is up to the rest of the program. */
export interface Body {
  some(place: Place, atMost: number): Statement[];
  /** An update of an element that all threads may do, in any order. */
  countUp(array: ArrayHandle, place: Place): Statement;
}

export class Together {
  readonly #tape: Tape;
  readonly #data: RandomData;
  readonly #body: Body;
  #pipelines = 0;

  constructor(tape: Tape, data: RandomData, body: Body) {
    this.#tape = tape;
    this.#data = data;
    this.#body = body;
  }

  /** Random statements for a place where all threads of the block come together. */
  statements(place: Place): Statement[] {
    switch (this.#tape.below(7)) {
      case 0:
        return this.#exchange(place);
      case 5:
        return this.#tiles(place);
      case 6:
        return this.#votes(place);
      case 1:
        return this.#unifiedPipeline(place);
      case 2:
        return this.#sharedCounters(place);
      case 3:
        return this.#threadPipelines(place);
      default:
        return this.#data.p.blockSize === 1 ? this.#exchange(place) : this.#roles(place);
    }
  }

  /** Each thread writes an element of shared memory; after a sync it reads another's. */
  #exchange(place: Place): Statement[] {
    const element = this.#tape.pick(this.#data.elements);
    const shared = this.#data.shared(element, this.#data.p.blockSize);
    const type = elementValueType(element);
    const variable = this.#data.variableOf(type);
    return [
      store(shared, this.#data.p.builtin('threadRank'), this.#data.value(place, type)),
      sync(),
      variable.set(load(shared, this.#data.threadOfBlock(place))),
      sync(),
    ];
  }

  /** The same among the threads of a tile; each thread reads that of its neighbour there. */
  #tiles(place: Place): Statement[] {
    const p = this.#data.p;
    const size = this.#tape.pick([4, 2, 8]);
    const element = this.#tape.pick(this.#data.elements);
    // The last tile of a block may lack threads; what they would have written is not read, but there.
    const shared = this.#data.shared(element, Math.ceil(p.blockSize / size) * size);
    const type = elementValueType(element);
    const variable = this.#data.variableOf(type);
    const rank = p.builtin('threadRank');
    const own = binary('remainder', rank, p.index(size));
    const next = binary('remainder', add(own, p.index(1)), p.index(size));
    const neighbour = add(binary('subtract', rank, own), next);
    const isThere = compare('less', neighbour, p.index(p.blockSize));
    return [
      store(shared, rank, this.#data.value(place, type)),
      sync({ kind: 'tile', size }),
      when(isThere, [variable.set(load(shared, neighbour))]),
      sync({ kind: 'tile', size }),
    ];
  }

  /** The threads count for how many of them something holds; what they wrote before is there for all. */
  #votes(place: Place): Statement[] {
    const element = this.#tape.pick(this.#data.elements);
    const shared = this.#data.shared(element, this.#data.p.blockSize);
    const type = elementValueType(element);
    const group = { kind: 'block' } as const;
    const waiting = { verb: 'syncthreadsCount' };
    const count = (value: Expression, result: VariableHandle) =>
      core({ kind: 'groupCount', group, value, waiting }, result);
    const votes = this.#data.variableOf('i32');
    return [
      store(shared, this.#data.p.builtin('threadRank'), this.#data.value(place, type)),
      count(this.#data.value(place, 'bool'), votes),
      this.#data.variableOf(type).set(load(shared, this.#data.threadOfBlock(place))),
      count(compare('less', votes.value, constant('i32', this.#tape.below(64))), votes),
    ];
  }

  #sharedCounters(place: Place): Statement[] {
    const p = this.#data.p;
    const shared = this.#data.shared('u32', counterLength);
    const i = this.#data.counter();
    const variable = this.#data.variableOf('u32');
    const rank = p.builtin('threadRank');
    const inside = { ...place, uniform: false, depth: 0 };
    return [
      when(
        compare('equal', rank, p.index(0)),
        p.countUp(i.variable, p.index(0), compare('less', i.variable.value, p.index(counterLength)), [
          store(shared, i.variable.value, constant('u32', 0)),
        ]),
      ),
      sync(),
      when(this.#data.value(inside, 'bool'), [this.#body.countUp(shared, inside)]),
      sync(),
      variable.set(load(shared, p.index(this.#tape.below(counterLength)))),
      sync(),
    ];
  }

  /** The guide's unified staging with random computation. */
  #unifiedPipeline(place: Place): Statement[] {
    const p = this.#data.p;
    const size = p.blockSize;
    const staged = this.#staged(size);
    const pipeline = p.pipeline(this.#name(), staged.stages);
    const from = staged.sourceOffset(staged.fetched.value, size);
    const bytes = bytesOf(staged.source.element);
    // A promise of 16 bytes can be kept where a stage is so large.
    const promises = (size * bytes) % 16 === 0 && this.#tape.chance(1, 2);
    const copy = memcpyAsync({
      to: [staged.shared, staged.offsetOf(staged.fetched.value)],
      from: [staged.source, promises ? binary('and', from, p.index(-16)) : from],
      count: p.index(size),
      alignment: promises ? 16 : bytes,
      pipeline,
    });
    return [
      makePipeline(pipeline),
      ...this.#stagingLoop(staged, pipeline, copy, () => [], place, this.#data.threadOfBlock(place)),
    ];
  }

  /** Thread scope: each thread copies one element; syncs part writers and readers. */
  #threadPipelines(place: Place): Statement[] {
    const p = this.#data.p;
    const size = p.blockSize;
    const staged = this.#staged(size);
    const pipeline = p.pipeline(this.#name(), 0);
    const rank = p.builtin('threadRank');
    const copy = memcpyAsync({
      group: { kind: 'thread' },
      to: [staged.shared, add(staged.offsetOf(staged.fetched.value), rank)],
      from: [staged.source, add(staged.sourceOffset(staged.fetched.value, size), rank)],
      count: p.index(1),
      alignment: alignmentOf(staged.source.element),
      pipeline,
    });
    return [
      makePipeline(pipeline),
      ...this.#stagingLoop(staged, pipeline, copy, () => [sync()], place, this.#data.threadOfBlock(place)),
    ];
  }

  #stagingLoop(
    staged: Staged,
    pipeline: number,
    copy: Statement,
    barrier: () => readonly Statement[],
    place: Place,
    at: Expression,
  ): Statement[] {
    const p = this.#data.p;
    const { fetched, computed, batches, stages } = staged;
    const less = (left: Expression, right: Expression) => compare('less', left, right);
    const inside: Place = {
      ...place,
      uniform: false,
      depth: 1,
      breakable: [],
      continuable: [],
      extra: [...place.extra, staged.leafAt(add(staged.offsetOf(computed.value), at))],
    };
    return [
      fetched.set(p.index(0)),
      ...p.countUp(computed, p.index(0), less(computed.value, batches), [
        loop(
          p.label(),
          binary(
            'and',
            less(fetched.value, batches),
            less(fetched.value, add(computed.value, p.index(stages))),
          ),
          [pipelineCall('producerAcquire', pipeline), copy, pipelineCall('producerCommit', pipeline)],
          [fetched.set(add(fetched.value, p.index(1)))],
        ),
        pipelineCall('consumerWait', pipeline),
        ...barrier(),
        ...this.#body.some(inside, 3),
        this.#consume(inside),
        pipelineCall('consumerRelease', pipeline),
        ...barrier(),
      ]),
    ];
  }

  /** Some threads copy, the others compute: parted by role or by count, at any rank. */
  #roles(place: Place): Statement[] {
    const p = this.#data.p;
    const size = p.blockSize;
    const producers = 1 + this.#tape.below(size - 1);
    const partition = this.#tape.pick(['role', 'count'] as const);
    const staged = this.#staged(producers);
    const pipeline = p.pipeline(this.#name(), staged.stages, partition);
    const rank = p.builtin('threadRank');
    const produces = compare('less', rank, p.index(producers));
    const { fetched, computed, batches } = staged;
    const inside: Place = {
      ...place,
      uniform: false,
      depth: 1,
      breakable: [],
      continuable: [],
      extra: [
        ...place.extra,
        staged.leafAt(
          add(
            staged.offsetOf(computed.value),
            binary('remainder', this.#data.masked(place, 255), p.index(producers)),
          ),
        ),
      ],
    };
    return [
      makePipeline(pipeline, partition === 'role' ? produces : p.index(producers)),
      when(
        produces,
        p.countUp(fetched, p.index(0), compare('less', fetched.value, batches), [
          pipelineCall('producerAcquire', pipeline),
          memcpyAsync({
            group: { kind: 'thread' },
            to: [staged.shared, add(staged.offsetOf(fetched.value), rank)],
            from: [staged.source, add(staged.sourceOffset(fetched.value, producers), rank)],
            count: p.index(1),
            alignment: alignmentOf(staged.source.element),
            pipeline,
          }),
          pipelineCall('producerCommit', pipeline),
        ]),
        p.countUp(computed, p.index(0), compare('less', computed.value, batches), [
          pipelineCall('consumerWait', pipeline),
          ...this.#body.some(inside, 2),
          this.#consume(inside),
          pipelineCall('consumerRelease', pipeline),
        ]),
      ),
      sync(),
    ];
  }

  // Folds what is staged into a variable, so that it matters.
  #consume(place: Place): Statement {
    const staged = place.extra.at(-1)!;
    const variable = this.#data.variableOf(staged.type);
    return variable.set(add(variable.value, staged.make()));
  }

  /** Shared memory of some stages of `size` elements, an input to fill it from, and the cursors. */
  #staged(size: number): Staged {
    const p = this.#data.p;
    const stages = this.#tape.pick([2, 1, 3, 4]);
    const source = this.#tape.pick(this.#data.inputs);
    const shared = this.#data.shared(source.element, stages * size);
    const start = this.#tape.below(64);
    return {
      stages,
      source,
      shared,
      fetched: this.#data.counter().variable,
      computed: this.#data.counter().variable,
      batches: this.#data.uniformCount(),
      offsetOf: (batch) => multiply(binary('remainder', batch, p.index(stages)), p.index(size)),
      sourceOffset: (batch, length) =>
        binary(
          'and',
          add(add(multiply(batch, p.index(length)), p.builtin('blockIdx.x')), p.index(start)),
          p.index(inputMask),
        ),
      leafAt: (at) => ({ type: elementValueType(source.element), make: () => load(shared, at) }),
    };
  }

  #name(): string {
    this.#pipelines += 1;
    return `pipeline${this.#pipelines}`;
  }
}

interface Staged {
  readonly stages: number;
  readonly source: ArrayHandle;
  readonly shared: ArrayHandle;
  readonly fetched: VariableHandle;
  readonly computed: VariableHandle;
  readonly batches: Expression;
  offsetOf(batch: Expression): Expression;
  sourceOffset(batch: Expression, length: number): Expression;
  leafAt(at: Expression): Leaf;
}
