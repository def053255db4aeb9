// Activity records of CUPTI, as far as spans need them.
//
// The records of each kind have grown with CUPTI's versions, always at their ends: what is read here lies at
// the same place in all versions that are known (offsets by `offsetof` in the headers of 13.0, which
// keep the earlier structures). Where the next record begins, CUPTI itself says.

/** CUpti_ActivityKind */
export const activityKinds = { memcpy: 1, memset: 2, kernel: 10, peerMemcpy: 22 } as const;

/** One thing that the GPU did. Times are nanoseconds from the base of whoever read it, which a number holds exactly. */
export interface ActivityRecord {
  readonly kind: number;
  readonly context: number;
  readonly stream: number;
  /** The same for all that one call of the driver started, and ascending from call to call. */
  readonly correlation: number;
  readonly start: number;
  readonly end: number;
  /** Of a copy or set; 0 for a kernel. */
  readonly bytes: number;
  /** The hardware channel: `compute 1`, `copy 12`. */
  readonly channel: string;
}

interface Layout {
  readonly bytes: number | null;
  readonly context: number;
  readonly stream: number;
  readonly correlation: number;
  readonly channel: number;
}

/** CUpti_ActivityKernel7 and later, CUpti_ActivityMemcpy5 and later, CUpti_ActivityMemset4, CUpti_ActivityMemcpyPtoP4. */
const layouts: Readonly<Record<number, Layout>> = {
  [activityKinds.kernel]: { bytes: null, context: 44, stream: 48, correlation: 92, channel: 168 },
  [activityKinds.memcpy]: { bytes: 8, context: 36, stream: 40, correlation: 44, channel: 76 },
  [activityKinds.memset]: { bytes: 8, context: 36, stream: 40, correlation: 44, channel: 76 },
  [activityKinds.peerMemcpy]: { bytes: 8, context: 36, stream: 40, correlation: 60, channel: 84 },
};
const timesOffset = 16;

/** CUpti_ChannelType */
const channelTypes = ['', 'compute', 'copy'];
/** Names that were made, by type and number. */
const channelNames = new Map<number, string>();

function channelName(type: number, channel: number): string {
  const typeName = channelTypes[type] ?? '';
  if (typeName === '') return '';
  const key = type * 2 ** 32 + channel;
  let name = channelNames.get(key);
  if (name === undefined) {
    name = `${typeName} ${channel}`;
    channelNames.set(key, name);
  }
  return name;
}

/** Whether the records of a version of CUPTI are known: from CUDA 11.6 to 12.9, and 13.0. */
export function isKnownVersion(version: number): boolean {
  return (version >= 17 && version <= 28) || (version >= 130_000 && version < 130_100);
}

/** A time of CUPTI's, nanoseconds since 1970, in two halves: a bigint for each would cost more than all the rest. */
export interface TimeBase {
  readonly low: number;
  readonly high: number;
}

export function timeBase(nanoseconds: bigint): TimeBase {
  return { low: Number(nanoseconds & 0xffffffffn), high: Number(nanoseconds >> 32n) };
}

/** Reads the record at an offset; null for one of another kind, or without times. */
export function readRecord(view: DataView, at: number, base: TimeBase): ActivityRecord | null {
  const kind = view.getUint32(at, true);
  const layout = layouts[kind];
  if (layout === undefined) return null;
  const times = at + timesOffset;
  const startLow = view.getUint32(times, true);
  const startHigh = view.getUint32(times + 4, true);
  const endLow = view.getUint32(times + 8, true);
  const endHigh = view.getUint32(times + 12, true);
  if ((startLow === 0 && startHigh === 0) || (endLow === 0 && endHigh === 0)) return null;
  const channel = at + layout.channel;
  return {
    kind,
    context: view.getUint32(at + layout.context, true),
    stream: view.getUint32(at + layout.stream, true),
    correlation: view.getUint32(at + layout.correlation, true),
    start: (startHigh - base.high) * 2 ** 32 + (startLow - base.low),
    end: (endHigh - base.high) * 2 ** 32 + (endLow - base.low),
    bytes: layout.bytes === null ? 0 : wide(view, at + layout.bytes),
    channel: channelName(view.getUint32(channel + 4, true), view.getUint32(channel, true)),
  };
}

function wide(view: DataView, at: number): number {
  return view.getUint32(at + 4, true) * 2 ** 32 + view.getUint32(at, true);
}
