// The span of a command: what the timeline shows of it.
//
// Spans are made while others run, for every command that is recorded: each kind has its own object of
// a fixed shape, which takes a tenth of a microsecond where spreading one into another took three.

import type { BlockStages, Span } from '../timeline/span.ts';
import { boxBytes } from './box.ts';
import type { Command, Work } from './command.ts';
import type { CopyWork } from './copies.ts';
import { type LaunchWork, shownName } from './launch.ts';

/** When a command ran; the command itself knows that, unless its device knows better. */
export interface SpanTimes {
  readonly started: number;
  readonly ended: number;
}

/** What only some devices tell. */
type SpanDetails = { readonly channel?: string; readonly stages?: BlockStages };

type Written<T> = { -readonly [K in keyof T]: T[K] };

export function spanOf(
  command: Command,
  work: Work,
  engine: string,
  times: SpanTimes = command,
  details: SpanDetails | null = null,
): Span {
  const span = plainSpan(command, work, engine, times);
  if (details?.channel !== undefined) span.channel = details.channel;
  if (details?.stages !== undefined) span.stages = details.stages;
  return span;
}

function plainSpan(command: Command, work: Work, engine: string, times: SpanTimes): Written<Span> {
  const { id, after, stream, queued } = command;
  const { started, ended } = times;
  switch (work.kind) {
    case 'copy': {
      const name = copyNames[work.direction];
      const bytes = boxBytes(work.box);
      return { name, engine, stream, queued, started, ended, id, after, bytes };
    }
    case 'set':
      return { name: 'memset', engine, stream, queued, started, ended, id, after, bytes: work.bytes };
    case 'host': {
      const name = work.run.name || 'host function';
      return { name, engine, stream, queued, started, ended, id, after };
    }
    case 'wait':
      return { name: 'waitEvent', engine, stream, queued, started, ended, id, after };
    case 'graph':
      return { name: 'graph', engine, stream, queued, started, ended, id, after };
    case 'launch': {
      const { name, grid } = work;
      if (name === 'kernel') return new UnnamedLaunchSpan(command, work, engine, times);
      return { name, engine, stream, queued, started, ended, id, after, grid };
    }
  }
}

const copyNames: Readonly<Record<CopyWork['direction'], string>> = {
  'host to host': 'memcpy host to host',
  'host to device': 'memcpy host to device',
  'device to host': 'memcpy device to host',
  'device to device': 'memcpy device to device',
};

/**
 * The span of a kernel that was given no name: that is looked up when somebody reads it, not while kernels run.
 * `name` is a property of each span like the others, so that copies of it and JSON have it; its getter is one for
 * all, without which every span would be of a shape of its own.
 */
class UnnamedLaunchSpan implements Span {
  declare readonly name: string;
  declare readonly engine: string;
  declare readonly stream: string;
  declare readonly queued: number;
  declare readonly started: number;
  declare readonly ended: number;
  declare readonly id: number;
  declare readonly after: readonly number[];
  declare readonly grid: LaunchWork['grid'];
  readonly #work: LaunchWork;

  static readonly #name: PropertyDescriptor & ThisType<UnnamedLaunchSpan> = {
    get() {
      return shownName(this.#work);
    },
    enumerable: true,
    configurable: true,
  };

  constructor(command: Command, work: LaunchWork, engine: string, { started, ended }: SpanTimes) {
    Object.defineProperty(this, 'name', UnnamedLaunchSpan.#name);
    this.engine = engine;
    this.stream = command.stream;
    this.queued = command.queued;
    this.started = started;
    this.ended = ended;
    this.id = command.id;
    this.after = command.after;
    this.grid = work.grid;
    this.#work = work;
  }
}
