// The summary of a trace, as tables: what bound it, how busy each engine was, the critical path, and
// what each engine would gain if it were twice as fast.

import { count } from '../../diagnostics/count.ts';
import { asStages, isWaiting, measureOverlap, overlapOf } from '../overlap.ts';
import { formatBytes, formatCount, formatRate, formatShare } from '../quantities.ts';
import type { Span } from '../span.ts';
import { verdict } from '../verdict.ts';
import { criticalPath, wallWithFaster } from '../what-if.ts';
import type { Trace } from './data.ts';
import { element } from './elements.ts';
import type { Relations } from './relations.ts';
import { durationText, type Unit } from './units.ts';

/** More spans than these are too many to place anew while somebody waits. */
const mostReplaced = 20_000;

/** The summary of a trace; with its title where others are beside it. */
export function summaryOf(trace: Trace, relations: Relations, isTitled: boolean): HTMLElement {
  const { title, spans, facts, unit = 'ms' } = trace;
  // Regions of one page have names of their own.
  const labelOf = (caption: string) => (isTitled ? `${caption} of ${title}` : caption);
  const section = element('section', { class: 'summary' }, isTitled ? [element('h2', {}, [title])] : []);
  if (spans.length === 0) {
    section.append(element('p', {}, ['Nothing was recorded.']));
    return section;
  }
  const measured = measureOverlap(spans);
  // The report's figures: what took the time before the first span and after the last is in them.
  const wall = Math.max(trace.wall ?? 0, measured.wall);
  const path = criticalPath(spans, relations.before);
  const share = (time: number) => formatShare(wall > 0 ? time / wall : 0);
  section.append(
    element('p', {}, [
      `${durationText(wall, unit)} in all. ${verdict(overlapOf(asStages(measured.engines), wall))}`,
    ]),
    table(
      'Engines',
      labelOf('Engines'),
      [
        'engine',
        'busy',
        'of wall',
        'rate',
        'moved',
        'operations',
        'on the critical path',
        'twice as fast would take',
      ],
      measured.engines.map(({ name, busy, bytes, operations }) => [
        name,
        durationText(busy, unit),
        share(busy),
        bytes === 0 ? '' : formatRate(bytes, busy),
        bytes === 0 ? '' : formatBytes(bytes),
        formatCount(operations),
        share(path.engines.get(name) ?? 0),
        isWaiting(name) ? '' : faster(spans, name, wall, measured.wall, relations, unit),
      ]),
    ),
    element('p', {}, [
      `The critical path has ${formatCount(path.positions.length)} operations; on it, ` +
        `${durationText(path.waiting, unit)} passed in waiting for the host or a signal.`,
    ]),
  );
  const entries = Object.entries(facts);
  if (entries.length > 0)
    section.append(
      table(
        'Facts',
        labelOf('Facts'),
        ['', ''],
        entries.map(([name, value]) => [name, typeof value === 'number' ? count(value) : value]),
      ),
    );
  return section;
}

/** What the whole would take. What no span covers stays as it is. */
function faster(
  spans: readonly Span[],
  engine: string,
  wall: number,
  covered: number,
  relations: Relations,
  unit: Unit,
): string {
  if (spans.length > mostReplaced) return '';
  const gained = covered - wallWithFaster(spans, engine, 2, relations.before);
  return `${durationText(wall - gained, unit)} (${formatShare(wall > 0 ? gained / wall : 0)} less)`;
}

function table(
  caption: string,
  label: string,
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): HTMLElement {
  const head = headings.some((heading) => heading !== '')
    ? [
        element('thead', {}, [
          element(
            'tr',
            {},
            headings.map((heading) => element('th', { scope: 'col' }, [heading])),
          ),
        ]),
      ]
    : [];
  const body = rows.map((row) =>
    element(
      'tr',
      {},
      row.map((cell, i) => element(i === 0 ? 'th' : 'td', i === 0 ? { scope: 'row' } : {}, [cell])),
    ),
  );
  const made = element('table', {}, [element('caption', {}, [caption]), ...head, element('tbody', {}, body)]);
  // Where the page is narrow, a table scrolls by itself, by keys too.
  return element('div', { class: 'table', tabindex: '0', role: 'region', 'aria-label': label }, [made]);
}
