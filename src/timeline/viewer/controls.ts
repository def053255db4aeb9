// What pointer and keys do to the viewer.
//
// Wheel: zoom at the pointer; with Shift, or sideways, pan. Drag: pan; with Shift, measure. Keys are
// in the page's help. A touch pad's pinch comes as a wheel with Ctrl and zooms as well.

import type { LaneKind } from './lanes.ts';
import type { Chosen } from './paint.ts';
import { distanceText } from './units.ts';
import type { Viewer } from './viewer.ts';

/** What the controls tell the page. */
export interface ControlEvents {
  /** The pointer is over a span, or over none. */
  hover(chosen: Chosen | null, x: number, y: number): void;
  /** A span was chosen by hand. */
  chosen(): void;
  /** A span was chosen by a key, or none is any more. */
  chosenByKeys(): void;
  lanes(kind: LaneKind): void;
  focusSearch(): void;
  toggleHelp(): void;
  say(text: string): void;
}

/** Pixels that a drag takes to be one. */
const dragFrom = 4;

export function control(canvas: HTMLCanvasElement, viewer: Viewer, events: ControlEvents): void {
  wheel(canvas, viewer);
  drag(canvas, viewer, events);
  canvas.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act = keys(viewer, events)[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (act === undefined) return;
    event.preventDefault();
    act(event.shiftKey);
  });
}

function wheel(canvas: HTMLCanvasElement, viewer: Viewer): void {
  canvas.addEventListener(
    'wheel',
    (event) => {
      event.preventDefault();
      const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 18 : 1;
      const [dx, dy] = [event.deltaX * unit, event.deltaY * unit];
      if (event.shiftKey) viewer.pan(dx + dy);
      else if (Math.abs(dx) > Math.abs(dy)) viewer.pan(dx);
      else viewer.zoom(1.0018 ** -dy, event.offsetX);
    },
    { passive: false },
  );
}

function drag(canvas: HTMLCanvasElement, viewer: Viewer, events: ControlEvents): void {
  let from: { x: number; y: number; time: number; moved: boolean; measures: boolean } | null = null;
  canvas.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    const { offsetX: x, offsetY: y } = event;
    from = { x, y, time: viewer.timeNear(x, y), moved: false, measures: event.shiftKey };
  });
  canvas.addEventListener('pointermove', (event) => {
    const { offsetX: x, offsetY: y } = event;
    if (from === null) {
      events.hover(viewer.at(x, y), x, y);
      return;
    }
    from.moved ||= Math.hypot(x - from.x, y - from.y) >= dragFrom;
    if (!from.moved) return;
    events.hover(null, x, y);
    if (from.measures) viewer.measure([from.time, viewer.timeNear(x, y)]);
    else {
      viewer.pan(from.x - x);
      viewer.scrollBy(from.y - y);
      from.x = x;
      from.y = y;
    }
  });
  canvas.addEventListener('pointerup', (event) => {
    const ended = from;
    from = null;
    if (ended?.moved) {
      const [a, b] = (ended.measures && viewer.measured) || [0, 0];
      if (a !== b) events.say(`${distanceText(b - a, viewer.unit)} measured`);
    }
    if (ended === null || ended.moved) return;
    viewer.choose(viewer.at(event.offsetX, event.offsetY));
    events.chosen();
  });
  canvas.addEventListener('pointerleave', () => events.hover(null, 0, 0));
  canvas.addEventListener('dblclick', () => viewer.fit(true));
}

type Act = (shift: boolean) => void;

function keys(viewer: Viewer, events: ControlEvents): Readonly<Record<string, Act>> {
  const choosing =
    (act: () => void): Act =>
    () => {
      act();
      events.chosenByKeys();
    };
  const zoomIn: Act = () => viewer.zoom(1.4);
  const zoomOut: Act = () => viewer.zoom(1 / 1.4);
  return {
    '+': zoomIn,
    '=': zoomIn,
    w: zoomIn,
    '-': zoomOut,
    s: zoomOut,
    a: () => viewer.pan(-120),
    d: () => viewer.pan(120),
    f: () => viewer.fit(true),
    0: () => viewer.fit(),
    ArrowRight: choosing(() => viewer.step(1)),
    ArrowLeft: choosing(() => viewer.step(-1)),
    ArrowDown: choosing(() => viewer.stepLane(1)),
    ArrowUp: choosing(() => viewer.stepLane(-1)),
    n: choosing(() => viewer.nextFound()),
    e: () => events.lanes(viewer.kind === 'engine' ? 'stream' : 'engine'),
    m: () => measureFromChosen(viewer, events),
    '/': () => events.focusSearch(),
    '?': () => events.toggleHelp(),
    Escape: () => {
      viewer.measure(null);
      viewer.choose(null);
      events.chosenByKeys();
    },
  };
}

/** The first time, from where the chosen span begins; the second, to where the chosen one ends. */
function measureFromChosen(viewer: Viewer, events: ControlEvents): void {
  const span = viewer.chosenSpan;
  if (span === null) {
    events.say('Choose an operation first, with the arrow keys.');
    return;
  }
  const { measured } = viewer;
  if (measured === null || measured[0] !== measured[1]) {
    viewer.measure([span.started, span.started]);
    events.say(`Measuring from the beginning of ${span.name}. Choose another and press m.`);
  } else {
    viewer.measure([measured[0], span.ended]);
    events.say(`${distanceText(span.ended - measured[0], viewer.unit)} to the end of ${span.name}.`);
  }
}
