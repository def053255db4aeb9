import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { fileURLToPath } from 'node:url';
import { expect, test, vi } from 'vitest';
import { createKernelSource, locationOf } from '#warpstage/diagnostics/source.js';

const file = fileURLToPath(import.meta.url);
const text = readFileSync(file, 'utf8');

/** Where `words` stands in this file. */
function placeOf(words: string, occurrence = 0) {
  let at = -1;
  for (let i = 0; i <= occurrence; i++) at = text.indexOf(words, at + 1);
  const before = text.slice(0, at).split('\n');
  return { file, line: before.length, column: before.at(-1)!.length + 1 };
}

type Data = { readonly y: Float32Array; readonly gain: number };

const arrow = ({ y, gain }: Data, t: number): void => {
  const scaled = gain * y[t]!; // the arrow's product
  y[t] = scaled as number;
};

function declared({ y, gain }: Data, t: number) {
  y[t] = gain; // declared
}

const methods = {
  method({ y, gain }: Data, t: number) {
    y[t] = gain + 1; // method
  },
};

function locate(fn: (...args: never[]) => unknown, words: string) {
  const source = createKernelSource(fn, 'k');
  const offset = source.text.indexOf(words);
  expect(offset).toBeGreaterThanOrEqual(0);
  return source.locate(offset);
}

test('an offset of an arrow function is found in the TypeScript file that runs under vitest', () => {
  const place = locate(arrow, 'gain * y');
  expect(place).toEqual({ ...placeOf('gain * y[t]!'), text });
});

test('declared functions and methods are found too, though V8 points at their parameters', () => {
  expect(locate(declared, 'function')).toMatchObject(placeOf('function declared'));
  expect(locate(declared, 'gain;')).toMatchObject(placeOf('gain; // declared'));
  expect(locate(methods.method, 'method')).toMatchObject(placeOf('method({ y, gain }'));
  expect(locate(methods.method, 'gain + 1')).toMatchObject(placeOf('gain + 1; // method'));
});

test('a range becomes a location that underlines the same words in the file', () => {
  const source = createKernelSource(arrow, 'k');
  const start = source.text.indexOf('gain * y[t]');
  const location = locationOf([source], { source: 0, start, end: start + 'gain * y[t]'.length });
  expect(location).toMatchObject({ ...placeOf('gain * y[t]!'), length: 'gain * y[t]'.length });
});

test('a range of several lines is underlined to the end of its first line', () => {
  const source = createKernelSource(declared, 'k');
  const start = source.text.indexOf('y[t] = gain');
  const location = locationOf([source], { source: 0, start, end: source.text.length });
  expect(location).toMatchObject({ ...placeOf('y[t] = gain; // declared'), length: 'y[t] = gain;'.length });
});

test('two functions with the same text are distinguished', () => {
  const twins = [(x: number) => x + 40, (x: number) => x + 40];
  const lines = twins.map((twin) => locate(twin, 'x + 40'));
  expect(lines[0]).toMatchObject(placeOf('x + 40'));
  expect(lines[1]).toMatchObject(placeOf('x + 40', 1));
});

test('where no file can be known, the place is a line of the function', () => {
  const made = new Function('y', '  y[0] = 1;\n  y[1] = missing;') as () => void;
  const place = locate(made, 'missing');
  expect(place).toEqual({ line: 4, column: 10, text: made.toString() });
});

test('offsets outside the text are moved into it', () => {
  const source = createKernelSource(declared, 'k');
  expect(source.locate(-5)).toEqual(source.locate(0));
  expect(source.locate(1e9)).toMatchObject({ file });
});

test('a function keeps its source', () => {
  expect(createKernelSource(arrow, 'k')).toBe(createKernelSource(arrow, 'k'));
  expect(createKernelSource(arrow, 'other').name).toBe('other');
});

test('the scripts of the process are listed once for the functions of a file', () => {
  const listings = () => asked.mock.calls.filter(([what]) => (what as string) === 'Debugger.enable').length;
  const asked = vi.spyOn(Session.prototype, 'post');
  const functions = [(x: number) => x + 50, (x: number) => x + 51];
  for (const [i, fn] of functions.entries()) {
    expect(locate(fn, 'x +')).toMatchObject({ file, line: placeOf('x + 50').line });
    expect(asked).toHaveBeenCalledWith('Runtime.getProperties', expect.anything(), expect.anything());
    expect(listings()).toBeLessThanOrEqual(1 - i);
    asked.mockClear();
  }
  asked.mockRestore();
});

test('locating leaves nothing on the global object', () => {
  const before = Reflect.ownKeys(globalThis).length;
  locate((x: number) => x * 3, 'x');
  expect(Reflect.ownKeys(globalThis).length).toBe(before);
});
