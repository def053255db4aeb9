// A timeline as one page of HTML: the traces, the script and the style in it, and nothing from the network.
//
// The script and the style are made by the build (viewer.text.js).

import { WarpstageError } from '../diagnostics/error.ts';
import { withStageTraces } from './stage-traces.ts';
import { encodeTrace, type Trace } from './viewer/data.ts';
import { script, style } from './viewer.text.js';

export type { Trace } from './viewer/data.ts';

/**
 * The text of a page that shows traces, one above the other on one axis of time. Below a trace whose kernels'
 * stages were recorded comes one of these stages.
 *
 * @example
 * const spans: Span[] = [];
 * device.recorder = (span) => spans.push(span);
 * // … streams, launches …
 * await writeFile('timeline.html', tracePage([{ title: 'my schedule', facts: {}, spans }]));
 *
 * @throws WarpstageError WS4007 for what is no list of traces
 */
export function tracePage(traces: readonly Trace[]): string {
  checkTraces(traces);
  const title = titleOf(traces);
  const data = JSON.stringify(withStageTraces(traces).map(encodeTrace)).replaceAll('<', '\\u003c');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="content-security-policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:">
<link rel="icon" href="data:,">
<title>${escaped(title)}</title>
<style>${style}</style>
</head>
<body>
<header>
<h1>${escaped(title)}</h1>
<button type="button" id="by-engine" aria-pressed="true">by engine</button>
<button type="button" id="by-stream" aria-pressed="false">by stream</button>
<button type="button" id="zoom-out" aria-label="zoom out">-</button>
<button type="button" id="zoom-in" aria-label="zoom in">+</button>
<button type="button" id="fit">fit</button>
<input type="search" id="search" placeholder="search" aria-label="search operations">
<output id="found" for="search"></output>
<button type="button" id="ask-help" aria-label="help">?</button>
</header>
<main>
<div id="overview" tabindex="0" role="scrollbar" aria-label="overview" aria-controls="timeline" aria-orientation="horizontal" aria-valuemin="0" aria-valuemax="100" aria-valuenow="50">
<span>whole trace</span>
<div id="track"><canvas id="overview-picture"></canvas><div id="shown"></div></div>
</div>
<div id="stage">
<canvas id="timeline" tabindex="0" role="application" aria-label="Timeline. Arrow keys go from operation to operation, plus and minus zoom, question mark shows all keys." aria-describedby="summary"></canvas>
<div id="tooltip" role="tooltip" hidden></div>
<div id="voice" role="status" aria-live="polite"></div>
</div>
</main>
<div id="panels" tabindex="0" role="region" aria-label="details and summary">
<section id="details" aria-label="the chosen operation"></section>
<section id="summary" aria-label="summary"></section>
</div>
<dialog id="help" aria-label="help">
<h2>Keys and pointer</h2>
<dl>${helpRows.map(([keys, does]) => `<dt>${keys}</dt><dd>${does}</dd>`).join('')}</dl>
<form method="dialog"><button>close</button></form>
</dialog>
<script type="application/json" id="traces">${data}</script>
<script>${script.replaceAll('</script', '<\\/script')}</script>
</body>
</html>
`;
}

/** What the page is called: a single trace by its title, several by their number. */
function titleOf(traces: readonly Trace[]): string {
  if (traces.length <= 2) return traces.map(({ title }) => title).join(' and ') || 'timeline';
  return `${traces[0]!.title} and ${traces.length - 1} more`;
}

/** A caller without types may give something else. */
function checkTraces(traces: unknown): void {
  const wrong = (message: string) =>
    new WarpstageError(
      { code: 'WS4007', message, hint: "write tracePage([{ title: 'my schedule', facts: {}, spans }])" },
      { caller: tracePage },
    );
  if (!Array.isArray(traces)) {
    throw wrong(
      `tracePage() takes a list of traces, and was given ${traces === null ? 'null' : typeof traces}`,
    );
  }
  for (const [position, trace] of traces.entries()) {
    const { title, facts, spans } = (trace ?? {}) as Partial<Record<keyof Trace, unknown>>;
    const subject = `tracePage(): trace ${position + 1}`;
    if (typeof title !== 'string') throw wrong(`${subject} has no \`title\``);
    if (typeof facts !== 'object' || facts === null) throw wrong(`${subject} has no \`facts\``);
    if (!Array.isArray(spans)) throw wrong(`${subject} has no list of \`spans\``);
    const bad = spans.findIndex((span) => !isSpan(span));
    if (bad >= 0)
      throw wrong(`${subject} has a span ${bad + 1} without a name, an engine, a stream or its times`);
  }
}

function isSpan(span: unknown): boolean {
  const { name, engine, stream, queued, started, ended } = (span ?? {}) as Record<string, unknown>;
  return (
    [name, engine, stream].every((text) => typeof text === 'string') &&
    [queued, started, ended].every((time) => Number.isFinite(time))
  );
}

const helpRows = [
  ['wheel, <kbd>+</kbd> <kbd>-</kbd>', 'zoom'],
  ['drag, <kbd>a</kbd> <kbd>d</kbd>', 'pan'],
  ['<kbd>0</kbd>', 'show everything'],
  ['<kbd>f</kbd>, double click', 'show the chosen operation'],
  ['click, <kbd>&larr;</kbd> <kbd>&rarr;</kbd>', 'choose an operation of a lane'],
  ['<kbd>&uarr;</kbd> <kbd>&darr;</kbd>', 'go to another lane'],
  ['Shift and drag, <kbd>m</kbd> twice', 'measure between two operations'],
  ['<kbd>/</kbd>, then <kbd>Enter</kbd> or <kbd>n</kbd>', 'search, and go to the next'],
  [
    'the strip on top: drag, or <kbd>Shift</kbd> <kbd>Tab</kbd>, then <kbd>&larr;</kbd> <kbd>&rarr;</kbd>',
    'move what is shown',
  ],
  ['<kbd>e</kbd>', 'lanes by engine or by stream'],
  ['<kbd>Esc</kbd>', 'let go of everything'],
] as const;

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
