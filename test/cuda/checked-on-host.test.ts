// Checked kernels as threads of this machine: what the generated code tells of a fault is what the CPU
// tells, no thread waits for one that has ended, and lines are printed or counted. Needs a C++ compiler.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Kernel, open, WarpstageError } from 'warpstage';
import { specialise } from '#warpstage/compiler/specialise.js';
import { faultError } from '#warpstage/runtime/faults.js';
import { compileCuda } from '#warpstage/targets/cuda/compile.js';
import { faultOf, sitesOf } from '#warpstage/targets/cuda/faults.js';
import { type HostLaunch, HostProgram, hasHostCompiler } from '../support/host-cuda.ts';
import { asserting, bursts, endless, faulty, stuck } from './faulty-kernels.ts';

const [grid, block] = [3, 64];
const lengths = { y: grid * block, x: 100 };

function compile(one: Kernel, checked = true) {
  const specialised = specialise(one, {
    block: [block, 1, 1],
    indexType: 'i32',
    constants: {},
    functions: {},
  });
  let text = '';
  const alignments = specialised.program.parameters.map(() => 16);
  const executable = compileCuda(specialised, alignments, {
    architecture: 75,
    checked,
    compile: (generated) => {
      text = generated;
      return new Uint8Array();
    },
  });
  return { ...specialised, executable, text };
}

const unchecked = ', unchecked';
const kernels = Object.fromEntries([
  ...Object.entries(faulty).map(([name, one]) => [name, compile(one as never)] as const),
  ...Object.entries(asserting).map(
    ([name, one]) => [name + unchecked, compile(one as never, false)] as const,
  ),
]);
const launchOf = (
  { text }: { text: string },
  parameters: HostLaunch['parameters'],
  more = {},
): HostLaunch => ({
  text,
  grid,
  block,
  parameters,
  ...more,
});

describe.skipIf(!hasHostCompiler)('as threads of this machine', () => {
  let program: HostProgram;
  let printing: ReturnType<typeof compile>;

  beforeAll(() => {
    const plain = [{ length: lengths.y }, { length: lengths.x }, 0];
    printing = compile(bursts as never);
    program = new HostProgram({
      ...Object.fromEntries(Object.entries(kernels).map(([name, one]) => [name, launchOf(one, plain)])),
      stuck: launchOf(compile(stuck as never), [{ length: 64 }], { patience: 300 }),
      endless: launchOf(compile(endless as never), [{ length: 2 }], { cancelled: true }),
      bursts: launchOf(printing, [{ length: 1 }, 2], { words: 4096 }),
      'too many lines': launchOf(printing, [{ length: 1 }, 2], { words: 64 }),
    });
  }, 120_000);
  afterAll(() => program?.remove());

  test.each(Object.keys(kernels))('%s', async (name) => {
    const run = program.run(name);
    expect(run).toMatchObject({ stop: 7, launch: 7 });
    const { executable, program: own, sources } = kernels[name]!;
    const { rank, values } = run;
    const bits = values.map((value) => BigInt.asUintN(64, BigInt(value)));
    const fault = faultOf(
      own,
      { site: sitesOf(executable)![run.site]!, rank, block: run.block, values, bits },
      {
        global: (id) => ({ address: 2 ** 20 * (id + 1), length: Object.values(lengths)[id]! }),
        sharedLength: (id) => {
          const { count } = own.sharedArrays[id]!;
          return count.kind === 'constant' ? Number(count.value) : 0;
        },
      },
    );
    const reported = faultError({ name: own.name, sources, grid: [grid, 1, 1] }, [fault]);
    await using cpu = await open('cpu', { threads: 1 });
    const [y, x] = [cpu.alloc('i32', lengths.y), cpu.alloc('i32', lengths.x)];
    cpu.defaultStream.launch(
      faulty[name.replace(unchecked, '') as keyof typeof faulty],
      { grid, block },
      { y, x, n: 0 },
    );
    const expected = await cpu.synchronize().catch((error: unknown) => error);
    expect(expected).toBeInstanceOf(WarpstageError);
    expect(reported.issues).toEqual((expected as WarpstageError).issues);
  });

  test('threads that wait for too long fail, and the others with them', () => {
    const run = program.run('stuck');
    expect(run.stop).toBe(7);
    expect(run.values[0]).toBeGreaterThanOrEqual(300);
  });

  test('a loop without an end is ended', () => {
    const run = program.run('endless');
    expect(run).toMatchObject({ stop: 7, launch: 0 });
    expect(run.y[1]).toBe(1);
  });

  test('lines have places of their own', () => {
    const { head, lost, lines } = program.run('bursts');
    const size = 6;
    const site = sitesOf(printing.executable)!.findIndex(({ texts }) => texts !== undefined);
    expect(lost).toBe(0);
    expect(head).toBe(grid * block * 2 * size);
    const seen = new Set<string>();
    const next = new Map<number, number>();
    for (let at = 0; at < head; at += size) {
      expect(lines[at]).toBe(7 * 2 ** 32 + 2 * site + 1);
      const [thread, round, value] = lines.slice(at + 3, at + size) as [number, number, number];
      expect([lines[at + 1], lines[at + 2], value]).toEqual([
        Math.floor(thread / block) * 2 ** 32 + (thread % block),
        0,
        0,
      ]);
      expect(round).toBe(next.get(thread) ?? 0);
      next.set(thread, round + 1);
      seen.add(`${thread} ${round}`);
    }
    expect(seen.size).toBe(grid * block * 2);
  });

  test('lines without room are counted, and change nothing', () => {
    const { head, lost, lines } = program.run('too many lines');
    expect(head).toBe(60);
    expect(lost).toBe(grid * block * 2 - 10);
    expect(lines.slice(60)).toEqual([0, 0, 0, 0]);
  });
});
