// What a virtual device predicts, beside what the device that it was calibrated on took: random graphs of work and single
// kernels of an H200. WARPSTAGE_GRAPHS=300 predicts all of the graphs.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Device, kernel, open } from 'warpstage';
import { type Graph, GraphRunner, graphOf } from '../../scripts/random-graphs.mjs';
import { sweeps } from '../../scripts/sweeps.mjs';
import { atLength } from '../support/thorough.ts';

interface Measured {
  readonly model: object;
  /** Milliseconds by seed. */
  readonly graphs: Readonly<Record<string, number>>;
  /** By the name of a graph of `sweeps.singleKernels`. */
  readonly kernels: Readonly<Record<string, number>>;
}

const measured = JSON.parse(readFileSync(new URL('measured-h200.json', import.meta.url), 'utf8')) as Measured;
const folder = mkdtempSync(join(tmpdir(), 'warpstage-measured-'));
let device: Device;
beforeAll(async () => {
  const file = join(folder, 'h200.json');
  writeFileSync(file, JSON.stringify(measured.model));
  device = await open(`model:${file}`, { execute: false });
});
afterAll(async () => {
  await device.close();
  rmSync(folder, { recursive: true });
});

/** By how much each is predicted too long or too short, the sizes of the errors in order. */
async function errorsOf(graphs: readonly Graph[], milliseconds: (graph: Graph) => number): Promise<number[]> {
  const runner = new GraphRunner(device, kernel, graphs);
  const errors: number[] = [];
  for (const graph of graphs) {
    const prepared = runner.prepare(graph);
    const { elapsed } = await runner.time(prepared);
    errors.push(Math.abs(elapsed / milliseconds(graph) - 1));
    await prepared.end();
  }
  return errors.sort((a, b) => a - b);
}

const quantile = (sorted: readonly number[], part: number) => sorted[Math.floor(part * sorted.length)]!;

describe('an H200', () => {
  test('random graphs of work are predicted within 3.5 % in the median', async () => {
    const count = Number(env.WARPSTAGE_GRAPHS ?? (atLength ? 40 : 20));
    const graphs = Array.from({ length: count }, (_, i) => graphOf(1 + i));
    const errors = await errorsOf(graphs, ({ name }) => measured.graphs[name.replace('seed ', '')]!);
    expect(quantile(errors, 0.5)).toBeLessThan(0.035);
    expect(quantile(errors, 0.9)).toBeLessThan(0.16);
  }, 120_000);

  test('single kernels, from one block to many waves, within 6 % in the median', async () => {
    const graphs = sweeps.singleKernels().filter(({ name }) => measured.kernels[name] !== undefined);
    expect(graphs.length).toBeGreaterThan(80);
    const errors = await errorsOf(graphs, ({ name }) => measured.kernels[name]!);
    expect(quantile(errors, 0.5)).toBeLessThan(0.06);
    expect(quantile(errors, 0.9)).toBeLessThan(0.2);
  }, 120_000);
});

test('a seed is one graph, whoever asks for it', () => {
  expect(graphOf(7)).toEqual(graphOf(7));
  expect(graphOf(7)).not.toEqual(graphOf(8));
});
