// A server of the command's own: the `nats-server` of the PATH on a free port of this machine alone, behind a token, with a
// folder that goes with it. Where it dies it is started again, with what it had stored.
//
// It does not outlive the command: it is stopped at the end, and where the system can (setpriv of Linux) also when the
// command is killed; the folder is removed then by the next command that starts a server.

import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { problem } from '../diagnostics/problem.ts';
import { folderOfProcess } from '../files/leftovers.ts';

/** Milliseconds until it must listen, and to end by itself; between two starts. */
const times = { start: 10_000, stop: 5000, again: 200 } as const;

export class OwnServer implements AsyncDisposable {
  readonly #folder: string;
  readonly #program: readonly string[];
  readonly #token = randomBytes(24).toString('hex');
  #child: ChildProcess | undefined;
  #port = -1;
  #isStopping = false;
  #restarted = Promise.resolve();

  private constructor(folder: string, program: readonly string[]) {
    this.#folder = folder;
    this.#program = program;
  }

  /** Starts one. Throws WS6001 where there is no `nats-server`, WS5017 where it does not start. */
  static async start(): Promise<OwnServer> {
    const program = findProgram('nats-server');
    if (program === undefined) {
      throw problem(
        'WS6001',
        'there is no nats-server in the PATH',
        'install it (apt-get install nats-server, brew install nats-server), or name a server: --queue nats://host:4222',
      );
    }
    const guard = process.platform === 'linux' ? findProgram('setpriv') : undefined;
    const command = guard === undefined ? [program] : [guard, '--pdeathsig', 'KILL', '--', program];
    const server = new OwnServer(folderOfProcess(tmpdir(), 'warpstage-queue'), command);
    try {
      await server.#start();
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
    return server;
  }

  /** With its token. */
  get url(): string {
    return `nats://${this.#token}@127.0.0.1:${this.#port}`;
  }

  get pid(): number {
    return this.#child!.pid!;
  }

  async #start(): Promise<void> {
    const text = (value: string) => JSON.stringify(value);
    const configuration = join(this.#folder, 'server.conf');
    await writeFile(
      configuration,
      [
        `listen: "127.0.0.1:${this.#port}"`,
        `authorization { token: ${text(this.#token)} }`,
        `jetstream { store_dir: ${text(join(this.#folder, 'store'))} }`,
        `ports_file_dir: ${text(this.#folder)}`,
        '',
      ].join('\n'),
      { mode: 0o600 },
    );
    const [program, ...guarded] = this.#program;
    const child = spawn(program!, [...guarded, '-c', configuration], {
      stdio: ['ignore', 'ignore', 'pipe'],
      // Ctrl-C is the command's to handle.
      detached: true,
    });
    this.#child = child;
    let told = '';
    child.stderr.on('data', (part: Buffer) => {
      told = (told + part.toString()).slice(-2000);
    });
    child.on('error', () => {});
    child.on('exit', () => this.#restart());
    const ports = join(this.#folder, `nats-server_${child.pid}.ports`);
    for (const began = performance.now(); ; await sleep(10)) {
      const port = portIn(ports);
      if (port !== undefined) {
        this.#port = port;
        return;
      }
      if (child.exitCode === null && child.signalCode === null && performance.now() - began < times.start)
        continue;
      const last = told.trim().split('\n').at(-1) ?? '';
      throw problem('WS5017', `nats-server did not start: ${last}`, 'run it by itself to see why');
    }
  }

  /** After the first start, on the port that clients know. */
  #restart(): void {
    if (this.#isStopping || this.#port < 0) return;
    this.#restarted = this.#restarted
      .then(() => sleep(times.again))
      .then(() => (this.#isStopping ? undefined : this.#start()))
      .catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopping = true;
    await this.#restarted;
    const child = this.#child;
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const ended = new Promise((resolve) => child.on('exit', resolve));
      child.kill('SIGTERM');
      const late = setTimeout(() => child.kill('SIGKILL'), times.stop);
      await ended;
      clearTimeout(late);
    }
    await rm(this.#folder, { recursive: true, force: true });
  }
}

function portIn(path: string): number | undefined {
  try {
    const { nats } = JSON.parse(readFileSync(path, 'utf8')) as { readonly nats: readonly [string] };
    return Number(new URL(nats[0]).port);
  } catch {
    return undefined;
  }
}

/** Where a program of the PATH lies. */
export function findProgram(name: string): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}
