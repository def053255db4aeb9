// Spans in words: for the tooltip, the details and the voice of a screen reader.

import { formatBytes, formatRate } from '../quantities.ts';
import type { Span } from '../span.ts';
import { durationText, momentText, type Unit } from './units.ts';

/** What there is to say of a span, by headings. */
export function factsOf(span: Span, unit: Unit): [heading: string, value: string][] {
  const { engine, stream, queued, started, ended, bytes, grid, channel } = span;
  const facts: [string, string][] = [
    ['engine', engine],
    ['stream', stream],
    ['takes', durationText(ended - started, unit)],
    ['began at', momentText(started, unit)],
    ['ended at', momentText(ended, unit)],
    ['waited', durationText(Math.max(0, started - queued), unit)],
  ];
  if (bytes !== undefined)
    facts.push(['moved', `${formatBytes(bytes)}, ${formatRate(bytes, ended - started)}`]);
  if (channel !== undefined) facts.push(['channel', channel]);
  if (grid !== undefined) facts.push(['grid', grid.join(' x ')]);
  return facts;
}

/** A span in one sentence. */
export function sentenceOf(span: Span, unit: Unit): string {
  const [engine, stream, takes, began] = factsOf(span, unit).map(([, value]) => value);
  return `${span.name} on ${engine}, ${stream}, takes ${takes}, began at ${began}`;
}

/** Whether a search text means a span: all its words, in the name, engine or stream. */
export function matches({ name, engine, stream }: Span, words: readonly string[]): boolean {
  const text = `${name} ${engine} ${stream}`.toLowerCase();
  return words.every((word) => text.includes(word));
}
