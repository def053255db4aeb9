// Random programs of the IR, free of races and faults by construction.
//
// Every thread writes its own elements of the global arrays; what goes through shared memory is
// parted from its readers by syncs or pipelines; what several threads update at once is updated
// by atomics whose order does not matter. So every correct execution, in whatever order and
// with whatever delivery of copies, gives the same bits.

import { elementValueType, type Program, type Statement } from '#warpstage/compiler/ir.js';
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
  type ProgramBuilder,
  store,
  when,
} from '../support/ir.ts';
import { counterLength, ownElements, RandomData, type Surroundings } from './random-data.ts';
import { Together } from './random-together.ts';
import type { Tape } from './tape.ts';

export interface RandomProgram {
  readonly program: Program;
  readonly grid: number;
  readonly threads: number;
}

/** Where a statement stands. */
export interface Place extends Surroundings {
  /** All threads of the block come here together. */
  readonly uniform: boolean;
  readonly depth: number;
  /** Labels that a varying jump may go to. */
  readonly breakable: readonly number[];
  readonly continuable: readonly number[];
  /** No sync follows for a thread that returns here. */
  readonly mayReturn: boolean;
}

/** Makes a program of the tape's decisions; an exact one has the same bits on every machine. */
export function randomProgram(tape: Tape, { exact = false } = {}): RandomProgram {
  return new Generator(tape, 0, exact).generate();
}

/** The same with one statement that may fail: an index that may be out of range, or a divisor that may be zero. */
export function riskyProgram(tape: Tape): RandomProgram {
  return new Generator(tape, 1, false).generate();
}

class Generator {
  readonly #tape: Tape;
  readonly #data: RandomData;
  readonly #p: ProgramBuilder;
  readonly #together: Together;
  #risks: number;

  constructor(tape: Tape, risks: number, exact: boolean) {
    this.#tape = tape;
    this.#risks = risks;
    this.#data = new RandomData(tape, exact);
    this.#p = this.#data.p;
    this.#together = new Together(tape, this.#data, {
      some: (place, atMost) => this.#some(place, atMost),
      countUp: (array, place) => this.#countUp(array, place),
    });
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
    return { program: p.build(body), grid: this.#data.grid, threads: p.blockSize };
  }

  #initialLocals(): Statement[] {
    const [integers, floats] = this.#data.locals;
    return [0, 1, 2, 3].flatMap((i) => [
      store(integers!, this.#p.index(i), constant('i32', i)),
      ...(i < 2 && floats ? [store(floats, this.#p.index(i), constant('f64', -i))] : []),
    ]);
  }

  // Half of the variables differ from thread to thread from the start; the others are zero, as all are at first.
  #initialVariables(): Statement[] {
    const p = this.#p;
    return this.#data.variables.flatMap(([type, variable], i) => {
      if (i % 2 === 1) return [];
      const array =
        this.#data.inputs.find(({ element }) => elementValueType(element) === type) ?? this.#data.inputs[0]!;
      return [variable.set(convert(load(array, p.gridRank()), type))];
    });
  }

  // Every variable goes to the output of an element type that keeps its bits, or parts of them.
  #results(): Statement[] {
    return this.#data.variables.flatMap(([type, { value }], i) => {
      const slot = i % 2;
      switch (type) {
        case 'bool':
          return [this.#data.storeOwn('u8', slot, convert(value, 'i32'))];
        default:
          return [this.#data.storeOwn(type, slot, value)];
      }
    });
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
      const value = this.#data.value(place, tape.pick(['i32', 'i64', 'u32'] as const));
      const shift = constant(value.type, value.type === 'i64' ? 24n : 24);
      return convert(tape.chance(1, 2) ? value : binary('shiftRight', value, shift), this.#p.indexType);
    };
    const [type, variable] = tape.pick(this.#data.variables.filter(([of]) => /^[iu]/.test(of)));
    switch (tape.below(4)) {
      case 0: {
        const array = tape.pick([...this.#data.inputs, ...this.#data.locals]);
        return variable.set(convert(load(array, position()), type));
      }
      case 1: {
        const array = tape.pick([...this.#data.outputs, ...this.#data.locals]);
        return store(array, position(), this.#data.value(place, elementValueType(array.element)));
      }
      case 2:
        return atomic('add', [this.#data.counters, position()], constant('u32', 1));
      default: {
        const operator = tape.pick(['divide', 'remainder'] as const);
        return variable.set(binary(operator, variable.value, this.#data.value(place, type)));
      }
    }
  }

  #statement(place: Place): Statement[] {
    const tape = this.#tape;
    if (place.uniform && tape.chance(1, 2)) return this.#together.statements(place);
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
        const array = tape.pick(this.#data.locals);
        const length = array.element === 'i32' ? 4 : 2;
        return [
          store(
            array,
            this.#data.masked(place, length - 1),
            this.#data.value(place, elementValueType(array.element)),
          ),
        ];
      }
      case 6: {
        const element = tape.pick(this.#data.elements);
        return [
          this.#data.storeOwn(
            element,
            tape.below(ownElements),
            this.#data.value(place, elementValueType(element)),
          ),
        ];
      }
      case 7:
        return [this.#countUp(this.#data.counters, place)];
      default: {
        const [type, variable] = tape.pick(this.#data.variables);
        return [variable.set(this.#data.value(place, type))];
      }
    }
  }

  /** An update whose order among threads does not matter. */
  #countUp(array: ArrayHandle, place: Place): Statement {
    // One operator for each element, for different ones do not commute.
    const element = this.#tape.below(counterLength);
    const operator = (['add', 'xor', 'max', 'min', 'or', 'and', 'sub', 'add'] as const)[element]!;
    return atomic(operator, [array, this.#p.index(element)], this.#data.value(place, 'u32'));
  }

  #if(place: Place): Statement {
    // A branch that differs from thread to thread parts the block.
    const uniform = place.uniform && this.#tape.chance(1, 2);
    const inside = { ...place, uniform };
    const test = uniform ? this.#data.uniformTest() : this.#data.value(place, 'bool');
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
    const i = this.#data.counter();
    const limit = uniform ? this.#data.uniformCount() : convert(this.#data.smallCount(place), p.indexType);
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
    const rounds = this.#data.counter();
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
    const test = this.#tape.chance(1, 3) ? null : this.#data.value(place, 'bool');
    const update = this.#tape.chance(1, 3) ? this.#simple(place) : [];
    return [rounds.variable.set(p.index(0)), loop(label, test, body, update, this.#tape.chance(1, 2))];
  }

  /** What a switch becomes: blocks that are left by breaks. */
  #switch(place: Place): Statement {
    const label = this.#p.label();
    const inside = { ...place, uniform: false, breakable: [...place.breakable, label] };
    return block(label, [
      when(this.#data.value(place, 'bool'), [...this.#some(inside, 2), leave('break', label)]),
      ...this.#some(inside, 2),
    ]);
  }
}
