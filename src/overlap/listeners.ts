// Who listens to a device: several runs may share one, and begin and end in any order.
//
// A device has one recorder. The first listener puts a list in its place, which tells the recorder that was there, too;
// those that follow join the list, and the last to leave puts that recorder back. Where somebody has set another one
// meanwhile, that stays, and a listener after it begins a list of its own.

import type { Device } from '../runtime/device.ts';
import type { Span } from '../timeline/span.ts';

type Recorder = (span: Span) => void;

interface Listeners {
  readonly before: Recorder | null;
  readonly all: Set<Recorder>;
}

/** The lists by the recorders that tell them. */
const lists = new WeakMap<Recorder, Listeners>();

/** Has `listener` hear every span of the device until the function is called that comes back. */
export function listen(device: Device, listener: Recorder): () => void {
  const current = device.recorder;
  const recorder = current !== null && lists.has(current) ? current : newList(current);
  if (recorder !== current) device.recorder = recorder;
  const { all, before } = lists.get(recorder)!;
  all.add(listener);
  return () => {
    all.delete(listener);
    if (all.size === 0 && device.recorder === recorder) device.recorder = before;
  };
}

function newList(before: Recorder | null): Recorder {
  const all = new Set<Recorder>();
  const recorder = (span: Span) => {
    before?.(span);
    for (const tell of all) tell(span);
  };
  lists.set(recorder, { before, all });
  return recorder;
}
