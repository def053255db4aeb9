// Writes the function that runs a cohort until it must wait.
//
//   resume(record, arena, block, cohort, parts) → one of `outcomes`, negative after a fault
//
// Its code is that of the segments, one after the other, inside a loop: a jump to a segment sets
// its number and goes round, through a table of branches; to the next one it just goes on. With
// `parts`, a cohort of which some threads may go on parts from those that must wait.

import type { Expression } from '../../../compiler/ir.ts';
import type { End, Head, Segment, Step } from '../../../compiler/ir-cohorts.ts';
import type { CohortUniformity } from '../../analysis/cohorts.ts';
import { readBy } from '../../analysis/walk.ts';
import { Code, type FunctionReference, type Label, type Local } from '../encoder/code.ts';
import { pushExpression } from '../expressions.ts';
import { LaunchValues } from '../launch-values.ts';
import { writeStatement } from '../statements.ts';
import type { ThreadContext } from '../thread-context.ts';
import type { Unit } from '../unit.ts';
import { Variables } from '../variables.ts';
import { returned, writeCall } from './calls.ts';
import { Cohort } from './cohort.ts';
import type { CohortSplit } from './cohort-split.ts';
import { cohortFields, type StatesLayout } from './layout.ts';
import { RegionWriter } from './regions.ts';
import { type CohortWriter, contextOf } from './writer.ts';

/** What became of a cohort that was resumed: it could not go on, went on until it must wait, or lets others go on. */
export const outcomes = { waits: 0, progressed: 1, yielded: 2 } as const;

const parameters = ['record', 'arena', 'block', 'cohort', 'parts'] as const;

export interface ResumeParts {
  readonly unit: Unit;
  readonly layout: StatesLayout;
  readonly cohortSplit: CohortSplit;
  readonly facts: CohortUniformity;
  readonly segments: readonly Segment[];
}

/** Adds `resume` of a rank group to the module; returns whether it runs any threads in lanes. */
export function addResume(parts: ResumeParts): {
  readonly resume: FunctionReference;
  readonly vectorised: boolean;
  readonly variables: Variables;
} {
  const writer = new ResumeWriter(parts);
  const resume = writer.write();
  return { resume, vectorised: writer.vectorised, variables: writer.variables };
}

class ResumeWriter implements CohortWriter {
  readonly unit: Unit;
  readonly layout: StatesLayout;
  readonly code: Code;
  readonly launch: LaunchValues;
  readonly variables: Variables;
  readonly cohort: Cohort;
  readonly uniform: ThreadContext;
  readonly #cohortSplit: CohortSplit;
  readonly #facts: CohortUniformity;
  readonly #regions: RegionWriter;
  readonly #segments: readonly Segment[];
  readonly #parts: Local;
  readonly #next: Local;
  readonly #progress: Local;
  #dispatch: Label | null = null;

  constructor({ unit, layout, cohortSplit, facts, segments }: ResumeParts) {
    this.unit = unit;
    this.layout = layout;
    this.code = new Code(parameters.map((name) => ({ name, type: 'i32' })));
    const [record, arena, block, cohort, parts] = [0, 1, 2, 3, 4];
    this.launch = new LaunchValues(unit, this.code, { record, arena, block });
    this.variables = new Variables(unit, this.code, this.launch);
    this.cohort = new Cohort(unit, this.code, cohort);
    this.#cohortSplit = cohortSplit;
    this.#segments = segments;
    this.#facts = facts;
    this.#parts = parts;
    this.#next = this.code.local('i32', 'segment');
    this.#progress = this.code.local('i32', 'progress');
    this.uniform = contextOf(this, {
      pushRank: () => this.cohort.pushFirstRank(),
      cached: () => null,
      finish: () => {
        throw new Error('a cohort returns at the end of a segment');
      },
      collective: (call) => {
        throw new Error(`${call.intrinsic} is a step of a segment`);
      },
    });
    const maySplit = segments.some((segment) => this.#maySplitAt(segment));
    this.#regions = new RegionWriter(this, { facts, maySplit });
  }

  get vectorised(): boolean {
    return this.#regions.vectorised;
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
    this.#writeEnd(end, number);
  }

  #writeHead({ wait, live, loads }: Head): void {
    // What the test reads, the wait finds; what is read behind it is found when it is over.
    const tested = new Set(wait === null ? [] : readBy(wait.operation.test));
    this.#writeReload(live.filter((id) => tested.has(id)));
    if (wait !== null) this.#writeWait(wait.operation.test, loads);
    this.#writeReload(live.filter((id) => !tested.has(id)));
    this.code.i32(1).set(this.#progress);
  }

  #writeReload(live: readonly number[]): void {
    for (const id of live) {
      this.cohort.pushValue(this.layout.value(id), this.unit.wasmTypeOfVariable(id));
      this.code.set(this.variables.local(id));
    }
  }

  #maySplitAt({ head, end }: Segment): boolean {
    if (end.kind === 'split') return true;
    const wait = head?.wait ?? null;
    return wait !== null && !this.#facts.isUniformNow(wait.operation.test);
  }

  /** Leaves if the threads cannot go on; some of a cohort's may be able to and others not. */
  #writeWait(test: Expression, loads: readonly number[]): void {
    const { code, cohort } = this;
    const leave = () => void code.get(this.#progress).op('return');
    if (this.#facts.isUniformNow(test)) {
      pushExpression(this.uniform, test);
      code.op('i32.eqz').if(leave);
      return;
    }
    code.withTemporary('i32', (waiting) => {
      code.i32(0).set(waiting);
      cohort.forEachThread((rank, position) => {
        code.withTemporary('i32', (waits) => {
          for (const id of loads) this.variables.writeReload(id, rank);
          pushExpression(this.#regions.threadContext(rank, null), test);
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
    this.code
      .get(this.launch.scratch())
      .get(this.cohort.record)
      .i32(threadCode)
      .call(this.#cohortSplit.split);
  }

  #writeStep(step: Step): void {
    switch (step.kind) {
      case 'region':
        this.#regions.write(step.region);
        return;
      case 'once':
        writeStatement(this.uniform, step.statement);
        return;
      case 'call':
        writeCall(this, this.#facts, step.call, (rank) => this.#regions.threadContext(rank, null));
        return;
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
      case 'suspend':
        this.#writePlace(end.to);
        this.#goTo(end.to, number);
        return;
      case 'yield':
        this.#writePlace(end.to);
        code.i32(outcomes.yielded).op('return');
        return;
      case 'split':
        this.#writeSplit(end, number);
        return;
      case 'finish':
        this.cohort.setField(cohortFields.segment, () => void code.i32(returned));
        code.i32(1).op('return');
        return;
      default:
        end satisfies never;
    }
  }

  /** Goes on at a segment; what comes next in the code is reached without a jump. */
  #goTo(to: number, from: number): void {
    if (to !== from + 1) this.#jumpTo(to);
  }

  #jumpTo(to: number): void {
    this.code.i32(to).set(this.#next).br(this.#dispatch!);
  }

  /** Keeps where the cohort enters next, and what it finds there. */
  #writePlace(to: number): void {
    this.#writeValues(this.#liveAt(to));
    this.cohort.setField(cohortFields.segment, () => void this.code.i32(to));
  }

  #liveAt(segment: number): readonly number[] {
    return this.#segments[segment]!.head!.live;
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
  #writeSplit({ by, next, exits }: Extract<End, { kind: 'split' }>, number: number): void {
    const { code, cohort } = this;
    code.withTemporary('i32', (sum) => {
      code.i32(0).set(sum);
      this.#regions.writeRegion(by, sum);
      code.get(sum).if(() => {
        if (exits.length === 1) {
          code
            .get(sum)
            .get(cohort.count)
            .op('i32.eq')
            .if(() => this.#jumpTo(exits[0]!.to));
        }
        this.#writeValues(new Set(exits.flatMap(({ entry }) => this.#liveAt(entry))));
        code.withTemporary('i32', (other) => {
          exits.forEach(({ to, entry }, position) => {
            this.#pushSplit(position + 1);
            code.tee(other).get(cohort.record).op('i32.eq');
            code.if(() => {
              cohort.writeMembers();
              this.#jumpTo(to);
            });
            code.get(other).if(() => {
              code.get(other).i32(entry).memory('i32.store', cohortFields.segment);
            });
          });
        });
        cohort.writeMembers();
      });
    });
    this.#goTo(next, number);
  }
}
