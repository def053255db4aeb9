// Kernels whose threads part and wait in many ways, as cohorts and as WebAssembly makes them: values that are the same
// in all threads or are not, in loops that some leave, and threads of one cohort that wait for one another.

import { describe, expect, test } from 'vitest';
import type { Finding } from '#warpstage/targets/checker/finding.js';
import type { Delivery } from '#warpstage/targets/interpreter/runner.js';
import { interpreter } from '../support/interpreter.ts';
import { interpreted, threadsOf } from '../support/lowered.ts';
import { programOfText } from '../support/rewritten.ts';
import { runProgram, type Target } from '../support/run-program.ts';
import { wasmStates } from '../support/wasm.ts';
import { withVaryingOnce } from './cohort-omissions.ts';

const [threads, batches] = [64, 5];
const deliveries: readonly Delivery[] = ['late', 1, 2, 3, 'eager'];

/** At `wait` a cohort goes from one segment to the next, and no thread waits for another. */
const wait = 'open.waitParity(false);';

const ways: Readonly<Record<string, string>> = {
  'warps wait for the one before them': `
    const passed = cuda.barrierArray(block, 2);
    const sums = cuda.sharedArray('i32', 64);
    const half = t >> 5;
    if (half === 0) passed[0].arrive(2);
    passed[half].waitParity(false);
    sums[t] = half === 0 ? input[t] : sums[t - 32] + input[t];
    if (half === 0) passed[1].arrive(2);
    out[t] = sums[t];`,
  'a loop that is tested behind its body': `
    let k = 0;
    do {
      ${wait}
      out[64 * k + t] = k + t;
      k = k + 1;
    } while (k < batches - 2);
    out[64 * (batches - 1) + t] = k;`,
  'a counter that is counted behind what reads it': `
    let k = 0;
    for (let b = 0; b < batches; b++) {
      ${wait}
      out[64 * k + t] = b + t;
      k = k + 1;
    }`,
  'a counter that only those count who stay': `
    let k = 1;
    for (let b = 0; b < batches; b++) {
      ${wait}
      if (input[t] % 4 === b) break;
      k = k * 2;
    }
    out[t] = k;`,
  'what is read behind a loop that some leave': `
    let sum = 0;
    let b = 0;
    for (; b < batches; b++) {
      ${wait}
      sum += input[64 * b + t];
      if (sum % 3 === t % 3) break;
      const twice = 2 * b;
      ${wait}
      sum += twice;
    }
    out[t] = sum * 10 + b;`,
  'what is read behind a loop that all leave': `
    let last = 0;
    for (let b = 0; b < batches; b++) {
      ${wait}
      last = 7 * b;
      if (b === input[0] - input[0] + 2) break;
      ${wait}
    }
    out[t] = last + 1;`,
  'arrays of each thread': `
    const own = cuda.localArray('i32', 4);
    own[1] = 3 * t;
    ${wait}
    const mine = own[1];
    ${wait}
    out[t] = mine + 1;`,
  'a loop without waits that leaves the one around it': `
    let found = -1;
    outer: for (let b = 0; b < batches; b++) {
      ${wait}
      for (let i = 0; i < 4; i++) {
        if (i + 3 === b) {
          found = b;
          break outer;
        }
      }
      out[64 * b + t] = b + 1;
    }
    out[t] += 100 * found;`,
  'a value that follows from one that varies, a turn later': `
    let [a, b, c] = [1, 1, 1];
    for (let i = 0; i < batches; i++) {
      ${wait}
      c = b;
      b = a;
      if (i === 1) a = t;
    }
    out[t] = 100 * a + 10 * b + c;`,
};

test('what varies and is done once has no value, as no thread of a cohort speaks for the others', () => {
  const program = programOfText(
    { out: 'i32[]', batches: 'index' },
    `({ out, batches }, cuda) => {
      const block = cuda.thisThreadBlock();
      let k = batches;
      k += 2;
      block.sync();
      out[block.threadRank()] = k;
    }`,
    [threads, 1],
  );
  const varying = withVaryingOnce(threadsOf(program));
  const messages = varying.map(({ program: cohorts }) => {
    const lower = () => cohorts;
    const out = new Int32Array(threads);
    const target = interpreted('cohorts', 'late', () => {}, lower);
    const { fault } = runProgram(target, program, { grid: 1, arguments: { out, batches } });
    return fault !== null && 'message' in fault ? fault.message : fault;
  });
  expect(messages).toEqual(
    varying.map(({ what }) => `\`${what.replace(/^.*: /, '')}\` is read and has no value here`),
  );
  expect(messages.filter((message) => String(message).includes('`k`'))).toHaveLength(2);
});

const schema = { out: 'i32[]', input: 'readonly i32[]', batches: 'index' };
const length = threads * batches;
const input = Int32Array.from({ length }, (_, i) => (5 * i + (i >> 2)) % 13);

describe.each(Object.entries(ways))('%s', (_, body) => {
  const text = `({ out, input, batches }, cuda) => {
    const block = cuda.thisThreadBlock();
    const t = block.threadRank();
    const open = cuda.barrier(block);
    open.arrive();
    open.waitParity(false);
    ${body}
  }`;
  const program = programOfText(schema, text, [threads, 1]);
  const run = (target: Target) => {
    const out = new Int32Array(length);
    const { fault } = runProgram(target, program, { grid: 1, arguments: { out, input, batches } });
    return { fault, out };
  };
  const expected = run(interpreter('late'));

  test.each(deliveries)('as cohorts, under %s', (delivery) => {
    const findings: Finding[] = [];
    const report = (finding: Finding) => void findings.push(finding);
    expect(run(interpreted('cohorts', delivery, report, threadsOf, { steps: 100_000 }))).toEqual(expected);
    expect(findings).toEqual([]);
    expect(expected.fault).toBeNull();
    expect(expected.out.some((value) => value !== 0)).toBe(true);
  });

  test('as WebAssembly', () => {
    expect(run(wasmStates)).toEqual(expected);
  });
});
