// The trace file of `--trace`: a page where its name ends in .html, else Chrome's JSON; written piece by
// piece under another name, which it loses when it is whole.

import { access, constants, open, rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { WarpstageError } from '../diagnostics/error.ts';
import { chromeTrace, type TraceDescription } from '../timeline/chrome-trace.ts';
import type { Trace } from '../timeline/page.ts';
import type { Span } from '../timeline/span.ts';

/** Fails early where a trace file cannot be written: before the job, not after it. */
export async function checkTracePath(path: string): Promise<void> {
  const folder = dirname(resolve(path));
  await access(folder, constants.W_OK).catch((error: unknown) => {
    throw traceFailure(path, error);
  });
}

/** Writes the trace of a run. */
export function writeTrace(path: string, spans: readonly Span[], about: TraceDescription): Promise<void> {
  const { title, facts = {} } = about;
  if (isPage(path)) return writeTracePage(path, [{ title, facts, spans }]);
  return write(path, chromeTrace(spans, about));
}

/** Writes a page that shows traces, one above the other. */
export async function writeTracePage(path: string, traces: readonly Trace[]): Promise<void> {
  const { tracePage } = await import('../timeline/page.ts');
  await write(path, [tracePage(traces)]);
}

function isPage(path: string): boolean {
  return /\.html?$/i.test(path);
}

async function write(path: string, pieces: Iterable<string>): Promise<void> {
  const partial = `${path}.${process.pid}.partial`;
  try {
    const file = await open(partial, 'wx');
    try {
      for (const piece of pieces) await file.write(piece);
    } finally {
      await file.close();
    }
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    throw traceFailure(path, error);
  }
}

function traceFailure(path: string, cause: unknown): WarpstageError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new WarpstageError(
    { code: 'WS5006', message: `the trace file ${path} cannot be written: ${why}` },
    { cause },
  );
}
