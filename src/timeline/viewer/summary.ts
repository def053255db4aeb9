// The summary of a trace, as tables: what bound it, how busy each engine was, the critical path, and
// what each engine would gain if it were twice as fast.

import { measureOverlap } from '../overlap.ts';
import { formatBytes, formatShare } from '../quantities.ts';
import type { Span } from '../span.ts';
import { criticalPath, wallWithFaster } from '../what-if.ts';
import type { Trace } from './data.ts';
import { element } from './elements.ts';
import type { Relations } from './relations.ts';
import { durationText, type Unit } from './units.ts';

/** More spans than these are too many to place anew while somebody waits. */
const mostReplaced = 20_000;

/** The summary of a trace. */
export function summaryOf({ title, spans, facts, unit = 'ms' }: Trace, relations: Relations): HTMLElement {
  const { engines, wall, bound, achieved, nearness } = measureOverlap(spans);
  const path = criticalPath(spans, relations.before);
  const section = element('section', { class: 'summary' }, [element('h2', {}, [title])]);
  if (bound === null) {
    section.append(element('p', {}, ['Nothing was recorded.']));
    return section;
  }
  section.append(
    element('p', {}, [
      `${durationText(wall, unit)} in all. Bound by ${bound.name}, which was busy for ${formatShare(nearness)} of it; ` +
        `${formatShare(achieved)} of what could be hidden behind it was hidden.`,
    ]),
    table(
      'Engines',
      ['engine', 'busy', 'idle', 'operations', 'moved', 'on the critical path', 'twice as fast would take'],
      engines.map(({ name, busy, bytes, operations }) => [
        name,
        durationText(busy, unit),
        formatShare(Math.max(0, 1 - busy / wall)),
        String(operations),
        bytes === 0 ? '' : formatBytes(bytes),
        formatShare((path.engines.get(name) ?? 0) / wall),
        faster(spans, name, wall, relations, unit),
      ]),
    ),
    element('p', {}, [
      `The critical path has ${path.positions.length} operations and waits for ${durationText(path.waiting, unit)} ` +
        'of its time for the host or a signal.',
    ]),
  );
  const entries = Object.entries(facts);
  if (entries.length > 0)
    section.append(
      table(
        'Facts',
        ['', ''],
        entries.map(([name, value]) => [name, String(value)]),
      ),
    );
  return section;
}

function faster(
  spans: readonly Span[],
  engine: string,
  wall: number,
  relations: Relations,
  unit: Unit,
): string {
  if (spans.length > mostReplaced) return '';
  const time = wallWithFaster(spans, engine, 2, relations.before);
  return `${durationText(time, unit)} (${formatShare(Math.max(0, 1 - time / wall))} less)`;
}

function table(
  caption: string,
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
  return element('table', {}, [element('caption', {}, [caption]), ...head, element('tbody', {}, body)]);
}
