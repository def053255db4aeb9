// The invariants of a way of cohorts: every segment is there and can be entered as it is, and regions wait for nobody.

import type { Expression, Statement } from './ir.ts';
import type { CohortRegion, CohortWay, End, Step } from './ir-cohorts.ts';

/** What holds of the parts of a program. */
export interface Rules {
  expression(one: Expression): void;
  /** Statements among loops and blocks of these labels. */
  statements(list: readonly Statement[], around: readonly number[]): void;
}

/** Throws if a way breaks an invariant. */
export function verifyCohorts({ program, segments }: CohortWay, rules: Rules): void {
  const variables = (ids: readonly number[]) => {
    for (const id of ids) if (program.variables[id] === undefined) throw new Error(`no variable ${id}`);
  };
  const there = (number: number) => {
    if (segments[number] === undefined) throw new Error(`no segment ${number}`);
    return segments[number];
  };
  const entered = (number: number) => {
    if (there(number).head === null) throw new Error(`segment ${number} is entered without a head`);
  };
  const direct = (number: number) => {
    const wait = there(number).head?.wait ?? null;
    if (wait !== null) throw new Error(`segment ${number} waits, and is reached by a jump`);
  };
  const region = ({ body, loads, stores, exits, gives }: CohortRegion) => {
    variables([...loads, ...stores]);
    const labels = exits.flatMap((jump) => (jump.kind === 'return' ? [] : [jump.label]));
    rules.statements(body, labels);
    if (gives?.kind === 'test' && exits.length > 0) throw new Error('two reasons to leave a region');
    if (gives?.kind === 'test') rules.expression(gives.test);
  };
  const step = (one: Step) => {
    if (one.kind === 'region') region(one.region);
    else rules.statements([one.kind === 'once' ? one.statement : one.call], []);
  };
  const end = (one: End) => {
    switch (one.kind) {
      case 'jump':
        direct(one.to);
        break;
      case 'branch':
        rules.expression(one.test);
        direct(one.then);
        direct(one.otherwise);
        break;
      case 'suspend':
        if (there(one.to).head?.wait == null) throw new Error(`segment ${one.to} waits for nothing`);
        break;
      case 'yield':
        entered(one.to);
        break;
      case 'split':
        region(one.by);
        if (one.exits.length === 0) throw new Error('threads part without a way to go');
        direct(one.next);
        for (const exit of one.exits) {
          direct(exit.to);
          entered(exit.entry);
        }
        break;
      case 'finish':
        break;
    }
  };
  entered(0);
  for (const { head, steps, end: last } of segments) {
    if (head !== null) variables([...head.live, ...head.loads]);
    if (head?.wait) rules.statements([head.wait], []);
    for (const one of steps) step(one);
    end(last);
  }
}
