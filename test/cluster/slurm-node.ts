// A Slurm of one node: controller and node daemon of this user, on free ports of this machine, with all they keep in a
// folder. Nobody is authenticated, and processes are found in /proc: neither systemd nor munge is needed.

import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, openSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';

/** Whether Slurm is here. Throws where it must be, and is not. */
export function hasSlurm(): boolean {
  const names = ['slurmctld', 'slurmd', 'sbatch', 'scontrol', 'sinfo'];
  const has = names.every((name) => spawnSync('sh', ['-c', `command -v ${name}`]).status === 0);
  const expected = (process.env.WARPSTAGE_EXPECT_TOOLS ?? '').split(',');
  if (!has && expected.includes('slurmctld')) throw new Error('Slurm is expected here, and cannot be run');
  return has;
}

/** A task of an array, as the controller tells of it. */
export interface Task {
  readonly index: number;
  readonly id: string;
  readonly state: string;
  readonly restarts: number;
  readonly exitCode: number;
}

export class SlurmNode implements AsyncDisposable {
  readonly #folder: string;
  readonly #env: NodeJS.ProcessEnv;
  #controller: ChildProcess | undefined;
  #node: ChildProcess | undefined;

  private constructor(folder: string) {
    this.#folder = folder;
    this.#env = { ...process.env, SLURM_CONF: join(folder, 'slurm.conf') };
  }

  /** Starts both daemons, with so many processors for tasks. */
  static async start(folder: string, processors: number): Promise<SlurmNode> {
    const node = new SlurmNode(folder);
    for (const name of ['state', 'spool']) mkdirSync(join(folder, name));
    const [controller, daemon] = [await freePort(), await freePort()];
    const { username } = userInfo();
    const lines = {
      ClusterName: 'test',
      SlurmctldHost: 'localhost(127.0.0.1)',
      SlurmctldPort: controller,
      SlurmdPort: daemon,
      SlurmUser: username,
      SlurmdUser: username,
      AuthType: 'auth/none',
      CredType: 'cred/none',
      MpiDefault: 'none',
      ProctrackType: 'proctrack/linuxproc',
      TaskPlugin: 'task/none',
      JobAcctGatherType: 'jobacct_gather/none',
      AccountingStorageType: 'accounting_storage/none',
      SelectType: 'select/cons_tres',
      SelectTypeParameters: 'CR_Core',
      SchedulerParameters: 'sched_interval=1',
      StateSaveLocation: join(folder, 'state'),
      SlurmdSpoolDir: join(folder, 'spool'),
      SlurmctldPidFile: join(folder, 'slurmctld.pid'),
      SlurmdPidFile: join(folder, 'slurmd.pid'),
      ReturnToService: 2,
      MessageTimeout: 5,
    };
    const machine = `NodeName=localhost NodeAddr=127.0.0.1 CPUs=${processors} Boards=1 SocketsPerBoard=1 CoresPerSocket=${processors} ThreadsPerCore=1`;
    const text = [
      ...Object.entries(lines).map(([name, value]) => `${name}=${value}`),
      // As many as a test wants, on a machine of any number.
      'SlurmdParameters=config_overrides',
      machine,
      'PartitionName=main Nodes=localhost Default=YES MaxTime=INFINITE State=UP',
      '',
    ];
    writeFileSync(join(folder, 'slurm.conf'), text.join('\n'));
    node.startController();
    node.#node = node.#spawn('slurmd', ['-D', '-N', 'localhost']);
    await node.until(
      async () => (await node.#ask('sinfo', '--noheader', '--format=%T')).trim() === 'idle',
      'the node',
    );
    return node;
  }

  /** Starts the controller, from what it has saved. */
  startController(): void {
    this.#controller = this.#spawn('slurmctld', ['-D']);
  }

  /** The controller dies, without a word. */
  async killController(): Promise<void> {
    await end(this.#controller!, 'SIGKILL');
  }

  /** Waits until the controller has saved what is so now: every five seconds it saves what has changed, so a job that is held is added. */
  async saved(): Promise<void> {
    const file = join(this.#folder, 'state/job_state');
    const now = Date.now();
    await this.submit(['--hold', '--wrap=true'], this.#folder, {});
    await this.until(() => statSync(file).mtimeMs > now, 'what the controller saves');
  }

  /** Submits a script; gives the array's number. */
  async submit(args: readonly string[], cwd: string, env: Readonly<Record<string, string>>): Promise<string> {
    const all = { ...this.#env, ...env };
    const { stdout } = await promisify(execFile)('sbatch', ['--parsable', ...args], { cwd, env: all });
    return stdout.trim();
  }

  /** All tasks of an array, in order. */
  async tasks(array: string): Promise<Task[]> {
    const text = await this.#ask('scontrol', '--oneliner', 'show', 'job', array);
    const field = (line: string, name: string) => new RegExp(`\\b${name}=(\\S+)`).exec(line)?.[1] ?? '';
    return text
      .split('\n')
      .filter((line) => /^\d+$/.test(field(line, 'ArrayTaskId')))
      .map((line) => ({
        index: Number(field(line, 'ArrayTaskId')),
        id: field(line, 'JobId'),
        state: field(line, 'JobState'),
        restarts: Number(field(line, 'Restarts')),
        exitCode: Number(field(line, 'ExitCode').split(':')[0]),
      }))
      .sort((a, b) => a.index - b.index);
  }

  /** An operator's word to the controller. */
  async control(...args: readonly string[]): Promise<void> {
    await this.#ask('scontrol', ...args);
  }

  /** Waits until something is so. What fails meanwhile, since a daemon is not there yet, is not yet so. */
  async until(isSo: () => Promise<boolean> | boolean, what: string): Promise<void> {
    for (const end = Date.now() + 100_000; Date.now() < end; await setTimeout(200)) {
      if (await (async () => isSo())().catch(() => false)) return;
    }
    throw new Error(`${what}: did not become so; see ${this.#folder}`);
  }

  /** Ends all tasks, whose processes would outlive the daemons, and these. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (hasEnded(this.#controller!)) this.startController();
    await this.until(async () => {
      await this.#ask('scancel', `--user=${userInfo().username}`);
      return (await this.#ask('squeue', '--noheader')) === '';
    }, 'the end of all tasks');
    await end(this.#controller, 'SIGTERM');
    await end(this.#node, 'SIGTERM');
  }

  async #ask(program: string, ...args: readonly string[]): Promise<string> {
    return (await promisify(execFile)(program, args, { env: this.#env })).stdout;
  }

  #spawn(program: string, args: readonly string[]): ChildProcess {
    const log = openSync(join(this.#folder, `${program}.log`), 'a');
    return spawn(program, args, { env: this.#env, stdio: ['ignore', log, log] });
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

async function end(child: ChildProcess | undefined, signal: NodeJS.Signals): Promise<void> {
  if (child === undefined || hasEnded(child)) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  await ended;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
