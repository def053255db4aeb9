// Random programs that lanes can run: accesses side by side of 8, 16 and 32 bits, arithmetic of 32 bits and of f64,
// branches and loops that differ from thread to thread, atomic operations, in blocks of many shapes.
//
// Each thread writes its own elements alone, or by operations in any order; shared memory is parted by syncs. So the result
// is the same in whatever order threads run. Loops count their rounds, so that they end.

import type { Expression, Program, Statement, ValueType } from '#warpstage/compiler/ir.js';
import { isFloat } from '#warpstage/compiler/number-types.js';
import type { Tape } from '../differential/tape.ts';
import {
  type ArrayHandle,
  add,
  atomic,
  binary,
  block,
  compare,
  conditional,
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
  unary,
  type VariableHandle,
  when,
} from '../support/ir.ts';

/** Elements beyond a thread's own that an input still has. */
export const margin = 8;

const shapes = [
  [32, 1, 1],
  [16, 1, 1],
  [20, 1, 1],
  [7, 1, 1],
  [64, 1, 1],
  [8, 4, 1],
  [4, 3, 2],
  [6, 2, 1],
] as const;

type LaneType = 'i32' | 'u32' | 'f32' | 'f64';
const laneTypes: readonly LaneType[] = ['i32', 'f32', 'u32', 'f64'];
const narrowest = ['i32', 'f32', 'u32'] as const;
export const narrowTypes = ['u8', 'i16', 'i8', 'u16'] as const;

export interface LaneProgram {
  readonly program: Program;
  readonly grid: number;
  readonly threads: number;
}

export function randomLanes(tape: Tape): LaneProgram {
  return new Generator(tape).generate();
}

interface Place {
  readonly depth: number;
  /** Whether all threads of the block come here together. */
  readonly together: boolean;
  readonly breaks: readonly number[];
  readonly continues: readonly number[];
  readonly mayReturn: boolean;
}

class Generator {
  readonly #tape: Tape;
  readonly #p: ProgramBuilder;
  readonly #threads: number;
  readonly #inputs: Record<LaneType, ArrayHandle>;
  readonly #outputs: Record<LaneType, ArrayHandle>;
  readonly #shared: Record<LaneType, ArrayHandle>;
  readonly #narrow: readonly ArrayHandle[];
  readonly #narrowOutputs: readonly ArrayHandle[];
  readonly #mirror: ArrayHandle;
  readonly #copied: ArrayHandle;
  readonly #pipeline: number;
  readonly #local: ArrayHandle;
  /** Changed by atomic operations alone. */
  readonly #counts: ArrayHandle;
  /** Of one kind in a program, so that their order does not matter. */
  readonly #change: 'add' | 'xor' | 'or' | 'max';
  readonly #limit: Expression;
  readonly #scalar: Record<LaneType, Expression>;
  readonly #own: VariableHandle;
  readonly #varying: Record<LaneType | 'bool', VariableHandle[]>;
  readonly #uniform: VariableHandle[];
  readonly #counters: VariableHandle[] = [];

  constructor(tape: Tape) {
    this.#tape = tape;
    const shape = tape.pick(shapes);
    this.#threads = shape[0] * shape[1] * shape[2];
    const p = new ProgramBuilder('lanes', [...shape]);
    this.#p = p;
    const each = <T>(make: (type: LaneType) => T) => ({
      i32: make('i32'),
      u32: make('u32'),
      f32: make('f32'),
      f64: make('f64'),
    });
    this.#inputs = each((type) => p.array(`in_${type}`, type, 'readonly'));
    this.#outputs = each((type) => p.array(`out_${type}`, type));
    this.#shared = each((type) => p.shared(`shared_${type}`, type, this.#threads));
    this.#narrow = narrowTypes.map((type) => p.array(`in_${type}`, type, 'readonly'));
    this.#narrowOutputs = narrowTypes.map((type) => p.array(`out_${type}`, type));
    this.#mirror = p.array('mirror', 'i16');
    this.#copied = p.shared('copied', 'i32', this.#threads);
    this.#pipeline = p.pipeline('pipeline', 0);
    this.#local = p.local('local', 'i32', 4);
    this.#counts = p.array('counts', 'i32');
    this.#change = tape.pick(['add', 'xor', 'or', 'max'] as const);
    this.#limit = p.scalar('limit', 'i32');
    this.#scalar = each((type) => p.scalar(`scalar_${type}`, type));
    this.#own = p.variable('own', 'i32');
    this.#uniform = [p.variable('u0', 'i32'), p.variable('u1', 'i32')];
    const two = (type: ValueType) => [p.variable(`${type}0`, type), p.variable(`${type}1`, type)];
    this.#varying = { i32: two('i32'), u32: two('u32'), f32: two('f32'), f64: two('f64'), bool: two('bool') };
  }

  generate(): LaneProgram {
    const p = this.#p;
    const grid = 1 + this.#tape.below(4);
    const body: Statement[] = [this.#own.set(p.gridRank())];
    body.push(makePipeline(this.#pipeline));
    for (let i = 0; i < 4; i += 1) body.push(store(this.#local, p.index(i), constant('i32', i)));
    const guarded = this.#tape.chance(1, 2);
    const count = 1 + this.#tape.below(6);
    const inside = this.#list(count, {
      depth: 0,
      together: !guarded,
      breaks: [],
      continues: [],
      mayReturn: guarded,
    });
    body.push(...(guarded ? [when(compare('less', this.#own.value, this.#limit), inside)] : inside));
    for (const type of laneTypes) {
      body.push(store(this.#outputs[type], this.#own.value, this.#varying[type][0]!.value));
    }
    return { program: p.build(body), grid, threads: this.#threads };
  }

  #list(count: number, place: Place): Statement[] {
    return Array.from({ length: count }, () => this.#statement(place)).flat();
  }

  #statement(place: Place): Statement[] {
    const tape = this.#tape;
    const deeper = (together: boolean): Place => ({ ...place, depth: place.depth + 1, together });
    switch (tape.below(place.depth < 3 ? 18 : 10)) {
      case 0:
      case 1:
      case 2: {
        const type = tape.pick([...laneTypes, 'bool'] as const);
        return [tape.pick(this.#varying[type]).set(this.#expression(type, 3))];
      }
      case 3: {
        if (tape.chance(1, 3)) {
          return [store(tape.pick(this.#narrowOutputs), this.#own.value, this.#expression('i32', 2))];
        }
        const type = tape.pick(laneTypes);
        return [store(this.#outputs[type], this.#own.value, this.#expression(type, 2))];
      }
      case 4:
        return [tape.pick(this.#uniform).set(this.#uniformExpression(2))];
      case 5:
        if (tape.chance(1, 2)) return [this.#atomic()];
        return [store(this.#local, this.#slot(), this.#expression('i32', 2))];
      case 6:
        if (!place.together) return [];
        return this.#exchange();
      case 7: {
        const jumps: Statement[] = [
          ...place.breaks.map((label) => leave('break', label)),
          ...place.continues.map((label) => leave('continue', label)),
          ...(place.mayReturn ? [finish()] : []),
        ];
        return jumps.length === 0 ? [] : [when(this.#expression('bool', 2), [tape.pick(jumps)])];
      }
      case 8: {
        // The element of the thread opposite, which no other thread writes.
        const last = binary('subtract', this.#p.index(this.#threads - 1), this.#p.builtin('threadRank'));
        const index = add(multiply(this.#p.builtin('blockIdx.x'), this.#p.index(this.#threads)), last);
        return [store(this.#mirror, index, this.#expression('i32', 2))];
      }
      case 9: {
        const rank = this.#p.builtin('threadRank');
        return [
          memcpyAsync({
            group: { kind: 'thread' },
            to: [this.#copied, rank],
            from: [this.#inputs.i32, add(this.#own.value, this.#p.index(tape.below(margin)))],
            count: this.#p.index(1),
            pipeline: this.#pipeline,
          }),
          pipelineCall('producerCommit', this.#pipeline),
          pipelineCall('consumerWait', this.#pipeline),
          tape.pick(this.#varying.i32).set(load(this.#copied, rank)),
        ];
      }
      case 10:
      case 11:
      case 12: {
        const test = tape.chance(1, 4) ? this.#uniformTest() : this.#expression('bool', 2);
        const then = this.#list(1 + tape.below(3), deeper(false));
        const otherwise = this.#list(tape.below(3), deeper(false));
        return [when(test, then, otherwise)];
      }
      case 13: {
        const label = this.#p.label();
        return [block(label, this.#list(2, { ...deeper(false), breaks: [...place.breaks, label] }))];
      }
      case 14:
      case 15:
        return this.#loop(place, this.#expression('bool', 2));
      default:
        return this.#loop(place, null);
    }
  }

  /** A loop of a few rounds; with a test, or with jumps, threads may leave it earlier. */
  #loop(place: Place, test: Expression | null): Statement[] {
    const counter = this.#p.variable(`round${this.#counters.length}`, 'i32');
    this.#counters.push(counter);
    const rounds = this.#p.index(1 + this.#tape.below(5));
    const label = this.#p.label();
    const more = compare('less', counter.value, rounds);
    // Threads that jump leave the others alone.
    const jumps = this.#tape.chance(1, 3);
    const inside = this.#list(1 + this.#tape.below(3), {
      depth: place.depth + 1,
      together: place.together && test === null && !jumps,
      breaks: jumps ? [...place.breaks, label] : place.breaks,
      continues: jumps ? [...place.continues, label] : place.continues,
      mayReturn: place.mayReturn,
    });
    return [
      counter.set(this.#p.index(0)),
      loop(
        label,
        test === null ? more : conditional(more, test, constant('bool', false)),
        inside,
        [counter.set(add(counter.value, this.#p.index(1)))],
        !this.#tape.chance(1, 5),
      ),
    ];
  }

  /** Through shared memory, from one thread to another. */
  #exchange(): Statement[] {
    const type = this.#tape.pick(laneTypes);
    const shared = this.#shared[type];
    const rank = this.#p.builtin('threadRank');
    const other = this.#tape.pick([
      rank,
      binary('subtract', this.#p.index(this.#threads - 1), rank),
      this.#p.index(this.#threads - 1),
    ]);
    return [
      sync(),
      store(shared, rank, this.#expression(type, 2)),
      sync(),
      this.#varying[type][0]!.set(load(shared, other)),
    ];
  }

  /** At one of four elements, where many threads meet; now and then beyond their end. */
  #atomic(): Statement {
    const tape = this.#tape;
    const most = this.#p.index(tape.chance(1, 30) ? 127 : 3);
    const any = tape.chance(1, 6) ? this.#uniformExpression(1) : this.#expression('i32', 2);
    const value = tape.chance(1, 2) ? this.#uniformExpression(1) : this.#expression('i32', 2);
    return atomic(this.#change, [this.#counts, binary('and', any, most)], value);
  }

  #slot(): Expression {
    return binary(
      'and',
      this.#tape.chance(1, 3) ? this.#uniformExpression(1) : this.#p.index(this.#tape.below(4)),
      this.#p.index(3),
    );
  }

  #uniformTest(): Expression {
    return compare('less', this.#uniformExpression(1), this.#p.index(this.#tape.below(50)));
  }

  #uniformExpression(depth: number): Expression {
    const tape = this.#tape;
    const leaf = () =>
      tape.pick([
        constant('i32', tape.below(9)),
        this.#limit,
        this.#p.builtin('blockIdx.x'),
        ...this.#uniform.map(({ value }) => value),
        ...this.#counters.map(({ value }) => value),
        load(this.#inputs.i32, this.#p.builtin('blockIdx.x')),
      ]);
    if (depth === 0) return leaf();
    const operator = tape.pick(['add', 'subtract', 'multiply', 'and'] as const);
    return binary(operator, this.#uniformExpression(depth - 1), leaf());
  }

  #expression(type: LaneType | 'bool', depth: number): Expression {
    const tape = this.#tape;
    if (depth === 0 || tape.chance(1, 5)) return this.#leaf(type);
    const of = (other: LaneType | 'bool') => this.#expression(other, depth - 1);
    if (type === 'bool') {
      if (tape.chance(1, 4)) return unary('not', of('bool'));
      if (tape.chance(1, 4)) return conditional(of('bool'), of('bool'), of('bool'));
      const compared = tape.pick(laneTypes);
      const operator = tape.pick(['less', 'equal', 'greaterEqual', 'notEqual', 'greater'] as const);
      return compare(operator, of(compared), of(compared));
    }
    switch (tape.below(6)) {
      case 0:
        return conditional(of('bool'), of(type), of(type));
      case 1:
        // Lanes cannot make integers of f64.
        return convert(of(tape.pick([...(isFloat(type) ? laneTypes : narrowest), 'bool'] as const)), type);
      case 2:
        return unary(
          tape.pick(
            isFloat(type)
              ? (['abs', 'sqrt', 'floor', 'trunc', 'negate'] as const)
              : (['abs', 'negate', 'complement'] as const),
          ),
          of(type),
        );
      case 3:
        if (!isFloat(type) && tape.chance(1, 3)) {
          // Never zero.
          const odd = binary('or', tape.chance(1, 2) ? of(type) : this.#scalar[type], constant(type, 1));
          const divisor = tape.chance(1, 3) ? constant(type, tape.pick([3, 7, 100])) : odd;
          return binary(tape.pick(['divide', 'remainder'] as const), of(type), divisor);
        }
        if (!isFloat(type) && tape.chance(1, 2)) {
          const divisor = constant(type, 2 ** tape.below(8));
          return binary(tape.pick(['divide', 'remainder'] as const), of(type), divisor);
        }
        if (!isFloat(type)) {
          const count = convert(this.#uniformExpression(0), type);
          return binary(tape.pick(['shiftLeft', 'shiftRight'] as const), of(type), count);
        }
        return binary('divide', of(type), of(type));
      default: {
        const operators = ['add', 'subtract', 'multiply', 'min', 'max'] as const;
        return binary(tape.pick(operators), of(type), of(type));
      }
    }
  }

  #leaf(type: LaneType | 'bool'): Expression {
    const tape = this.#tape;
    if (type === 'bool') return tape.pick(this.#varying.bool).value;
    switch (tape.below(8)) {
      case 0:
      case 1:
        return tape.pick(this.#varying[type]).value;
      case 7: {
        // Anywhere in an array, or of a narrower one.
        const anywhere = binary('and', tape.pick(this.#varying.i32).value, this.#p.index(3));
        const index = tape.pick([anywhere, this.#own.value, this.#p.index(2)]);
        return convert(load(tape.pick([this.#inputs.i32, ...this.#narrow]), index), type);
      }
      case 2:
        return constant(type, tape.pick([0, 1, 2, 7, 100]));
      case 3:
        return load(this.#inputs[type], add(this.#own.value, this.#p.index(tape.below(margin))));
      case 4:
        return tape.pick([
          this.#scalar[type],
          convert(this.#p.builtin('threadIdx.x'), type),
          convert(this.#p.builtin('threadRank'), type),
          convert(this.#p.builtin('threadIdx.y'), type),
          convert(this.#own.value, type),
        ]);
      case 5:
        return convert(load(this.#local, this.#slot()), type);
      default: {
        // A counter goes up to 5.
        const counted = this.#counters.flatMap(({ value }) => [
          value,
          binary('subtract', this.#p.index(5), value),
          binary('and', value, this.#p.index(7)),
        ]);
        const offset = tape.pick([this.#p.index(0), ...counted]);
        return load(this.#inputs[type], tape.chance(1, 4) ? offset : add(offset, this.#own.value));
      }
    }
  }
}
