// The libraries of C that the package has, for each system of Linux that this machine has a compiler for: its own, and
// that of the other processor where a cross compiler is here. A package that lacks one goes on without (issuing-thread.ts).
//
// They are made anew when their text has changed. They need glibc 2.17 or later, as Node does, so that one library runs
// on all systems.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const source = 'src/runtime/cuda/issuing/issuing.c';
const flags = [
  '-std=gnu11',
  '-O2',
  '-Wall',
  '-Wextra',
  '-Werror',
  '-fvisibility=hidden',
  '-fPIC',
  '-shared',
  '-pthread',
  '-s',
  '-Wl,-z,max-page-size=4096',
];
/** Compilers by the name that Node has for their processor, the system's own first. */
const compilers = {
  x64: ['x86_64-linux-gnu-gcc'],
  arm64: ['aarch64-linux-gnu-gcc'],
};

/** Writes the libraries into a folder, where those there are not of the present text: `stamps` has the files that say so. */
export function writeNativeLibraries(folder, stamps) {
  if (process.platform !== 'linux') return;
  mkdirSync(folder, { recursive: true });
  const digest = createHash('sha256').update(readFileSync(source)).update(flags.join()).digest('hex');
  for (const [arch, cross] of Object.entries(compilers)) {
    const isOwn = arch === process.arch;
    const file = `issuing-linux-${arch}.so`;
    const [output, stamp] = [join(folder, file), join(stamps, `${file}.sha256`)];
    if (existsSync(output) && existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) continue;
    const names = isOwn ? ['cc', ...cross] : cross;
    if (names.some((compiler) => compile(compiler, output))) writeFileSync(stamp, digest);
    else if (isOwn) console.error(`${output} is not made: no compiler of C is here (${names.join(', ')})`);
  }
}

/** False where the compiler is not here. */
function compile(compiler, output) {
  rmSync(output, { force: true });
  try {
    execFileSync(compiler, [...flags, '-o', output, source], { stdio: ['ignore', 'ignore', 'inherit'] });
    return true;
  } catch (error) {
    if (error.code === 'ENOENT') return false;
    throw error;
  }
}
