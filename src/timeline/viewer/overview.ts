// The overview: the whole time as a thin strip above the lanes, with the part that is shown marked.
//
// A drag of the mark moves it, of its edges widens it, and a click beside it goes there. By keys it is a scroll bar.
// The picture changes only with its size and its colours; the mark is an element of its own above it.

import { columnsOf, spread } from './columns.ts';
import { byId } from './elements.ts';
import { type Lane, lanesOf } from './lanes.ts';
import { labelWidth } from './layout.ts';
import { colourOf, type Theme } from './theme.ts';
import { momentText } from './units.ts';
import type { Viewer } from './viewer.ts';
import { positionOf, type TimeWindow, timeAt } from './window.ts';

/** Pixels at each edge of the mark that move this edge. */
const edge = 6;

export class Overview {
  readonly #viewer: Viewer;
  readonly #strip = byId('overview', HTMLDivElement);
  readonly #track = byId('track', HTMLDivElement);
  readonly #canvas = byId('overview-picture', HTMLCanvasElement);
  readonly #mark = byId('shown', HTMLDivElement);
  readonly #lanes: readonly Lane[][];
  #painted = '';

  constructor(viewer: Viewer) {
    this.#viewer = viewer;
    this.#lanes = viewer.traces.map((trace) => lanesOf(trace, 'engine'));
    this.#track.style.marginLeft = `${labelWidth}px`;
    this.#drag();
    this.#strip.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !this.#act(event.key)) return;
      event.preventDefault();
    });
  }

  /** The whole time, on the strip's pixels. */
  get #whole(): TimeWindow {
    return { ...this.#viewer.whole, width: Math.max(1, this.#track.clientWidth) };
  }

  /** Marks what is shown. */
  update({ window, theme }: { readonly window: TimeWindow; readonly theme: Theme }): void {
    const whole = this.#whole;
    const picture = `${whole.width} ${devicePixelRatio} ${theme.background}`;
    if (picture !== this.#painted) this.#paint(whole, theme);
    this.#painted = picture;
    const left = Math.min(Math.max(0, positionOf(whole, window.from)), whole.width - 2);
    const right = Math.min(Math.max(left + 2, positionOf(whole, window.to)), whole.width);
    this.#mark.style.left = `${left}px`;
    this.#mark.style.width = `${right - left}px`;
    this.#strip.setAttribute('aria-valuenow', String(Math.round((50 * (left + right)) / whole.width)));
    this.#strip.setAttribute('aria-valuetext', this.#text(window));
  }

  /** What is shown, as it is said aloud: without the margin before the beginning. */
  #text({ from, to }: TimeWindow): string {
    const { whole, unit } = this.#viewer;
    if (from <= whole.from && to >= whole.to) return 'everything';
    return `from ${momentText(Math.max(0, from), unit)} to ${momentText(to, unit)}`;
  }

  /** A line for each engine, the more opaque the more of the time it works. */
  #paint(whole: TimeWindow, theme: Theme): void {
    const pen = this.#canvas.getContext('2d')!;
    const height = this.#track.clientHeight;
    this.#canvas.width = Math.round(whole.width * devicePixelRatio);
    this.#canvas.height = Math.round(height * devicePixelRatio);
    pen.scale(devicePixelRatio, devicePixelRatio);
    const line = height / this.#lanes.flat().length;
    const column = (whole.to - whole.from) / whole.width;
    let top = 0;
    for (const [trace, lanes] of this.#lanes.entries()) {
      const { spans } = this.#viewer.traces[trace]!;
      for (const { name, rows } of lanes) {
        const busy = columnsOf(whole);
        for (const row of rows)
          spread(row, whole, busy, (position) => spans[position]!.ended - spans[position]!.started);
        pen.fillStyle = colourOf(name, theme);
        for (const [x, time] of busy.entries()) {
          // What is short stays in sight.
          pen.globalAlpha = time === 0 ? 0 : Math.min(1, 0.25 + time / column);
          pen.fillRect(x, top, 1, Math.max(1, line - 1));
        }
        top += line;
      }
    }
  }

  #drag(): void {
    let last: number | null = null;
    let moves = { from: true, to: true };
    this.#track.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return;
      this.#track.setPointerCapture(event.pointerId);
      const x = this.#xOf(event);
      const [left, right] = this.#shown();
      const near = Math.min(edge, (right - left) / 4);
      moves = { from: x < right - near, to: x > left + near };
      if (x < left - near || x > right + near) {
        this.#move(x - (left + right) / 2);
        moves = { from: true, to: true };
      }
      last = x;
    });
    this.#track.addEventListener('pointermove', (event) => {
      if (last === null) return;
      const x = this.#xOf(event);
      this.#move(x - last, moves);
      last = x;
    });
    const end = () => {
      last = null;
    };
    this.#track.addEventListener('pointerup', end);
    this.#track.addEventListener('pointercancel', end);
  }

  #xOf(event: PointerEvent): number {
    return event.clientX - this.#track.getBoundingClientRect().left;
  }

  /** Where the mark begins and ends, in pixels. */
  #shown(): [left: number, right: number] {
    const { from, to } = this.#viewer.picture.window;
    return [positionOf(this.#whole, from), positionOf(this.#whole, to)];
  }

  /** Moves the mark, or one edge of it, by so many pixels. */
  #move(by: number, { from, to } = { from: true, to: true }): void {
    const whole = this.#whole;
    let [left, right] = this.#shown();
    if (from && to) {
      // What is wider than the whole stays.
      const inside = Math.max(-left, Math.min(by, whole.width - right));
      const step = right - left >= whole.width ? 0 : inside;
      left += step;
      right += step;
    } else if (from) left = Math.min(left + by, right - 1);
    else right = Math.max(right + by, left + 1);
    this.#viewer.look(timeAt(whole, left), timeAt(whole, right));
  }

  /** What a key does; false for one that does nothing. */
  #act(key: string): boolean {
    const [left, right] = this.#shown();
    const page = right - left;
    const moves: Readonly<Record<string, number>> = {
      ArrowLeft: -page / 10,
      ArrowRight: page / 10,
      PageUp: -page,
      PageDown: page,
      Home: -Infinity,
      End: Infinity,
    };
    const zooms: Readonly<Record<string, number>> = {
      ArrowUp: 1.4,
      '+': 1.4,
      '=': 1.4,
      ArrowDown: 1 / 1.4,
      '-': 1 / 1.4,
    };
    if (moves[key] !== undefined) this.#move(moves[key]);
    else if (zooms[key] !== undefined) this.#viewer.zoom(zooms[key]);
    else if (key === '0') this.#viewer.fit();
    else return false;
    return true;
  }
}
