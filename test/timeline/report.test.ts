// The report: figures that follow from the stages, and lines that fit.

import { expect, test } from 'vitest';
import { inFlowOrder, measureOverlap, overlapOf } from '#warpstage/timeline/overlap.js';
import { formatBytes, formatDuration, formatRate } from '#warpstage/timeline/quantities.js';
import { reportText } from '#warpstage/timeline/report.js';
import type { Span } from '#warpstage/timeline/span.js';

const span = (engine: string, started: number, ended: number, bytes?: number): Span => ({
  name: engine,
  engine,
  stream: 's',
  queued: started,
  started,
  ended,
  ...(bytes === undefined ? {} : { bytes }),
});

test('overlap is none for one after the other, whole where all hides behind the busiest', () => {
  const sequential = measureOverlap([span('read', 0, 10, 5), span('compute', 10, 15), span('write', 15, 20)]);
  expect(sequential).toMatchObject({ wall: 20, nearness: 0.5, achieved: 0 });
  expect(sequential.bound).toEqual({ name: 'read', busy: 10, bytes: 5, operations: 1 });

  const hidden = measureOverlap([span('write', 5, 10), span('read', 0, 10), span('compute', 2, 6)]);
  expect(hidden).toMatchObject({ wall: 10, nearness: 1, achieved: 1 });
  expect(hidden.engines.map((engine) => engine.name)).toEqual(['read', 'compute', 'write']);

  const half = overlapOf(
    [
      { name: 'a', busy: 10, bytes: 0, operations: 1 },
      { name: 'b', busy: 10, bytes: 0, operations: 1 },
    ],
    15,
  );
  expect(half.achieved).toBe(0.5);
  expect(measureOverlap([])).toMatchObject({ wall: 0, bound: null, achieved: 0 });
});

const stages = [
  { name: 'read', busy: 640, bytes: 2 ** 30, operations: 128 },
  { name: 'copy in', busy: 90, bytes: 2 ** 30, operations: 128 },
  { name: 'compute', busy: 120, bytes: 0, operations: 128 },
  { name: 'copy out', busy: 91, bytes: 2 ** 30, operations: 128 },
  { name: 'write', busy: 930, bytes: 2 ** 30, operations: 128 },
];
const data = { title: 'affine on cpu', stages, wall: 1000, bytesIn: 2 ** 30, bytesOut: 2 ** 30 };

test('what nobody asked for is reported, with the reason', () => {
  const first = { row: 0, chunkBytes: 2 ** 24, depth: 2, why: 'usual with 2 processors' };
  const later = { row: 3_000_000, chunkBytes: 2 ** 24, depth: 4, why: 'measured 1.12 times as fast' };
  const reported = (auto: boolean, steps: (typeof first)[], chunk = auto) =>
    reportText({ ...data, chosen: { auto: { chunk, depth: auto }, steps } }, 200)
      .split('\n')
      .at(-1);
  expect(reported(true, [first])).toBe(
    'auto: chunks of 16.0 MiB, 2 in flight (usual with 2 processors): bound by write',
  );
  expect(reported(true, [first, later])).toBe(
    'auto: chunks of 16.0 MiB, 2 in flight (usual with 2 processors); from row 3,000,000 chunks of 16.0 MiB, ' +
      '4 in flight (measured 1.12 times as fast): bound by write',
  );
  expect(reported(true, [first], false)).toBe('auto: 2 in flight (usual with 2 processors): bound by write');
  expect(reported(false, [first], true)).toBe(
    'auto: chunks of 16.0 MiB (usual with 2 processors): bound by write',
  );
  expect(reported(false, [first])).toMatch(/^Bound by write/);
});

test('where stages have two clocks, no share of the wall time is given, and no bound', () => {
  const mixed = stages.map((stage) => ({
    ...stage,
    virtual: ['copy in', 'compute', 'copy out'].includes(stage.name),
  }));
  const chosen = {
    auto: { chunk: true, depth: true },
    steps: [{ row: 0, chunkBytes: 2 ** 24, depth: 2, why: 'usual with 2 processors' }],
  };
  const devices = [
    { name: 'cpu', chunks: 1, rows: 10, stages: stages.slice(1, 4) },
    { name: 'model', chunks: 1, rows: 10, stages: mixed.slice(1, 4) },
  ];
  const lines = reportText({ ...data, stages: mixed, chosen, devices }, 100).split('\n');
  expect(lines.slice(3, 9)).toEqual([
    '  stage        busy  of wall        rate     bytes  steps',
    '  read       640 ms     64 %  1.56 GiB/s  1.00 GiB    128',
    '  copy in   90.0 ms        -  11.1 GiB/s  1.00 GiB    128',
    '  compute    120 ms        -           -         -    128',
    '  copy out  91.0 ms        -  11.0 GiB/s  1.00 GiB    128',
    '  write      930 ms     93 %  1.08 GiB/s  1.00 GiB    128',
  ]);
  expect(lines[11]).toMatch(/^ {2}cpu .* 9 % +12 % +9 %$/);
  expect(lines[12]).toMatch(/^ {2}model .* - +- +-$/);
  expect(lines.slice(14).join(' ')).toBe(
    "The device is virtual: its stages took this long on its own clock, and the others on this machine's. What bound the " +
      'run cannot be said from that; `warpstage plan` predicts the whole on such a device. ' +
      'auto: chunks of 16.0 MiB, 2 in flight (usual with 2 processors)',
  );
});

test('a report is a table of stages and the stage that bound it', () => {
  expect(`\n${reportText(data)}`).toMatchInlineSnapshot(`
    "
    affine on cpu
    1.00 GiB in, 1.00 GiB out, 1.00 s, 1.00 GiB/s

      stage        busy  of wall        rate     bytes  steps
      read       640 ms     64 %  1.56 GiB/s  1.00 GiB    128
      copy in   90.0 ms      9 %  11.1 GiB/s  1.00 GiB    128
      compute    120 ms     12 %           -         -    128
      copy out  91.0 ms      9 %  11.0 GiB/s  1.00 GiB    128
      write      930 ms     93 %  1.08 GiB/s  1.00 GiB    128

    Bound by write: it worked 93 % of the time, so the whole ran at 93 % of the
    speed that write alone allows. Of the other stages' time, at least 93 % passed
    while something else was running."
  `);
});

test('of several devices it says what each had and did', () => {
  const device = (name: string, chunks: number, busy: number) => ({
    name,
    chunks,
    rows: chunks * 1000,
    stages: stages.slice(1, 4).map((stage) => ({ ...stage, busy })),
  });
  const text = reportText({ ...data, devices: [device('cuda:0', 96, 90), device('cuda:1', 32, 30)] });
  expect(text.split('\n').slice(9, 13)).toEqual([
    '',
    '  device  chunks  of rows  copy in  compute  copy out',
    '  cuda:0      96     75 %      9 %      9 %       9 %',
    '  cuda:1      32     25 %      3 %      3 %       3 %',
  ]);
  expect(reportText({ ...data, devices: [device('cuda:0', 128, 90)] })).toBe(reportText(data));
});

test('engines are in the order of the flow, those of a device together', () => {
  const engines = ['write', 'cuda:10 copy in', 'cuda:2 compute', 'other', 'cuda:2 copy in', 'read'];
  expect(inFlowOrder(engines)).toEqual([
    'read',
    'cuda:2 copy in',
    'cuda:2 compute',
    'cuda:10 copy in',
    'write',
    'other',
  ]);
});

test('a report fits narrow terminals by leaving out what says least', () => {
  for (const width of [40, 60, 80]) {
    const lines = reportText(data, width).split('\n');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(width);
  }
  expect(reportText(data, 40)).toContain('of wall');
  expect(reportText(data, 40)).not.toContain('steps');
  expect(reportText(data)).toMatch(/^[ -~\n]*$/);
});

test('a job that mostly waits says that no stage bound it', () => {
  const text = reportText({ ...data, wall: 10_000 }, 200);
  expect(text).toContain('No stage bound it: the busiest, write, worked 9 % of the time');
  // Nothing is known of what ran side by side: the wait may hide all of it.
  expect(text).not.toContain('while something else');
});

test('amounts read as people write them', () => {
  expect([0, 1023, 1024, 1536, 1023.6 * 1024, 5e9].map(formatBytes)).toEqual([
    '0 B',
    '1023 B',
    '1.00 KiB',
    '1.50 KiB',
    '1.00 MiB',
    '4.66 GiB',
  ]);
  expect([0.0004, 0.42, 1, 99.96, 999.6, 1234, 59_960, 75_000, 3_725_000].map(formatDuration)).toEqual([
    '0 µs',
    '420 µs',
    '1.00 ms',
    '100 ms',
    '1.00 s',
    '1.23 s',
    '1 min 0 s',
    '1 min 15 s',
    '1 h 2 min',
  ]);
  expect(formatRate(2 ** 30, 500)).toBe('2.00 GiB/s');
  expect(formatRate(1, 0)).toBe('-');
});
