// What a check is asked for.

import { WarpstageError } from '../diagnostics/error.ts';
import type { OutputKind } from '../targets/checker/outputs.ts';

export interface CheckOptions {
  /** How many runs. The first is with `eager` delivery, the second with `late`, the others are random. Default 8. */
  readonly schedules?: number;
  /** Of the first random run; the others count on from it. Default 1. */
  readonly seed?: number;
  /**
   * When asynchronous copies arrive: as soon as they are issued, as late as a wait allows, at random moments
   * (and then threads and blocks take turns at random too), or `all` of them. Default `all`.
   */
  readonly delivery?: 'eager' | 'late' | 'random' | 'all';
  /** Whether to report also what is right, but slow or fragile. Default false. */
  readonly advice?: boolean;
  /** How many times the threads of a block may go round in loops, all together, in one run. Default 2^24. */
  readonly steps?: number;
  /** Bytes that the checker may take beside the arrays. Default 1 GiB. */
  readonly memory?: number;
  /**
   * How the kernel is meant to write an array: every element once (`whole`), some elements once (`partial`), or
   * as it likes (`any`). By default arrays are `whole` that the kernel only writes, at places that depend on
   * no data; the others are `any`.
   */
  readonly outputs?: Readonly<Record<string, OutputKind>>;
}

/** One run: with which delivery, and by which seed. */
export interface Schedule {
  /** For messages: `eager`, `late`, `seed 3`. */
  readonly name: string;
  readonly delivery: 'eager' | 'late' | number;
}

export type FullOptions = Required<CheckOptions>;

const defaults: FullOptions = {
  schedules: 8,
  seed: 1,
  delivery: 'all',
  advice: false,
  steps: 2 ** 24,
  memory: 2 ** 30,
  outputs: {},
};

const deliveries = ['eager', 'late', 'random', 'all'];

/** All options, checked. */
export function completeOptions(options: CheckOptions): FullOptions {
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(defaults, name));
  if (unknown !== undefined) {
    throw wrong(`there is no option \`${unknown}\``, `the options are ${Object.keys(defaults).join(', ')}`);
  }
  const full: FullOptions = { ...defaults, ...given };
  for (const name of ['schedules', 'steps', 'memory'] as const) {
    if (Number.isSafeInteger(full[name]) && full[name] >= 1) continue;
    throw wrong(`\`${name}\` must be a whole number from 1 on, and is ${full[name]}`);
  }
  if (!Number.isInteger(full.seed) || full.seed < 0 || full.seed >= 2 ** 32) {
    throw wrong(`\`seed\` must be a whole number from 0 to ${2 ** 32 - 1}, and is ${full.seed}`);
  }
  if (!deliveries.includes(full.delivery)) {
    throw wrong(`\`delivery\` must be one of ${deliveries.join(', ')}, and is ${full.delivery}`);
  }
  return full;
}

function wrong(message: string, hint?: string): WarpstageError {
  return new WarpstageError({ code: 'WS4007', message: `check: ${message}`, ...(hint ? { hint } : {}) });
}

/** The runs that are asked for. Without seeds each delivery has one schedule alone. */
export function schedulesOf({ schedules, seed, delivery }: FullOptions): Schedule[] {
  const named = (policy: 'eager' | 'late'): Schedule => ({ name: policy, delivery: policy });
  if (delivery === 'eager' || delivery === 'late') return [named(delivery)];
  const fixed = delivery === 'all' ? [named('eager'), named('late')].slice(0, schedules) : [];
  const random = Array.from({ length: schedules - fixed.length }, (_, i): Schedule => {
    const number = (seed + i) % 2 ** 32;
    return { name: `seed ${number}`, delivery: number };
  });
  return [...fixed, ...random];
}
