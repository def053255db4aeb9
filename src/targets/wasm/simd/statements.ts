// The code of statements for the lanes of a group.
//
// Here all lanes of a group are there. Where they part, at a branch or a loop whose test differs
// between them, they go through it under a mask (masked.ts), or, where that cannot be, one by
// one: a scalar fallback, with the variables passed through the block's scratch memory.
// The same fallback is where lanes go when a check of theirs fails.

import type { Expression, Statement } from '../../../compiler/ir.ts';
import type { Liveness } from '../../analysis/liveness.ts';
import { copyOf } from '../copies.ts';
import type { Label, Local } from '../encoder/code.ts';
import { pushExpression } from '../expressions.ts';
import { writeLoop, writeStatement } from '../statements.ts';
import type { ThreadContext } from '../thread-context.ts';
import type { Variables } from '../variables.ts';
import type { Checkpoints } from './checkpoints.ts';
import { advanceAddresses, writeAddresses, writeMoving } from './checks.ts';
import { pushAgreement } from './ends.ts';
import type { Entrance } from './entering.ts';
import {
  eachVectorSharing,
  indexParts,
  pushLanes,
  writeVectorCopy,
  writeVectorStore,
} from './expressions.ts';
import type { GroupContext } from './group.ts';
import { writeHalves } from './halves.ts';
import { writeStridedStores } from './interleaved.ts';
import { MaskedWriter } from './masked.ts';
import { pushCombined, pushMask } from './masks.ts';
import { Cuts, vectorsOfVariable } from './near.ts';
import { writeOneByOne } from './one-by-one.ts';
import { vectorsOf } from './pairs.ts';
import { type Run, runAt } from './runs.ts';
import { writeLaneAtomics } from './separate.ts';

type Structure<K> = Extract<Statement, { kind: K }>;
type List = readonly Statement[];

export interface LaneWriterParts {
  readonly group: GroupContext;
  readonly checkpoints: Checkpoints;
  readonly variables: Variables;
  /** Rank of the thread in the first lane. */
  readonly rank: Local;
  /** The context of a single thread whose rank a local holds. */
  readonly threadContext: (rank: Local) => ThreadContext;
  /** Of the region. */
  readonly liveness: Liveness;
  readonly entrance: Entrance;
}

export class LaneWriter {
  readonly #group: GroupContext;
  readonly #checkpoints: Checkpoints;
  readonly #variables: Variables;
  readonly #rank: Local;
  readonly #threadContext: (rank: Local) => ThreadContext;
  readonly #masked: MaskedWriter;
  readonly #liveness: Liveness;
  readonly #entrance: Entrance;
  readonly #cuts: Cuts;

  constructor({ group, checkpoints, variables, rank, threadContext, liveness, entrance }: LaneWriterParts) {
    this.#entrance = entrance;
    this.#group = group;
    this.#cuts = new Cuts(group);
    this.#checkpoints = checkpoints;
    this.#variables = variables;
    this.#rank = rank;
    this.#threadContext = threadContext;
    this.#liveness = liveness;
    this.#masked = new MaskedWriter(group, checkpoints, liveness);
  }

  /** Writes statements that all lanes of a group carry out. */
  writeList(list: List): void {
    const cuts = !this.#group.unit.forProcessor && this.#cuts.areWanted(list);
    for (let at = 0; at < list.length; ) {
      const inHalves = writeHalves(this.#group, this.#liveness, list, at);
      at += inHalves;
      if (inHalves > 0) continue;
      const run = runAt(this.#group, list, at);
      const statements = run?.statements ?? [list[at]!];
      if (run === null) this.#write(list[at]!);
      else this.#run(run);
      at += statements.length;
      if (cuts && at < list.length)
        this.#cuts.write(statements.flatMap((each) => vectorsOfVariable(this.#group, each)));
    }
  }

  /** Statements that all lanes carry out, vector by vector. */
  #run({ kind, statements }: Run): void {
    const { code } = this.#group;
    const values = statements.map(({ value }) => value);
    eachVectorSharing(
      this.#group,
      values,
      (vector, shared) => {
        const push = (value: Expression) => pushLanes(this.#group, shared, value, vector);
        if (kind === 'stores') {
          writeStridedStores(this.#group, shared, statements, vector, push);
          return;
        }
        for (const { variable, value } of statements) {
          push(value);
          code.set(this.#group.variable(variable, vector));
        }
      },
      values[0]!.type,
    );
  }

  /** Branches to `slow` unless what a list accesses is there for so many threads from the first lane on. */
  writeChecks(list: List, threads: number, slow: Label): void {
    this.#entrance.writeChecks(list, threads, slow);
  }

  /** Computes the addresses of what a list accesses, for the group whose first lane is next. */
  writeAddresses(list: List): void {
    writeAddresses(this.#group.first, this.#checkpoints, list);
  }

  /** Moves them on to the next group of the row. */
  advanceAddresses(region: List): void {
    const { first, vectors } = this.#group;
    advanceAddresses(first, this.#checkpoints, region, 4 * vectors);
  }

  /** Brings the group's values of a variable from scratch memory. */
  writeReload(id: number): void {
    const { code } = this.#group;
    this.#eachVectorOf(id, (vector) => {
      this.#variables.pushAddress(id, this.#rank);
      code.memory('v128.load', this.#variables.scratch(id) + 16 * vector);
      if (this.#isBool(id)) code.op('i32x4.neg');
      code.set(this.#group.variable(id, vector));
    });
  }

  /** Leaves the group's values of a variable in scratch memory. */
  writeSpill(id: number): void {
    const { code } = this.#group;
    this.#eachVectorOf(id, (vector) => {
      this.#variables.pushAddress(id, this.#rank);
      code.get(this.#group.variable(id, vector));
      if (this.#isBool(id)) code.op('i32x4.neg');
      code.memory('v128.store', this.#variables.scratch(id) + 16 * vector);
    });
  }

  #eachVectorOf(id: number, write: (vector: number) => void): void {
    const { unit, vectors } = this.#group;
    const count = vectors * vectorsOf(unit.program.variables[id]!.type);
    this.#eachOf(count, write);
  }

  #isBool(id: number): boolean {
    return this.#group.unit.program.variables[id]!.type === 'bool';
  }

  #write(statement: Statement): void {
    const { code, lanes, first } = this.#group;
    switch (statement.kind) {
      case 'assign':
        this.#assign(statement);
        return;
      case 'store':
        if (lanes.isUniform(statement.index) && statement.array.space !== 'local') {
          writeStatement(first, statement);
        } else {
          this.#store(statement);
        }
        return;
      case 'if':
        this.#if(statement);
        return;
      case 'loop':
        this.#loop(statement);
        return;
      case 'block':
        if (lanes.modeOf(statement) === 'masked') {
          this.#masked.write([statement], null);
          return;
        }
        code.block((exit) => {
          first.labels.set(statement.label, { break: exit, continue: null });
          this.writeList(statement.body);
        });
        return;
      case 'break':
      case 'continue':
        writeStatement(first, statement);
        return;
      case 'call':
        this.#call(statement);
        return;
      default:
        throw new Error(`lanes cannot carry out a ${statement.kind}`);
    }
  }

  #call(call: Structure<'call'>): void {
    const { first } = this.#group;
    if (call.intrinsic === 'atomic') {
      eachVectorSharing(this.#group, [call.index, call.value], (vector, shared) => {
        const push = (operand: Expression) => pushLanes(this.#group, shared, operand, vector);
        writeLaneAtomics(this.#group, call, vector, indexParts(this.#group, shared, call.index, vector), () =>
          push(call.value),
        );
      });
      return;
    }
    const copy = copyOf(call);
    if (copy === null) {
      writeStatement(first, call);
      return;
    }
    // What one of them may not do, none of the lanes may: they are all here, and made it together.
    this.#eachVector((vector) => writeVectorCopy(this.#group, copy, vector));
  }

  #assign(statement: Structure<'assign'>): void {
    const { code, lanes, first } = this.#group;
    const { variable, value } = statement;
    if (!lanes.varies(variable)) {
      writeStatement(first, statement);
      return;
    }
    eachVectorSharing(
      this.#group,
      [value],
      (vector, shared) => {
        pushLanes(this.#group, shared, value, vector);
        code.set(this.#group.variable(variable, vector));
      },
      value.type,
    );
  }

  #store(statement: Structure<'store'>): void {
    eachVectorSharing(
      this.#group,
      [statement.value],
      (vector, shared) => writeVectorStore(this.#group, shared, statement, vector),
      statement.value.type,
    );
  }

  #if(statement: Structure<'if'>): void {
    const { code, lanes, first } = this.#group;
    const { test, then, otherwise } = statement;
    switch (lanes.modeOf(statement)) {
      case 'uniform':
        pushExpression(first, test);
        code.if(
          () => this.writeList(then),
          otherwise.length === 0 ? undefined : () => this.writeList(otherwise),
        );
        return;
      case 'masked':
        this.#masked.write([statement], null);
        return;
      default:
        this.#branch(statement);
    }
  }

  /** Together if all lanes go the same way. */
  #branch(statement: Structure<'if'>): void {
    const { code, lanes } = this.#group;
    const { test, then, otherwise } = statement;
    const needsFallback =
      [then, otherwise].some((list) => this.#checkpoints.checksAt(list).length > 0) ||
      ![then, otherwise].every((list) => lanes.canMask(list));
    this.#withFallback(needsFallback, statement, (slow, done) => {
      code.withTemporaries((take) => {
        const locals = Array.from({ length: this.#group.vectors }, () => take('v128'));
        const writeTogether = (list: List) => {
          if (slow !== null) this.#entrance.enter(list, slow);
          this.writeList(list);
          code.br(done);
        };
        // Where lanes mostly agree that the test has a value, whatever there is to do then comes first.
        const usual = then.length > 0;
        const agreed = take('i32');
        const writeMask = () => void pushMask(this.#group, test, (vector) => locals[vector]!);
        const pushAgreed = (value: boolean) => {
          pushCombined(code, locals, value ? 'v128.and' : 'v128.or');
          if (value) code.op('i32x4.all_true');
          else code.op('v128.any_true', 'i32.eqz');
        };
        if (pushAgreement(this.#group, test, usual)) {
          code
            .tee(agreed)
            .op('i32.eqz')
            .if(() => {
              writeMask();
              pushAgreed(usual);
              code.set(agreed);
            });
          code.get(agreed);
        } else {
          writeMask();
          pushAgreed(usual);
        }
        code.if(() => writeTogether(usual ? then : otherwise));
        pushAgreed(!usual);
        code.if(() => writeTogether(usual ? otherwise : then));
        const mask = locals;
        if (![then, otherwise].every((list) => lanes.canMask(list))) return;
        if (slow !== null) {
          this.#entrance.enterSome(then, slow, mask, true);
          this.#entrance.enterSome(otherwise, slow, mask, false);
        }
        this.#masked.writeBranches(statement, mask, null);
        if (slow !== null) code.br(done);
      });
    });
  }

  #loop(statement: Structure<'loop'>): void {
    const { lanes, first, code } = this.#group;
    const { test, body, update } = statement;
    const mode = lanes.modeOf(statement);
    if (mode === 'masked') {
      this.#masked.write([statement], null);
      return;
    }
    const checks = this.#checkpoints.checksAt(body);
    const rest: Structure<'loop'> = mode === 'branch' ? { ...statement, testFirst: true } : statement;
    this.#withFallback(checks.length > 0 || mode === 'branch', rest, (slow, done) => {
      code.withTemporaries((takeStep) => {
        const { addresses, writeMoves } = writeMoving(first, this.#checkpoints, statement, takeStep);
        const parts = {
          writeBody: () => {
            this.#entrance.enter(body, slow, addresses);
            this.writeList(body);
          },
          writeUpdate: () => {
            this.writeList(update);
            writeMoves();
          },
        };
        if (mode === 'uniform' || test === null) {
          writeLoop(first, statement, { ...parts, pushTest: (each) => pushExpression(first, each) });
        } else {
          const askEach = () => {
            // Mostly the loop ends for all lanes at once.
            if (pushAgreement(this.#group, test, false)) code.brIf(done);
            code.withTemporaries((take) => {
              const mask = pushMask(this.#group, test, () => take('v128'));
              pushCombined(code, mask, 'v128.or');
              code.op('v128.any_true', 'i32.eqz').brIf(done);
              pushCombined(code, mask, 'v128.and');
              code.op('i32x4.all_true', 'i32.eqz').brIf(slow!);
            });
          };
          const pushTest = () => {
            if (pushAgreement(this.#group, test, true)) code.op('i32.eqz').if(askEach);
            else askEach();
            code.i32(1);
          };
          writeLoop(first, statement, { ...parts, pushTest });
        }
      });
      if (slow !== null) code.br(done);
    });
  }

  /** Writes code that may branch to a scalar fallback, where each lane carries out the statement by itself. */
  #withFallback(
    needed: boolean,
    statement: Statement,
    write: (slow: Label | null, done: Label) => void,
  ): void {
    const { code } = this.#group;
    code.block((done) => {
      if (!needed) {
        write(null, done);
        return;
      }
      code.block((slow) => write(slow, done));
      writeOneByOne(statement, {
        group: this.#group,
        variables: this.#variables,
        threadContext: this.#threadContext,
        writeSpill: (id) => this.writeSpill(id),
        writeReload: (id) => this.writeReload(id),
      });
    });
  }

  #eachVector(write: (vector: number) => void): void {
    this.#eachOf(this.#group.vectors, write);
  }

  #eachOf(vectors: number, write: (vector: number) => void): void {
    const { code, unit } = this.#group;
    for (let vector = 0; vector < vectors; vector += 1) {
      unit.mark(code);
      write(vector);
    }
    unit.mark(code);
  }
}
