// The rules of the hardware, one small program each: what is right is clean under every schedule
// and gives one result, and what is wrong is found.

import { describe, expect, test } from 'vitest';
import { type Outcome, outcomeOf, schedules } from './litmus.ts';
import { litmusPrograms } from './litmus-programs.ts';

const inWords = ({ verdict, fault, findings }: Outcome) =>
  [
    verdict,
    fault && 'message' in fault ? fault.message : fault?.kind,
    ...findings.map(({ message }) => message),
  ].join('; ');

describe.each(litmusPrograms)('$name', ({ verdicts, program, out }) => {
  test(verdicts.join(' or '), () => {
    const outcomes = schedules.map((delivery) => outcomeOf(program, delivery));
    const unexpected = outcomes.filter(({ verdict }) => !verdicts.includes(verdict));
    expect(unexpected.map(inWords)).toEqual([]);
    // Some mistakes show only if threads come in a certain order.
    if (verdicts.length > 1) expect(outcomes.some(({ verdict }) => verdict !== 'clean')).toBe(true);
    if (out !== undefined) for (const outcome of outcomes) expect(outcome.out).toEqual(out);
  });
});
