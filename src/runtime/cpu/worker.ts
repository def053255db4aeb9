// The entry of the device's worker threads.
//
// The build makes one text of it and of all that it imports (worker.text.js), which a thread is started
// with. So it is a script, which awaits nothing at its top level. Every thread reads the text once more, so threads of the
// interpreter, which is twice as long as all the rest, have one of their own (interpreting-worker.ts).

import { workerData } from 'node:worker_threads';
import type { RunnerSource, ThreadData } from './messages.ts';
import type { ExecutableFactory } from './piece-runner.ts';
import { runThread } from './run-thread.ts';

async function factoryOf(runners: RunnerSource): Promise<ExecutableFactory> {
  if (runners === 'wasm')
    return (await import('../../targets/wasm/runner.ts')).createWasmRunner as ExecutableFactory;
  if (runners === 'native')
    return (await import('./native/runner.ts')).createNativeRunner as ExecutableFactory;
  if (runners === 'interpreter') throw new TypeError('these threads have no interpreter');
  const module = (await import(runners.url)) as Record<string, ExecutableFactory>;
  return module[runners.name]!;
}

void runThread(workerData as ThreadData, factoryOf);
