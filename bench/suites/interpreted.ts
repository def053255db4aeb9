// A kernel on the interpreter with nobody listening: what the checker is compared with.

import type { Kernel } from 'warpstage';
import { bindLaunch, type CheckLaunch } from '#warpstage/checker/launch.js';
import { LaunchMemory } from '#warpstage/checker/memory.js';
import { createInterpreterRunner, interpreterExecutable } from '#warpstage/targets/interpreter/runner.js';

export function interpreted(kernel: Kernel, launch: object): void {
  const bound = bindLaunch(kernel, launch as CheckLaunch<never>);
  const { memory, record, arena } = new LaunchMemory(bound);
  const context = { memory, print: () => {} };
  const [x, y, z] = bound.grid;
  const fault = createInterpreterRunner(interpreterExecutable(bound.program, 'late'), context)(
    record,
    arena,
    0,
    x * y * z,
  );
  if (fault !== null) throw new Error(`${kernel.name} stopped: ${fault.kind}`);
}
