// The span of a command: what the timeline shows of it.

import type { Span } from '../timeline/span.ts';
import { boxBytes } from './box.ts';
import type { Command, Work } from './command.ts';

export function spanOf(command: Command, work: Work, engine: string): Span {
  const { id, after, stream, queued, started, ended } = command;
  const times = { engine, stream, queued, started, ended, id, after };
  switch (work.kind) {
    case 'copy':
      return { name: `memcpy ${work.direction}`, ...times, bytes: boxBytes(work.box) };
    case 'set':
      return { name: 'memset', ...times, bytes: work.bytes };
    case 'host':
      return { name: work.run.name || 'host function', ...times };
    case 'graph':
      return { name: 'graph', ...times };
    case 'launch':
      return { name: work.name, ...times, grid: work.grid };
  }
}
