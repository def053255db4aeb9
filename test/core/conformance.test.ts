// What the conformance cases become for a GPU, operation by operation: as the cases are clean, so is that, it
// ends, and it gives the same.

import { describe, expect, test } from 'vitest';
import type { Finding } from '#warpstage/targets/checker/finding.js';
import { allCases } from '../conformance/cases.ts';
import { loweredFor, lowerings } from '../support/lowered.ts';
import { runKernel } from '../support/run-kernel.ts';
import { partOf } from '../support/thorough.ts';

const all = Object.entries(allCases).flatMap(([subject, cases]) => cases.map((one) => ({ ...one, subject })));

describe.each(lowerings)('lowered for $name', (one) => {
  const { architecture, options: lowering } = one;
  const cases = all.filter((_, position) => partOf<unknown>(lowerings, position).includes(one));
  test.each(cases)('$subject: $name', ({ kernel, grid, block, data, expected, findings = [] }) => {
    // The other architectures differ in what is decided, not in how it is executed.
    for (const delivery of architecture === 90 ? (['eager', 'late', 1] as const) : (['late'] as const)) {
      const found: Finding[] = [];
      const target = loweredFor(architecture, delivery, (finding) => found.push(finding), { lowering });
      const argumentsOfRun = Object.fromEntries(
        Object.entries(data).map(([name, value]) => [
          name,
          typeof value === 'object' ? value.slice() : value,
        ]),
      );
      const { fault } = runKernel(target, kernel, { grid, block, arguments: argumentsOfRun });
      expect(fault, target.name).toBeNull();
      if (findings.length === 0) expect(found.map(({ message }) => message).join('; '), target.name).toBe('');
      for (const [name, array] of Object.entries(expected)) {
        expect(argumentsOfRun[name], `${name}, ${target.name}`).toEqual(array);
      }
    }
  });
});
