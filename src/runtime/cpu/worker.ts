// The entry of the device's worker threads.

import { workerData } from 'node:worker_threads';
import { Board, engineNames } from './board.ts';
import { mainClock } from './clock.ts';
import { computingTrade, type RunnerFactory, runHelper } from './computing.ts';
import { copyingTrade } from './copying.ts';
import { Crew } from './crew.ts';
import { runEngine } from './engine-loop.ts';
import type { ThreadData } from './messages.ts';

const { role, port, board, crew, device, staging, runners, clockOffset } = workerData as ThreadData;

async function loadRunners(): Promise<RunnerFactory> {
  const module = (await import(runners.url)) as Record<string, RunnerFactory>;
  return module[runners.name]!;
}

const now = mainClock(clockOffset);
const workshop = async () => ({ memory: device, port, create: await loadRunners(), now });

if (typeof role === 'object') {
  runHelper(role.helper, new Crew(crew), await workshop());
} else {
  const trade =
    role === 'compute' ? computingTrade(new Crew(crew), await workshop()) : copyingTrade(device, staging);
  runEngine(engineNames.indexOf(role), new Board(board), port, now, trade);
}
