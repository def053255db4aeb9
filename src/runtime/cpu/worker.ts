// The entry of the device's worker threads.
//
// The build makes one text of it and of all that it imports (worker.text.js), which a thread is started
// with. So it is a script, which awaits nothing at its top level.

import { workerData } from 'node:worker_threads';
import { mainClock } from './clock.ts';
import { CommandTable, engineNames } from './command-table.ts';
import { computeHandler } from './computing.ts';
import { copyHandler } from './copying.ts';
import { runEngine } from './engine-loop.ts';
import { runHelper } from './helper-loop.ts';
import type { RunnerSource, ThreadData } from './messages.ts';
import { type ExecutableFactory, withPieces } from './piece-runner.ts';
import { WorkerPool } from './worker-pool.ts';

async function factoryOf(runners: RunnerSource): Promise<ExecutableFactory> {
  if (runners === 'wasm')
    return (await import('../../targets/wasm/runner.ts')).createWasmRunner as ExecutableFactory;
  if (runners === 'native')
    return (await import('./native/runner.ts')).createNativeRunner as ExecutableFactory;
  if (runners === 'interpreter')
    return (await import('../../targets/interpreter/runner.ts')).createInterpreterRunner as ExecutableFactory;
  const module = (await import(runners.url)) as Record<string, ExecutableFactory>;
  return module[runners.name]!;
}

async function start(thread: ThreadData): Promise<void> {
  const { role, port, table, pool, device, staging, runners, clockOffset } = thread;
  const now = mainClock(clockOffset);
  const { stopWords } = new WorkerPool(pool);
  const workshop = async () => {
    return { memory: device, port, create: withPieces(await factoryOf(runners)), now, stop: stopWords };
  };
  if (typeof role === 'object') {
    runHelper(role.helper, new WorkerPool(pool), await workshop());
    return;
  }
  const handler =
    role === 'compute'
      ? computeHandler(new WorkerPool(pool), await workshop())
      : copyHandler(device, staging);
  runEngine(engineNames.indexOf(role), new CommandTable(table), port, now, handler);
}

void start(workerData as ThreadData);
