// Random programs of the IR, free of races and faults by construction.
//
// Every thread writes its own elements of the global arrays; what goes through shared memory is
// parted from its readers by syncs or pipelines; what several threads update at once is updated
// by atomics whose order does not matter. So every correct execution, in whatever order and
// with whatever delivery of copies, gives the same bits.

import {
  type Expression,
  elementValueType,
  type Program,
  type Statement,
  type ValueType,
} from '#warpstage/compiler/ir.js';
import { type ElementType, elementBytes } from '#warpstage/kernel/types.js';
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
  store,
  sync,
  type VariableHandle,
  when,
} from '../support/ir.ts';
import { randomExpression, type Scope, valueTypes } from './random-expression.ts';
import type { Tape } from './tape.ts';

export const elementTypes: readonly ElementType[] = ['i32', 'f32', 'u32', 'f64', 'u8', 'i16', 'i8', 'u16'];

// Half of the programs keep to what four lanes of 128 bits hold, so that lanes run them too.
const narrowTypes: readonly ValueType[] = ['i32', 'f32', 'bool', 'u32'];
const narrowElements: readonly ElementType[] = ['i32', 'f32', 'u32'];

/** Elements of each input: any index up to `inputMask`, and a block more. */
export const inputLength = 512;
const inputMask = 255;

/** Elements that each thread owns in each output. */
export const ownElements = 6;

/** Elements of the array that all threads count in. */
export const counterLength = 8;

export interface RandomProgram {
  readonly program: Program;
  readonly grid: number;
  readonly threads: number;
}

/** Where a statement stands. */
interface Place {
  /** All threads of the block come here together. */
  readonly uniform: boolean;
  readonly depth: number;
  /** Labels that a varying jump may go to. */
  readonly breakable: readonly number[];
  readonly continuable: readonly number[];
  /** No sync follows for a thread that returns here. */
  readonly mayReturn: boolean;
  readonly extra: readonly Leaf[];
}

interface Leaf {
  readonly type: ValueType;
  make(): Expression;
}

/** Makes a program of the tape's decisions. */
export function randomProgram(tape: Tape): RandomProgram {
  return new Generator(tape, 0).generate();
}

/** The same with one statement that may fail: an index that may be out of range, or a divisor that may be zero. */
export function riskyProgram(tape: Tape): RandomProgram {
  return new Generator(tape, 1).generate();
}

class Generator {
  readonly #tape: Tape;
  readonly #p: ProgramBuilder;
  readonly #grid: number;
  readonly #inputs: readonly ArrayHandle[];
  readonly #outputs: readonly ArrayHandle[];
  readonly #counters: ArrayHandle;
  readonly #locals: readonly ArrayHandle[];
  readonly #count: Expression;
  readonly #scalars: readonly Expression[];
  readonly #variables: readonly (readonly [ValueType, VariableHandle])[];
  readonly #types: readonly ValueType[];
  readonly #elements: readonly ElementType[];
  #arrays = 0;
  #risks: number;

  constructor(tape: Tape, risks: number) {
    this.#tape = tape;
    this.#risks = risks;
    const size = tape.pick([4, 32, 1, 64, 7, 33]);
    const narrow = tape.chance(1, 2);
    this.#types = narrow ? narrowTypes : valueTypes;
    this.#elements = narrow ? narrowElements : elementTypes;
    const indexType = narrow ? 'i32' : tape.pick(['i32', 'i64'] as const);
    this.#p = new ProgramBuilder('random', size, { indexType });
    this.#grid = tape.pick([1, 2, 3]);
    const p = this.#p;
    this.#outputs = elementTypes.map((element) => p.array(`out_${element}`, element));
    this.#inputs = this.#elements.map((element) => p.array(`in_${element}`, element, 'readonly'));
    this.#counters = p.array('counters', 'u32');
    this.#count = p.scalar('count', p.indexType);
    this.#scalars = valueTypes.map((type) => p.scalar(`scalar_${type}`, type));
    this.#locals = [p.local('local_i32', 'i32', 4), ...(narrow ? [] : [p.local('local_f64', 'f64', 2)])];
    this.#variables = this.#types.flatMap((type) =>
      [1, 2].map((n) => [type, p.variable(`${type}_${n}`, type)] as const),
    );
  }

  generate(): RandomProgram {
    const p = this.#p;
    const place: Place = {
      uniform: true,
      depth: 3,
      breakable: [],
      continuable: [],
      mayReturn: false,
      extra: [],
    };
    const body = [
      ...this.#initialLocals(),
      ...this.#initialVariables(),
      ...this.#some(place, 5),
      ...this.#some({ ...place, uniform: false, mayReturn: true }, 3),
      ...(this.#risks > 0 ? [this.#risk({ ...place, uniform: false })] : []),
      ...this.#results(),
    ];
    return { program: p.build(body), grid: this.#grid, threads: p.blockSize };
  }

  #initialLocals(): Statement[] {
    const [integers, floats] = this.#locals;
    return [0, 1, 2, 3].flatMap((i) => [
      store(integers!, this.#p.index(i), constant('i32', i)),
      ...(i < 2 && floats ? [store(floats, this.#p.index(i), constant('f64', -i))] : []),
    ]);
  }

  // Half of the variables differ from thread to thread from the start; the others are zero, as all are at first.
  #initialVariables(): Statement[] {
    const p = this.#p;
    return this.#variables.flatMap(([type, variable], i) => {
      if (i % 2 === 1) return [];
      const array =
        this.#inputs.find(({ element }) => elementValueType(element) === type) ?? this.#inputs[0]!;
      return [variable.set(convert(load(array, p.gridRank()), type))];
    });
  }

  // Every variable goes to the output of an element type that keeps its bits, or parts of them.
  #results(): Statement[] {
    return this.#variables.flatMap(([type, { value }], i) => {
      const slot = i % 2;
      switch (type) {
        case 'i64':
        case 'u64': {
          const at = slot + (type === 'i64' ? 2 : 4);
          const high = binary('shiftRight', value, constant(type, 32n));
          return [
            this.#storeOwn('u32', at, convert(value, 'u32')),
            this.#storeOwn('i32', at, convert(high, 'i32')),
          ];
        }
        case 'bool':
          return [this.#storeOwn('u8', slot, convert(value, 'u32'))];
        default:
          return [this.#storeOwn(type, slot, value)];
      }
    });
  }

  #storeOwn(element: ElementType, slot: number, value: Expression): Statement {
    const array = this.#outputs[elementTypes.indexOf(element)]!;
    const p = this.#p;
    return store(array, add(multiply(p.gridRank(), p.index(ownElements)), p.index(slot)), value);
  }

  #some(place: Place, atMost: number): Statement[] {
    const statements: Statement[] = [];
    for (let n = this.#tape.below(atMost + 1); n > 0 && !this.#tape.ended; n -= 1) {
      statements.push(...this.#statement({ ...place, depth: place.depth - 1 }));
      if (this.#risks > 0 && this.#tape.chance(1, 4)) statements.push(this.#risk(place));
    }
    return statements;
  }

  #risk(place: Place): Statement {
    this.#risks -= 1;
    const tape = this.#tape;
    const position = () => {
      const value = this.#value(place, tape.pick(['i32', 'i64', 'u32'] as const));
      const shift = constant(value.type, value.type === 'i64' ? 24n : 24);
      return convert(tape.chance(1, 2) ? value : binary('shiftRight', value, shift), this.#p.indexType);
    };
    const [type, variable] = tape.pick(this.#variables.filter(([of]) => /^[iu]/.test(of)));
    switch (tape.below(4)) {
      case 0: {
        const array = tape.pick([...this.#inputs, ...this.#locals]);
        return variable.set(convert(load(array, position()), type));
      }
      case 1: {
        const array = tape.pick([...this.#outputs, ...this.#locals]);
        return store(array, position(), this.#value(place, elementValueType(array.element)));
      }
      case 2:
        return atomic('add', [this.#counters, position()], constant('u32', 1));
      default: {
        const operator = tape.pick(['divide', 'remainder'] as const);
        return variable.set(binary(operator, variable.value, this.#value(place, type)));
      }
    }
  }

  #statement(place: Place): Statement[] {
    const tape = this.#tape;
    if (place.uniform && tape.chance(1, 2)) return this.#together(place);
    if (place.depth <= 0) return this.#simple(place);
    switch (tape.below(8)) {
      case 0:
      case 1:
        return this.#simple(place);
      case 2:
      case 3:
        return [this.#if(place)];
      case 4:
      case 5:
        return this.#for(place);
      case 6:
        return this.#while(place);
      default:
        return [this.#switch(place)];
    }
  }

  #simple(place: Place): Statement[] {
    const tape = this.#tape;
    switch (tape.below(8)) {
      case 5: {
        const array = tape.pick(this.#locals);
        const length = array.element === 'i32' ? 4 : 2;
        return [
          store(array, this.#masked(place, length - 1), this.#value(place, elementValueType(array.element))),
        ];
      }
      case 6: {
        const element = tape.pick(this.#elements);
        return [
          this.#storeOwn(element, tape.below(ownElements), this.#value(place, elementValueType(element))),
        ];
      }
      case 7:
        return [this.#countUp(this.#counters, place)];
      default: {
        const [type, variable] = tape.pick(this.#variables);
        return [variable.set(this.#value(place, type))];
      }
    }
  }

  /** An update whose order among threads does not matter. */
  #countUp(array: ArrayHandle, place: Place): Statement {
    // One operator for each element, for different ones do not commute.
    const element = this.#tape.below(counterLength);
    const operator = (['add', 'xor', 'max', 'min', 'or', 'and', 'sub', 'add'] as const)[element]!;
    return atomic(operator, [array, this.#p.index(element)], this.#value(place, 'u32'));
  }

  #if(place: Place): Statement {
    // A branch that differs from thread to thread parts the block.
    const uniform = place.uniform && this.#tape.chance(1, 2);
    const inside = { ...place, uniform };
    const test = uniform ? this.#uniformTest() : this.#value(place, 'bool');
    return when(test, this.#branch(inside), this.#tape.chance(1, 2) ? this.#branch(inside) : []);
  }

  #branch(place: Place): Statement[] {
    const statements = this.#some(place, 3);
    if (place.uniform || !this.#tape.chance(1, 2)) return statements;
    const jumps = [
      ...place.continuable.map((label) => leave('continue', label)),
      ...place.breakable.map((label) => leave('break', label)),
      ...(place.mayReturn ? [finish()] : []),
    ];
    return jumps.length === 0 ? statements : [...statements, this.#tape.pick(jumps)];
  }

  /** `for (i = 0; i < n; i++)`, with n the same for all threads or not. */
  #for(place: Place): Statement[] {
    const uniform = place.uniform && this.#tape.chance(1, 2);
    const p = this.#p;
    const label = p.label();
    const i = this.#counter();
    const limit = uniform ? this.#uniformCount() : convert(this.#smallCount(place), p.indexType);
    const inside: Place = uniform
      ? { ...place, extra: [...place.extra, i.leaf] }
      : {
          ...place,
          uniform: false,
          breakable: [...place.breakable, label],
          continuable: [...place.continuable, label],
          extra: [...place.extra, i.leaf],
        };
    return p.countUp(
      i.variable,
      p.index(0),
      compare('less', i.variable.value, limit),
      this.#some(inside, 3),
      label,
    );
  }

  /** A loop that ends by a break or its test after a few rounds, with the test first or last. */
  #while(place: Place): Statement[] {
    const p = this.#p;
    const label = p.label();
    const rounds = this.#counter();
    const limit = compare('greaterEqual', rounds.variable.value, p.index(1 + this.#tape.below(5)));
    const inside: Place = {
      ...place,
      uniform: false,
      breakable: [...place.breakable, label],
      continuable: [...place.continuable, label],
      extra: [...place.extra, rounds.leaf],
    };
    const body = [
      when(limit, [leave('break', label)]),
      rounds.variable.set(add(rounds.variable.value, p.index(1))),
      ...this.#some(inside, 3),
    ];
    const test = this.#tape.chance(1, 3) ? null : this.#value(place, 'bool');
    const update = this.#tape.chance(1, 3) ? this.#simple(place) : [];
    return [rounds.variable.set(p.index(0)), loop(label, test, body, update, this.#tape.chance(1, 2))];
  }

  /** What a switch becomes: blocks that are left by breaks. */
  #switch(place: Place): Statement {
    const label = this.#p.label();
    const inside = { ...place, uniform: false, breakable: [...place.breakable, label] };
    return block(label, [
      when(this.#value(place, 'bool'), [...this.#some(inside, 2), leave('break', label)]),
      ...this.#some(inside, 2),
    ]);
  }

  // What all threads of a block do together.

  #together(place: Place): Statement[] {
    switch (this.#tape.below(6)) {
      case 0:
        return this.#exchange(place);
      case 5:
        return this.#tiles(place);
      case 1:
        return this.#unifiedPipeline(place);
      case 2:
        return this.#sharedCounters(place);
      case 3:
        return this.#threadPipelines(place);
      default:
        return this.#p.blockSize === 1 ? this.#exchange(place) : this.#roles(place);
    }
  }

  /** Each thread writes an element of shared memory; after a sync it reads another's. */
  #exchange(place: Place): Statement[] {
    const element = this.#tape.pick(this.#elements);
    const shared = this.#shared(element, this.#p.blockSize);
    const type = elementValueType(element);
    const [, variable] = this.#variables.find(([of]) => of === type)!;
    return [
      store(shared, this.#p.builtin('threadRank'), this.#value(place, type)),
      sync(),
      variable.set(load(shared, this.#threadOfBlock(place))),
      sync(),
    ];
  }

  /** The same among the threads of a tile; each thread reads that of its neighbour there. */
  #tiles(place: Place): Statement[] {
    const p = this.#p;
    const size = this.#tape.pick([4, 2, 8]);
    const element = this.#tape.pick(this.#elements);
    // The last tile of a block may lack threads; what they would have written is not read, but there.
    const shared = this.#shared(element, Math.ceil(p.blockSize / size) * size);
    const type = elementValueType(element);
    const [, variable] = this.#variables.find(([of]) => of === type)!;
    const rank = p.builtin('threadRank');
    const own = binary('remainder', rank, p.index(size));
    const next = binary('remainder', add(own, p.index(1)), p.index(size));
    const neighbour = add(binary('subtract', rank, own), next);
    const isThere = compare('less', neighbour, p.index(p.blockSize));
    return [
      store(shared, rank, this.#value(place, type)),
      sync({ kind: 'tile', size }),
      when(isThere, [variable.set(load(shared, neighbour))]),
      sync({ kind: 'tile', size }),
    ];
  }

  #sharedCounters(place: Place): Statement[] {
    const p = this.#p;
    const shared = this.#shared('u32', counterLength);
    const i = this.#counter();
    const [, variable] = this.#variables.find(([type]) => type === 'u32')!;
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
      when(this.#value(inside, 'bool'), [this.#countUp(shared, inside)]),
      sync(),
      variable.set(load(shared, p.index(this.#tape.below(counterLength)))),
      sync(),
    ];
  }

  /** The guide's unified staging with random computation. */
  #unifiedPipeline(place: Place): Statement[] {
    const p = this.#p;
    const size = p.blockSize;
    const staged = this.#staged(size);
    const pipeline = p.pipeline(`pipeline${this.#arrays}`, staged.stages);
    const from = staged.sourceOffset(staged.fetched.value, size);
    const bytes = elementBytes[staged.source.element];
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
      ...this.#stagingLoop(staged, pipeline, copy, () => [], place, this.#threadOfBlock(place)),
    ];
  }

  /** Thread scope: each thread copies one element; syncs part writers and readers. */
  #threadPipelines(place: Place): Statement[] {
    const p = this.#p;
    const size = p.blockSize;
    const staged = this.#staged(size);
    const pipeline = p.pipeline(`pipeline${this.#arrays}`, 0);
    const rank = p.builtin('threadRank');
    const copy = memcpyAsync({
      group: { kind: 'thread' },
      to: [staged.shared, add(staged.offsetOf(staged.fetched.value), rank)],
      from: [staged.source, add(staged.sourceOffset(staged.fetched.value, size), rank)],
      count: p.index(1),
      alignment: elementBytes[staged.source.element],
      pipeline,
    });
    return [
      makePipeline(pipeline),
      ...this.#stagingLoop(staged, pipeline, copy, () => [sync()], place, this.#threadOfBlock(place)),
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
    const p = this.#p;
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
        ...this.#some(inside, 3),
        this.#consume(inside),
        pipelineCall('consumerRelease', pipeline),
        ...barrier(),
      ]),
    ];
  }

  /** Some threads copy, the others compute: parted by role or by count, at any rank. */
  #roles(place: Place): Statement[] {
    const p = this.#p;
    const size = p.blockSize;
    const producers = 1 + this.#tape.below(size - 1);
    const partition = this.#tape.pick(['role', 'count'] as const);
    const staged = this.#staged(producers);
    const pipeline = p.pipeline(`pipeline${this.#arrays}`, staged.stages, partition);
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
            binary('remainder', this.#masked(place, 255), p.index(producers)),
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
            alignment: elementBytes[staged.source.element],
            pipeline,
          }),
          pipelineCall('producerCommit', pipeline),
        ]),
        p.countUp(computed, p.index(0), compare('less', computed.value, batches), [
          pipelineCall('consumerWait', pipeline),
          ...this.#some(inside, 2),
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
    const [, variable] = this.#variables.find(([type]) => type === staged.type)!;
    return variable.set(add(variable.value, staged.make()));
  }

  /** Shared memory of some stages of `size` elements, an input to fill it from, and the cursors. */
  #staged(size: number): Staged {
    const p = this.#p;
    const stages = this.#tape.pick([2, 1, 3, 4]);
    const source = this.#tape.pick(this.#inputs);
    const shared = this.#shared(source.element, stages * size);
    const start = this.#tape.below(64);
    return {
      stages,
      source,
      shared,
      fetched: this.#counter().variable,
      computed: this.#counter().variable,
      batches: this.#uniformCount(),
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

  #shared(element: ElementType, count: number): ArrayHandle {
    this.#arrays += 1;
    return this.#p.shared(`shared${this.#arrays}`, element, count);
  }

  #counter(): { variable: VariableHandle; leaf: Leaf } {
    this.#arrays += 1;
    const variable = this.#p.variable(`i${this.#arrays}`, this.#p.indexType);
    return { variable, leaf: { type: this.#p.indexType, make: () => variable.value } };
  }

  // Values

  #value(place: Place, type: ValueType): Expression {
    return randomExpression(this.#tape, this.#scope(place), type, 3);
  }

  #scope({ extra }: Place): Scope {
    const p = this.#p;
    return {
      types: this.#types,
      leaves: (type) => [
        ...this.#variables
          .filter(([of]) => of === type)
          .map(
            ([, variable]) =>
              () =>
                variable.value,
          ),
        ...extra.filter((leaf) => leaf.type === type).map((leaf) => leaf.make),
        ...this.#scalars.filter((scalar) => scalar.type === type).map((scalar) => () => scalar),
        ...[...this.#inputs, ...this.#locals]
          .filter(({ element }) => elementValueType(element) === type)
          .map((array) => () => load(array, this.#indexOf(array))),
        ...(type === p.indexType ? this.#ownPlace() : []),
      ],
    };
  }

  #ownPlace(): (() => Expression)[] {
    const p = this.#p;
    const names = ['threadRank', 'blockIdx.x', 'gridDim.x', 'threadIdx.x', 'threadIdx.y'] as const;
    return [
      ...names.map((name) => () => p.builtin(name)),
      () => p.gridRank(),
      () => p.length(this.#inputs[0]!),
    ];
  }

  /** An index of an input or local array: the thread's own place, a shifted one, a constant, or anything. */
  #indexOf(array: ArrayHandle): Expression {
    const p = this.#p;
    const mask = array.space === 'global' ? inputMask : array.element === 'i32' ? 3 : 1;
    switch (this.#tape.below(4)) {
      case 0:
        return array.space === 'global' ? p.gridRank() : p.index(0);
      case 1:
        return binary('and', add(p.gridRank(), p.index(this.#tape.below(9))), p.index(mask));
      case 2:
        return p.index(this.#tape.below(mask + 1));
      default:
        return this.#masked({ extra: [] }, mask);
    }
  }

  #masked({ extra }: Pick<Place, 'extra'>, mask: number): Expression {
    const p = this.#p;
    const variable = this.#tape.pick(this.#variables.filter(([type]) => type !== 'bool'))[1];
    const leaf = extra[0];
    const value = leaf !== undefined && this.#tape.chance(1, 3) ? leaf.make() : variable.value;
    return binary('and', convert(value, p.indexType), p.index(mask));
  }

  /** The rank of some thread of the block. */
  #threadOfBlock(place: Place): Expression {
    const p = this.#p;
    const rank = p.builtin('threadRank');
    const size = p.index(p.blockSize);
    switch (this.#tape.below(4)) {
      case 0:
        return rank;
      case 1:
        return binary('subtract', p.index(p.blockSize - 1), rank);
      case 2:
        return binary('remainder', add(rank, p.index(1)), size);
      default:
        return binary('remainder', this.#masked(place, 255), size);
    }
  }

  #smallCount(place: Place): Expression {
    return binary('and', this.#value(place, 'u32'), constant('u32', 3));
  }

  #uniformCount(): Expression {
    const p = this.#p;
    return this.#tape.pick([
      () => this.#count,
      () => p.index(2),
      () => add(p.builtin('blockIdx.x'), p.index(1)),
      () => p.index(5),
      () => p.index(1),
      () => p.index(0),
    ])();
  }

  #uniformTest(): Expression {
    const p = this.#p;
    return this.#tape.pick([
      () => compare('less', p.builtin('blockIdx.x'), p.index(1)),
      () => compare('less', this.#count, p.index(3)),
      () => compare('greater', p.builtin('gridDim.x'), p.index(1)),
    ])();
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
