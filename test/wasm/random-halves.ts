// Random kernels on elements of 8 and 16 bits, whose results are stored as such: sums, products and shifts of what neighbours
// have, some of which fit into 16 bits, and some of which do not.

import { kernel } from 'warpstage';
import type { Kernel } from '#warpstage/kernel/kernel.js';
import type { Schema } from '#warpstage/kernel/schema.js';
import { hostArrays } from '#warpstage/kernel/types.js';
import type { Tape } from '../differential/tape.ts';
import { runKernel } from '../support/run-kernel.ts';
import { bitsOf, type HostArray, type Target } from '../support/run-program.ts';

const elements = ['i8', 'u8', 'i16', 'u16'] as const;
const around = 8;

const schema: Schema = {
  count: 'i32',
  ...Object.fromEntries(
    elements.flatMap((element) => [
      [`x_${element}`, `readonly ${element}[]` as const],
      [`y_${element}`, `${element}[]` as const],
    ]),
  ),
  seen: 'i32[]',
};

const constants = [
  '0',
  '1',
  '-1',
  '3',
  '9',
  '255',
  '256',
  '7282',
  '32767',
  '32768',
  '65535',
  '65536',
  '-32768',
];

function value(tape: Tape, depth: number): string {
  if (depth === 0 || tape.chance(1, 6)) {
    if (tape.chance(1, 4)) return tape.pick(['sum', 'other']);
    return tape.chance(1, 4) ? tape.pick(constants) : `x_${tape.pick(elements)}[i + ${tape.below(around)}]`;
  }
  const [a, b] = [value(tape, depth - 1), value(tape, depth - 1)];
  const least = tape.pick(constants);
  return tape.pick([
    `(${a} ${tape.pick(['+', '+', '-', '*', '&', '|', '^'])} ${b} | 0)`,
    `(${a} << ${tape.below(18)} | 0)`,
    `(${a} >> ${tape.below(20)})`,
    `(${a} * ${tape.pick([b, least])} >> ${14 + tape.below(8)})`,
    `(cuda.i32(cuda.u32(${a} * ${tape.pick([b, least])}) >>> ${14 + tape.below(8)}))`,
    `((${a} & ${tape.pick(['255', '511', '32767', '65535', '131071'])}) >> ${tape.below(9)})`,
  ]);
}

/** A kernel whose threads store to one or two arrays, some of them only behind a test. */
export function randomHalves(tape: Tape): { readonly kernel: Kernel; readonly text: string } {
  const lines = Array.from({ length: 1 + tape.below(5) }, () => {
    const name = tape.pick(['sum', 'sum', 'other']);
    return tape.chance(1, 5)
      ? `for (let k = 0; k < ${2 + tape.below(3)}; k++) ${name} = ${name} + x_${tape.pick(elements)}[i + k] | 0;`
      : `${name} = ${value(tape, 2)};`;
  });
  const [first, second] = [tape.pick(elements), tape.pick(elements)];
  lines.push(`y_${first}[i] = ${value(tape, 2)};`);
  if (tape.chance(1, 3)) lines.push(`sum = ${value(tape, 1)};`, `y_${second}[i] = ${value(tape, 2)};`);
  if (tape.chance(1, 4)) lines.push('seen[i] = sum + 3 * other | 0;');
  const test = tape.pick([
    'if (i >= count) return;',
    'if (i >= count) return;',
    `if (x_u8[i] > 99) return;`,
    '',
  ]);
  const text = `({ ${Object.keys(schema).join(', ')} }, cuda) => {
    const i = cuda.thisGrid().threadRank();
    let [sum, other] = [cuda.i32(0), cuda.i32(0)];
    ${test}
    ${lines.join('\n    ')}
  }`;
  return { kernel: kernel(schema, new Function(`return ${text}`)() as never), text };
}

/** A line each, and whether it is computed of halves. */
export const halvesExamples = (
  [
    ['sums', true, 'y_u8[i] = x_u8[i] + x_u8[i + 1];'],
    ['products that have 31 bits', true, 'y_u16[i] = (x_u16[i] * x_u8[i]) >> 16;'],
    ['products that have more', false, 'y_u16[i] = (x_u16[i] * x_u16[i + 1]) >> 17;'],
    ['unsigned products that have 32 bits', true, 'y_u16[i] = cuda.u32(x_u16[i] * x_u16[i + 1]) >>> 17;'],
    ['shifts of what has 16 bits', true, 'y_u16[i] = x_u16[i] >> 3;'],
    ['shifts of what has more', false, 'y_u16[i] = (x_u16[i] + x_u16[i + 1]) >> 3;'],
    ['shifts of what has a sign', true, 'y_u16[i] = (x_i8[i] * 200) >> 3;'],
    ['what is read behind the store', false, 'const a = x_u8[i] + x_i8[i]; y_u8[i] = a; seen[i] = a;'],
  ] as const
).map(([name, expected, line]) => {
  const text = `({ ${Object.keys(schema).join(', ')} }, cuda) => { const i = cuda.thisGrid().threadRank(); ${line} }`;
  return [name, expected, kernel(schema, new Function(`return ${text}`)() as never) as Kernel] as const;
});

/** `missing`: elements that the inputs lack at their ends. */
export function outcomeOfHalves(target: Target, made: Kernel, count: number, missing: number) {
  const all = 2 * 128;
  const data: Record<string, HostArray | number> = { count, seen: new Int32Array(all) };
  for (const element of elements) {
    const input = new hostArrays[element](all + around - missing) as Uint8Array;
    for (const i of input.keys()) input[i] = i % 5 === 0 ? -1 : Math.imul(i + 1, 2_654_435_761) >>> 13;
    data[`x_${element}`] = input;
    data[`y_${element}`] = new hostArrays[element](all);
  }
  const { fault } = runKernel(target, made, { grid: 2, block: [128, 1, 1], arguments: data });
  const outputs = [...elements.map((element) => data[`y_${element}`]!), data.seen!];
  const place = fault && { kind: fault.kind, block: fault.block, thread: 'thread' in fault && fault.thread };
  return { place, results: place === null ? outputs.map((each) => bitsOf(each as HostArray)) : null };
}
