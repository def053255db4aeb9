// A reporter for runs that nobody watches: it finds test files that are stuck, names them, and ends their workers.
//
// A test that blocks its thread is past vitest's own time limits, and the run would never end. A file is stuck when none of
// its tests has begun or ended for far longer than any test may take; so is the run when that holds for all of it. What it was at, and the processes of the run, are
// printed; then all workers are killed, so that vitest ends and tells which files have no result. The default is seven
// minutes; WARPSTAGE_STALLED says other seconds.

import { execFileSync } from 'node:child_process';
import type { Reporter, TestCase, TestModule } from 'vitest/node';
import { UnderWay } from './under-way.ts';

const limit = Number(process.env.WARPSTAGE_STALLED ?? 420) * 1000;

// biome-ignore lint/style/noDefaultExport: vitest looks for it.
export default class Stalls implements Reporter {
  readonly #run = new UnderWay();
  #timer: NodeJS.Timeout | undefined;

  onTestRunStart(): void {
    this.#run.clear(performance.now());
    this.#timer = setInterval(() => this.#look(), limit / 12);
    this.#timer.unref();
  }

  onTestModuleStart(module: TestModule): void {
    this.#run.begin(module, performance.now());
  }

  onTestCaseReady(test: TestCase): void {
    this.#run.note(test.module, test.fullName, performance.now());
  }

  onTestCaseResult(test: TestCase): void {
    this.#run.note(test.module, `what follows ${test.fullName}`, performance.now());
  }

  onTestModuleEnd(module: TestModule): void {
    this.#run.end(module, performance.now());
  }

  onTestRunEnd(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const now = performance.now();
    const stuck = this.#run.stuck(now, limit);
    if (stuck.length === 0 && now - this.#run.last <= limit) return;
    if (stuck.length === 0) console.error(`\nno test has begun or ended for over ${limit / 1000} s`);
    for (const { file, at } of stuck) console.error(`\nstuck for over ${limit / 1000} s: ${file}, at ${at}`);
    const processes = execFileSync('ps', ['-eo', 'pid,ppid,stat,etimes,wchan:20,args'], { encoding: 'utf8' });
    console.error(processes);
    this.#run.clear(now);
    for (const pid of workersAmong(processes)) process.kill(pid, 'SIGKILL');
  }
}

/** The processes of node that this one has started, in a listing of ps. */
function workersAmong(processes: string): number[] {
  return processes
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, parent, , , , program]) => parent === String(process.pid) && program === process.execPath)
    .map(([pid]) => Number(pid));
}
