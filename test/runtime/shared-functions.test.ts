// Kernels that have something in common are kernels of their own: one function under several schemas, several functions
// of one text or of one name. Whatever a device keeps of functions and of what they were compiled to, each launch does
// what its own kernel says. A property of every device.

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Device, type DeviceFunction, deviceFunction, type Kernel, kernel, open } from 'warpstage';
import { functionOfText } from '#warpstage/diagnostics/source.js';
import { devices } from '../support/devices.ts';
import { sayWithoutGpu } from '../support/no-gpu.ts';

sayWithoutGpu();

const elements = { u8: Uint8Array, i16: Int16Array, i32: Int32Array, f32: Float32Array } as const;
type Element = keyof typeof elements;
const elementNames = Object.keys(elements) as Element[];

const mappings = {
  'x + 1': (x: number) => x + 1,
  'x * 3': (x: number) => x * 3,
  '-x': (x: number) => -x,
} as const;
type Mapping = keyof typeof mappings;
const mappingNames = Object.keys(mappings) as Mapping[];

const bodies = {
  plain: '({ y, x, k, f }, cuda) => { const i = cuda.threadIdx.x; y[i] = f({ x: x[i] }) + k; }',
  twice: '({ y, x, k, f }, cuda) => { const i = cuda.threadIdx.x; y[i] = f({ x: f({ x: x[i] }) }) + k; }',
} as const;
type Body = keyof typeof bodies;
const bodyNames = Object.keys(bodies) as Body[];

const anyone = () => undefined;
const functionOf = (text: string) => functionOfText(text, anyone, () => ({ offset: 0, parts: [] }));

/** What a kernel is made of. `own`: functions of the same text, but not the same ones as of other kernels. */
interface Making {
  readonly element: Element;
  readonly mapping: Mapping;
  readonly body: Body;
  readonly constant: boolean;
  readonly own: boolean;
}
const making: fc.Arbitrary<Making> = fc.record({
  element: fc.constantFrom(...elementNames),
  mapping: fc.constantFrom(...mappingNames),
  body: fc.constantFrom(...bodyNames),
  constant: fc.boolean(),
  own: fc.boolean(),
});

/** Makes kernels, whose functions are the same for the same text unless they are to be own ones. */
function maker() {
  const common = new Map<string, ReturnType<typeof functionOf>>();
  const functionFor = (text: string, own: boolean) => {
    if (own) return functionOf(text);
    const known = common.get(text) ?? functionOf(text);
    common.set(text, known);
    return known;
  };
  return ({ element, mapping, body, constant, own }: Making): Kernel => {
    const scalar = element === 'f32' ? 'f32' : 'i32';
    const f = deviceFunction({ x: scalar }, functionFor(`({ x }) => ${mapping}`, own) as never);
    const schema = {
      y: `${element}[]`,
      x: `readonly ${element}[]`,
      k: constant ? `constant ${scalar} = 1` : scalar,
      f: f as unknown as DeviceFunction,
    };
    return kernel(schema as never, functionFor(bodies[body], own) as never, { name: 'one' }) as Kernel;
  };
}

const launch = fc.record({ kernel: fc.nat(7), k: fc.integer({ min: -3, max: 3 }) });

describe.each([...devices, { name: 'model', open: () => open('model:h200', { threads: 1 }) }])(
  '$name',
  ({ open: openDevice }) => {
    let device: Device;
    beforeAll(async () => {
      device = await openDevice();
    });
    afterAll(() => device.close());

    test('each launch does what its own kernel says', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(making, { minLength: 2, maxLength: 8 }),
          fc.array(launch, { minLength: 2, maxLength: 12 }),
          async (makings, launches) => {
            const make = maker();
            const kernels = makings.map(make);
            const outcomes = launches.map(({ kernel: which, k }) => {
              const { element, mapping, body } = makings[which % makings.length]!;
              const numbers = elements[element].of(0, 1, 100, 127);
              const [x, y] = [device.alloc(element, 4), device.alloc(element, 4)];
              const stream = device.defaultStream;
              stream.memcpyAsync(x, numbers as never);
              stream.launch(kernels[which % kernels.length]!, { grid: 1, block: 4 }, { y, x, k } as never);
              const result = new elements[element](4);
              stream.memcpyAsync(result as never, y as never);
              for (const array of [x, y]) array.free();
              const map = mappings[mapping];
              const expected = Array.from(
                numbers,
                (value) => (body === 'twice' ? map(map(value)) : map(value)) + k,
              );
              return { result, expected: elements[element].from(expected) };
            });
            await device.synchronize();
            for (const { result, expected } of outcomes) expect(result).toEqual(expected);
          },
        ),
        { numRuns: Number(process.env.WARPSTAGE_RANDOM_RUNS ?? 15) },
      );
    });
  },
);
