// The engine model against the post's schematics and figures, and how its queues take turns.

import { describe, expect, test } from 'vitest';
import type { EngineModel, Operation, Stay } from '#warpstage/runtime/model/engines.js';
import { postBytes, presets } from '#warpstage/runtime/model/presets.js';
import type { KernelLoad } from '#warpstage/runtime/model/sharing.js';
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
  ] as const)('the schematic of the %s: sequential %i, V1 %i, V2 %i units', (name, sequential, v1, v2) => {
    const model = units(presets[name]);
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
  ] as const)(
    'the %s within 15 %% of the published milliseconds, from its sequential time alone',
    (name, sequential, v1, v2) => {
      const model = presets[name];
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
    const model = { ...presets.h200!, issueTime: 0, bothWays: 1.1, bothWaysOut: 1.1, bothWaysOverhead: 0 };
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
    // The second finds the first under way, and takes longer to begin.
    const slow = { ...model, bothWaysOverhead: 1 };
    const [first, second] = simulate(slow, [copy(0, 'host to device', 10), copy(1, 'device to host', 5)]);
    expect(second!.ended).toBeCloseTo(6.6, 9);
    expect(first!.ended).toBeCloseTo(6.6 + 4, 9);
    const [alone] = simulate(slow, [copy(0, 'device to host', 5)]);
    expect(alone!.ended).toBeCloseTo(5, 9);
  });
});

/** A kernel of one wave that takes a part of the device's places and waits for its own results. */
const waiting = (share: number, latency: number): KernelLoad => ({
  share,
  blockShare: share,
  blocks: 1,
  waves: share,
  latency,
  issue: 0,
  memory: 0,
});

describe('queues', () => {
  const model = {
    ...units(presets.h200!),
    switchTime: 0,
    signalTime: 0,
    hostToDeviceOverhead: 0,
    deviceToHostOverhead: 0,
    bothWays: 1,
    bothWaysOut: 1,
    besideKernels: 1,
    bothWaysOverhead: 0,
    startTime: 0,
  };
  const starts = (list: readonly Operation[], kind: Kind) =>
    simulate(model, list)
      .filter(({ operation }) => operation.kind === kind)
      .sort((a, b) => a.started - b.started)
      .map(({ operation }) => operation.stream);

  test('a copy engine empties a queue before it goes round to the next', () => {
    const copies = schedule(
      range(8).map((stream) => [stream, 0] as const),
      () => 1,
    );
    expect(starts(copies, 'host to device')).toEqual([0, 4, 1, 5, 2, 6, 3, 7]);
  });

  test('a kernel waits for those that came before it through its queue, also of other streams', () => {
    // Streams 0 and 8 share a queue: the second kernel of stream 0 stands behind the first one of stream 8.
    const order = [0, 1, 1].flatMap((step) => range(16).map((stream) => [stream, step] as const));
    const stays = simulate(
      { ...model, copyQueues: 1 },
      schedule(order, (kind) => (kind === 'kernel' ? 0.1 : 1)),
    );
    const kernels = (stream: number) =>
      stays.filter(({ operation }) => operation.kind === 'kernel' && operation.stream === stream);
    expect(kernels(0)[0]!.started).toBeCloseTo(1, 9);
    expect(kernels(8)[0]!.started).toBeCloseTo(9, 9);
    expect(kernels(0)[1]!.started).toBeCloseTo(9.1, 9);
    const alone = simulate(
      { ...model, copyQueues: 1, hardwareQueues: 16 },
      schedule(order, (kind) => (kind === 'kernel' ? 0.1 : 1)),
    );
    expect(
      alone.filter(({ operation }) => operation.kind === 'kernel' && operation.stream === 0)[1]!.started,
    ).toBeCloseTo(1.1, 9);
  });

  test('a stream that lost its queue takes an empty one, or the least recently used', () => {
    const two = { ...model, hardwareQueues: 2 };
    const simulation = new Simulation(two);
    const kernel = (id: number, stream: number, duration: number, dependencies: readonly number[] = []) =>
      simulation.issue(
        { id, kind: 'kernel', stream, duration, dependencies, load: waiting(0.01, duration) },
        id,
      );
    // Stream 0 is long in its queue, stream 1 soon done: stream 2 gets the queue of stream 1.
    kernel(0, 0, 100);
    kernel(1, 1, 0.5);
    kernel(2, 2, 1);
    expect(simulation.complete(2)).toMatchObject({ started: 2 });
    // Stream 3 gets that queue again, as its kernel is done by then, and not the one that waits.
    kernel(3, 3, 1, [0]);
    kernel(4, 2, 1);
    expect(simulation.complete(4).started).toBeGreaterThanOrEqual(4);
  });

  test('kernels run together as far as they fit, and as many as the hardware takes', () => {
    const starting = (shares: readonly number[], kernelsAtOnce: number) =>
      simulate(
        { ...model, hardwareQueues: 8, kernelsAtOnce },
        shares.map((share, id) => ({
          id,
          kind: 'kernel' as const,
          stream: id,
          duration: 1,
          dependencies: [],
          load: waiting(share, 1),
        })),
      ).map(({ started }) => started);
    expect(starting([0.5, 0.5, 0.5], 128)).toEqual([0, 0, 1]);
    // The one that does not fit as a whole waits; a smaller one goes before it.
    expect(starting([0.5, 0.75, 0.25], 128)).toEqual([0, 1, 0]);
    expect(starting([0.1, 0.1, 0.1, 0.1, 0.1], 2)).toEqual([0, 0, 1, 1, 2]);
  });

  test('a copy engine takes its time to go over to another stream, and none to stay', () => {
    const slow = { ...model, copyQueues: 8, switchTime: 0.5 };
    const copies = (order: readonly number[]) =>
      simulate(
        slow,
        order.map((stream, id) => ({
          id,
          kind: 'host to device' as const,
          stream,
          duration: 1,
          dependencies: [],
        })),
      ).map(({ ended }) => ended);
    expect(copies([0, 0, 0])).toEqual([1, 2, 3]);
    expect(copies([0, 1, 2])).toEqual([1, 2.5, 4]);
  });

  test('a signal is delayed by the kernels of other streams behind it, and not by those of its own', () => {
    const delayed = { ...model, delayedSignal: true, hardwareQueues: 1, copyQueues: 1 };
    const copyAfter = (second: number) =>
      simulate(delayed, [
        { id: 0, kind: 'kernel', stream: 0, duration: 1, dependencies: [] },
        { id: 1, kind: 'kernel', stream: second, duration: 5, dependencies: [0] },
        { id: 2, kind: 'device to host', stream: 2, duration: 1, dependencies: [0] },
      ])[2]!.started;
    expect([copyAfter(0), copyAfter(1)]).toEqual([1, 6]);
  });

  test('another engine hears of an end a little later, the same one at once', () => {
    const late = { ...model, signalTime: 0.25 };
    const list = schedule(
      [0, 1, 1, 2].map((step) => [0, step] as const),
      () => 1,
    );
    expect(simulate(late, list).map(({ started }) => started)).toEqual([0, 1.25, 2.25, 3.5]);
  });
});
