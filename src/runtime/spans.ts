// The span of a command: what the timeline shows of it.

import type { Span } from '../timeline/span.ts';
import { boxBytes } from './box.ts';
import type { Command, Work } from './command.ts';
import { shownName } from './launch.ts';

/** The span; `more` is what the device knows besides, or better than the command. */
export function spanOf(command: Command, work: Work, engine: string, more: Partial<Span> = {}): Span {
  const { id, after, stream, queued, started, ended } = command;
  const times = { engine, stream, queued, started, ended, id, after, ...more };
  switch (work.kind) {
    case 'copy':
      return { name: `memcpy ${work.direction}`, ...times, bytes: boxBytes(work.box) };
    case 'set':
      return { name: 'memset', ...times, bytes: work.bytes };
    case 'host':
      return { name: work.run.name || 'host function', ...times };
    case 'graph':
      return { name: 'graph', ...times };
    case 'launch': {
      const { grid } = work;
      if (work.name !== 'kernel') return { name: work.name, ...times, grid };
      // Looked up when somebody reads it, not while kernels run.
      return {
        get name() {
          return shownName(work);
        },
        ...times,
        grid,
      };
    }
  }
}
