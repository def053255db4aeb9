// The virtual devices that come with warpstage.
//
// The three of the post take one measured number each, the time of its sequential schedule:
// 16 MiB in, a kernel over them, 16 MiB out, each taken as a third. What the other schedules take
// is predicted, not fitted. The H200's rates were measured on one, each operation by itself.

import type { EngineModel } from './engines.ts';

/** The post's problem: 4 * 1024 * 256 * 4 floats. */
export const postBytes = 4 * 1024 * 256 * 4 * 4;

/** A device of the post, from the milliseconds of its sequential schedule. */
function ofPost(
  name: string,
  sequential: number,
  rules: Pick<
    EngineModel,
    'computeCapability' | 'copyEngines' | 'kernelsAtOnce' | 'hyperQ' | 'delayedSignal'
  >,
): EngineModel {
  const rate = postBytes / (sequential / 3);
  return {
    name,
    ...rules,
    bothWays: 1,
    hostToDevice: rate,
    deviceToHost: rate,
    pageableHostToDevice: rate / 2,
    pageableDeviceToHost: rate / 2,
    // The post's kernel reads and writes each element once, in a third of the time.
    memoryRate: 2 * rate,
    operationRate: Number.POSITIVE_INFINITY,
    issueTime: 0,
  };
}

export const presets: Readonly<Record<string, EngineModel>> = {
  c1060: ofPost('Tesla C1060', 12.92381, {
    computeCapability: '1.3',
    copyEngines: 1,
    kernelsAtOnce: 1,
    hyperQ: false,
    delayedSignal: false,
  }),
  c2050: ofPost('Tesla C2050', 9.984512, {
    computeCapability: '2.0',
    copyEngines: 2,
    kernelsAtOnce: 16,
    hyperQ: false,
    delayedSignal: true,
  }),
  k20c: ofPost('Tesla K20c', 7.10176, {
    computeCapability: '3.5',
    copyEngines: 2,
    kernelsAtOnce: 32,
    hyperQ: true,
    delayedSignal: false,
  }),
  h200: {
    name: 'NVIDIA H200',
    computeCapability: '9.0',
    copyEngines: 3,
    kernelsAtOnce: 128,
    hyperQ: true,
    delayedSignal: false,
    bothWays: 1.1,
    hostToDevice: 55.4e6,
    deviceToHost: 55.3e6,
    pageableHostToDevice: 9e6,
    pageableDeviceToHost: 9e6,
    memoryRate: 4.2e9,
    operationRate: 6e10,
    issueTime: 0.0036,
  },
};
