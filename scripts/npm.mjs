// npm as the pipeline's scripts run it: within a limit, since a registry that does not answer holds npm for as long as the
// pipeline may take, and what it gets from there once more, since the next answer often comes at once.
import { execFileSync } from 'node:child_process';

/** Milliseconds that one attempt may take. */
const limit = 240_000;

/**
 * Runs npm in `cwd`, which may print what goes wrong, and gives what it answers.
 *
 * @throws Error where it fails, or takes longer than its limit; where it installs, twice.
 */
export function npm(cwd, ...args) {
  const run = () =>
    execFileSync('npm', args, {
      ...{ cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] },
      ...{ timeout: limit, killSignal: 'SIGKILL' },
    });
  if (args[0] !== 'install') return run();
  try {
    return run();
  } catch (error) {
    console.error(`npm ${args.join(' ')}: ${error.message}; it runs once more`);
    return run();
  }
}
