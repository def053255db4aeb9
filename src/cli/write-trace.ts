// The trace file of `--trace`: a page where its name ends in .html, else Chrome's JSON.

import { chromeTrace, type TraceDescription } from '../timeline/chrome-trace.ts';
import type { Trace } from '../timeline/page.ts';
import type { Span } from '../timeline/span.ts';
import { writeWhole } from './write-whole.ts';

/** Writes the trace of a run. */
export function writeTrace(path: string, spans: readonly Span[], about: TraceDescription): Promise<void> {
  if (isPage(path)) return writeTracePage(path, [{ facts: {}, ...about, spans }]);
  return writeWhole(path, chromeTrace(spans, about));
}

/** Writes a page that shows traces, one above the other. */
export async function writeTracePage(path: string, traces: readonly Trace[]): Promise<void> {
  const { tracePage } = await import('../timeline/page.ts');
  await writeWhole(path, tracePage(traces));
}

function isPage(path: string): boolean {
  return /\.html?$/i.test(path);
}
