// What a command talks through: results on one stream, everything else on another.
//
// Standard output carries results alone, so that it can be piped; progress, notes and errors go
// to standard error. When the reader of standard output goes away (`| head`), that is no failure
// of the job: the command is cancelled and says nothing.

import type { Readable, Writable } from 'node:stream';
import type { WriteStream } from 'node:tty';

/** The streams of a command line. */
export interface Terminal {
  readonly input: Readable;
  readonly output: Writable;
  readonly errors: Writable;
}

/** The terminal of this process. */
export function processTerminal(): Terminal {
  return { input: process.stdin, output: process.stdout, errors: process.stderr };
}

/** Whether a stream is a terminal that a person looks at. */
export function isTerminal(stream: Writable): stream is WriteStream {
  return (stream as Partial<WriteStream>).isTTY === true;
}

/**
 * Whether to colour what is written to a stream: FORCE_COLOR asks for it anywhere (0 and false: nowhere), NO_COLOR
 * forbids it, and without them a terminal that can shows it.
 */
export function showsColour(stream: Writable, environment: NodeJS.ProcessEnv = process.env): boolean {
  const { FORCE_COLOR: forced, NO_COLOR: forbidden } = environment;
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  if (forbidden) return false;
  return moves(stream, environment) && (stream as WriteStream).hasColors(environment);
}

/** Whether a stream is a terminal whose cursor can be moved, so that a line may be drawn anew. */
export function moves(stream: Writable, { TERM }: NodeJS.ProcessEnv = process.env): boolean {
  return isTerminal(stream) && TERM !== 'dumb';
}

/** Characters in a line of a stream: 80 where nobody says. */
export function widthOf(stream: Writable): number {
  return isTerminal(stream) && stream.columns > 0 ? stream.columns : 80;
}

/** Calls back when the reader of the stream has gone away. Other errors of the stream are left to its writer. */
export function onReaderGone(stream: Writable, callback: () => void): () => void {
  const listener = (error: NodeJS.ErrnoException): void => {
    if (error.code === 'EPIPE') callback();
  };
  stream.on('error', listener);
  return () => stream.off('error', listener);
}
