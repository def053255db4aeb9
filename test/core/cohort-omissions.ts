// Takes away, one at a time, what a program says of its cohorts: arrivals, waits, what follows a meeting, calls,
// ways to part, and variables that are kept; and what a thread counts by itself.

import type { Call, Program, Statement } from '#warpstage/compiler/ir.js';
import type { CohortRegion, CohortWay, End, Segment } from '#warpstage/compiler/ir-cohorts.js';
import { mapStatements } from '#warpstage/targets/analysis/map.js';

/** A program that says less of its cohorts, and what was taken away. */
export interface Omission {
  readonly what: string;
  readonly program: Program;
}

/** For each arrival, wait, call, counting and way to part the program without it. */
export function withoutOrder(program: Program): Omission[] {
  return eachSegment(program, (segment, at, way) => {
    const { head, steps, end } = segment;
    const put = (what: string, changed: Partial<Segment>) => ({
      what,
      way: replaced(way, at, { ...segment, ...changed }),
    });
    const calls = steps.flatMap((step, i) => {
      if (step.kind === 'region') return [];
      const rest = steps.filter((_, other) => other !== i);
      if (step.kind !== 'once') return [put(`${step.kind} ${nameOf(way, step.call)}`, { steps: rest })];
      const counter = counterOf(way, step.statement);
      return counter === null ? [] : [put(`once ${counter}`, { steps: rest })];
    });
    const waits =
      head === null || head.wait === null
        ? []
        : [
            {
              what: `wait ${nameOf(way, head.wait)}`,
              way: passed(replaced(way, at, { ...segment, head: { ...head, wait: null } }), at),
            },
          ];
    if (end.kind !== 'split') return [...calls, ...waits];
    // All of them go on as some should.
    const region =
      end.by.kind === 'region' ? [{ kind: 'region', region: { ...end.by, gives: null } } as const] : [];
    const jump = (to: number): Partial<Segment> => ({
      steps: [...steps, ...region],
      end: { kind: 'jump', to },
    });
    return [
      ...calls,
      ...waits,
      put(`split to ${end.exits.length} exits`, jump(end.next)),
      ...end.exits.map(({ to }, i) => put(`split but for exit ${i + 1}`, jump(to))),
    ];
  });
}

function nameOf({ program }: CohortWay, call: Call): string {
  if (call.intrinsic !== 'core' || !('array' in call.operation)) return call.intrinsic;
  const { operation } = call;
  const name = program.sharedArrays[operation.array.id]!.name;
  // Only a thread that returns takes anything back, and counts that it has.
  const returns =
    operation.kind === 'post' && (operation.by.kind !== 'constant' || /\.(left|returned)$/.test(name));
  return `${returns ? 'return' : operation.kind} ${name}`;
}

/** The variable of the lowering's own that a statement assigns: no name of a kernel has a point. */
function counterOf({ program }: CohortWay, statement: Statement): string | null {
  if (statement.kind !== 'assign') return null;
  const { name } = program.variables[statement.variable]!;
  return name.includes('.') ? name : null;
}

/** For each word that a thread of a region adds to, sets or asks for, the program in which it does not; a question is answered by yes. */
export function withoutCounting(program: Program): Omission[] {
  return eachSegment(program, (segment, at, way) => {
    const { steps, end } = segment;
    const put = (what: string, changed: Partial<Segment>) => ({
      what,
      way: replaced(way, at, { ...segment, ...changed }),
    });
    const ofRegion = (region: CohortRegion, rebuild: (changed: CohortRegion) => Partial<Segment>) =>
      countingIn(way, region.body).map((what, which) =>
        put(what, rebuild({ ...region, body: withoutNth(way, region.body, which) })),
      );
    return [
      ...steps.flatMap((step, i) =>
        step.kind === 'region'
          ? ofRegion(step.region, (region) => ({ steps: steps.with(i, { kind: 'region', region }) }))
          : [],
      ),
      ...(end.kind === 'split' ? ofRegion(end.by, (by) => ({ end: { ...end, by } })) : []),
    ];
  });
}

/** What a statement does with a word in which threads count, or null. */
function countingOf(way: CohortWay, statement: Statement): string | null {
  if (statement.kind === 'call' && statement.intrinsic === 'core' && 'array' in statement.operation)
    return `alone ${nameOf(way, statement)}`;
  if (statement.kind !== 'store' || statement.array.space !== 'shared') return null;
  const { name, counts } = way.program.sharedArrays[statement.array.id]!;
  return counts ? `set ${name}` : null;
}

function countingIn(way: CohortWay, body: readonly Statement[]): string[] {
  const found: string[] = [];
  mapStatements(body, {
    expression: (each) => each,
    statement: (each) => {
      const what = countingOf(way, each);
      if (what !== null) found.push(what);
      return each;
    },
  });
  return found;
}

function withoutNth(way: CohortWay, body: readonly Statement[], which: number): readonly Statement[] {
  let left = which;
  return mapStatements(body, {
    expression: (each) => each,
    statement: (each) => {
      if (countingOf(way, each) === null) return each;
      left -= 1;
      if (left !== -1) return each;
      const { range } = each;
      const yes = { kind: 'constant', type: 'bool', value: true, range } as const;
      return each.kind === 'call' && each.intrinsic === 'core' && each.result !== null
        ? { kind: 'assign', variable: each.result, value: yes, range }
        : { kind: 'if', test: yes, then: [], otherwise: [], range };
    },
  });
}

/** For each value that a cohort computes once, the program in which it is another one in each thread. */
export function withVaryingOnce(program: Program): Omission[] {
  return eachSegment(program, (segment, at, way) =>
    segment.steps.flatMap((step, i) => {
      if (step.kind !== 'once' || step.statement.kind !== 'assign') return [];
      const { range } = step.statement;
      const value = { kind: 'builtin', name: 'threadRank', type: program.indexType, range } as const;
      const steps = segment.steps.with(i, { kind: 'once', statement: { ...step.statement, value } });
      const { name } = way.program.variables[step.statement.variable]!;
      return [{ what: name, way: replaced(way, at, { ...segment, steps }) }];
    }),
  );
}

/** For each variable that a head keeps, or that threads of a region find or leave, the program without it. */
export function withoutKept(program: Program): Omission[] {
  return eachSegment(program, (segment, at, way) => {
    const { head, steps, end } = segment;
    const name = (id: number) => way.program.variables[id]!.name;
    const put = (what: string, changed: Partial<Segment>) => ({
      what,
      way: replaced(way, at, { ...segment, ...changed }),
    });
    const kept = (head?.live ?? []).map((id) =>
      put(`keep ${name(id)}`, { head: { ...head!, live: head!.live.filter((other) => other !== id) } }),
    );
    const ofRegion = (region: CohortRegion, rebuild: (changed: CohortRegion) => Partial<Segment>) =>
      (['loads', 'stores'] as const).flatMap((list) =>
        region[list].map((id) =>
          put(
            `${list} ${name(id)}`,
            rebuild({ ...region, [list]: region[list].filter((other) => other !== id) }),
          ),
        ),
      );
    const inSteps = steps.flatMap((step, i) =>
      step.kind !== 'region'
        ? []
        : ofRegion(step.region, (region) => ({
            steps: steps.map((other, at) => (at === i ? { kind: 'region', region } : other)),
          })),
    );
    const inEnd =
      end.kind !== 'split' || end.by.kind !== 'region'
        ? []
        : ofRegion(end.by, (by) => ({ end: { ...end, by } }));
    return [...kept, ...inSteps, ...inEnd];
  });
}

function eachSegment(
  program: Program,
  changes: (
    segment: Segment,
    at: number,
    way: CohortWay,
  ) => readonly { readonly what: string; readonly way: CohortWay }[],
): Omission[] {
  const cohorts = program.cohorts!;
  return cohorts.flatMap((way, which) =>
    way.segments.flatMap((segment, at) =>
      changes(segment, at, way).map(({ what, way: changed }) => ({
        what: `${which}.${at}: ${what}`,
        program: { ...program, cohorts: cohorts.map((other, i) => (i === which ? changed : other)) },
      })),
    ),
  );
}

function replaced(way: CohortWay, at: number, segment: Segment): CohortWay {
  return { ...way, segments: way.segments.map((other, i) => (i === at ? segment : other)) };
}

/** Where a segment no longer waits, it is jumped to. */
function passed(way: CohortWay, at: number): CohortWay {
  const end = (one: End): End => (one.kind === 'suspend' && one.to === at ? { kind: 'jump', to: at } : one);
  return { ...way, segments: way.segments.map((segment) => ({ ...segment, end: end(segment.end) })) };
}
