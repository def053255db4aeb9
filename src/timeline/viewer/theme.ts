// Colours: one for each engine of the flow, the same on every device, others by their name; light and dark.

import { partsOfEngine } from '../overlap.ts';

export interface Theme {
  readonly background: string;
  readonly band: string;
  readonly text: string;
  readonly faint: string;
  readonly line: string;
  readonly accent: string;
  readonly lightness: number;
}

export const themes: Readonly<Record<'light' | 'dark', Theme>> = {
  light: {
    background: '#ffffff',
    band: '#f3f4f6',
    text: '#1b1f24',
    faint: '#5b6470',
    line: '#d5d9de',
    accent: '#c2410c',
    lightness: 46,
  },
  dark: {
    background: '#14171b',
    band: '#1c2127',
    text: '#e8eaed',
    faint: '#a3acb8',
    line: '#343b45',
    accent: '#fb923c',
    lightness: 62,
  },
};

/** Hues of the engines, far enough apart to tell with any kind of colour vision, by lightness too. */
const hues: Readonly<Record<string, readonly [hue: number, shift: number]>> = {
  read: [280, 0],
  'copy in': [212, 0],
  copy: [212, 0],
  compute: [150, -8],
  'copy out': [30, 0],
  write: [340, 0],
  acquire: [0, 0],
  wait: [45, 6],
  release: [190, 0],
};

/** The colour of spans of an engine. */
export function colourOf(engine: string, { lightness }: Theme): string {
  const [hue, shift] = hues[partsOfEngine(engine).task] ?? [hashed(engine) % 360, 0];
  return `hsl(${hue} 62% ${lightness + shift}%)`;
}

function hashed(text: string): number {
  let hash = 7;
  for (let i = 0; i < text.length; ++i) hash = (hash * 31 + text.charCodeAt(i)) >>> 0;
  return hash;
}
