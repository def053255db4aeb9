// The viewer: what is shown and how it changes; drawing and events know it, and it knows neither.

import type { Span } from '../span.ts';
import type { Trace } from './data.ts';
import type { LaneKind } from './lanes.ts';
import { spanAt } from './lanes.ts';
import { type Layout, labelWidth, layOut, rowAt } from './layout.ts';
import type { Chosen, Picture } from './paint.ts';
import { Relations } from './relations.ts';
import { type Theme, themes } from './theme.ts';
import type { Unit } from './units.ts';
import { framing, pan, positionOf, reveal, stretch, type TimeWindow, timeAt, zoom } from './window.ts';
import { matches } from './words.ts';

const nothing = { before: [], behind: [] } as const;

export class Viewer {
  readonly traces: readonly Trace[];
  /** Called after every change. */
  changed: () => void = () => {};
  #relations: (Relations | undefined)[] = [];
  #kind: LaneKind = 'engine';
  #layout: Layout;
  #whole: TimeWindow;
  #window: TimeWindow;
  #scrollTop = 0;
  #height = 400;
  #theme: Theme = themes.light;
  #chosen: Chosen | null = null;
  #found: readonly ReadonlySet<number>[] | null = null;
  #measured: readonly [number, number] | null = null;

  constructor(traces: readonly Trace[]) {
    this.traces = traces;
    const ends = traces.flatMap(({ spans }) =>
      spans.reduce((latest, { ended }) => Math.max(latest, ended), 0),
    );
    this.#whole = framing(0, Math.max(0, ...ends), 1000);
    this.#window = this.#whole;
    this.#layout = layOut(traces, this.#kind);
  }

  get picture(): Picture {
    return {
      traces: this.traces,
      unit: this.unit,
      layout: this.#layout,
      window: this.#window,
      scrollTop: this.#scrollTop,
      height: this.#height,
      theme: this.#theme,
      chosen: this.#chosen,
      related: this.#chosen === null ? nothing : this.relations(this.#chosen.trace).of(this.#chosen.position),
      found: this.#found,
      measured: this.#measured,
    };
  }

  get unit(): Unit {
    return this.traces[0]?.unit ?? 'ms';
  }

  get kind(): LaneKind {
    return this.#kind;
  }

  get chosen(): Chosen | null {
    return this.#chosen;
  }

  /** The chosen span itself. */
  get chosenSpan(): Span | null {
    return this.#chosen === null ? null : this.spanOf(this.#chosen);
  }

  spanOf({ trace, position }: Chosen): Span {
    return this.traces[trace]!.spans[position]!;
  }

  relations(trace: number): Relations {
    this.#relations[trace] ??= new Relations(this.traces[trace]!.spans);
    return this.#relations[trace];
  }

  // What is in sight

  /** All of the time, with a little room on both sides. */
  get whole(): TimeWindow {
    return this.#whole;
  }

  resize(width: number, height: number): void {
    const lanes = Math.max(50, width - labelWidth);
    this.#whole = { ...this.#whole, width: lanes };
    this.#window = { ...this.#window, width: lanes };
    this.#height = height;
    this.scrollTo(this.#scrollTop);
  }

  setTheme(dark: boolean): void {
    this.#theme = dark ? themes.dark : themes.light;
    this.changed();
  }

  show(kind: LaneKind): void {
    this.#kind = kind;
    this.#layout = layOut(this.traces, kind);
    this.scrollTo(this.#scrollTop);
  }

  /** `x` in pixels of the canvas; the middle of the lanes if it is left out. */
  zoom(factor: number, x = labelWidth + this.#window.width / 2): void {
    this.#window = zoom(this.#window, factor, x - labelWidth, this.#whole);
    this.changed();
  }

  pan(pixels: number): void {
    this.#window = pan(this.#window, pixels, this.#whole);
    this.changed();
  }

  scrollTo(top: number): void {
    this.#scrollTop = Math.max(0, Math.min(top, this.#layout.height - this.#height));
    this.changed();
  }

  scrollBy(pixels: number): void {
    this.scrollTo(this.#scrollTop + pixels);
  }

  /** Shows all of the time, or of the chosen span. */
  fit(chosen = false): void {
    const span = chosen ? this.chosenSpan : null;
    this.#window = span === null ? this.#whole : framing(span.started, span.ended, this.#window.width);
    this.changed();
  }

  /** Shows the time from one point to another. */
  look(from: number, to: number): void {
    this.#window = stretch(from, to, this.#whole);
    this.changed();
  }

  // Choosing

  /** The span under a position of the canvas. */
  at(x: number, y: number): Chosen | null {
    if (x < labelWidth) return null;
    const placed = rowAt(this.#layout, y + this.#scrollTop);
    if (placed === undefined) return null;
    const time = timeAt(this.#window, x - labelWidth);
    const near = (3 * (this.#window.to - this.#window.from)) / this.#window.width;
    const place = spanAt(placed.row, time, near);
    return place < 0 ? null : { trace: placed.trace, position: placed.row.positions[place]! };
  }

  choose(chosen: Chosen | null): void {
    this.#chosen = chosen;
    if (chosen !== null) this.#reveal(chosen);
    this.changed();
  }

  #reveal(chosen: Chosen): void {
    const { started, ended } = this.spanOf(chosen);
    this.#window = reveal(this.#window, started, ended, this.#whole);
    const placed = this.#layout.rows.find(
      ({ trace, row }) => trace === chosen.trace && row.positions.includes(chosen.position),
    );
    if (placed === undefined) return;
    if (placed.top - 60 < this.#scrollTop) this.#scrollTop = Math.max(0, placed.top - 60);
    else if (placed.top + placed.height + 10 > this.#scrollTop + this.#height)
      this.#scrollTop = placed.top + placed.height + 10 - this.#height;
  }

  /** Where the chosen span is on the canvas, as far as it is in sight. */
  placeOfChosen(): { readonly x: number; readonly y: number } | null {
    const chosen = this.#chosen;
    const span = this.chosenSpan;
    if (chosen === null || span === null) return null;
    const placed = this.#layout.rows.find(
      ({ trace, row }) => trace === chosen.trace && row.positions.includes(chosen.position),
    );
    if (placed === undefined) return null;
    const x = Math.min(Math.max(positionOf(this.#window, span.started), 0), this.#window.width);
    return { x: labelWidth + x, y: placed.top + placed.height - this.#scrollTop };
  }

  /** Chooses the next or the previous span of the row, or with a search the next that was found. */
  step(by: 1 | -1): void {
    const rows = this.#layout.rows;
    const current = this.#chosen;
    if (current === null) {
      const [first] = rows;
      if (first !== undefined) this.choose({ trace: first.trace, position: first.row.positions[0]! });
      return;
    }
    const placed = rows.find(
      ({ trace, row }) => trace === current.trace && row.positions.includes(current.position),
    );
    if (placed === undefined) return;
    const place = placed.row.positions.indexOf(current.position) + by;
    const position = placed.row.positions[place];
    if (position !== undefined) this.choose({ trace: placed.trace, position });
  }

  /** Chooses the span of the row above or below that is nearest in time. */
  stepLane(by: 1 | -1): void {
    const rows = this.#layout.rows;
    const current = this.#chosen;
    if (current === null) {
      this.step(1);
      return;
    }
    const at = rows.findIndex(
      ({ trace, row }) => trace === current.trace && row.positions.includes(current.position),
    );
    const next = rows[at + by];
    if (next === undefined) return;
    const { started } = this.spanOf(current);
    const place = spanAt(next.row, started, Infinity);
    if (place >= 0) this.choose({ trace: next.trace, position: next.row.positions[place]! });
  }

  // Searching and measuring

  /** Marks the spans that a text means; gives how many. */
  search(text: string): number {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) {
      this.#found = null;
      this.changed();
      return 0;
    }
    this.#found = this.traces.map(
      ({ spans }) => new Set(spans.flatMap((span, position) => (matches(span, words) ? [position] : []))),
    );
    this.changed();
    return this.#found.reduce((sum, { size }) => sum + size, 0);
  }

  /** Chooses the next span that was found, in the order of time. */
  nextFound(): void {
    const all = (this.#found ?? []).flatMap((positions, trace) =>
      [...positions].map((position) => ({ trace, position })),
    );
    const time = (chosen: Chosen) => this.spanOf(chosen).started;
    const after = (a: Chosen, b: Chosen) => a.trace - b.trace || time(a) - time(b) || a.position - b.position;
    all.sort(after);
    const current = this.#chosen;
    const next = current === null ? all[0] : (all.find((other) => after(other, current) > 0) ?? all[0]);
    if (next !== undefined) this.choose(next);
  }

  /** Measures between two times; null ends it. */
  measure(between: readonly [number, number] | null): void {
    this.#measured = between;
    this.changed();
  }

  get measured(): readonly [number, number] | null {
    return this.#measured;
  }

  /** The time at a position of the canvas, or the edge of a span that is within a few pixels. */
  timeNear(x: number, y: number): number {
    const time = timeAt(this.#window, x - labelWidth);
    const chosen = this.at(x, y);
    if (chosen === null) return time;
    const { started, ended } = this.spanOf(chosen);
    const edges = [started, ended].filter(
      (edge) => Math.abs(positionOf(this.#window, edge) - (x - labelWidth)) <= 6,
    );
    return edges[0] ?? time;
  }
}
