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

const interpreters: readonly Place[] = (['late', 2, 1, 3] as const).map((delivery) => ({
  name: `cpu, interpreter, ${typeof delivery === 'number' ? `seed ${delivery}` : delivery}`,
  ranOn: /^interpreter$/,
  open: () => open('cpu', { target: 'interpreter', delivery }),
}));

/** The first has all cases; in `npm test` the others share them. */
const [first, ...others]: readonly Place[] = [
  ...devices.filter((device) => !nativeDevices.includes(device)),
  ...interpreters,
];

const all = Object.entries(allCases).flatMap(([subject, cases]) => cases.map((one) => ({ ...one, subject })));

/** What a place has of the rest, where the devices that `npm test` has had are not there: half of the cases, in turn. */
const restOf = (place: Place) => all.filter((_, at) => (at + others.indexOf(place)) % 2 === 0);

const places = [
  ...[first!, ...others].map((place) => ({
    ...place,
    cases: isFirst
      ? someOf(all, (_, at) => [first, others[at % others.length]].includes(place))
      : restOf(place),
  })),
  ...nativeDevices.map((device) => ({ ...device, cases: all })),
].filter(({ cases }) => cases.length > 0);

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
