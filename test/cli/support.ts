// Runs command lines for tests: in this process with captured streams, or as a child process
// with signals and pipes of its own; and makes the small files they work on.

import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { runCommandLine } from '#warpstage/cli/command-line.js';

export const root = fileURLToPath(new URL('../../', import.meta.url));
const program = join(root, 'dist/cli/main.js');

/** What a command line left. */
export interface Outcome {
  readonly code: number | null;
  readonly stdout: Buffer;
  /** Without the progress that is shown of a job which takes more than a second: a busy machine's may. */
  readonly stderr: string;
}

const progress =
  /^.+?: (\d+ %, )?[\d.]+ [KMG]?i?B( of [\d.]+ [KMG]?i?B)?, [\d.]+ [KMG]?i?B\/s(, .* left)?\n/gm;

/** Carries out a command line in this process. */
export async function runHere(...argv: readonly string[]): Promise<Outcome & { readonly text: string }> {
  const [output, errors] = [new PassThrough(), new PassThrough()];
  const code = await runCommandLine(argv, { input: new PassThrough(), output, errors });
  const stdout = (output.read() as Buffer | null) ?? Buffer.alloc(0);
  return {
    code,
    stdout,
    text: stdout.toString(),
    stderr: ((errors.read() as Buffer | null) ?? '').toString().replace(progress, ''),
  };
}

/** Starts a command line in a process of its own. */
export function start(argv: readonly string[], options: { readonly cwd?: string } = {}): ChildProcess {
  return spawn(process.execPath, [program, ...argv], { cwd: options.cwd ?? root, stdio: 'pipe' });
}

/** The same with standard streams, and an environment, of one's own. */
export function startWith(
  argv: readonly string[],
  stdio: StdioOptions,
  env: NodeJS.ProcessEnv = process.env,
): ChildProcess {
  return spawn(process.execPath, [program, ...argv], { cwd: root, stdio, env });
}

/** Waits for a process and collects what it wrote. */
export async function outcomeOf(child: ChildProcess): Promise<Outcome> {
  const stdout: Buffer[] = [];
  let stderr = '';
  child.stdout?.on('data', (part: Buffer) => stdout.push(part));
  child.stderr?.on('data', (part: Buffer) => {
    stderr += part.toString();
  });
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, stdout: Buffer.concat(stdout), stderr: stderr.replace(progress, '') };
}

/** Carries out a command line in a process of its own, with what it reads on standard input. */
export function run(argv: readonly string[], input?: Uint8Array): Promise<Outcome> {
  const child = start(argv);
  child.stdin?.end(input ?? '');
  return outcomeOf(child);
}

/** A folder of a test file's own. */
export class Folder {
  readonly path = mkdtempSync(join(tmpdir(), 'warpstage-cli-'));

  file(name: string, content?: string | Uint8Array): string {
    const path = join(this.path, name);
    if (content !== undefined) writeFileSync(path, content);
    return path;
  }

  /** The names of its files. */
  list(): string[] {
    return readdirSync(this.path).sort();
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** The bytes of an .npy file of f32. */
export function npy(data: Float32Array, shape: readonly number[] = [data.length]): Uint8Array {
  const tuple = shape.length === 1 ? `${shape[0]},` : shape.join(', ');
  const text = `{'descr': '<f4', 'fortran_order': False, 'shape': (${tuple}), }`;
  const header = Buffer.from(`\x93NUMPY\x01\x00\x76\x00${text.padEnd(117)}\n`, 'latin1');
  return Buffer.concat([header, Buffer.from(data.buffer, data.byteOffset, data.byteLength)]);
}

/** The f32 elements of an .npy file. */
export function readNpy(path: string): Float32Array {
  const bytes = readFileSync(path);
  const begin = 10 + bytes.readUInt16LE(8);
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset + begin, bytes.byteOffset + bytes.byteLength));
}

/** Numbers that repeat from run to run, between -1 and 1. */
export function numbers(count: number, seed = 1): Float32Array {
  let state = seed;
  return Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  });
}
