// docs/errors.md, what the checker finds: the first example of each code gives that finding first of all
// errors, and the one that mends it is clean.

import { readFileSync } from 'node:fs';
import vm from 'node:vm';
import { transformSync } from 'esbuild';
import { expect, test } from 'vitest';
import { deviceFunction, kernel } from 'warpstage';
import { type CheckResult, check } from '#warpstage/checker/check.js';
import type { Kernel } from '#warpstage/kernel/kernel.js';
import { parseSchema } from '#warpstage/kernel/parameters.js';

const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');
const sections = page
  .split(/^### /m)
  .filter((section) => section.startsWith('WS7'))
  .map((section) => ({
    code: section.slice(0, 6),
    examples: [...section.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, example]) => example!),
  }));

/** Launched as the page says: one block of 64 threads, arrays of 64 elements. */
function checkExample(example: string, advice: boolean): CheckResult {
  const { code } = transformSync(example, { loader: 'ts' });
  const name = /^const (\w+) = kernel\(/m.exec(example)![1]!;
  const make = vm.runInThisContext(`(kernel, deviceFunction) => { ${code}; return ${name}; }`);
  const made = make(kernel, deviceFunction) as Kernel;
  const given = parseSchema(made.schema).map(({ kind, name: parameter }) => {
    if (kind !== 'array') throw new Error(`${name} takes more than arrays`);
    return [parameter, { length: 64 }];
  });
  const launch = { grid: 1, block: 64, arguments: Object.fromEntries(given) };
  return check(made, launch as never, { schedules: 3, advice });
}

test.each(sections)('$code is what its example gives', ({ code, examples: [wrong] }) => {
  const advice = code.startsWith('WS71');
  const { findings, report } = checkExample(wrong!, advice);
  const found = findings.map((finding) => finding.code);
  if (advice) expect(found, report()).toContain(code);
  else expect(found[0], report()).toBe(code);
});

test.each(sections.filter(({ examples }) => examples.length > 1))(
  '$code is mended as the page says',
  ({ code, examples: [, right] }) => {
    const { findings, verdict, report } = checkExample(right!, true);
    expect(verdict, report()).toBe('clean');
    expect(findings.map((finding) => finding.code)).not.toContain(code);
  },
);
