// What must hold of any schedule, on any device that the engine model knows: random operations in random streams.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type EngineModel, engineOf, type Operation, type Stay } from '#warpstage/runtime/model/engines.js';
import { presets } from '#warpstage/runtime/model/presets.js';
import { Simulation, simulate } from '#warpstage/runtime/model/simulation.js';

type Kind = Operation['kind'];
const steps: readonly Kind[] = ['host to device', 'kernel', 'device to host'];
const makespan = (stays: readonly Stay[]) => Math.max(...stays.map(({ ended }) => ended));

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
    preset: fc.constantFrom('c1060', 'c2050', 'k20c', 'h100', 'h200'),
    issueTime: fc.constantFrom(0, 0.5),
  })
  .map(({ preset, issueTime }): EngineModel => ({ ...presets[preset]!, issueTime }));

describe('any schedule on any device', () => {
  test('streams keep their order', () => {
    fc.assert(
      fc.property(models, operations, (model, list) => {
        const ends = new Map<number, number>();
        for (const { operation, started, ended } of simulate(model, list)) {
          expect(started).toBeGreaterThanOrEqual((ends.get(operation.stream) ?? 0) - 1e-6);
          ends.set(operation.stream, ended);
        }
      }),
    );
  });

  test('all work is done, once, and no engine does more', () => {
    fc.assert(
      fc.property(models, operations, (model, list) => {
        const plain = {
          ...model,
          bothWays: 1,
          bothWaysOut: 1,
          besideKernels: 1,
          bothWaysOverhead: 0,
          switchTime: 0,
        };
        const stays = simulate(plain, list);
        expect(stays.map(({ operation }) => operation.id)).toEqual(list.map(({ id }) => id));
        const busy = stays.reduce((sum, { started, ended }) => sum + ended - started, 0);
        expect(busy).toBeCloseTo(
          list.reduce((sum, { duration }) => sum + duration, 0),
          6,
        );
      }),
    );
  });

  test('a second copy engine makes nothing slower, where engines take their work in the order of issue', () => {
    fc.assert(
      fc.property(models, operations, (model, list) => {
        const inOrder = {
          ...model,
          ...{
            hardwareQueues: 1,
            copyQueues: 1,
            bothWays: 1,
            bothWaysOut: 1,
            besideKernels: 1,
            bothWaysOverhead: 0,
            switchTime: 0,
            signalTime: 0,
            startTime: 0,
            delayedSignal: false,
          },
        };
        const [one, two] = [1, 2].map((copyEngines) => makespan(simulate({ ...inOrder, copyEngines }, list)));
        expect(two).toBeLessThanOrEqual(one! + 1e-6);
      }),
    );
  });

  test('elsewhere it does only where an engine took its work in another order, or the bus was shared', () => {
    fc.assert(
      fc.property(models, operations, (model, list) => {
        const [one, two] = [1, 2].map((copyEngines) =>
          simulate({ ...model, copyEngines, switchTime: 0, signalTime: 0 }, list),
        );
        if (makespan(two!) <= makespan(one!) + 1e-6) return;
        const order = (stays: readonly Stay[], kind: Kind) =>
          stays
            .filter(({ operation }) => operation.kind === kind)
            .sort((a, b) => a.started - b.started)
            .map(({ operation }) => operation.id)
            .join();
        const copies = two!.filter(({ operation }) => operation.kind.includes(' to '));
        const shared =
          (model.bothWays > 1 || model.bothWaysOverhead > 0) &&
          copies.some((a) =>
            copies.some(
              (b) => a.operation.kind !== b.operation.kind && a.started < b.ended && b.started < a.ended,
            ),
          );
        const reordered = steps.some((kind) => order(one!, kind) !== order(two!, kind));
        const delayed = model.delayedSignal && two!.some(({ ended, signalled }) => signalled > ended);
        expect(shared || reordered || delayed).toBe(true);
      }),
    );
  });

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
          const slowest = operation.kind === 'kernel' ? 1 : model.bothWaysOut * model.besideKernels;
          const more = model.switchTime + model.bothWaysOverhead;
          expect(ended - started).toBeGreaterThanOrEqual(operation.duration - 1e-6);
          expect(ended - started).toBeLessThanOrEqual(
            (operation.duration + (operation.kind === 'kernel' ? 0 : more)) * slowest + 1e-6,
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

  test('ends at any time of the clock, from nanoseconds to months, and takes what it takes then', () => {
    const month = 30 * 24 * 3600 * 1000;
    const times = fc.oneof(
      fc.constantFrom(0, 1e-6, 1, 1e6, 1.7e7, 1e9, month, 12 * month),
      fc.double({ min: 0, max: 12 * month, noNaN: true }),
    );
    const scales = fc.constantFrom(1e-6, 0.0137, 1, 1e5);
    fc.assert(
      fc.property(models, operations, times, scales, (model, list, begin, scale) => {
        const simulation = new Simulation(model);
        // A clock that stands still would never come back from here.
        let now = simulation.now;
        let left = 101 * list.length;
        Object.defineProperty(simulation, 'now', {
          get: () => now,
          set: (time: number) => {
            if (--left < 0) throw new Error(`the clock stands still at ${now} ms`);
            now = time;
          },
        });
        const scaled = list.map((one) => ({ ...one, duration: one.duration * scale }));
        for (const [position, operation] of scaled.entries())
          simulation.issue(operation, begin + position * model.issueTime);
        // What such a time can tell, for each operation that came before.
        const slack = 1e-6 + list.length * 16 * Number.EPSILON * (begin + 100 * scale * list.length);
        for (const { operation, issued, started, ended } of simulation.completeAll()) {
          const extra = operation.kind === 'kernel' ? 0 : model.switchTime + model.bothWaysOverhead;
          expect(started).toBeGreaterThanOrEqual(issued);
          expect(ended - started).toBeGreaterThanOrEqual(operation.duration - slack);
          expect(ended - started).toBeLessThanOrEqual(
            (operation.duration + extra) * model.bothWaysOut * model.besideKernels + slack,
          );
        }
      }),
      { numRuns: 300 },
    );
  });
});
