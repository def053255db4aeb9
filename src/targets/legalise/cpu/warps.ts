// What lanes of a warp do together, said by what WebAssembly has: memory and syncs.
//
// Each lane puts what it brings into its slot of an exchange array, all that take part meet, and
// each reads the slots of others. So regions, lanes of SIMD, state machines and every analysis
// work as for a kernel that goes through shared memory.
//
// A slot must not be written again before everybody has read it. As state machines, lanes meet
// once more for that. As regions they need not: two exchanges within one region take turns with
// two arrays, and between any others a region ends.
//
// As state machines, lanes also note that they are there: one that has returned left nothing to
// read. What cannot be read is read at an index outside the array that says why (`absentLane`).

import {
  binary,
  compare,
  conditional,
  convert,
  load,
  numberConstant,
  unary,
} from '../../../compiler/build.ts';
import type {
  ArrayReference,
  BinaryOperator,
  Call,
  Expression,
  Program,
  Statement,
} from '../../../compiler/ir.ts';
import { reductions, type WarpOperator } from '../../../compiler/ir-warps.ts';
import { replaceCalls } from '../../analysis/map.ts';
import { anyOperand, anyStatement } from '../../analysis/walk.ts';
import {
  type Absence,
  absences,
  type LaneMeeting,
  maskedMeetings,
  meetsByMask,
  warpSize,
} from '../../lanes.ts';
import { ExchangeWriter } from './exchange-writer.ts';

type Meeting = Extract<Call, { intrinsic: 'warp' | 'sync' }>;
type WarpCall = Extract<Call, { intrinsic: 'warp' }>;

/** What an index outside an exchange array says: which lane gives nothing, and why. */
export function absentLane(index: number): { readonly absence: Absence; readonly lane: number } {
  const code = -1 - index;
  return { absence: absences[Math.floor(code / warpSize)]!, lane: code % warpSize };
}

/** The same program without calls of warps. `asRegions`: all threads of the block come to each together. */
export function expandWarps(program: Program, asRegions: boolean): Program {
  const exchanges = anyStatement(
    program.body,
    (statement) =>
      statement.kind === 'call' &&
      (statement.intrinsic === 'warp' || (statement.intrinsic === 'sync' && statement.mask !== undefined)),
  );
  return exchanges ? new Expansion(program, asRegions).program() : program;
}

/** Lanes that meet: how, and what is known of those that take part. */
interface WarpSubset {
  readonly meeting: LaneMeeting;
  readonly size: number;
  /** The lanes that this one names, if they find each other by that; a variable or constant. */
  readonly lanes: Expression | null;
  readonly call: Meeting;
}

class Expansion extends ExchangeWriter {
  readonly #masked: ReadonlySet<LaneMeeting>;

  constructor(program: Program, asRegions: boolean) {
    super(program, asRegions);
    this.#masked = maskedMeetings(program);
  }

  program(): Program {
    const start = this.range;
    const body = replaceCalls(this.frame.program.body, (call) => this.#call(call));
    const begins = this.asRegions ? [] : this.written(start, () => this.#notePresence(0));
    return this.frame.finish([...begins, ...body]);
  }

  #call(call: Call): readonly Statement[] {
    if (call.intrinsic === 'warp') return this.written(call.range, () => this.#warp(call));
    if (call.intrinsic !== 'sync' || !meetsByMask(this.#masked, 'sync', call.group, call.mask)) return [call];
    return this.written(call.range, () => this.#meet(this.#subset('sync', call)));
  }

  // Operations

  #warp(call: WarpCall): void {
    const { operator, result, value } = call;
    if (operator === 'activemask') {
      this.assign(result, this.bit(this.lane()));
      return;
    }
    const subset = this.#subset(operator, call);
    switch (operator) {
      case 'shfl':
      case 'shflUp':
      case 'shflDown':
      case 'shflXor':
        this.#shuffle(subset, call);
        break;
      case 'ballot': {
        const own = conditional(value, this.bit(this.lane()), this.u32(0), this.range);
        this.assign(result, this.#fold(subset, own, 'or'));
        break;
      }
      case 'any':
      case 'all': {
        const all = this.#fold(subset, convert(value, 'u32', this.range), operator === 'any' ? 'or' : 'and');
        this.assign(result, compare('notEqual', all, this.u32(0), this.range));
        break;
      }
      case 'matchAny':
      case 'matchAll':
        this.assign(result, this.#match(subset, value, operator));
        break;
      default:
        this.assign(result, this.#fold(subset, value, reductions[operator]));
    }
    if (this.asRegions) return;
    this.#meet(subset);
    this.#notePresence(0);
  }

  /** Each lane reads the slot of another. */
  #shuffle(subset: WarpSubset, { operator, value, lane, width, result }: WarpCall): void {
    // What the lane asks for may lie in memory, which others change once all have met.
    const operand = readsMemory(lane!) ? this.kept('lane', lane!) : lane!;
    const slots = this.#bring(subset, value);
    this.#meet(subset);
    if (result === null) return;
    const low = binary('and', operand, numberConstant('i32', warpSize - 1, this.range), this.range);
    const distance = this.kept('distance', convert(low, this.frame.program.indexType, this.range));
    const source = this.kept('source', this.#source(operator, distance, width));
    this.assign(result, load(slots, this.#presentOnly(subset, source), value.type, this.range));
  }

  /** The rank of the thread whose value a shuffle gives; see `sourceLane`. */
  #source(operator: WarpOperator, distance: Expression, width: number): Expression {
    const rank = this.rank();
    const own = this.operation('and', rank, this.index(width - 1));
    const isWhole = width === warpSize || (distance.kind === 'constant' && Number(distance.value) < width);
    switch (operator) {
      case 'shfl': {
        const first = this.operation('and', rank, this.index(-width));
        return this.operation('add', first, this.operation('and', distance, this.index(width - 1)));
      }
      case 'shflUp':
        return this.choose('greaterEqual', own, distance, this.operation('subtract', rank, distance), rank);
      case 'shflDown': {
        const isInside = this.operation('add', own, distance);
        return this.choose('less', isInside, this.index(width), this.operation('add', rank, distance), rank);
      }
      default: {
        const other = this.operation('xor', rank, distance);
        if (isWhole) return other;
        const last = this.operation('or', rank, this.index(width - 1));
        return this.choose('lessEqual', other, last, other, rank);
      }
    }
  }

  /** The rank, or an index outside the array if that thread brought nothing. */
  #presentOnly({ lanes, size, call }: WarpSubset, rank: Expression): Expression {
    const lane = this.operation('and', rank, this.index(warpSize - 1));
    const absent = (absence: Absence) =>
      this.operation('subtract', this.index(-1 - warpSize * absences.indexOf(absence)), lane);
    let index = rank;
    if (!this.asRegions) index = conditional(this.#isThere(rank), index, absent('returned'), this.range);
    if (lanes !== null) {
      index = conditional(this.#names(lanes, lane), index, absent('unnamed'), this.range);
    } else if (call.intrinsic === 'warp' && call.operator === 'shflXor' && size < warpSize) {
      // It may lead to an earlier tile.
      const first = this.operation('and', this.rank(), this.index(-size));
      index = this.choose('greaterEqual', rank, first, index, absent('unnamed'));
    }
    if (this.frame.blockSize % warpSize === 0) return index;
    return this.choose('less', rank, this.index(this.frame.blockSize), index, absent('missing'));
  }

  /** All values in one: in regions the first lane of each tile does it for all of them. */
  #fold(subset: WarpSubset, value: Expression, operator: BinaryOperator): Expression {
    const { type } = value;
    const slots = this.#bring(subset, value);
    this.#meet(subset);
    const rank = this.rank();
    const slot = (at: Expression) => load(slots, at, type, this.range);
    if (!this.asRegions) {
      const all = this.newVariable('all', type);
      this.set(all, slot(rank));
      this.#forEachLane(subset, (other) => {
        const isOther = compare('notEqual', other, rank, this.range);
        this.if(isOther, () => this.set(all, binary(operator, all, slot(other), this.range)));
      });
      return all;
    }
    const results = this.exchange(`${subset.meeting} of all`, subset.meeting, type);
    const first = this.operation('and', rank, this.index(-subset.size));
    this.if(compare('equal', rank, first, this.range), () => {
      const all = this.newVariable('all', type);
      this.set(all, slot(rank));
      this.#forEachLane(subset, (other) => this.set(all, binary(operator, all, slot(other), this.range)), 1);
      this.store(results, rank, all);
    });
    this.#meet(subset);
    return load(results, first, type, this.range);
  }

  /** The lanes with the same value. */
  #match(subset: WarpSubset, value: Expression, operator: 'matchAny' | 'matchAll'): Expression {
    const slots = this.#bring(subset, value);
    this.#meet(subset);
    const slot = (at: Expression) => load(slots, at, value.type, this.range);
    const own = this.kept('own', slot(this.rank()));
    const same = this.newVariable('same', 'u32');
    const all = this.newVariable('all', 'u32');
    this.set(same, this.u32(0));
    this.set(all, this.u32(0));
    this.#forEachLane(subset, (other) => {
      const bit = this.kept('bit', this.bit(this.operation('and', other, this.index(warpSize - 1))));
      this.set(all, binary('or', all, bit, this.range));
      this.if(this.#isSame(this.kept('other', slot(other)), own), () =>
        this.set(same, binary('or', same, bit, this.range)),
      );
    });
    if (operator === 'matchAny') return same;
    return conditional(compare('equal', same, all, this.range), same, this.u32(0), this.range);
  }

  /** Whether two values have the same bits, taking all that are not numbers for one. */
  #isSame(a: Expression, b: Expression): Expression {
    const range = this.range;
    const equal = compare('equal', a, b, range);
    if (a.type !== 'f32' && a.type !== 'f64') return equal;
    const no = compare('notEqual', this.u32(0), this.u32(0), range);
    const yes = unary('not', no, range);
    const one = numberConstant(a.type, 1, range);
    // The reciprocals of 0 and -0 differ.
    const sameSign = compare(
      'equal',
      binary('divide', one, a, range),
      binary('divide', one, b, range),
      range,
    );
    const isNone = (x: Expression) => compare('notEqual', x, x, range);
    const neither = conditional(isNone(a), isNone(b), no, range);
    return conditional(conditional(equal, sameSign, no, range), yes, neither, range);
  }

  // Meeting

  #subset(meeting: LaneMeeting, call: Meeting): WarpSubset {
    const size = call.group.kind === 'tile' ? call.group.size : warpSize;
    if (!meetsByMask(this.#masked, meeting, call.group, call.mask))
      return { meeting, size, lanes: null, call };
    const given = call.mask ?? this.u32(0xffffffff);
    const rest = this.frame.blockSize % warpSize;
    if (rest === 0) return { meeting, size, lanes: this.kept('lanes', given), call };
    // The last warp has fewer; who names more means those that there are.
    const there = binary('and', given, this.u32(2 ** rest - 1), this.range);
    const whole = this.index(this.frame.blockSize - rest);
    const lanes = this.choose('less', this.rank(), whole, given, there);
    return { meeting, size, lanes: this.kept('lanes', lanes), call };
  }

  /** Puts the thread's value into its slot. */
  #bring({ meeting }: WarpSubset, value: Expression): ArrayReference {
    const slots = this.exchange(meeting, meeting, value.type);
    this.store(slots, this.rank(), value);
    if (!this.asRegions) this.#notePresence(1);
    return slots;
  }

  /** All that take part come here. */
  #meet({ meeting, lanes, call }: WarpSubset): void {
    const { group, range } = call;
    const operator = meeting === 'sync' ? {} : { operator: meeting };
    if (lanes === null) {
      this.out.push({ kind: 'call', intrinsic: 'sync', group, ...operator, range });
      return;
    }
    const named = this.exchange(`${meeting} named`, meeting, 'u32');
    const outside = this.operation('subtract', this.index(-1), this.lane());
    const namesItself = this.#names(lanes, this.lane());
    this.store(named, conditional(namesItself, this.rank(), outside, this.range), lanes);
    const mask = load(named, this.rank(), 'u32', this.range);
    this.out.push({ kind: 'call', intrinsic: 'sync', group, mask, ...operator, range });
  }

  /** Whether the thread of that rank brought something: 1, or 0 before it did and after all have read it. */
  #notePresence(there: 0 | 1): void {
    this.store(this.exchange('there', 'sync', 'u32'), this.rank(), this.u32(there));
  }

  #isThere(rank: Expression): Expression {
    const there = load(this.exchange('there', 'sync', 'u32'), rank, 'u32', this.range);
    return compare('notEqual', there, this.u32(0), this.range);
  }

  /** Whether a mask names a lane. */
  #names(lanes: Expression, lane: Expression): Expression {
    return compare('notEqual', binary('and', lanes, this.bit(lane), this.range), this.u32(0), this.range);
  }

  /** Emits what is done for each thread of the tile that takes part, from the one at `start` on. */
  #forEachLane({ size, lanes }: WarpSubset, write: (rank: Expression) => void, start = 0): void {
    const range = this.range;
    const first = this.operation('and', this.rank(), this.index(-size));
    const other = this.newVariable('other', this.frame.program.indexType);
    const end = this.newVariable('end', this.frame.program.indexType);
    this.set(other, this.operation('add', first, this.index(start)));
    const whole = this.operation('add', first, this.index(size));
    const isPartial = size === warpSize && this.frame.blockSize % warpSize !== 0;
    this.set(end, isPartial ? this.operation('min', whole, this.index(this.frame.blockSize)) : whole);
    const outer = this.out;
    this.out = [];
    const lane = () => this.operation('and', other, this.index(warpSize - 1));
    const ifThere = () => (this.asRegions ? write(other) : this.if(this.#isThere(other), () => write(other)));
    if (lanes === null) ifThere();
    else this.if(this.#names(lanes, lane()), ifThere);
    const body = this.out;
    this.out = [];
    this.set(other, this.operation('add', other, this.index(1)));
    const update = this.out;
    this.out = outer;
    const test = compare('less', other, end, range);
    this.out.push({ kind: 'loop', label: this.frame.label(), test, testFirst: true, body, update, range });
  }
}

function readsMemory(expression: Expression): boolean {
  return anyOperand(expression, ({ kind }) => kind === 'load');
}
