// Orders of atomic operations: what they order is clean, and found where one of them is weaker or of a block alone.

import { describe, expect, test } from 'vitest';
import { type Kernel, kernel } from 'warpstage';
import { check } from 'warpstage/check';
import { orderCases } from '../conformance/cases/orders.ts';

const order = /["'](acquire|release|acq_rel)["']/g;
const scope = /["']device["']/g;

/** The kernel with the n-th match replaced. */
function replaced(original: Kernel, pattern: RegExp, n: number, by: string): Kernel {
  let seen = 0;
  const text = String(original.body).replaceAll(pattern, (found) => (seen++ === n ? by : found));
  return kernel(original.schema, new Function(`return ${text}`)(), { name: 'weakened' });
}

const countOf = (original: Kernel, pattern: RegExp) => [...String(original.body).matchAll(pattern)].length;

function codes(one: Kernel, { grid, block, data }: (typeof orderCases)[number]): readonly string[] {
  const copies = Object.entries(data).map(
    ([name, value]) => [name, typeof value === 'object' ? value.slice() : value] as const,
  );
  const launch = { grid, block, arguments: Object.fromEntries(copies) };
  return check(one, launch as never).findings.map(({ code }) => code);
}

const handing = orderCases.filter(({ name }) => !name.startsWith('counters'));

describe.each(handing)('$name', (one) => {
  test('is clean', () => {
    expect(codes(one.kernel, one)).toEqual([]);
  });

  const orders = Array.from({ length: countOf(one.kernel, order) }, (_, n) => n);
  test.each(orders)('needs its order %i', (n) => {
    expect(codes(replaced(one.kernel, order, n, "'relaxed'"), one)).toContain('WS7001');
  });

  const scopes = Array.from({ length: countOf(one.kernel, scope) }, (_, n) => n);
  test.each(scopes)('needs scope %i to be the device', (n) => {
    expect(codes(replaced(one.kernel, scope, n, "'block'"), one)).toContain('WS7001');
    expect(codes(replaced(one.kernel, scope, n, "'system'"), one)).toEqual([]);
  });
});

describe('an operation with an order is weaker than a fence', () => {
  const data = { out: new Int32Array(2), value: new Int32Array(1), flags: new Uint32Array(3) };
  const schema = { out: 'i32[]', value: 'i32[]', flags: 'u32[]' } as const;
  const launch = { name: '', grid: 2, block: 32, data, expected: {} };

  test('it publishes at its own place alone', () => {
    const elsewhere = kernel(schema, ({ out, value, flags }, cuda) => {
      if (cuda.threadIdx.x > 0) return;
      if (cuda.atomicAdd(flags, 2, 1) === 0) {
        value[0] = 1;
        cuda.atomicStore(flags, 0, 1, 'release');
        cuda.atomicStore(flags, 1, 1);
      } else {
        while (cuda.atomicLoad(flags, 1, 'acquire') === 0);
        out[0] = value[0]!;
      }
    });
    expect(codes(elsewhere, { ...launch, kernel: elsewhere })).toContain('WS7001');
    const fenced = replaced(
      elsewhere,
      /cuda\.atomicStore\(flags, 0, 1, ["']release["']\)/g,
      0,
      'cuda.threadFence()',
    );
    expect(codes(fenced, { ...launch, kernel: fenced })).toEqual([]);
  });

  test('what comes after a release is not published by it', () => {
    const late = kernel(schema, ({ out, value, flags }, cuda) => {
      if (cuda.threadIdx.x > 0) return;
      if (cuda.atomicAdd(flags, 2, 1) === 0) {
        cuda.atomicStore(flags, 0, 1, 'release');
        value[0] = 1;
        cuda.atomicAdd(flags, 0, 1);
      } else {
        while (cuda.atomicLoad(flags, 0, 'acquire') !== 2);
        out[0] = value[0]!;
      }
    });
    expect(codes(late, { ...launch, kernel: late })).toContain('WS7001');
  });

  test('reads by atomic operations are no race with other reads', () => {
    const reads = kernel(schema, ({ out, flags }, cuda) => {
      if (cuda.threadIdx.x > 0) return;
      out[cuda.blockIdx.x] =
        cuda.blockIdx.x === 0 ? cuda.i32(flags[0]!) : cuda.i32(cuda.atomicLoad(flags, 0));
    });
    expect(codes(reads, { ...launch, kernel: reads })).toEqual([]);
  });
});

test('the operations of a lock that need an order are named, as the kernel is to have them', () => {
  const schema = { total: 'i32[]', lock: 'i32[]' } as const;
  const text = `({ total, lock }, cuda) => {
    if (cuda.threadIdx.x > 0) return;
    while (cuda.atomicCAS(lock, 0, 0, 1) !== 0);
    total[0] = total[0] + 1;
    cuda.atomicExch(lock, 0, 0, 'relaxed');
  }`;
  const checked = (body: string) => {
    const locked = kernel(schema, new Function(`return ${body}`)(), { name: 'locked' });
    const data = { total: new Int32Array(1), lock: new Int32Array(1) };
    return check(locked, { grid: 3, block: 32, arguments: data } as never).findings;
  };
  const found = checked(text).filter(({ code }) => code === 'WS7001');
  expect(found.length).toBeGreaterThan(0);
  for (const { hint } of found) {
    expect(hint).toMatch(
      /^if a lock or a flag guards it, its operations need orders: write .* and .*\. Else: /,
    );
    const [cas, exch, ...others] = [...hint.matchAll(/`(cuda\.atomic[^`]*)`/g)].map(([, code]) => code!);
    expect([cas, exch, others]).toEqual([
      "cuda.atomicCAS(lock, 0, 0, 1, 'acquire')",
      "cuda.atomicExch(lock, 0, 0, 'acq_rel')",
      [],
    ]);
    const mended = text
      .replace('cuda.atomicCAS(lock, 0, 0, 1)', cas!)
      .replace("cuda.atomicExch(lock, 0, 0, 'relaxed')", exch!);
    expect(checked(mended)).toEqual([]);
  }
  // What only adds up is no lock.
  const counted = text.replace('while (cuda.atomicCAS(lock, 0, 0, 1) !== 0);', 'cuda.atomicAdd(lock, 0, 1);');
  const bare = checked(counted.replace("cuda.atomicExch(lock, 0, 0, 'relaxed');", ''));
  expect(bare[0]!.hint).not.toContain('orders');
});
