// The code of statements under a mask: all lanes go through it, those that are not there without
// effect.
//
// A value is kept where the mask is off. A store touches only the elements of lanes that are
// there, since those beside them may be other threads'. A loop goes round as long as any lane is
// in it. Nothing is jumped over, so nothing here may fail. A lane that jumps is taken out of the masks of all
// lists that it leaves. What a lane no longer reads may get any value. What is the same for all lanes has one local and no
// mask: where all of them may have jumped together, it is assigned only if one is left.

import type { Expression, Statement, ValueType } from '../../../compiler/ir.ts';
import { bytesOf, partOf } from '../../../kernel/layout.ts';
import { constantOf } from '../../analysis/elements.ts';
import { has, type Liveness, type VariableSet } from '../../analysis/liveness.ts';
import { anyStatement } from '../../analysis/walk.ts';
import type { Label, Local } from '../encoder/code.ts';
import { pushExpression } from '../expressions.ts';
import { laneInstruction } from '../instructions.ts';
import { writeStatement } from '../statements.ts';
import { goesByVector, writeCount, writeInBursts } from './bursts.ts';
import type { Checkpoints } from './checkpoints.ts';
import { writeAddresses } from './checks.ts';
import { writeLaneStore } from './elements.ts';
import { eachVectorSharing, pushLanes, writeVectorStore } from './expressions.ts';
import { goesInBursts } from './flight.ts';
import { type GroupContext, placeOf, type Shared, vectorsIn } from './group.ts';
import { writeStridedStores } from './interleaved.ts';
import { type Mask, pushCombined, pushMask } from './masks.ts';
import { writeMaskOfPair } from './pairs.ts';
import { writeSelect } from './relaxed.ts';
import { roundsOf, writeTurnsOf } from './rounds.ts';

type Structure<K> = Extract<Statement, { kind: K }>;
type List = readonly Statement[];

/** A mask that lanes inside it may be taken out of. */
interface Leavable {
  readonly mask: Mask;
  /** The loop or block that a lane has left when it is out of this mask; null for a branch. */
  readonly left: number | null;
  /** The loop whose round a lane has ended when it is out of this mask. */
  readonly ended: number | null;
  /** Whether all lanes may leave it together, so that nobody is there for the rest of it. */
  readonly together: boolean;
}

export class MaskedWriter {
  /** While a burst is written (bursts.ts), of one vector alone. */
  #group: GroupContext;
  readonly #checkpoints: Checkpoints;
  /** What is read after the region's statements. */
  readonly #liveness: Liveness;
  /** From the outermost. */
  readonly #leavable: Leavable[] = [];
  /** The mask of a loop that all lanes enter, and what is read behind it. */
  #entered: { readonly mask: Mask; readonly after: VariableSet } | null = null;

  constructor(group: GroupContext, checkpoints: Checkpoints, liveness: Liveness) {
    this.#group = group;
    this.#checkpoints = checkpoints;
    this.#liveness = liveness;
  }

  /** Writes statements under a mask, null for all lanes. */
  write(list: List, mask: Mask | null): void {
    for (const statement of list) {
      switch (statement.kind) {
        case 'assign':
          this.#assign(statement, mask);
          break;
        case 'store':
          this.#store(statement, mask);
          break;
        case 'if':
          this.#if(statement, mask);
          break;
        case 'loop':
          this.#loop(statement, mask);
          break;
        case 'block':
          this.#block(statement, mask);
          break;
        case 'break':
        case 'continue':
          this.#jump(statement, mask!);
          // What follows is for nobody.
          return;
        default:
          throw new Error(`a ${statement.kind} cannot stand under a mask`);
      }
    }
  }

  #if(statement: Structure<'if'>, mask: Mask | null): void {
    const { code, lanes, first } = this.#group;
    const { test, then, otherwise } = statement;
    if (lanes.isUniform(test)) {
      pushExpression(first, test);
      code.if(
        () => this.write(then, mask),
        otherwise.length === 0 ? undefined : () => this.write(otherwise, mask),
      );
      return;
    }
    code.withTemporaries((take) => {
      const tested = pushMask(this.#group, test, () => take('v128'));
      this.writeBranches(statement, tested, mask);
    });
  }

  /** Both branches of an `if`, each for the lanes that `tested` and the mask around it say. */
  writeBranches({ then, otherwise }: Structure<'if'>, tested: Mask, mask: Mask | null): void {
    const { code } = this.#group;
    for (const [list, instruction] of [
      [then, 'v128.and'],
      [otherwise, 'v128.andnot'],
    ] as const) {
      if (list.length === 0) continue;
      code.withTemporaries((take) => {
        const own = tested.map((local, vector) => {
          // Where no mask is around, no lane can jump out of here.
          if (instruction === 'v128.and' && mask === null) return local;
          const both = take('v128');
          if (mask === null) code.get(local).op('v128.not').set(both);
          else code.get(mask[vector]!).get(local).op(instruction).set(both);
          return both;
        });
        this.#inside({ mask: own, left: null, ended: null, together: false }, () => this.write(list, own));
      });
    }
  }

  #inside(leavable: Leavable, write: () => void): void {
    this.#leavable.push(leavable);
    write();
    this.#leavable.pop();
  }

  /** Takes the lanes of a mask out of all that they leave. */
  #jump({ kind, label }: Structure<'break' | 'continue'>, mask: Mask): void {
    const { code } = this.#group;
    const target = this.#leavable.findLastIndex(
      ({ left, ended }) => (kind === 'break' ? left : ended) === label,
    );
    // The list's own mask is the innermost; it comes last, since the others need it.
    for (const { mask: outer } of this.#leavable.slice(target)) {
      for (const vector of vectorsIn(this.#group)) {
        const local = outer[vector]!;
        code.get(local).get(mask[vector]!).op('v128.andnot').set(local);
      }
    }
  }

  /** A copy of a mask, or all lanes. */
  #copyOf(mask: Mask | null, take: (type: 'v128') => Local): Mask {
    const { code, constants } = this.#group;
    const copy: Local[] = [];
    for (const vector of vectorsIn(this.#group)) {
      copy[vector] = take('v128');
      code.get(mask === null ? constants.integer(-1) : mask[vector]!).set(copy[vector]!);
    }
    return copy;
  }

  #block({ label, body }: Structure<'block'>, mask: Mask | null): void {
    this.#group.code.withTemporaries((take) => {
      const own = this.#copyOf(mask, take);
      const together = this.#leaveTogether(body);
      this.#inside({ mask: own, left: label, ended: null, together }, () => this.write(body, own));
    });
  }

  /** All lanes go round as long as any of them does. */
  #loop(loop: Structure<'loop'>, mask: Mask | null): void {
    const { label, testFirst, body, update } = loop;
    const { code, unit, lanes, vectors } = this.#group;
    const rounds = unit.does('rounds') ? roundsOf(lanes, loop) : null;
    const { test } = rounds ?? loop;
    if (rounds !== null) unit.tell('rounds', 'turns of a loop, for all lanes that are in it');
    const together = this.#leaveTogether(body);
    const endsRounds = anyStatement(body, (each) => each.kind === 'continue' && each.label === label);
    code.withTemporaries((take) => {
      const live = this.#copyOf(mask, take);
      const around = this.#entered;
      // Who leaves it comes out behind it, for it has no jump to elsewhere (canMask), and nobody else is there.
      if (mask === null && unit.does('dead'))
        this.#entered = { mask: live, after: this.#liveness.after(loop) };
      const writeBody = () => {
        if (!endsRounds) {
          this.write(body, live);
          return;
        }
        code.withTemporaries((takeInside) => {
          const round = this.#copyOf(live, takeInside);
          this.#inside({ mask: round, left: null, ended: label, together }, () => this.write(body, round));
        });
      };
      const left = rounds === null ? null : code.local('i32', 'left');
      if (left !== null) writeTurnsOf(this.#group, rounds!, left);
      const writeTurn = (writeTest: () => void) => {
        if (testFirst) writeTest();
        writeAddresses(this.#group.first, this.#checkpoints, body);
        this.#inside({ mask: live, left: label, ended: null, together }, () => {
          writeBody();
          this.write(update, live);
        });
        if (!testFirst) writeTest();
      };
      const takeOut = () => {
        if (test === null) return;
        eachVectorSharing(this.#group, [test], (vector, shared) => {
          pushLanes(this.#group, shared, test, vector);
          code.get(live[vector]!).op('v128.and').set(live[vector]!);
        });
      };
      const pushAny = () => {
        pushCombined(code, live, 'v128.or');
        code.op('v128.any_true');
      };
      const writeTurnOrLeave = (exit: Label) =>
        writeTurn(() => {
          takeOut();
          pushAny();
          code.op('i32.eqz').brIf(exit);
        });
      if (goesInBursts(lanes, loop, vectors)) {
        unit.tell('bursts', 'turns of a loop between two tests whether any lane is left');
        const byVector = goesByVector(lanes, loop, test);
        const write = () => writeTurn(takeOut);
        const writeTurnOfBurst = byVector ? () => this.#oneByOne(write) : write;
        writeInBursts(code, { left, writeTurn: writeTurnOrLeave, writeTurnOfBurst, pushAny });
      } else {
        code.block((exit) => {
          code.loop((top) => {
            if (left !== null) writeCount(code, left, 1, exit);
            writeTurnOrLeave(exit);
            code.br(top);
          });
        });
      }
      this.#entered = around;
    });
  }

  /** Writes one vector after the other. */
  #oneByOne(write: () => void): void {
    const whole = this.#group;
    for (let only = 0; only < whole.vectors; only += 1) {
      this.#group = { ...whole, only };
      write();
    }
    this.#group = whole;
  }

  /** Whether lanes that come to a jump out of a list come there together: by tests that are the same for all. */
  #leaveTogether(list: List, inner: readonly number[] = []): boolean {
    return list.some((statement) => {
      switch (statement.kind) {
        case 'break':
        case 'continue':
          return !inner.includes(statement.label);
        case 'if':
          if (!this.#group.lanes.isUniform(statement.test)) return false;
          return (
            this.#leaveTogether(statement.then, inner) || this.#leaveTogether(statement.otherwise, inner)
          );
        case 'block':
        case 'loop':
          return this.#leaveTogether(statement.body, [...inner, statement.label]);
        default:
          return false;
      }
    });
  }

  /** The mask that a variable's new values need: none where the lanes that have left their loop never read it again. */
  #maskFor(variable: number, mask: Mask | null): Mask | null {
    if (mask === null || this.#entered?.mask !== mask || has(this.#entered.after, variable)) return mask;
    this.#group.unit.tell('dead', 'values that lanes keep no more when they have left a loop');
    return null;
  }

  #assign(statement: Structure<'assign'>, around: Mask | null): void {
    const { code, lanes, first, unit } = this.#group;
    const { variable, value } = statement;
    const mask = this.#maskFor(variable, around);
    if (!lanes.varies(variable)) {
      if (around === null || !this.#leavable.some(({ together }) => together)) {
        writeStatement(first, statement);
        return;
      }
      pushCombined(code, around, 'v128.or');
      code.op('v128.any_true').if(() => writeStatement(first, statement));
      return;
    }
    const added = mask === null ? null : addedTo(variable, value);
    const write = (vector: number, shared: Shared) => {
      const local = this.#group.variable(variable, vector);
      if (added !== null) {
        code.get(local);
        if (added.operator === 'add' && constantOf(added.right) === 1) {
          // A mask is -1 where a lane is there.
          code.get(mask![vector]!).op('i32x4.sub').set(local);
          return;
        }
        pushLanes(this.#group, shared, added.right, vector);
        code.get(mask![vector]!).op('v128.and', laneInstruction(added.operator, added.type)!).set(local);
        return;
      }
      pushLanes(this.#group, shared, value, vector);
      if (mask !== null) {
        code.get(local);
        this.#pushMaskOf(mask, value.type, vector);
        writeSelect(code, unit);
      }
      code.set(local);
    };
    eachVectorSharing(this.#group, [value], write, value.type);
  }

  /** Pushes the mask for a vector of a type's values. */
  #pushMaskOf(mask: Mask, type: ValueType, vector: number): void {
    const { code } = this.#group;
    if (type !== 'f64') {
      code.get(mask[vector]!);
      return;
    }
    code.get(mask[vector >> 1]!);
    writeMaskOfPair(code, vector);
  }

  /** Stores only the lanes of the mask: memory beside them may be another thread's. */
  #store(statement: Structure<'store'>, mask: Mask | null): void {
    const { code, unit, lanes } = this.#group;
    const { array, value } = statement;
    const whole = unit.elementOf(array);
    const part = partOf(whole, statement.component);
    const pairs = value.type === 'f64';
    const isStrided = lanes.shapeOf(statement) === 'strided';
    const apart = isStrided ? lanes.strideOf(statement) : bytesOf(whole);
    const write = (vector: number, shared: Shared) => {
      if (mask === null) {
        writeVectorStore(this.#group, shared, statement, vector);
        return;
      }
      const there = shared.locals.get('mask') ?? shared.take('i32');
      const held = shared.locals.get('value') ?? shared.take('v128');
      shared.locals.set('mask', there).set('value', held);
      const { address, offset } = placeOf(this.#group, shared, statement);
      const at = offset + part.offset + apart * (pairs ? 2 : 4) * vector;
      pushLanes(this.#group, shared, value, vector);
      code
        .set(held)
        .get(mask[pairs ? vector >> 1 : vector]!)
        .op('i32x4.bitmask');
      if (pairs) {
        if (vector % 2 === 1) code.i32(2).op('i32.shr_u');
        code.i32(3).op('i32.and');
      }
      code
        .tee(there)
        .i32(pairs ? 3 : 15)
        .op('i32.eq');
      code.if(
        () => {
          if (isStrided) {
            writeStridedStores(this.#group, shared, [statement], vector, () => void code.get(held));
            return;
          }
          code.get(address).get(held);
          writeLaneStore(code, part.element, at);
        },
        () => {
          code.get(address);
          if (at > 0) code.address(unit.addressType, at).op(`${unit.addressType}.add`);
          code.get(held).get(there).call(unit.storeFunction(part.element, apart));
        },
      );
    };
    eachVectorSharing(this.#group, [value], write, value.type);
  }
}

/** For `variable += right` and the like, where adding zero is doing nothing. */
function addedTo(variable: number, value: Expression): (Expression & { readonly kind: 'binary' }) | null {
  if (value.kind !== 'binary' || value.left.kind !== 'variable' || value.left.id !== variable) return null;
  const { operator, type } = value;
  if (type !== 'i32' && type !== 'u32') return null;
  return ['add', 'subtract', 'or', 'xor'].includes(operator) ? value : null;
}
