// The entry of the threads of a device whose kernels are interpreted; see worker.ts.

import { workerData } from 'node:worker_threads';
import { createInterpreterRunner } from '../../targets/interpreter/runner.ts';
import type { ThreadData } from './messages.ts';
import type { ExecutableFactory } from './piece-runner.ts';
import { runThread } from './run-thread.ts';

void runThread(workerData as ThreadData, async () => createInterpreterRunner as ExecutableFactory);
