// An executor that does nothing, at once: for schedules whose times are asked for and not their results.

import type { Command } from '../command.ts';
import type { Executor } from './dispatcher.ts';

/** `close`: what there is to stop all the same. */
export function idleExecutor(close: () => Promise<void>): Executor {
  return {
    dispatch: (command: Command) => command.settle(null, command.queued, command.queued),
    poll: () => {},
    watch: () => {},
    finish: () => {},
    close,
  };
}
