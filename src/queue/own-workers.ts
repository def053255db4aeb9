// Workers of the command's own, processes of this machine: started again when they die, and ended with the command. They
// end as well when the command is killed, as they notice that its channel closes.

import { type ChildProcess, spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export interface OwnWorkersOptions {
  readonly count: number;
  /** Passed by the environment: the command lines of processes are seen by others. */
  readonly environment: Readonly<Record<string, string>>;
  readonly device: string;
  /** Of each. Default: a share of the processors. */
  readonly threads: number | undefined;
  /** Seconds. */
  readonly patience: number;
  /** URLs that they may read. */
  readonly urls: readonly string[];
  /** Exit codes after which another try may do better. */
  readonly mayPass: (code: number) => boolean;
  readonly say: (text: string) => void;
  /** Called when none is left, as each has failed for good. */
  readonly onGone: () => void;
}

/** Milliseconds before one is started again, and to end by itself. */
const times = { again: 300, stop: 5000 } as const;
const program = fileURLToPath(new URL('../cli/main.js', import.meta.url));

export class OwnWorkers implements AsyncDisposable {
  readonly #options: OwnWorkersOptions;
  readonly #children = new Set<ChildProcess>();
  #left: number;
  #isStopping = false;

  constructor(options: OwnWorkersOptions) {
    this.#options = options;
    this.#left = options.count;
    for (let i = 0; i < options.count; i++) this.#start();
  }

  get pids(): readonly number[] {
    return [...this.#children].flatMap(({ pid }) => pid ?? []);
  }

  #start(): void {
    const { count, device, patience, environment, urls, say } = this.#options;
    const { threads = Math.max(1, Math.floor(availableParallelism() / count)) } = this.#options;
    const options = ['--device', device, '--threads', `${threads}`, '--patience', `${patience}s`];
    for (const url of urls) options.push('--from', url);
    const child = spawn(
      process.execPath,
      [...process.execArgv, program, 'worker', '--quiet', '--within', '/', ...options],
      {
        env: { ...process.env, ...environment },
        stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
        // Ctrl-C is the command's to handle.
        detached: true,
      },
    );
    this.#children.add(child);
    child.stderr!.on('data', (part: Buffer) => {
      // That they were stopped is no news.
      if (!this.#isStopping) say(part.toString());
    });
    child.on('error', () => {});
    child.on('exit', (code) => void this.#ended(child, code));
  }

  async #ended(child: ChildProcess, code: number | null): Promise<void> {
    this.#children.delete(child);
    if (this.#isStopping) return;
    if (code !== null && !this.#options.mayPass(code)) {
      if (--this.#left === 0) this.#options.onGone();
      return;
    }
    await sleep(times.again);
    if (!this.#isStopping) this.#start();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopping = true;
    await Promise.all(
      [...this.#children].map(async (child) => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        const ended = new Promise((resolve) => child.on('exit', resolve));
        child.kill('SIGTERM');
        const late = setTimeout(() => child.kill('SIGKILL'), times.stop);
        await ended;
        clearTimeout(late);
      }),
    );
  }
}
