// The conformance cases where there is nothing of Node. Each costs a compilation, and the ways to run them in a browser
// share most of their code: so the cases take turns over `turns` ways.

import { type Device, open } from 'warpstage';
import { type Case, runOn } from '../conformance/case.ts';
import { allCases } from '../conformance/cases.ts';

export const turns = 4;

/** The turn of a case; one further every `turns` cases, as many cases come in fours that differ in one thing. */
const turnOf = (at: number) => (at + Math.floor(at / turns)) % turns;

/** How many cases have a turn. */
export const casesOf = (turn: number) =>
  Object.values(allCases)
    .flat()
    .filter((_, at) => turnOf(at) === turn).length;

/** What a case left that it must not leave, or why it failed; empty where all is well. */
export async function runCases(
  name: string,
  options: Parameters<typeof open>[1],
  turn: number,
): Promise<{
  readonly ran: number;
  /** Threads that ran blocks. */
  readonly threads: number;
  readonly ranOn: readonly string[];
  readonly problems: readonly string[];
}> {
  const device = await open(name, options);
  const problems: string[] = [];
  const ranOn = new Set<string>();
  let [at, ran] = [0, 0];
  for (const [subject, cases] of Object.entries(allCases))
    for (const one of cases) {
      if (turnOf(at++) !== turn) continue;
      ran++;
      try {
        for (const wrong of await runCase(device, one, ranOn))
          problems.push(`${subject}, ${one.name}: ${wrong}`);
      } catch (error) {
        problems.push(`${subject}, ${one.name}: ${String(error)}`);
      }
    }
  const threads = device.properties.multiProcessorCount;
  await device.close();
  return { ran, threads, ranOn: [...ranOn], problems };
}

async function runCase(device: Device, one: Case, ranOn: Set<string>): Promise<string[]> {
  const { ranOn: how, results } = await runOn(device, one);
  ranOn.add(how);
  return results.flatMap(({ parameter, expected, result }) => {
    const at = expected.findIndex((value, i) => !Object.is(value, result[i]));
    return at < 0 ? [] : [`${parameter}[${at}] is ${result[at]}, and not ${expected[at]}`];
  });
}
