// The stages of a pipeline over time: what a second stage hides, and a first cannot.

import { describe, expect, test } from 'vitest';
import { kernel, type Span } from 'warpstage';
import { traceStages } from 'warpstage/check';
import { withSpecializedStaging } from '../../examples/guide/specialized-staging.ts';
import { withStagingScopeThread } from '../../examples/guide/staging-scope-thread.ts';
import { withStagingUnified } from '../../examples/guide/staging-unified.ts';

const [block, batchCount] = [32, 6];
const launchOf = (stagesCount: number) => ({
  grid: 2,
  block,
  arguments: {
    globalOut: { length: 2 * block * batchCount },
    globalIn: { length: 2 * block * batchCount },
    batchCount,
    stagesCount,
  },
});

const of = (spans: readonly Span[], what: string, batch: number) =>
  spans.find(({ name }) => name === `${what} batch ${batch}`);
const end = (spans: readonly Span[]) => Math.max(...spans.map(({ ended }) => ended));

describe('the unified kernel', () => {
  test('with one stage waits for every copy', () => {
    const spans = traceStages(withStagingUnified, launchOf(1), { copyLatency: 100 });
    for (let batch = 0; batch < batchCount; ++batch) {
      const [copy, wait] = [of(spans, 'copy', batch)!, of(spans, 'wait', batch)!];
      expect(wait.ended).toBe(copy.ended);
      expect(wait.ended - wait.started).toBeGreaterThan(99);
      if (batch > 0) expect(copy.started).toBeGreaterThan(of(spans, 'compute', batch - 1)!.ended);
    }
  });

  test('with more stages copies while it computes, and is through earlier', () => {
    const [one, two, four] = [1, 2, 4].map((stages) =>
      traceStages(withStagingUnified, launchOf(stages), { copyLatency: 100 }),
    );
    expect(end(two!)).toBeLessThan(end(one!));
    expect(end(four!)).toBeLessThan(end(two!));
    const copied = of(four!, 'copy', 4)!;
    expect(copied.started).toBeLessThan(of(four!, 'compute', 1)!.ended);
  });

  test('every stage is a stream, every batch has its spans in order, and a batch follows the one before it', () => {
    const spans = traceStages(withStagingUnified, launchOf(2));
    expect(new Set(spans.map(({ stream }) => stream))).toEqual(
      new Set(['pipeline stage 0', 'pipeline stage 1']),
    );
    for (const { started, ended, after } of spans) {
      expect(ended).toBeGreaterThanOrEqual(started);
      for (const id of after!) expect(spans[id - 1]!.id).toBe(id);
    }
    expect(of(spans, 'acquire', 0)).toBeUndefined();
    expect(spans.filter(({ engine }) => engine === 'compute')).toHaveLength(batchCount);
    expect(of(spans, 'copy', 2)!.stream).toBe('pipeline stage 0');
  });

  test('copies that cost nothing are not waited for', () => {
    const spans = traceStages(withStagingUnified, launchOf(2), { copyLatency: 0, copyRate: Infinity });
    const waits = spans.filter(({ engine }) => engine === 'wait');
    expect(waits.every(({ started, ended }) => ended - started <= 1)).toBe(true);
  });
});

test('any block can be looked at, and must be there', () => {
  expect(traceStages(withStagingUnified, launchOf(2), { block: 1 })).toHaveLength(
    traceStages(withStagingUnified, launchOf(2)).length,
  );
  expect(() => traceStages(withStagingUnified, launchOf(2), { block: 2 })).toThrow(
    'WS4007: trace of the kernel: block must be a whole number below 2',
  );
});

test('a fault of the run is thrown', () => {
  const outside = kernel({ y: 'f32[]' }, ({ y }) => {
    y[y.length] = 1;
  });
  expect(() => traceStages(outside, { grid: 1, block: 1, arguments: { y: { length: 4 } } })).toThrow(
    'WS3001',
  );
});

test('pipelines of thread scope and of roles', () => {
  const thread = traceStages(withStagingScopeThread, launchOf(2) as never);
  for (const part of ['copy', 'compute', 'release']) {
    const names = thread.filter(({ engine }) => engine === part).map(({ name }) => name);
    expect(names).toEqual(Array.from({ length: batchCount }, (_, batch) => `${part} batch ${batch}`));
  }
  const roles = traceStages(withSpecializedStaging, launchOf(2) as never);
  expect(roles.some(({ engine }) => engine === 'compute')).toBe(true);
});
