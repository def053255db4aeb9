// The conformance cases under the checker: they are right, so it finds nothing but what a case says.

import { describe, expect, test } from 'vitest';
import { check } from 'warpstage/check';
import type { Case } from './case.ts';
import { allCases } from './cases.ts';

/** Scopes and sizes of elements differ in nothing that the checker could find. */
const isOneOfMany = ({ name }: Case) =>
  /^(cluster|device|system) scope|(device|system) scope$|^(u8|i16|f32|f64), |batches of 8$/.test(name);

describe.each(Object.entries(allCases))('%s', (_, cases) => {
  test.each(cases.filter((one) => !isOneOfMany(one)).map((one) => [one.name, one] as const))(
    '%s',
    (_, one) => {
      const outputs = Object.fromEntries(Object.keys(one.expected).map((name) => [name, 'any' as const]));
      const { grid, block, kernel } = one;
      const launch = { grid, block, arguments: one.data as never };
      const result = check(kernel, launch, { schedules: 3, outputs });
      const { findings: awaited = [] } = one;
      const others = result.findings.filter(({ code }) => !awaited.includes(code));
      expect(others.map(({ code, message }) => `${code}: ${message}`)).toEqual([]);
      for (const code of awaited) expect(result.findings.map((each) => each.code)).toContain(code);
      expect(result.verdict).not.toBe('inconclusive');
    },
  );
});
