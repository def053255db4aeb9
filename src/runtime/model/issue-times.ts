// What issuing costs the host, as schedules issue: streams that have work, each operation on a part of its own, and
// a program whose code has been run often.
//
// A clock that is asked between operations would count as one. So whole rounds are timed: what an operation takes
// is what rounds with one more of it take more, in proportion to a round. Where the host has waited for a
// millisecond before, its caches are cold, and a round takes longer.

import type { Device, Stream } from '../device.ts';
import type { EngineModel } from './engines.ts';

/** Milliseconds of the host. */
export type IssueTimes = Pick<EngineModel, 'issueTime' | 'launchTime' | 'eventTime' | 'issueAfterWait'>;

/** Issues one operation on the part that begins at an element. */
type Issue = (stream: Stream, begin: number) => void;

const streamCount = 32;
/**
 * Milliseconds that a program is run to be warm, at least and at most, for each round that was asked for; and how often
 * it must have become no faster.
 */
const warm = 150;
const warmest = 450;
const stillTurns = 6;
/** Turns that count, for each round that was asked for. */
const timedRounds = 10;

/**
 * `part` is the length of a part, `rounds` how often each thing is measured. `occupy` gives a stream work for some
 * milliseconds.
 */
export async function measureIssue(
  device: Device,
  rounds: number,
  part: number,
  issue: { readonly in: Issue; readonly launch: Issue; readonly out: Issue },
  occupy: (stream: Stream) => void,
): Promise<IssueTimes> {
  const streams = Array.from({ length: streamCount }, () => device.createStream());
  using done = device.createEvent();
  const round = (ins: number, launches: number, outs: number) => {
    const start = performance.now();
    for (const [i, stream] of streams.entries()) {
      for (let time = 0; time < ins; ++time) issue.in(stream, i * part);
      for (let time = 0; time < launches; ++time) issue.launch(stream, i * part);
      for (let time = 0; time < outs; ++time) issue.out(stream, i * part);
    }
    return performance.now() - start;
  };
  /** Milliseconds of turns, and of the joins in them. */
  const turns = async (count: number) => {
    const times = {
      plain: [] as number[],
      in: [] as number[],
      launch: [] as number[],
      out: [] as number[],
    };
    const joins: number[] = [];
    const take = async (list: number[], time: number) => {
      list.push(time);
      const joining = performance.now();
      // The default stream waits for all of them: for each, an event is recorded and waited for.
      device.defaultStream.record(done);
      joins.push(performance.now() - joining);
      await done.synchronize();
    };
    for (let turn = 0; turn < count; ++turn) {
      await take(times.plain, round(1, 1, 1));
      await take(times.in, round(2, 1, 1));
      await take(times.launch, round(1, 2, 1));
      await take(times.out, round(1, 1, 2));
    }
    return { ...times, joins };
  };
  // The compiler of JavaScript takes some thousand calls, and at times begins anew: until it brings no more.
  const begun = performance.now();
  const runsFor = () => (performance.now() - begun) / rounds;
  let fastest = Number.POSITIVE_INFINITY;
  for (let still = 0; runsFor() < warm || (still < stillTurns && runsFor() < warmest); ) {
    const { plain } = await turns(2 * rounds);
    const now = median(plain);
    still = now < 0.97 * fastest ? 0 : still + 1;
    fastest = Math.min(fastest, now);
  }
  const { joins, ...times } = await turns(timedRounds * rounds);
  const cold: number[] = [];
  for (let turn = 0; turn < 2 * rounds; ++turn) {
    occupy(streams[0]!);
    await device.synchronize();
    cold.push(round(1, 1, 1));
  }
  await device.synchronize();
  for (const stream of streams) await stream.destroy();
  const plain = median(times.plain);
  const more = (name: 'in' | 'launch' | 'out') => Math.max(0, median(times[name]) - plain);
  const [copy, launch] = [(more('in') + more('out')) / 2, more('launch')];
  const all = 2 * copy + launch;
  const ofRound = all === 0 ? 0 : plain / streams.length / all;
  return {
    issueTime: copy * ofRound,
    launchTime: launch * ofRound,
    eventTime: median(joins) / streams.length / 2,
    issueAfterWait: plain === 0 ? 1 : Math.max(1, median(cold) / plain),
  };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1]!;
}
