import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { WarpstageError } from 'warpstage';
import { type PlanRequest, planChunks } from '#warpstage/overlap/plan.js';
import { expectFailure } from './support.ts';

const MiB = 2 ** 20;
const request: PlanRequest = {
  streams: [
    { rowBytes: 4, ratio: [1, 1], halo: 0 },
    { rowBytes: 4, ratio: [1, 1], halo: 0 },
  ],
  rows: 2 ** 30,
  chunk: 'auto',
  depth: 'auto',
  processors: 8,
  devices: 1,
  gpus: false,
  free: 4096 * MiB,
};
const plan = (changes: Partial<PlanRequest>) => planChunks({ ...request, ...changes });
const refused = (changes: Partial<PlanRequest>) => Promise.resolve().then(() => plan(changes));

describe('by itself', () => {
  test.each([
    [1, 2],
    [2, 2],
    [3, 3],
    [64, 4],
  ])('as many chunks in flight as there are processors, 2 to 4: %i gives %i', (processors, depth) => {
    expect(plan({ processors })).toMatchObject({ chunkRows: 2 * MiB, depth, chunkBytes: 16 * MiB });
  });

  test('chunks of 8 MiB, four in flight', () => {
    expect(plan({})).toMatchObject({ chunkRows: 2 * MiB, depth: 4, chunkBytes: 16 * MiB });
  });

  test('on a GPU, chunks of 16 MiB: three on their way, one read and one written, whatever the processors', () => {
    const expected = { chunkRows: 4 * MiB, depth: 5, chunkBytes: 32 * MiB };
    expect(plan({ gpus: true })).toMatchObject(expected);
    expect(plan({ gpus: true, processors: 1 })).toMatchObject(expected);
  });

  test.each([
    [55e6, 16, "by the device's 55 GB/s"],
    [12e6, 4, "by the device's 12 GB/s"],
    [1e3, 1, "by the device's 0 GB/s"],
  ])('where a GPU copies %d bytes a millisecond, chunks of %i MiB', (transferRate, size, why) => {
    expect(plan({ gpus: true, transferRate })).toMatchObject({ chunkRows: (size * MiB) / 4, why });
  });

  test('what nobody asked for is noted, with what it was chosen by', () => {
    expect(plan({})).toMatchObject({ auto: { chunk: true, depth: true }, why: 'usual with 8 processors' });
    expect(plan({ depth: 3 })).toMatchObject({ auto: { chunk: true, depth: false } });
    expect(plan({ depth: 3, chunk: 1000 })).toMatchObject({
      auto: { chunk: false, depth: false },
      why: 'as asked',
    });
  });

  test('several devices each have as many in flight, as far as there are chunks for them', () => {
    expect(plan({ devices: 2 })).toMatchObject({ chunkRows: 2 * MiB, depth: 4, chunkBytes: 16 * MiB });
    expect(plan({ rows: 16 * MiB, devices: 4 })).toMatchObject({ chunkRows: MiB / 2, depth: 4 });
    expect(plan({ rows: 300, chunk: 100, devices: 2 })).toMatchObject({ chunkRows: 100, depth: 2 });
    expect(plan({ rows: 300, chunk: 100, devices: 4 })).toMatchObject({ chunkRows: 100, depth: 1 });
  });

  test('small inputs are cut into enough chunks to overlap, but not into crumbs', () => {
    expect(plan({ rows: 4 * MiB })).toMatchObject({ chunkRows: MiB / 2, depth: 4 });
    expect(plan({ rows: 1000 })).toMatchObject({ chunkRows: 1000, depth: 1, chunkBytes: 8000 });
    expect(plan({ rows: 0 })).toMatchObject({ chunkRows: 1, depth: 1 });
  });

  test('an input of unknown length is taken for a large one', () => {
    expect(plan({ rows: undefined })).toMatchObject({ chunkRows: 2 * MiB, depth: 4 });
  });

  test('wide rows and little memory make chunks shorter', () => {
    expect(plan({ free: 16 * MiB })).toMatchObject({ chunkRows: MiB / 8 });
    const wide = [{ rowBytes: 64 * MiB, ratio: [1, 1] as const, halo: 0 }];
    expect(plan({ streams: wide, rows: 100 })).toMatchObject({ chunkRows: 1 });
  });

  test('rows of a chunk are a multiple of what ratios take in, and memory suffices', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 12 }),
        fc.nat(10_000_000),
        fc.integer({ min: 1, max: 1000 }),
        (a, b, rows, rowBytes) => {
          const streams = [
            { rowBytes, ratio: [1, 1] as const, halo: 0 },
            { rowBytes, ratio: [1, a] as const, halo: 0 },
            { rowBytes, ratio: [3, b] as const, halo: 0 },
          ];
          const { chunkRows, depth, chunkBytes } = plan({ streams, rows });
          expect(chunkRows % a).toBe(0);
          expect(chunkRows % b).toBe(0);
          expect(chunkBytes * depth).toBeLessThanOrEqual(request.free / 4);
        },
      ),
    );
  });
});

test('what the host may hold of chunks in flight is never exceeded', () => {
  fc.assert(
    fc.property(
      fc.record({
        bytes: fc.integer({ min: MiB, max: 512 * MiB }),
        perRow: fc.integer({ min: 1, max: 4096 }),
        ofChunk: fc.nat(MiB),
      }),
      fc.oneof(fc.constant('auto' as const), fc.integer({ min: 1, max: 64 })),
      fc.oneof(fc.constant('auto' as const), fc.integer({ min: 1, max: 1_000_000 })),
      fc.integer({ min: 1, max: 3 }),
      fc.option(fc.integer({ min: 1, max: 10_000_000 }), { nil: undefined }),
      (host, depth, chunk, devices, rows) => {
        let chosen: ReturnType<typeof plan>;
        try {
          chosen = plan({ host, depth, chunk, devices, rows });
        } catch (error) {
          // A row of each chunk must fit, and what was asked for.
          expect((error as WarpstageError).code).toMatch(/^WS(5008|4001)$/);
          if (depth === 'auto' && chunk === 'auto') expect(host.ofChunk * 12).toBeGreaterThan(host.bytes / 2);
          return;
        }
        const inFlight = chosen.depth * devices;
        expect(inFlight * (chosen.chunkRows * host.perRow + host.ofChunk)).toBeLessThanOrEqual(host.bytes);
        expect(chosen.affordable).toBeGreaterThanOrEqual(chosen.auto.depth ? 1 : 0);
      },
    ),
  );
});

describe('as asked', () => {
  test.each([
    [1000, 1000],
    ['1000', 1000],
    ['1MiB', MiB / 4],
    ['1M', MiB / 4],
    ['1MB', 250_000],
    ['1.5 KiB', 384],
    ['2B', 1],
  ])('a chunk of %j has %i rows', (chunk, chunkRows) => {
    expect(plan({ chunk })).toMatchObject({ chunkRows });
  });

  test('a depth', () => {
    expect(plan({ depth: 1 })).toMatchObject({ depth: 1, chunkRows: 2 * MiB });
    expect(plan({ depth: 9, chunk: 100, rows: 450 })).toMatchObject({ depth: 5, chunkRows: 100 });
  });

  test('a chunk larger than the whole is the whole', () => {
    expect(plan({ chunk: 10 ** 9, rows: 77 })).toMatchObject({ chunkRows: 77, depth: 1 });
  });

  test.each([
    [{ chunk: 0 }, 'a chunk must have at least one row, and is 0'],
    [{ chunk: '0MiB' }, 'a chunk must have at least one row, and is 0MiB'],
    [{ chunk: -5 }, 'a chunk must have at least one row, and is -5'],
    [{ chunk: 1.5 }, 'a chunk must have at least one row, and is 1.5'],
    [{ chunk: Number.NaN }, 'a chunk must have at least one row, and is NaN'],
    [{ chunk: 'lots' }, "the chunk must be a number of rows or a size, and is 'lots'"],
    [{ chunk: '5 furlongs' }, "and is '5 furlongs'"],
    [{ depth: 0 }, 'the depth must be a whole number from 1 to 64, and is 0'],
    [{ depth: 65 }, 'and is 65'],
    [{ depth: 1.5 }, 'and is 1.5'],
  ])('%j is refused', async (changes, message) => {
    await expectFailure(refused(changes), 'WS5008', message);
  });

  test('a chunk of more than memory is refused', async () => {
    await expectFailure(
      refused({ chunk: '2GiB' }),
      'WS4001',
      "2 chunks of 536,870,912 rows take 8,589,934,592 bytes of the device's memory, and 4,294,967,296 are free",
      /^choose a smaller --chunk or --depth, or leave them to be chosen$/,
    );
    expect(plan({}).chunkBytes).toBeLessThan(4_294_967_296);
  });
});
