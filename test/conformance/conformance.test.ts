// Every case on every device that is here, and on the interpreter under every policy of delivery.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Device, open } from 'warpstage';
import { devices, nativeDevices, type TestDevice } from '../support/devices.ts';
import { sayWithoutGpu } from '../support/no-gpu.ts';
import { runKernel } from '../support/run-kernel.ts';
import { isFirst, partOf, someOf } from '../support/thorough.ts';
import { wasmStates, wasmStatesWithStages, wasmWithStages } from '../support/wasm.ts';
import { runOn } from './case.ts';
import { allCases } from './cases.ts';

type Place = Pick<TestDevice, 'name' | 'ranOn' | 'open'>;

/** The first has all cases; in `npm test` the others share them. */
const [first, ...others]: readonly Place[] = [
  ...devices.filter((device) => !nativeDevices.includes(device)),
  ...(['late', 2, 1, 3] as const).map((delivery) => ({
    name: `cpu, interpreter, ${typeof delivery === 'number' ? `seed ${delivery}` : delivery}`,
    ranOn: /^interpreter$/,
    open: () => open('cpu', { target: 'interpreter', delivery }),
  })),
];

const all = Object.entries(allCases).flatMap(([subject, cases]) => cases.map((one) => ({ ...one, subject })));
/** Whether a case that the rest is about has its turn at a place: at half of those that it was not run at. */
const isAgain = (place: Place, one: (typeof all)[number]) =>
  (others.indexOf(place) + Math.floor(all.indexOf(one) / others.length)) % 2 === 0;
const places = [first!, ...others, ...nativeDevices]
  .map((place) => ({
    ...place,
    cases: someOf(all, (_, at) => [first, others[at % others.length]].includes(place)).filter(
      (one) => isFirst || (nativeDevices as readonly Place[]).includes(place) || isAgain(place, one),
    ),
  }))
  .filter(({ cases }) => cases.length > 0);

sayWithoutGpu();

describe.each(places)('$name', ({ ranOn, open: openIt, cases }) => {
  let device: Device;
  beforeAll(async () => {
    device = await openIt();
  });
  afterAll(() => device.close());

  test.each(cases)('$subject: $name', async (one) => {
    const { ranOn: how, results } = await runOn(device, one);
    expect(how).toMatch(ranOn);
    for (const { parameter, expected, result } of results) expect(result, parameter).toEqual(expected);
  });
});

const ways = [wasmStates, wasmWithStages, wasmStatesWithStages];

describe.each(ways)('$name', (target) => {
  const cases = all.filter((_, position) => partOf(ways, position).includes(target));
  test.each(cases)('$subject: $name', (one) => {
    const copies = Object.entries(one.data).map(
      ([name, value]) => [name, typeof value === 'object' ? value.slice() : value] as const,
    );
    const data = Object.fromEntries(copies);
    const { fault } = runKernel(target, one.kernel, {
      grid: one.grid,
      block: one.block,
      arguments: data,
    });
    expect(fault).toBeNull();
    for (const [name, expected] of Object.entries(one.expected)) expect(data[name], name).toEqual(expected);
  });
});
