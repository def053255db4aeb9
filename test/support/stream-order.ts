// CUDA's rules of what waits for what, as a plain model: of programs that issue operations to streams, record
// events in them and have them wait for events. Stream 0 is the default stream, the last one does not
// synchronise with it.

import fc from 'fast-check';

export interface EventStep {
  readonly kind: 'operation' | 'record' | 'wait';
  readonly stream: number;
  /** Of a record or a wait. */
  readonly event: number;
}

export const streamCount = 4;
export const eventCount = 3;
const nonBlocking = streamCount - 1;

const step: fc.Arbitrary<EventStep> = fc.record({
  kind: fc.constantFrom('operation', 'operation', 'record', 'wait'),
  stream: fc.nat(streamCount - 1),
  event: fc.nat(eventCount - 1),
});

export const eventSteps: fc.Arbitrary<readonly EventStep[]> = fc.array(step, { minLength: 3, maxLength: 60 });

/** The operations that must be over before each begins; operations are numbered from 0, in the order of issue. */
export function orderOf(
  steps: readonly EventStep[],
  defaultStream: 'legacy' | 'perThread',
): ReadonlyMap<number, ReadonlySet<number>> {
  /** What comes before the next operation of each stream, and what each event stands for; nothing before it is recorded. */
  const streams = Array.from({ length: streamCount }, () => new Set<number>());
  const events = Array.from({ length: eventCount }, (): ReadonlySet<number> => new Set());
  const before = new Map<number, ReadonlySet<number>>();
  for (const { kind, stream, event } of steps) {
    const own = streams[stream]!;
    const join = (others: ReadonlySet<number>) => {
      for (const one of others) own.add(one);
    };
    // Whatever is issued to the legacy default stream waits for the blocking ones, and they for it.
    if (defaultStream === 'legacy' && stream === 0)
      for (const other of streams.slice(0, nonBlocking)) join(other);
    if (defaultStream === 'legacy' && stream !== nonBlocking) join(streams[0]!);
    if (kind === 'record') events[event] = new Set(own);
    else if (kind === 'wait') join(events[event]!);
    else {
      before.set(before.size, new Set(own));
      own.add(before.size - 1);
    }
  }
  return before;
}
