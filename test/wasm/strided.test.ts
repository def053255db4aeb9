// What lies evenly apart, loaded and stored as vectors: random kernels over records, vectors and strides give in lanes what
// the interpreter gives thread by thread, and what lies outside is found at its place, in its thread.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeF16, type Kernel, kernel } from 'warpstage';
import { specialise } from '#warpstage/compiler/specialise.js';
import { bytesOf, hostForm, layoutOf } from '#warpstage/kernel/layout.js';
import type { Element } from '#warpstage/kernel/types.js';
import { explainWasm, wasmBytes } from '#warpstage/targets/wasm/compile.js';
import { randomRuns, tapes } from '../differential/tape.ts';
import { interpreter } from '../support/interpreter.ts';
import { nativeOfWidth } from '../support/native.ts';
import { runProgram, type Target } from '../support/run-program.ts';
import { atLength, partOf } from '../support/thorough.ts';
import { wasm, wasmWithout } from '../support/wasm.ts';
import { StridedWriter, schema } from './strided-kernels.ts';

interface Launch {
  readonly block: number;
  readonly grid: number;
  /** Elements beyond those of the threads. */
  readonly more: number;
}

const compiled = (text: string) => kernel(schema, new Function(`return ${text}`)()) as unknown as Kernel;

const programOf = (given: Kernel, block: number) =>
  specialise(given, { block: [block, 1, 1], indexType: 'i32', constants: {}, functions: {} }).program;

/** Numbers that every type holds, each part of an element its own; padding has what no part has. */
function fill(bytes: Uint8Array, element: Element): void {
  bytes.fill(0xee);
  const view = new DataView(bytes.buffer);
  const { bytes: size, parts } = layoutOf(element);
  for (let i = 0; i * size < bytes.length; i += 1) {
    for (const [at, part] of parts.entries()) {
      const value = ((i * 7 + at * 29) % 120) - (part.element === 'i8' ? 60 : 0);
      const place = i * size + part.offset;
      if (part.element === 'f32') view.setFloat32(place, value, true);
      else if (part.element === 'f64') view.setFloat64(place, value, true);
      else if (part.element === 'f16') view.setUint16(place, encodeF16([value])[0]!, true);
      else if (bytesOf(part.element) === 1) view.setUint8(place, value);
      else if (bytesOf(part.element) === 2) view.setUint16(place, value, true);
      else view.setInt32(place, value, true);
    }
  }
}

function outcome(target: Target, given: Kernel, { block, grid, more }: Launch) {
  const program = programOf(given, block);
  const threads = block * grid;
  const written: Uint8Array[] = [];
  const data = program.parameters.map((parameter) => {
    if (parameter.kind !== 'array') return [parameter.name, threads] as const;
    const { name, element } = parameter;
    const isFlat = ['toFlat', 'flat', 'shorts', 'doubles'].includes(name);
    const count = (threads + more) * (isFlat ? 4 : name.startsWith('to') ? 2 : 1) + (name === 'out' ? 2 : 0);
    const bytes = new Uint8Array(count * bytesOf(element));
    const { Values } = hostForm(element);
    fill(bytes, element);
    if (name.startsWith('to') || name === 'out') written.push(bytes);
    return [name, new Values(bytes.buffer)] as const;
  });
  const { fault, executable } = runProgram(target, program, {
    grid,
    arguments: Object.fromEntries(data) as never,
  });
  return {
    fault,
    executable,
    results: fault === null ? written.map((bytes) => Buffer.from(bytes).toString('hex')) : null,
  };
}

const launches = fc.record({
  block: fc.constantFrom(64, 16, 20, 7, 33),
  grid: fc.constantFrom(1, 2),
  more: fc.constantFrom(2, 1, 0, 5, -1),
});

const oracle = interpreter('eager');

interface Expected extends Pick<ReturnType<typeof outcome>, 'fault' | 'results'> {
  /** Whether the pass finds anything to do. */
  readonly isTogether: boolean;
}
const answers = new Map<string, Expected>();

/** What the interpreter says of a kernel: the targets are asked about the same ones. */
function expectedOf(text: string, random: Kernel, launch: Launch): Expected {
  const key = `${text} ${JSON.stringify(launch)}`;
  let expected = answers.get(key);
  if (expected === undefined) {
    const program = programOf(random, launch.block);
    const without = wasmBytes(program, { without: ['strides'] });
    const { fault, results } = outcome(oracle, random, launch);
    expected = { fault, results, isTogether: !Buffer.from(without).equals(wasmBytes(program)) };
    answers.set(key, expected);
  }
  return expected;
}

function compare(target: Target, runs: number) {
  const seen = { faults: 0, ended: 0, together: 0 };
  fc.assert(
    fc.property(tapes(60), launches, (tape, launch) => {
      const text = new StridedWriter(tape).kernel();
      const random = compiled(text);
      const expected = expectedOf(text, random, launch);
      const actual = outcome(target, random, launch);
      // Which of a block's threads is the first to fail depends on the order in which they run.
      const placeOf = ({ fault }: Pick<Expected, 'fault'>) =>
        fault && { kind: fault.kind, block: fault.block };
      expect(placeOf(actual), text).toEqual(placeOf(expected));
      expect(actual.results, text).toEqual(expected.results);
      seen[expected.fault === null ? 'ended' : 'faults'] += 1;
      if (expected.isTogether) seen.together += 1;
    }),
    randomRuns(runs),
  );
  const all = seen.faults + seen.ended;
  return { faults: seen.faults / all, ended: seen.ended / all, together: seen.together / all };
}

test.each([wasm, wasmWithout('strides'), wasmWithout('narrow'), wasmWithout('pairs'), wasmWithout('bounds')])(
  'random kernels over what lies evenly apart, by $name',
  (target) => {
    const { faults, ended, together } = compare(target, atLength ? 80 : 40);
    expect(faults).toBeGreaterThan(1 / 8);
    expect(ended).toBeGreaterThan(1 / 4);
    expect(together).toBeGreaterThan(1 / 2);
  },
);

const reads = (text: string) =>
  `(given, cuda) => { const { n } = given; const i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x; ${text} }`;

const cases: readonly (readonly [name: string, text: string])[] = [
  ['records of 8 bytes', 'const p = given.small[i]; given.toSmall[i] = { x: p.y, y: p.x + 1 };'],
  ['one field of them', 'given.out[i] = cuda.i32(given.small[i].y); given.toSmall[i].x = 3;'],
  [
    'records of 12 bytes',
    'const p = given.three[i]; given.toThree[i] = { a: p.a + 1, b: p.b + cuda.u32(p.a), c: p.c * 2 };',
  ],
  ['two fields of them', 'const p = given.three[i]; given.toThree[i].a = p.a; given.toThree[i].c = p.c;'],
  [
    'a vector and a number',
    'const { position: p, mass } = given.body[i]; given.toBody[i] = { position: cuda.f32x3(p.z, p.x, p.y), mass };',
  ],
  [
    'the vector alone',
    'const p = given.body[i].position; given.toBody[i].position = cuda.f32x3(p.z, p.y, p.x);',
  ],
  [
    'records of records, 20 bytes long',
    'const { low, high, id } = given.box[i]; given.toBox[i] = { low: high, high: low, id: id + 1 };',
  ],
  [
    'the end of such a record',
    'const { high, id } = given.box[i]; given.toBox[i].high = high; given.toBox[i].id = id;',
  ],
  ['bytes of words', 'const p = given.pixel[i]; given.toPixel[i] = { r: p.a, g: p.r, b: p.g, a: p.b };'],
  ['one byte of them', 'given.toPixel[i].g = given.pixel[i].g - 90;'],
  [
    'three bytes of them',
    'const p = given.pixel[i]; given.toPixel[i].r = p.r; given.toPixel[i].g = p.g; given.toPixel[i].b = p.b;',
  ],
  [
    'bytes that are cut',
    'const p = given.three[i]; given.toPixel[i] = { r: p.a * 9, g: p.a, b: p.a - 500, a: p.a * 7 };',
  ],
  [
    'one record for all',
    'const p = given.small[3]; given.toSmall[i] = { x: p.y, y: p.x + cuda.f32(i) }; given.out[i] = cuda.i32(given.body[5].mass);',
  ],
  ['bytes of no words', 'const p = given.rgb[i]; given.toRgb[i] = cuda.u8x3(p.y, p.z, p.x);'],
  [
    'fields of all widths',
    'const p = given.mixed[i]; given.toMixed[i] = { n: p.m - 90, m: p.n, h: p.h, f: p.f + 1, u: p.u };',
  ],
  ['pairs of f64', 'const p = given.pairs[i]; given.toPairs[i] = cuda.f64x2(p.y, p.x);'],
  ['whole vectors', 'const p = given.four[i]; given.toFour[i] = cuda.f32x4(p.w, p.z, p.y, p.x);'],
  [
    'every other record',
    'const p = given.small[2 * i - 2 * i + i]; given.toSmall[2 * i] = { x: p.y, y: p.x };',
  ],
  ['every other element', 'given.out[i] = given.flat[2 * i]; given.toFlat[2 * i + 1] = i;'],
  [
    'pairs of elements',
    'const [a, b] = [given.flat[2 * i], given.flat[2 * i + 1]]; given.toFlat[2 * i] = b; given.toFlat[2 * i + 1] = a;',
  ],
  [
    'triples of elements',
    'const [a, b, c] = [given.flat[3 * i], given.flat[3 * i + 1], given.flat[3 * i + 2]]; given.toFlat[3 * i] = c; given.toFlat[3 * i + 2] = b; given.toFlat[3 * i + 1] = a;',
  ],
  [
    'elements that overlap',
    'given.out[i] = given.flat[2 * i] + given.flat[2 * i + 1] + given.flat[2 * i + 2] + given.flat[2 * i + 3];',
  ],
  [
    'short elements',
    'given.out[i] = given.shorts[2 * i] - given.shorts[2 * i + 1] + given.shorts[3 * i + 2];',
  ],
  ['every other f64', 'given.toPairs[i].y = given.doubles[2 * i] + given.doubles[2 * i + 1];'],
  [
    'what has just been stored',
    'given.toSmall[i] = given.small[i]; given.toSmall[i].x = given.toSmall[i].y; given.out[i] = cuda.i32(given.toSmall[i].x);',
  ],
  [
    'a value that a store before it changes',
    'given.toFlat[2 * i] = given.flat[i]; given.toFlat[2 * i + 1] = given.toFlat[2 * i] + 1;',
  ],
  ['one part, twice', 'given.toFlat[2 * i] = given.flat[i]; given.toFlat[2 * i] = given.flat[i + 1] * 3;'],
  [
    'what only some lanes store',
    'if (cuda.i32(given.small[i].x) % 3 === 0) { given.toSmall[i].y = 7; given.toPairs[i].x = 2; given.toPixel[i].b = 9; }',
  ],
  [
    'what some lanes store, and the others elsewhere',
    'if (given.three[i].a > 50) given.toThree[i].a = i; else given.toThree[i].c = cuda.f32(i);',
  ],
  [
    'a loop that lanes leave one by one',
    'let k = given.three[i].a & 7; let s = 0; while (k > 0) { s += given.three[i].a + k; k -= 1; } given.toThree[i].a = s;',
  ],
  [
    'a local array of vectors',
    'const own = cuda.localArray("f32x4", 2); own[0] = given.four[i]; own[1] = given.four[0]; const p = own[0]; own[1].y = p.w; given.toFour[i] = own[1];',
  ],
  [
    'fields that atomics of others leave alone',
    'given.toThree[i].c = given.three[i].c; cuda.atomicAdd(given.out, i & 3, 1);',
  ],
];

const full: Launch = { block: 36, grid: 2, more: 2 };

test.each(cases)('%s: lanes do together what threads do', (_, text) => {
  const given = compiled(reads(text));
  const { results } = outcome(oracle, given, full);
  expect(results).not.toBeNull();
  for (const target of [wasm, wasmWithout('strides'), wasmWithout('narrow')])
    expect(outcome(target, given, full).results).toEqual(results);
  expect(explainWasm(programOf(given, full.block)).done.join('\n')).toContain('strides: ');
});

/** Cases that write to their own thread's records alone, so that all of them may be one kernel. */
const besideOthers = cases.filter(([name]) => !/every other|elements|changes|twice|atomics|local/.test(name));

test.each(partOf(nativeOfWidth, 1))(
  'by instructions of %i times 128 bits, many cases in a kernel',
  (width, target) => {
    const texts = besideOthers.map(([, text]) => `{ ${text} }`);
    // By themselves they take turns over the widths.
    const turn = nativeOfWidth.findIndex(([other]) => other === width);
    const single = atLength ? texts.filter((_, at) => at % nativeOfWidth.length === turn) : [];
    for (const text of [...single, texts.join('\n')]) {
      const given = compiled(reads(text));
      expect(outcome(target, given, full).results).toEqual(outcome(oracle, given, full).results);
    }
  },
);

test.each([
  ['the last record', 'given.toSmall[i] = given.small[i + 3];', 71],
  ['one field of it', 'given.out[i] = cuda.i32(given.small[i + 3].x);', 71],
  ['a record before the first', 'given.out[i] = cuda.i32(given.three[i - 1].a);', 0],
  ['the last element', 'given.out[i] = given.flat[4 * i + 12];', 71],
  ['an element before the first', 'given.out[i] = given.flat[2 * i - 1];', 0],
  ['one of a pair', 'given.out[i] = given.flat[4 * i + 8] + given.flat[4 * i + 12];', 71],
  ['what only one lane stores', 'if (i === 70) given.toFlat[2 * i + 500] = 1;', 70],
  ['what only some lanes load', 'if (i > 50) given.out[i] = given.flat[4 * i + 12];', 71],
])('outside: %s', (_, text, thread) => {
  const given = compiled(reads(text));
  const { fault } = outcome(oracle, given, full);
  expect(fault).toMatchObject({
    kind: 'out-of-range',
    block: [Math.trunc(thread / 36), 0, 0],
    thread: [thread % 36, 0, 0],
  });
  for (const target of [wasm, wasmWithout('strides'), wasmWithout('bounds')])
    expect(outcome(target, given, full).fault).toEqual(fault);
});
