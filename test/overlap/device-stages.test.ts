import { describe, expect, test } from 'vitest';
import { DeviceStages } from '#warpstage/overlap/device-stages.js';

const span = (engine: string, milliseconds: number, bytes?: number) => ({
  ...{ name: engine, engine, stream: 'stream 1', queued: 0, started: 1, ended: 1 + milliseconds },
  ...(bytes === undefined ? {} : { bytes }),
});

describe('what the stages of a device did', () => {
  test('is what was reported, where all is', () => {
    const stages = new DeviceStages();
    stages.tell(span('copy in', 2, 100)); // of a constant, which the loop knows nothing of
    for (let chunk = 0; chunk < 3; ++chunk) {
      stages.give('copy in', 10);
      stages.tell(span('copy in', 1, 10));
    }
    expect(stages.busy('copy in')).toBe(5);
    stages.settle();
    expect(stages.report('copy in')).toEqual({
      name: 'copy in',
      busy: 5,
      bytes: 130,
      operations: 4,
      virtual: false,
    });
  });

  test('is in proportion to what was given, where a sample is reported', () => {
    const stages = new DeviceStages();
    stages.tell(span('copy in', 2, 100));
    stages.settle();
    for (let chunk = 0; chunk < 20; ++chunk) {
      if (chunk === 4) stages.sample();
      stages.give('copy in', chunk === 19 ? 5 : 10);
      stages.give('compute', 0);
      if (chunk < 4 || chunk % 8 === 4) {
        stages.tell(span('copy in', 1, 10));
        stages.tell(span('compute', 3));
      }
    }
    expect(stages.busy('compute')).toBe(18);
    stages.settle();
    expect(stages.report('compute')).toEqual({
      name: 'compute',
      busy: 60,
      bytes: 0,
      operations: 20,
      virtual: false,
    });
    expect(stages.report('copy in')).toEqual({
      name: 'copy in',
      busy: 21.5,
      bytes: 295,
      operations: 21,
      virtual: false,
    });
    // The next pass begins with all reported.
    stages.tell(span('copy in', 1, 10));
    stages.settle();
    expect(stages.report('copy in').busy).toBe(22.5);
  });

  test('of which nothing was reported, is not guessed', () => {
    const stages = new DeviceStages();
    stages.sample();
    stages.give('copy out', 10);
    stages.settle();
    expect(stages.report('copy out')).toEqual({
      name: 'copy out',
      busy: 0,
      bytes: 0,
      operations: 0,
      virtual: false,
    });
    stages.tell(span('host', 1));
    expect(stages.report('read').operations).toBe(0);
  });
});
