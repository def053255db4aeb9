// The system's compiler of C: which one, what it makes for this processor, and its calls.
//
// It is WARPSTAGE_CC, or else `cc`, `clang` or `gcc`. What it knows of this processor is asked of the compiler itself,
// by the macros that it defines: two processors with the same are the same to it.

import { execFile, spawn, spawnSync } from 'node:child_process';
import { cpus } from 'node:os';
import { promisify } from 'node:util';
import { problem } from '../../../diagnostics/problem.ts';

export interface Compiler {
  readonly command: string;
  /** The first line of what it says of itself. */
  readonly version: string;
  /** All that code depends on beside its text. */
  readonly identity: string;
  /** How many vectors of 128 bits one of the processor's is. */
  readonly width: 1 | 2 | 4;
}

/** Strict results are those of WebAssembly: nothing is contracted or reordered, integers wrap, and bytes are bytes. */
export const flags: readonly string[] = [
  '-std=gnu11',
  '-O2',
  process.arch === 'arm64' ? '-mcpu=native' : '-march=native',
  '-ffp-contract=off',
  '-fno-strict-aliasing',
  '-fwrapv',
  '-fno-math-errno',
  '-fno-trapping-math',
  '-fvisibility=hidden',
  '-fPIC',
  '-shared',
  '-w',
];

/** The compiler reads the text from its standard input. */
function argumentsFor(output: string): string[] {
  return [...flags, '-x', 'c', '-', '-o', output, '-lm'];
}

/**
 * Finds the compiler.
 *
 * @throws WarpstageError WS4003 where there is none
 */
export async function findCompiler(environment: NodeJS.ProcessEnv = process.env): Promise<Compiler> {
  const { WARPSTAGE_CC: own } = environment;
  const names = own ? [own] : ['cc', 'clang', 'gcc'];
  for (const command of names) {
    const found = await asked(command);
    if (found !== null) return found;
  }
  throw problem(
    'WS4003',
    own
      ? `the device 'cpu-native' needs a compiler of C, and WARPSTAGE_CC names ${own}, which cannot be run`
      : `the device 'cpu-native' needs a compiler of C, and none of ${names.join(', ')} can be run`,
    "install one (apt install gcc, or xcode-select --install), or use open('cpu')",
  );
}

async function asked(command: string): Promise<Compiler | null> {
  try {
    const run = promisify(execFile);
    const macros = [...flags.filter((flag) => flag.endsWith('=native')), '-dM', '-E', '-x', 'c', '/dev/null'];
    const [version, defined] = await Promise.all([run(command, ['--version']), run(command, macros)]);
    const identity = [version.stdout, defined.stdout, cpus()[0]?.model, process.arch, ...flags].join('\n');
    return {
      command,
      version: version.stdout.split('\n')[0]!.trim(),
      identity,
      width: widthOf(defined.stdout),
    };
  } catch {
    return null;
  }
}

function widthOf(macros: string): 1 | 2 | 4 {
  if (/__AVX512F__/.test(macros) && /__AVX512DQ__/.test(macros)) return 4;
  return /__AVX2__/.test(macros) ? 2 : 1;
}

/** What came of a call: the compiler's messages if it made nothing. */
export type Outcome = { readonly failed: null } | { readonly failed: string };

/** Compiles a text while this thread waits. */
export function compileNow({ command }: Compiler, text: string, output: string): Outcome {
  const { status, stderr, error } = spawnSync(command, argumentsFor(output), { input: text });
  if (status === 0) return { failed: null };
  // One that ends before it has read the text has said why, and the pipe's error says nothing.
  return { failed: String(stderr ?? '').trim() || error?.message || 'it was ended' };
}

/** Compiles a text in a process of its own, which keeps nothing from ending. */
export function compileAside({ command }: Compiler, text: string, output: string): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = spawn(command, argumentsFor(output), { stdio: ['pipe', 'ignore', 'pipe'] });
    let messages = '';
    const atExit = () => child.kill();
    process.once('exit', atExit);
    const finish = (failed: string | null) => {
      process.removeListener('exit', atExit);
      resolve({ failed } as Outcome);
    };
    child.stderr.on('data', (part) => {
      messages += part;
    });
    child.stdin.on('error', () => {});
    child.on('error', ({ message }) => finish(message));
    child.on('close', (code) => finish(code === 0 ? null : messages || 'it was ended'));
    child.stdin.end(text);
    child.unref();
    for (const pipe of [child.stdin, child.stderr]) (pipe as unknown as { unref?(): void }).unref?.();
  });
}
