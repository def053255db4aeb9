// What calls mean for threads that wait for one another: counting in words of their block, and waiting until a word
// has come far enough (ir-core.ts, `post` and `waitUntil`).
//
// A thread keeps in variables how often it came where. These are the same in all threads of a cohort, which does
// what its threads do all at once. What is counted for those who return stands at the end, where all returns lead.

import type { Call, Program, Statement } from '../../../compiler/ir.ts';
import { mapStatements, replaceCalls } from '../../analysis/map.ts';
import { anyStatement } from '../../analysis/walk.ts';
import { Frame } from '../frame.ts';
import { LaneMeetings } from './lane-meetings.ts';
import { Meeting } from './meetings.ts';
import { BarrierRecords } from './records.ts';
import { Stages, type StagesCall } from './stages.ts';
import { surelyMade } from './surely-made.ts';

type SyncCall = Extract<Call, { intrinsic: 'sync' }>;

/** The same program without pipelines and barriers, and without syncs. */
export function lowerToCounts(program: Program): Program {
  return new Counting(program).program();
}

class Counting {
  readonly #frame: Frame;
  readonly #syncs = new Map<string, Meeting>();
  #lanes: LaneMeetings | null = null;
  readonly #stages: readonly (Stages | null)[];
  readonly #barriers: readonly BarrierRecords[];

  constructor(program: Program) {
    const { pipelines, barriers, body } = program;
    const frame = new Frame(program);
    const surely = surelyMade(body, 'pipeline');
    this.#frame = frame;
    const surelyBarriers = surelyMade(body, 'barrier');
    this.#barriers = barriers.map((_, id) => new BarrierRecords(frame, id, surelyBarriers.has(id)));
    this.#stages = pipelines.map(({ scope }, id) => {
      if (scope === 'thread') return null;
      const asksForLast = anyStatement(
        body,
        (each) =>
          each.kind === 'call' && each.intrinsic === 'quit' && each.pipeline === id && each.result !== null,
      );
      return new Stages(frame, id, { surelyMade: surely.has(id), asksForLast });
    });
  }

  program(): Program {
    const body = replaceCalls(this.#frame.program.body, (call) => this.#call(call));
    const words = this.#frame.words();
    const counted = [...this.#syncs.values(), ...this.#barriers, ...this.#stages].filter(
      (each) => each !== null,
    );
    const begin = counted.flatMap((each) => each.begin(words));
    const lanes = this.#lanes?.leave(words) ?? [];
    const leave = [...counted.flatMap((each) => each.leave(words)), ...lanes];
    const whole =
      begin.length + leave.length === 0 ? body : [...begin, ...this.#withoutReturns(body), ...leave];
    return { ...this.#frame.finish(whole), level: 'cohort' };
  }

  #call(call: Call): readonly Statement[] {
    if ('barrier' in call) return this.#barriers[call.barrier]!.lower(call, this.#frame.words(call.range));
    const stages = 'pipeline' in call ? this.#stages[call.pipeline]! : null;
    if (stages !== null) return stages.lower(call as StagesCall, this.#frame.words(call.range));
    if (call.intrinsic !== 'sync') return [call];
    const words = this.#frame.words(call.range);
    const { group, operator, mask } = call;
    if (mask !== undefined) {
      this.#lanes ??= new LaneMeetings(this.#frame);
      return this.#lanes.lower({ ...call, mask }, words);
    }
    const meeting = this.#sync(call);
    const waiting = { verb: 'sync', group, ...(operator ? { operator } : {}) };
    return [...meeting.arrive(words), meeting.wait(waiting, words)];
  }

  /** A block's own meeting is apart from that of a tile or grid as large, and each operation of lanes has its own. */
  #sync({ group, operator }: SyncCall): Meeting {
    const what = operator ?? 'sync';
    const name = group.kind === 'tile' ? `${what}.${group.size}` : group.kind === 'grid' ? 'grid.sync' : what;
    let meeting = this.#syncs.get(name);
    if (meeting === undefined) {
      meeting = new Meeting(this.#frame, name, group);
      this.#syncs.set(name, meeting);
    }
    return meeting;
  }

  /** A thread that returns goes to the end. */
  #withoutReturns(body: readonly Statement[]): Statement[] {
    const label = this.#frame.label();
    const { range } = this.#frame.words();
    const statement = (each: Statement): Statement =>
      each.kind === 'return' ? { kind: 'break', label, range: each.range } : each;
    const mapped = mapStatements(body, { expression: (each) => each, statement });
    return [{ kind: 'block', label, body: mapped, range }];
  }
}
