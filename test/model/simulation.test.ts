// The engine model against the post's schematics and figures, and against what any schedule must hold.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type EngineModel, engineOf, type Operation, type Stay } from '#warpstage/runtime/model/engines.js';
import { postBytes, presets } from '#warpstage/runtime/model/presets.js';
import { Simulation, simulate } from '#warpstage/runtime/model/simulation.js';

const streams = 4;
type Kind = Operation['kind'];
const steps: readonly Kind[] = ['host to device', 'kernel', 'device to host'];

/** Issues operations in the given order of (stream, step); each waits for the one before it in its stream. */
function schedule(
  order: readonly (readonly [stream: number, step: number])[],
  duration: (kind: Kind) => number,
): Operation[] {
  const last = new Map<number, number>();
  return order.map(([stream, step], id) => {
    const before = last.get(stream);
    last.set(stream, id);
    const kind = steps[step]!;
    return { id, kind, stream, duration: duration(kind), dependencies: before === undefined ? [] : [before] };
  });
}

const range = (length: number) => Array.from({ length }, (_, index) => index);
const schedules = {
  /** All data in one stream. */
  sequential: range(3).map((step) => [0, step] as const),
  v1: range(streams).flatMap((stream) => range(3).map((step) => [stream, step] as const)),
  v2: range(3).flatMap((step) => range(streams).map((stream) => [stream, step] as const)),
};

const makespan = (stays: readonly Stay[]) => Math.max(...stays.map(({ ended }) => ended));
const units = (model: EngineModel): EngineModel => ({ ...model, bothWays: 1, issueTime: 0 });

describe('the post', () => {
  test.each([
    ['c1060', 12, 12, 8],
    ['c2050', 12, 6, 9],
    ['k20c', 12, 6, 6],
  ])('the schematic of the %s: sequential %i, V1 %i, V2 %i units', (name, sequential, v1, v2) => {
    const model = units(presets[name]!);
    const run = (order: readonly (readonly [number, number])[], unit: number) =>
      makespan(
        simulate(
          model,
          schedule(order, () => unit),
        ),
      );
    expect([run(schedules.sequential, 4), run(schedules.v1, 1), run(schedules.v2, 1)]).toEqual([
      sequential,
      v1,
      v2,
    ]);
  });

  test.each([
    ['c1060', 12.92381, 13.6369, 8.84588],
    ['c2050', 9.984512, 5.735584, 7.597984],
    ['k20c', 7.10176, 3.974144, 3.967616],
  ])(
    'the %s within 15 %% of the published milliseconds, from its sequential time alone',
    (name, sequential, v1, v2) => {
      const model = presets[name]!;
      const chunk = postBytes / streams;
      const duration = (kind: Kind) => {
        if (kind === 'kernel') return (2 * chunk) / model.memoryRate;
        return chunk / (kind === 'host to device' ? model.hostToDevice : model.deviceToHost);
      };
      expect(3 * (postBytes / model.hostToDevice)).toBeCloseTo(sequential, 6);
      for (const [order, published] of [
        [schedules.v1, v1],
        [schedules.v2, v2],
      ] as const) {
        expect(Math.abs(makespan(simulate(model, schedule(order, duration))) / published - 1)).toBeLessThan(
          0.15,
        );
      }
    },
  );

  test('two directions that share the bus slow each other down, for as long as both run', () => {
    const model = { ...presets.h200!, issueTime: 0 };
    const copy = (id: number, kind: Kind, duration: number): Operation => ({
      id,
      kind,
      stream: id,
      duration,
      dependencies: [],
    });
    const [into, out] = simulate(model, [copy(0, 'host to device', 10), copy(1, 'device to host', 5)]);
    expect(out!.ended).toBeCloseTo(5.5, 9);
    expect(into!.ended).toBeCloseTo(5.5 + 5, 9);
  });
});

const operations = fc
  .array(
    fc.record({
      stream: fc.integer({ min: 0, max: 3 }),
      kind: fc.constantFrom<Kind>('host to device', 'kernel', 'device to host', 'none'),
      duration: fc.integer({ min: 0, max: 20 }),
      also: fc.option(fc.nat({ max: 30 }), { nil: null }),
    }),
    { minLength: 1, maxLength: 30 },
  )
  .map((list): Operation[] => {
    const last = new Map<number, number>();
    return list.map(({ stream, kind, duration, also }, id) => {
      const before = last.get(stream);
      last.set(stream, id);
      const dependencies = [
        ...(before === undefined ? [] : [before]),
        ...(also !== null && also < id ? [also] : []),
      ];
      return { id, kind, stream, duration: kind === 'none' ? 0 : duration, dependencies };
    });
  });
const models = fc
  .record({
    preset: fc.constantFrom('c1060', 'c2050', 'k20c', 'h200'),
    issueTime: fc.constantFrom(0, 0.5),
  })
  .map(({ preset, issueTime }): EngineModel => ({ ...presets[preset]!, issueTime }));

describe('any schedule on any device', () => {
  test('no engine runs two operations at once', () => {
    fc.assert(
      fc.property(models, operations, (model, list) => {
        const stays = simulate(model, list).filter(({ started, ended }) => ended > started);
        for (const a of stays) {
          for (const b of stays) {
            if (a === b || engineOf(model, a.operation.kind) !== engineOf(model, b.operation.kind)) continue;
            expect(a.ended <= b.started + 1e-6 || b.ended <= a.started + 1e-6).toBe(true);
          }
        }
      }),
    );
  });

  test('every dependency is honoured, and nothing starts before it was issued', () => {
    fc.assert(
      fc.property(models, operations, (model, list) => {
        const stays = simulate(model, list);
        for (const { operation, started, issued } of stays) {
          expect(started).toBeGreaterThanOrEqual(issued);
          for (const id of operation.dependencies)
            expect(started).toBeGreaterThanOrEqual(stays[id]!.ended - 1e-6);
        }
      }),
    );
  });

  test('an operation takes its duration, longer only where its engine changes streams or directions share the bus', () => {
    fc.assert(
      fc.property(models, operations, (model, list) => {
        for (const { operation, started, ended } of simulate(model, list)) {
          const slowest = operation.kind === 'kernel' ? 1 : model.bothWays;
          expect(ended - started).toBeGreaterThanOrEqual(operation.duration - 1e-6);
          expect(ended - started).toBeLessThanOrEqual(
            (operation.duration + (operation.kind === 'kernel' ? 0 : model.switchTime)) * slowest + 1e-6,
          );
        }
      }),
    );
  });

  test('time is the same when the host waits for what is complete anyway', () => {
    fc.assert(
      fc.property(models, operations, (model, list) => {
        const looking = new Simulation(model);
        for (const [position, operation] of list.entries()) {
          const at = position * model.issueTime;
          looking.issue(operation, at);
          looking.advance(at + model.issueTime / 2);
        }
        expect(looking.completeAll()).toEqual(simulate(model, list));
      }),
    );
  });
});
