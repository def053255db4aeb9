// What a thread of the device does from its start on: the part of the pool that it was given, for ever.

import { mainClock } from './clock.ts';
import { CommandTable, engineNames } from './command-table.ts';
import { computeHandler } from './computing.ts';
import { copyHandler } from './copying.ts';
import { runEngine } from './engine-loop.ts';
import { runHelper } from './helper-loop.ts';
import type { RunnerSource, ThreadData } from './messages.ts';
import { type ExecutableFactory, withPieces } from './piece-runner.ts';
import { WorkerPool } from './worker-pool.ts';

/** Runs the thread. `factoryOf` gives what makes its runners. */
export async function runThread(
  thread: ThreadData,
  factoryOf: (runners: RunnerSource) => Promise<ExecutableFactory>,
): Promise<void> {
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
