// Races against their definition: histories of many threads that are clean, and the same with one access that races.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Budget } from '#warpstage/targets/checker/budget.js';
import { Races } from '#warpstage/targets/checker/races.js';
import type { Block } from '#warpstage/targets/interpreter/block.js';
import type { Launch } from '#warpstage/targets/interpreter/launch.js';
import { combineObservers } from '#warpstage/targets/interpreter/observers.js';
import { createInterpreterRunner } from '#warpstage/targets/interpreter/runner.js';
import { randomRuns, tapes } from '../differential/tape.ts';
import { interpreter } from '../support/interpreter.ts';
import { atomic, constant, load, ProgramBuilder, store } from '../support/ir.ts';
import { runProgram, type Target } from '../support/run-program.ts';
import { atLength } from '../support/thorough.ts';
import { blocks, type Event, inWords, length, randomHistory, threadsPerBlock } from './random-order.ts';

const builder = new ProgramBuilder('history', threadsPerBlock);
const data = builder.array('data', 'i32');
const value = builder.variable('value', 'i32');
const first = builder.index(0);
/** Does to the array whatever a history may do. */
const program = builder.build([
  value.set(load(data, first)),
  store(data, first, constant('i32', 1)),
  atomic('add', [data, first], value.value),
]);

/** The launch of that program, and its blocks. */
function launched(): { readonly launch: Launch; readonly blocks: readonly Block[] } {
  const launches: Launch[] = [];
  const begun: Block[] = [];
  const observer = combineObservers([
    { launchBegan: (one) => void launches.push(one), blockBegan: (one) => void begun.push(one) },
  ]);
  const target: Target = {
    ...interpreter('eager'),
    createRunner(executable, context) {
      if (executable.target !== 'interpreter') throw new Error('not an executable of the interpreter');
      return createInterpreterRunner(executable, context, { observer });
    },
  };
  runProgram(target, program, { grid: blocks, arguments: { data: new Int32Array(length) } });
  return { launch: launches[0]!, blocks: begun };
}

const { launch, blocks: begun } = launched();
const threads = begun.flatMap((block) => block.threads);
const array = launch.arrays[0]!;

/** What is reported of a history. */
function reported(events: readonly Event[]): string[] {
  const found: string[] = [];
  const races = new Races(
    program,
    new Budget(2 ** 28),
    { report: ({ message }) => found.push(message) },
    false,
  );
  races.launchBegan(launch);
  for (const block of begun) races.blockBegan(block);
  const messages = new Map<number, object>();
  for (const [at, event] of events.entries()) {
    const thread = threads[event.thread]!;
    const range = { source: 0, start: at, end: at + 1 };
    switch (event.kind) {
      case 'read':
        races.read(thread, array, event.element, range, 0);
        break;
      case 'write':
        // Another value than is there: the same value twice is no race.
        races.write(thread, array, event.element, 1000 + at, range, 0);
        break;
      case 'update':
        races.update(thread, array, event.element, range);
        break;
      case 'fence':
        races.fenced(thread, event.scope);
        break;
      case 'send':
        messages.set(event.message, {});
        races.arrived(thread, messages.get(event.message)!, 0);
        break;
      default:
        races.waited(thread, messages.get(event.message)!, 0);
    }
  }
  races.launchEnded();
  return found;
}

test('a race is reported where the definition has one, and nowhere else', () => {
  let racing = 0;
  fc.assert(
    fc.property(tapes(160), (tape) => {
      const history = randomHistory(tape);
      const words = history.clean.map(inWords).join('; ');
      expect(reported(history.clean), words).toEqual([]);
      if (history.racing === null) return;
      racing += 1;
      const all = [...history.clean, history.racing];
      expect(reported(all).length, all.map(inWords).join('; ')).toBeGreaterThan(0);
    }),
    randomRuns(atLength ? 6000 : 3000),
  );
  expect(racing).toBeGreaterThan(700);
});
