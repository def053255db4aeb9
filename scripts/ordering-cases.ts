// npx tsx --tsconfig tsconfig.build.json scripts/ordering-cases.ts FILE [COUNT] [SEED]: kernels whose pipelines order more than their copies, and
// what the interpreter says of them, for ordering-on-gpu.mjs.
//
// The kernels of test/support/ordering-kernels.ts, and COUNT (200) random ones of SEED. The file has their texts,
// their arguments and the results that every launch must give, whichever warp is late. Needs no GPU.

import { writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { type Kernel, kernel, open } from 'warpstage';
import {
  scratchLength,
  stagingInputLength,
  stagingKernelText,
  stagingSchema,
} from '../test/differential/random-staging.ts';
import { tapes } from '../test/differential/tape.ts';
import { orderingKernels } from '../test/support/ordering-kernels.ts';

/** An array of i32 whose element i is `i * times + plus`. */
interface Numbers {
  readonly length: number;
  readonly times: number;
  readonly plus: number;
}

interface Case {
  readonly name: string;
  readonly what: string;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly block: number;
  readonly arguments: Readonly<Record<string, Numbers | number>>;
  /** Arrays that are compared, and their bytes in base 64. */
  readonly expected: Readonly<Record<string, string>>;
}

const [file, count = '200', seed = '20240517'] = process.argv.slice(2);
if (file === undefined)
  throw new Error(
    'usage: npx tsx --tsconfig tsconfig.build.json scripts/ordering-cases.ts FILE [COUNT] [SEED]',
  );

const zeros = (length: number): Numbers => ({ length, times: 0, plus: 0 });

function handWritten(): Omit<Case, 'expected'>[] {
  const batches = 24;
  const block = 256;
  return Object.entries(orderingKernels).map(([what, { kernel: own, scratch, threads }], n) => {
    const elements = (block / threads) * batches;
    return {
      name: `ordering_${n}`,
      what,
      schema: own.schema as Record<string, unknown>,
      text: String((own as unknown as { body: unknown }).body),
      block,
      arguments: {
        out: zeros(elements),
        input: { length: elements, times: 7, plus: 1 },
        batches,
        late: 0,
        ...(scratch ? { scratch: zeros(elements) } : {}),
      },
    };
  });
}

function random(): Omit<Case, 'expected'>[] {
  const sampled = fc.sample(tapes(80), { numRuns: Number(count), seed: Number(seed) });
  return sampled.map((tape, n) => {
    const block = [64, 128, 256][n % 3]!;
    return {
      name: `ordering_${1000 + n}`,
      what: `random ${n} of seed ${seed}, ${block} threads`,
      schema: stagingSchema,
      text: stagingKernelText(tape, block),
      block,
      arguments: {
        out: zeros(block),
        scratch: zeros(scratchLength(block)),
        x: { length: stagingInputLength, times: 2_654_435_761, plus: 0 },
        batches: 5 + (n % 4),
        who: -1,
        late: 0,
      },
    };
  });
}

function arrayOf({ length, times, plus }: Numbers): Int32Array {
  return Int32Array.from({ length }, (_, i) => (i * times + plus) | 0);
}

const device = await open('cpu', { target: 'interpreter' });
const cases: Case[] = [];
for (const one of [...handWritten(), ...random()]) {
  const stream = device.createStream();
  const made = kernel(one.schema as never, new Function(`return ${one.text}`)() as never) as Kernel;
  const entries = Object.entries(one.arguments).map(([name, value]) => {
    if (typeof value === 'number') return [name, value] as const;
    const memory = device.alloc('i32', value.length);
    stream.memcpyAsync(memory, arrayOf(value));
    return [name, memory] as const;
  });
  stream.launch(made, { grid: 1, block: one.block }, Object.fromEntries(entries) as never);
  const results = entries
    .filter(([name, memory]) => typeof memory !== 'number' && (name === 'out' || name === 'scratch'))
    .map(([name, memory]) => {
      const result = new Int32Array((memory as { length: number }).length);
      stream.memcpyAsync(result, memory as never);
      return [name, result] as const;
    });
  await stream.synchronize();
  for (const [, memory] of entries) if (typeof memory !== 'number') memory.free();
  const encoded = results.map(([name, { buffer }]) => [name, Buffer.from(buffer).toString('base64')]);
  cases.push({ ...one, expected: Object.fromEntries(encoded) });
}
await device.close();
writeFileSync(file, JSON.stringify(cases));
console.log(`${cases.length} cases in ${file}`);
