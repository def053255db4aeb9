// Writes the function that runs a cohort until it must wait.
//
//   resume(record, arena, block, cohort, parts) → 1 if it went on, 0 if it could not, -1 after a fault
//
// Its code is that of the segments, one after the other, inside a loop: a jump to a segment sets
// its number and goes round, through a table of branches; to the next one it just goes on. With
// `parts`, a cohort of which some threads may go on parts from those that must wait.

import type { Expression, Group } from '../../../compiler/ir.ts';
import type { Liveness } from '../analysis/liveness.ts';
import { analyseUniformity, type Uniformity } from '../analysis/uniformity.ts';
import { assignedIn, operandsOf } from '../analysis/walk.ts';
import { pipelineStates } from '../block-pipelines.ts';
import { writeShareOfCopy } from '../copies.ts';
import { Code, type FunctionReference, type Label, type Local } from '../encoder/code.ts';
import { pushExpression } from '../expressions.ts';
import { Hoisting } from '../hoisting.ts';
import { LaunchValues } from '../launch-values.ts';
import type { Region as RegionOfRows } from '../plan.ts';
import { writeRows } from '../rows.ts';
import { Lanes } from '../simd/lanes.ts';
import { planLanes } from '../simd/region.ts';
import { writeStatement, writeStatements } from '../statements.ts';
import type { Frame, ThreadContext } from '../thread-context.ts';
import type { Unit } from '../unit.ts';
import { Variables } from '../variables.ts';
import { writeCall, writeHandleCheck, writeReturn } from './calls.ts';
import { Cohort } from './cohort.ts';
import type { CohortFacts } from './facts.ts';
import type { End, Head, Region, Segment, Step } from './flow.ts';
import { cohortFields, type StatesLayout } from './layout.ts';
import type { Meetings } from './meetings.ts';
import { pushNote, writeNote, writeOpening } from './opening.ts';
import type { Parting } from './parting.ts';
import { pushReady, type WaitingCall } from './waits.ts';
import type { CohortWriter } from './writer.ts';

const parameters = ['record', 'arena', 'block', 'cohort', 'parts'] as const;

export interface ResumeParts {
  readonly unit: Unit;
  readonly layout: StatesLayout;
  readonly parting: Parting;
  readonly meetings: Meetings;
  readonly facts: CohortFacts;
  readonly liveness: Liveness;
  readonly segments: readonly Segment[];
}

/** Adds `resume` of a team to the module; tells whether it runs any threads in lanes. */
export function addResume(parts: ResumeParts): {
  readonly resume: FunctionReference;
  readonly vectorised: boolean;
} {
  const writer = new ResumeWriter(parts);
  const resume = writer.write();
  return { resume, vectorised: writer.vectorised };
}

class ResumeWriter implements CohortWriter {
  readonly unit: Unit;
  readonly layout: StatesLayout;
  readonly code: Code;
  readonly launch: LaunchValues;
  readonly variables: Variables;
  readonly cohort: Cohort;
  readonly meetings: Meetings;
  readonly uniform: ThreadContext;
  readonly #parting: Parting;
  readonly #facts: CohortFacts;
  readonly #lanes: Lanes;
  /** Whether threads of the team may part; else they all are where one is. */
  readonly #maySplit: boolean;
  vectorised = false;
  readonly #segments: readonly Segment[];
  readonly #numbers: ReadonlyMap<Segment, number>;
  readonly #parts: Local;
  readonly #next: Local;
  readonly #progress: Local;
  #dispatch: Label | null = null;
  /** Where a thread's `return` goes, in the region that is being written. */
  #returns: Label | null = null;

  constructor({ unit, layout, parting, meetings, facts, liveness, segments }: ResumeParts) {
    this.unit = unit;
    this.layout = layout;
    this.code = new Code(parameters.map((name) => ({ name, type: 'i32' })));
    const [record, arena, block, cohort, parts] = [0, 1, 2, 3, 4];
    this.launch = new LaunchValues(unit, this.code, { record, arena, block });
    this.variables = new Variables(unit, this.code, this.launch);
    this.cohort = new Cohort(unit, this.code, cohort);
    this.meetings = meetings;
    this.#parting = parting;
    this.#facts = facts;
    this.#lanes = new Lanes(unit, inLanes(facts, analyseUniformity(unit.program, liveness, 'row')));
    this.#maySplit = segments.some((segment) => this.#maySplitAt(segment));
    this.#segments = segments;
    this.#numbers = new Map(segments.map((segment, number) => [segment, number]));
    this.#parts = parts;
    this.#next = this.code.local('i32', 'segment');
    this.#progress = this.code.local('i32', 'progress');
    this.uniform = this.#context({
      pushRank: () => this.cohort.pushFirstRank(),
      cached: () => null,
      finish: () => {
        throw new Error('a cohort returns at the end of a segment');
      },
      collective: (call) => {
        throw new Error(`${call.intrinsic} is a step of a segment`);
      },
    });
  }

  write(): FunctionReference {
    const { code, cohort } = this;
    const resume = this.unit.module.function(
      'resume',
      code,
      parameters.map(() => 'i32'),
      ['i32'],
    );
    const body = code.capture(() => {
      cohort.writeMembers();
      cohort.pushField(cohortFields.segment);
      code.set(this.#next);
      code.loop((dispatch) => {
        this.#dispatch = dispatch;
        this.#writeFrom(this.#segments.length - 1, []);
      });
      code.op('unreachable');
    });
    this.launch.writeLaunchPrologue();
    this.launch.writeBlockPrologue();
    code.append(body);
    return resume;
  }

  /** Writes the segments up to a number: each behind a block that is left to get to it. */
  #writeFrom(number: number, later: readonly Label[]): void {
    const { code } = this;
    code.block((label) => {
      const labels = [label, ...later];
      if (number > 0) this.#writeFrom(number - 1, labels);
      else code.get(this.#next).brTable(labels.slice(0, -1), labels.at(-1)!);
    });
    this.#writeSegment(number);
  }

  #writeSegment(number: number): void {
    const { head, steps, end } = this.#segments[number]!;
    if (head !== null) this.#writeHead(head);
    for (const step of steps) this.#writeStep(step);
    this.#writeEnd(end!, number);
  }

  #writeHead({ wait, live }: Head): void {
    const { code } = this;
    if (wait !== null) this.#writeWait(wait);
    for (const id of live) {
      const type = this.unit.wasmTypeOfVariable(id);
      code
        .get(this.cohort.record)
        .memory(`${type}.load`, this.layout.value(id))
        .set(this.variables.local(id));
    }
    code.i32(1).set(this.#progress);
  }

  #groupOf(call: WaitingCall): Group {
    return 'group' in call ? call.group : this.layout.pipelines.get(call.pipeline)!.group;
  }

  #maySplitAt({ head, end }: Segment): boolean {
    if (end!.kind === 'part') return true;
    const wait = head?.wait ?? null;
    return wait !== null && !this.cohort.isOneGroup(this.#groupOf(wait));
  }

  /** Leaves if the threads cannot go on. */
  #writeWait(call: WaitingCall): void {
    const { code, cohort } = this;
    const group = this.#groupOf(call);
    const leave = () => void code.get(this.#progress).op('return');
    if (cohort.isOneGroup(group)) {
      cohort.forEachGroup(group, (threads) => pushReady(this, call, threads));
      code.op('i32.eqz').if(leave);
      return;
    }
    // Each thread's group may be ready or not.
    code.withTemporary('i32', (waiting) => {
      code.i32(0).set(waiting);
      cohort.forEachThread((rank, position) => {
        code.withTemporary('i32', (waits) => {
          pushReady(this, call, cohort.groupOf(rank, group));
          code.op('i32.eqz').tee(waits).get(waiting).op('i32.add').set(waiting);
          code.get(position).get(waits).memory('i32.store', this.layout.membersBytes);
        });
      });
      code.get(waiting).if(() => {
        code.get(waiting).get(cohort.count).op('i32.eq').get(this.#parts).op('i32.eqz', 'i32.or').if(leave);
        this.#pushSplit(1);
        code.op('drop');
        cohort.writeMembers();
      });
    });
  }

  #pushSplit(threadCode: number): void {
    this.code.get(this.launch.scratch()).get(this.cohort.record).i32(threadCode).call(this.#parting.split);
  }

  #writeStep(step: Step): void {
    switch (step.kind) {
      case 'region':
        this.#writePlainRegion(step.region);
        return;
      case 'once':
        writeStatement(this.uniform, step.statement);
        return;
      case 'call':
        writeCall(this, step.call, (rank) => this.#threadContext(rank, null));
        return;
      case 'open':
        writeOpening(this, step.call);
        return;
      case 'role': {
        const { handle } = this.layout.pipelines.get(step.call.pipeline)!;
        this.cohort.setField(handle.state, () => void this.code.i32(pipelineStates[step.role]));
        return;
      }
      default:
        step satisfies never;
    }
  }

  #writeEnd(end: End, number: number): void {
    const { code } = this;
    switch (end.kind) {
      case 'jump':
        this.#goTo(end.to, number);
        return;
      case 'branch':
        pushExpression(this.uniform, end.test);
        code.if(
          () => this.#goTo(end.then, number),
          () => this.#goTo(end.otherwise, number),
        );
        return;
      case 'suspend': {
        this.#writeValues(end.to.head!.live);
        this.cohort.setField(cohortFields.segment, () => void code.i32(this.#numberOf(end.to)));
        this.#goTo(end.to, number);
        return;
      }
      case 'part':
        this.#writeParting(end, number);
        return;
      case 'finish':
        writeReturn(this);
        code.i32(1).op('return');
        return;
      default:
        end satisfies never;
    }
  }

  /** Goes on at a segment; what comes next in the code is reached without a jump. */
  #goTo(to: Segment, from: number): void {
    if (this.#numberOf(to) !== from + 1) this.#jumpTo(to);
  }

  #jumpTo(to: Segment): void {
    this.code.i32(this.#numberOf(to)).set(this.#next).br(this.#dispatch!);
  }

  #numberOf(segment: Segment): number {
    return this.#numbers.get(segment)!;
  }

  /** Keeps uniform variables in the cohort's record. */
  #writeValues(live: Iterable<number>): void {
    for (const id of live) {
      const type = this.unit.wasmTypeOfVariable(id);
      this.code.get(this.cohort.record).get(this.variables.local(id));
      this.code.memory(`${type}.store`, this.layout.value(id));
    }
  }

  /** Threads with the code of an exit leave the others; where all have it, the cohort stays whole. */
  #writeParting({ by, next, exits }: Extract<End, { kind: 'part' }>, number: number): void {
    const { code, cohort } = this;
    code.withTemporary('i32', (sum) => {
      code.i32(0).set(sum);
      if (by.kind === 'region') this.#writeRegion(by, sum);
      else this.#writeRoles(by.pipeline, sum);
      code.get(sum).if(() => {
        if (exits.length === 1) {
          code
            .get(sum)
            .get(cohort.count)
            .op('i32.eq')
            .if(() => this.#jumpTo(exits[0]!.to));
        }
        this.#writeValues(new Set(exits.flatMap(({ entry }) => entry.head.live)));
        code.withTemporary('i32', (other) => {
          exits.forEach(({ to, entry }, position) => {
            this.#pushSplit(position + 1);
            code.tee(other).get(cohort.record).op('i32.eq');
            code.if(() => {
              cohort.writeMembers();
              this.#jumpTo(to);
            });
            code.get(other).if(() => {
              code.get(other).i32(this.#numberOf(entry)).memory('i32.store', cohortFields.segment);
            });
          });
        });
        cohort.writeMembers();
      });
    });
    this.#goTo(next, number);
  }

  /** Code 0 for producers, 1 for consumers. */
  #writeRoles(pipeline: number, sum: Local): void {
    const { code, cohort } = this;
    const { notes } = this.layout.pipelines.get(pipeline)!;
    code.withTemporary('i32', (role) => {
      cohort.forEachThread((rank, position) => {
        pushNote(this, notes!, rank);
        code.memory('i64.load').op('i64.eqz').set(role);
        this.#writeCode(role, position, sum);
      });
    });
  }

  #writeCode(threadCode: Local, position: Local, sum: Local): void {
    const { code } = this;
    code.get(position).get(threadCode).memory('i32.store', this.layout.membersBytes);
    code.get(sum).get(threadCode).op('i32.add').set(sum);
  }

  /** A region that all threads leave alike: while the team is whole, by rows and in lanes. */
  #writePlainRegion(region: Region): void {
    const { code } = this;
    const inRows = { ...region, resets: [] };
    const canBeWhole = region.exits.length === 0 && region.yields === null;
    if (canBeWhole && !this.#maySplit) {
      this.#writeRows(inRows);
    } else if (canBeWhole && planLanes(this.#lanes, inRows) !== null) {
      this.cohort.pushIsWhole();
      code.if(
        () => this.#writeRows(inRows),
        () => this.#writeRegion(region, null),
      );
    } else {
      this.#writeRegion(region, null);
    }
  }

  #writeRows(region: RegionOfRows): void {
    const { unit, code, variables, uniform } = this;
    const { vectorised } = writeRows({
      unit,
      code,
      region,
      lanes: this.#lanes,
      uniformity: this.#facts,
      variables,
      uniform,
      threadContext: (rank, _, hoisting) => this.#threadContext(rank, hoisting),
      writePresence: (context, call) => writeHandleCheck(this, context, call),
    });
    if (vectorised) this.vectorised = true;
  }

  /** All threads of the cohort carry out the region, one after the other; `sum` gets that of their codes. */
  #writeRegion(region: Region, sum: Local | null): void {
    const { code, cohort, variables } = this;
    const hoisting = new Hoisting(this.uniform, this.#facts, assignedIn(region.statements));
    const threads = code.capture(() => {
      cohort.forEachThread((rank, position) => {
        code.withTemporary('i32', (threadCode) => {
          for (const id of region.loads) variables.writeReload(id, rank);
          const context = this.#threadContext(rank, hoisting);
          if (sum !== null) code.i32(0).set(threadCode);
          this.#writeWithExits(region, context, threadCode);
          for (const id of region.stores) variables.writeSpill(id, rank);
          if (region.yields !== null && region.yields.noteFor !== null) {
            writeNote(this, context, region.yields, rank);
          } else if (region.yields !== null) {
            pushExpression(context, region.yields.value);
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
  #writeWithExits({ statements, exits }: Region, context: ThreadContext, threadCode: Local): void {
    const { code } = this;
    if (exits.length === 0) {
      writeStatements(context, statements);
      return;
    }
    code.block((end) => {
      const write = (exit: number) => {
        if (exit === 0) {
          writeStatements(context, statements);
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

  #threadContext(rank: Local, hoisting: Hoisting | null): ThreadContext {
    const context = this.#context({
      pushRank: () => void this.code.get(rank),
      cached: (expression) => hoisting?.localOf(expression) ?? null,
      finish: () => void this.code.br(this.#returns!),
      collective: (call) => {
        if (call.intrinsic !== 'memcpyAsync') throw new Error(`${call.intrinsic} is a step of a segment`);
        writeHandleCheck(this, context, call);
        writeShareOfCopy(context, call);
      },
    });
    return context;
  }

  #context(frame: Omit<Frame, 'readVariable' | 'writeVariable' | 'fail'>): ThreadContext {
    const { unit, code, launch } = this;
    const complete: Frame = {
      ...frame,
      readVariable: (id) => void code.get(this.variables.local(id)),
      writeVariable: (id, push) => {
        push();
        code.set(this.variables.local(id));
      },
      fail: () => void code.i32(-1).op('return'),
    };
    return { unit, code, launch, frame: complete, labels: new Map() };
  }
}

/** What lanes may take for the same: also what is so for no longer than the threads of a row are together. */
function inLanes(facts: CohortFacts, row: Uniformity): Uniformity {
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
