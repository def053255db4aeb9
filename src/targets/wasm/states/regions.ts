// What the threads of a cohort do one by one: regions, and the codes by which they part.

import type { Expression } from '../../../compiler/ir.ts';
import type { CohortRegion } from '../../../compiler/ir-cohorts.ts';
import type { CohortUniformity } from '../../analysis/cohorts.ts';
import { factsOf } from '../../analysis/facts.ts';
import type { Uniformity } from '../../analysis/uniformity.ts';
import { assignedIn, operandsOf } from '../../analysis/walk.ts';
import type { Label, Local } from '../encoder/code.ts';
import { pushExpression } from '../expressions.ts';
import { Hoisting } from '../hoisting.ts';
import { writeMark } from '../marks.ts';
import { type RowsParts, writeRows } from '../rows.ts';
import { Lanes } from '../simd/lanes.ts';
import { planLanes } from '../simd/region.ts';
import { writeStatements } from '../statements.ts';
import type { ThreadContext } from '../thread-context.ts';
import { type CohortWriter, contextOf } from './writer.ts';

export interface RegionFacts {
  readonly facts: CohortUniformity;
  /** Whether threads of the rank group may diverge; else they all are where one is. */
  readonly maySplit: boolean;
}

export class RegionWriter {
  readonly #writer: CohortWriter;
  readonly #facts: CohortUniformity;
  readonly #maySplit: boolean;
  readonly #lanes: Lanes;
  /** Where a thread's `return` goes, in the region that is being written. */
  #returns: Label | null = null;
  /** Whether any threads are run in lanes. */
  vectorised = false;

  constructor(writer: CohortWriter, { facts, maySplit }: RegionFacts) {
    const { unit } = writer;
    this.#writer = writer;
    this.#facts = facts;
    this.#maySplit = maySplit;
    this.#lanes = new Lanes(unit, inLanes(facts, factsOf(unit.program).among('row')));
  }

  #writeCode(threadCode: Local, position: Local, sum: Local): void {
    const { code } = this.#writer;
    code.get(position).get(threadCode).memory('i32.store', this.#writer.layout.membersBytes);
    code.get(sum).get(threadCode).op('i32.add').set(sum);
  }

  /** A region that all threads leave alike: while the rank group is whole, by rows and in lanes. */
  write(region: CohortRegion): void {
    const { code, cohort } = this.#writer;
    const inRows = { ...region, resets: [] };
    const canBeWhole = region.exits.length === 0 && region.gives === null;
    if (canBeWhole && !this.#maySplit) {
      this.#writeRows(inRows);
    } else if (canBeWhole && planLanes(this.#lanes, inRows) !== null) {
      cohort.pushIsWhole();
      code.if(
        () => this.#writeRows(inRows),
        () => this.writeRegion(region, null),
      );
    } else {
      this.writeRegion(region, null);
    }
  }

  #writeRows(region: RowsParts['region']): void {
    const { unit, code, variables, uniform } = this.#writer;
    const { vectorised } = writeRows({
      unit,
      code,
      region,
      lanes: this.#lanes,
      uniformity: this.#facts,
      variables,
      uniform,
      threadContext: (rank, _, hoisting) => this.threadContext(rank, hoisting),
    });
    if (vectorised) this.vectorised = true;
  }

  /** All threads of the cohort carry out the region, one after the other; `sum`, 0 before, gets that of their codes. */
  writeRegion(region: CohortRegion, sum: Local | null): void {
    const { code, cohort, variables, uniform } = this.#writer;
    const hoisting = new Hoisting(uniform, this.#facts, assignedIn(region.body));
    const threads = code.capture(() => {
      cohort.forEachThread((rank, position) => {
        code.withTemporary('i32', (threadCode) => {
          for (const id of region.loads) variables.writeReload(id, rank);
          const context = this.threadContext(rank, hoisting);
          if (sum !== null) code.i32(0).set(threadCode);
          this.#writeWithExits(region, context, threadCode);
          for (const id of region.stores) variables.writeSpill(id, rank);
          if (region.gives !== null) {
            pushExpression(context, region.gives.test);
            code.op('i32.eqz').set(threadCode);
          }
          if (sum !== null) this.#writeCode(threadCode, position, sum);
        });
      });
    });
    hoisting.write();
    code.append(threads);
  }

  /** A jump out of the region leads behind it, and gives the thread the code of that exit. */
  #writeWithExits({ body, exits }: CohortRegion, context: ThreadContext, threadCode: Local): void {
    const { code } = this.#writer;
    if (exits.length === 0) {
      writeStatements(context, body);
      return;
    }
    code.block((end) => {
      const write = (exit: number) => {
        if (exit === 0) {
          writeStatements(context, body);
          code.br(end);
          return;
        }
        code.block((label) => {
          const jump = exits[exit - 1]!;
          if (jump.kind === 'return') this.#returns = label;
          else {
            const known = context.labels.get(jump.label) ?? { break: label, continue: label };
            context.labels.set(jump.label, { ...known, [jump.kind]: label });
          }
          write(exit - 1);
        });
        code.i32(exit).set(threadCode);
        if (exit < exits.length) code.br(end);
      };
      write(exits.length);
    });
  }

  /** The context of a single thread. */
  threadContext(rank: Local, hoisting: Hoisting | null): ThreadContext {
    const context = contextOf(this.#writer, {
      pushRank: () => void this.#writer.code.get(rank),
      cached: (expression) => hoisting?.localOf(expression) ?? null,
      finish: () => void this.#writer.code.br(this.#returns!),
      collective: (call) => {
        if (call.intrinsic === 'mark') {
          writeMark(context, call);
        } else {
          throw new Error(`${call.intrinsic} is a step of a segment`);
        }
      },
    });
    return context;
  }
}

/** What lanes may take for the same: also what is so for no longer than the threads of a row are together. */
function inLanes(facts: CohortUniformity, row: Uniformity): Uniformity {
  const varies = (variable: number) => facts.varies(variable) && row.varies(variable);
  const isUniform = (expression: Expression): boolean => {
    switch (expression.kind) {
      case 'variable':
        return !varies(expression.id);
      case 'builtin':
      case 'load':
        return row.isUniform(expression);
      default:
        return operandsOf(expression).every(isUniform);
    }
  };
  return { ...row, varies, isUniform };
}
