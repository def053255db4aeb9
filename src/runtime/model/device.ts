// A virtual device: the CPU device with the engines, the rates and the time of another.

import { CpuDevice, type CpuSettings } from '../cpu/device.ts';
import type { DeviceProperties } from '../device.ts';
import { ModelDispatcher } from './dispatcher.ts';
import type { EngineModel } from './engines.ts';
import { idleExecutor } from './idle-executor.ts';
import { limitsOf, multiprocessorOf } from './limits.ts';
import { type KernelTime, OperationTimes } from './operation-times.ts';
import { noteModel } from './virtual.ts';

interface ModelOptions {
  readonly kernelTime: KernelTime | undefined;
  /** Whether copies and kernels are carried out, or only timed. */
  readonly execute: boolean;
}

/** Opens a virtual device; what it runs is executed by the CPU that the settings describe. */
export function createModelDevice(
  model: EngineModel,
  settings: CpuSettings,
  { kernelTime, execute }: ModelOptions,
): CpuDevice {
  const times = new OperationTimes(model, kernelTime);
  const device = new CpuDevice({
    ...settings,
    virtual: {
      properties: propertiesOf(model),
      multiprocessor: multiprocessorOf(model),
      dispatcher: (cpu, finished) =>
        new ModelDispatcher(model, times, execute ? cpu : idleExecutor(() => cpu.close()), finished),
    },
  });
  noteModel(device, model);
  return device;
}

function propertiesOf(model: EngineModel): Partial<DeviceProperties> {
  return {
    name: model.name,
    kind: 'model',
    computeCapability: model.computeCapability,
    multiProcessorCount: model.multiProcessors,
    asyncEngineCount: model.copyEngines,
    concurrentKernels: model.kernelsAtOnce > 1,
    ...limitsOf(model.computeCapability),
  };
}
