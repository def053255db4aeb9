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

/** The same on several devices, each with such streams and events: any stream may wait for any event. */
export interface DeviceStep extends EventStep {
  readonly device: number;
  /** Of a wait: whose event it is. A record is always of the stream's own device. */
  readonly eventDevice: number;
}

export function deviceSteps(devices: number): fc.Arbitrary<readonly DeviceStep[]> {
  const which = fc.nat(devices - 1);
  const step: fc.Arbitrary<DeviceStep> = fc.record({
    kind: fc.constantFrom('operation', 'operation', 'record', 'wait', 'wait'),
    device: which,
    stream: fc.nat(streamCount - 1),
    eventDevice: which,
    event: fc.nat(eventCount - 1),
  });
  return fc.array(step, { minLength: 3, maxLength: 50 });
}

/** The operations that must be over before each begins; operations are numbered from 0, in the order of issue. */
export function orderOf(
  steps: readonly (EventStep & Partial<DeviceStep>)[],
  defaultStream: 'legacy' | 'perThread',
): ReadonlyMap<number, ReadonlySet<number>> {
  const count =
    1 + Math.max(0, ...steps.map(({ device = 0, eventDevice = 0 }) => Math.max(device, eventDevice)));
  const devices = Array.from({ length: count }, () => ({
    /** What comes before the next operation of each stream. */
    streams: Array.from({ length: streamCount }, () => new Set<number>()),
    /** What each event stands for; nothing before it is recorded. */
    events: Array.from({ length: eventCount }, (): ReadonlySet<number> => new Set()),
  }));
  const before = new Map<number, ReadonlySet<number>>();
  for (const { kind, stream, event, device = 0, eventDevice = 0 } of steps) {
    const { streams, events } = devices[device]!;
    const own = streams[stream]!;
    const join = (others: ReadonlySet<number>) => {
      for (const one of others) own.add(one);
    };
    // Whatever is issued to the legacy default stream waits for the blocking ones, and they for it.
    if (defaultStream === 'legacy' && stream === 0)
      for (const other of streams.slice(0, nonBlocking)) join(other);
    if (defaultStream === 'legacy' && stream !== nonBlocking) join(streams[0]!);
    if (kind === 'record') events[event] = new Set(own);
    else if (kind === 'wait') join(devices[eventDevice]!.events[event]!);
    else {
      before.set(before.size, new Set(own));
      own.add(before.size - 1);
    }
  }
  return before;
}
