// Pictures of arrays: a band from the least to the greatest value of each stretch.

import type { Plot } from './protocol.ts';

const [width, height] = [600, 120];
const namespace = 'http://www.w3.org/2000/svg';

export function pictureOf({ name, length, low, high }: Plot): HTMLElement {
  const figure = document.createElement('figure');
  const caption = document.createElement('figcaption');
  const finite = [...low, ...high].filter(Number.isFinite);
  const [least, most] = [Math.min(...finite), Math.max(...finite)];
  caption.textContent = `${name}: ${length} elements, from ${least} to ${most}`;
  const svg = document.createElementNS(namespace, 'svg');
  svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
  svg.setAttribute('role', 'img');
  svg.setAttribute('aria-label', caption.textContent);
  const x = (i: number) => (low.length === 1 ? width / 2 : (i / (low.length - 1)) * width);
  const y = (value: number) =>
    height -
    4 -
    (most === least || !Number.isFinite(value) ? 0.5 : (value - least) / (most - least)) * (height - 8);
  const up = high.map((value, i) => `${x(i).toFixed(1)},${y(value).toFixed(1)}`);
  const back = low.map((value, i) => `${x(i).toFixed(1)},${y(value).toFixed(1)}`).reverse();
  const path = document.createElementNS(namespace, 'polygon');
  path.setAttribute('points', [...up, ...back].join(' '));
  svg.append(path);
  figure.append(svg, caption);
  return figure;
}
