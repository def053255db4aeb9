// The page's script: reads the traces that the page carries, and joins viewer, canvas and panels.

import { control } from './controls.ts';
import { decodeTrace, type EncodedTrace } from './data.ts';
import { byId, element } from './elements.ts';
import { linkOf, viewOf } from './link.ts';
import { Overview } from './overview.ts';
import { type Chosen, paint } from './paint.ts';
import { summaryOf } from './summary.ts';
import { Viewer } from './viewer.ts';
import { factsOf, sentenceOf } from './words.ts';

const encoded = JSON.parse(byId('traces', HTMLScriptElement).textContent ?? '[]') as EncodedTrace[];
const viewer = new Viewer(encoded.map(decodeTrace));

const canvas = byId('timeline', HTMLCanvasElement);
const tooltip = byId('tooltip', HTMLDivElement);
const details = byId('details', HTMLElement);
const voice = byId('voice', HTMLElement);
const search = byId('search', HTMLInputElement);
const found = byId('found', HTMLOutputElement);
const help = byId('help', HTMLDialogElement);
const pen = canvas.getContext('2d')!;
const overview = new Overview(viewer);

let asked = false;
viewer.changed = () => {
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => {
    asked = false;
    const begin = performance.now();
    paint(pen, viewer.picture);
    // How long the last picture took, for whoever measures the page.
    canvas.dataset.painted = (performance.now() - begin).toFixed(2);
    const { from, to } = viewer.picture.window;
    canvas.dataset.window = `${from} ${to}`;
    overview.update(viewer.picture);
    keepLink();
  });
};

function resize(): void {
  const { clientWidth, clientHeight } = canvas;
  const ratio = devicePixelRatio;
  canvas.width = Math.round(clientWidth * ratio);
  canvas.height = Math.round(clientHeight * ratio);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  viewer.resize(clientWidth, clientHeight);
}
new ResizeObserver(resize).observe(canvas);

const dark = matchMedia('(prefers-color-scheme: dark)');
viewer.setTheme(dark.matches);
dark.addEventListener('change', () => viewer.setTheme(dark.matches));

function list(facts: readonly (readonly [string, string])[]): HTMLElement {
  return element(
    'dl',
    {},
    facts.flatMap(([heading, value]) => [element('dt', {}, [heading]), element('dd', {}, [value])]),
  );
}

function hover(chosen: Chosen | null, x: number, y: number): void {
  tooltip.hidden = chosen === null;
  if (chosen === null) return;
  const span = viewer.spanOf(chosen);
  tooltip.replaceChildren(element('strong', {}, [span.name]), list(factsOf(span, viewer.unit)));
  const left = Math.min(x + 14, canvas.clientWidth - tooltip.offsetWidth - 8);
  const top = y + 18 + tooltip.offsetHeight > canvas.clientHeight ? y - tooltip.offsetHeight - 10 : y + 18;
  tooltip.style.transform = `translate(${Math.max(0, left)}px, ${Math.max(0, top)}px)`;
}

function showChosen(): void {
  const { chosen, chosenSpan: span } = viewer;
  if (chosen === null || span === null) {
    details.replaceChildren(element('p', { class: 'faint' }, ['Click an operation, or press an arrow key.']));
    return;
  }
  const { before, behind } = viewer.relations(chosen.trace).of(chosen.position);
  const links = (title: string, positions: readonly number[]) => {
    const items = positions.slice(0, 20).map((position) => {
      const other = { trace: chosen.trace, position };
      const button = element('button', { type: 'button' }, [sentenceOf(viewer.spanOf(other), viewer.unit)]);
      button.addEventListener('click', () => {
        viewer.choose(other);
        showChosen();
      });
      return element('li', {}, [button]);
    });
    return positions.length === 0 ? [] : [element('h3', {}, [title]), element('ul', {}, items)];
  };
  details.replaceChildren(
    element('h2', {}, [span.name]),
    list(factsOf(span, viewer.unit)),
    ...links('waited for', before),
    ...links('then came', behind),
  );
  say(sentenceOf(span, viewer.unit));
}

/** By keys or a search: the tooltip, which the pointer left somewhere, goes to what was chosen. */
function showChosenByKeys(): void {
  showChosen();
  const place = viewer.placeOfChosen();
  hover(place === null ? null : viewer.chosen, place?.x ?? 0, place?.y ?? 0);
}

function say(text: string): void {
  voice.textContent = text;
}

const laneButtons = {
  engine: byId('by-engine', HTMLButtonElement),
  stream: byId('by-stream', HTMLButtonElement),
};
function showLanes(kind: 'engine' | 'stream'): void {
  viewer.show(kind);
  for (const [name, button] of Object.entries(laneButtons)) {
    button.setAttribute('aria-pressed', String(name === kind));
  }
  say(`Lanes by ${kind}`);
}
laneButtons.engine.addEventListener('click', () => showLanes('engine'));
laneButtons.stream.addEventListener('click', () => showLanes('stream'));
byId('fit', HTMLButtonElement).addEventListener('click', () => viewer.fit());
byId('zoom-in', HTMLButtonElement).addEventListener('click', () => viewer.zoom(1.6));
byId('zoom-out', HTMLButtonElement).addEventListener('click', () => viewer.zoom(1 / 1.6));
byId('ask-help', HTMLButtonElement).addEventListener('click', () => help.showModal());

search.addEventListener('input', () => {
  const count = viewer.search(search.value);
  found.textContent = search.value.trim() === '' ? '' : `${count} found`;
});
search.addEventListener('keydown', (event) => {
  if (event.key === 'Enter') {
    viewer.nextFound();
    showChosenByKeys();
  } else if (event.key === 'Escape') {
    search.value = '';
    viewer.search('');
    found.textContent = '';
    canvas.focus();
  }
});
canvas.addEventListener('blur', () => hover(null, 0, 0));

control(canvas, viewer, {
  hover,
  chosen: showChosen,
  chosenByKeys: showChosenByKeys,
  lanes: showLanes,
  focusSearch: () => search.focus(),
  toggleHelp: () => help.showModal(),
  say,
});

// The address follows what is shown, once it has come to rest: browsers allow few changes of it a second. A page that
// stands inside another has no address.

let rest: ReturnType<typeof setTimeout> | undefined;
function keepLink(): void {
  clearTimeout(rest);
  if (location.protocol === 'about:') return;
  rest = setTimeout(() => {
    const { chosen, kind, whole } = viewer;
    const { from, to } = viewer.picture.window;
    const isWhole = from === whole.from && to === whole.to;
    const link = linkOf({ range: isWhole ? null : [from, to], chosen, kind });
    history.replaceState(null, '', link === '' ? location.pathname + location.search : `#${link}`);
  }, 250);
}

function openLink(): void {
  const { range, chosen, kind } = viewOf(location.hash, viewer.traces);
  if (kind !== viewer.kind) showLanes(kind);
  viewer.choose(chosen);
  if (range === null) viewer.fit();
  else viewer.look(...range);
  showChosen();
}
addEventListener('hashchange', openLink);

// The size first: what is chosen is scrolled into sight.
resize();
openLink();
// After the first picture, which should not wait for it.
setTimeout(() => {
  byId('summary', HTMLElement).replaceChildren(
    ...viewer.traces.map((trace, i) => summaryOf(trace, viewer.relations(i), viewer.traces.length > 1)),
  );
});
canvas.focus();
