// Activity records of CUPTI, as far as spans need them.
//
// The records of each kind have grown with CUPTI's versions, always at their ends: what is read here lies at
// the same place in all versions that are known (offsets by `offsetof` in the headers of 13.0, which
// keep the earlier structures). Where the next record begins, CUPTI itself says.

/** CUpti_ActivityKind */
export const activityKinds = { memcpy: 1, memset: 2, kernel: 10, peerMemcpy: 22 } as const;

/** One thing that the GPU did. Times are nanoseconds from the base of whoever read it. */
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

/** Whether the records of a version of CUPTI are known: from CUDA 11.6 to 12.9, and 13.0. */
export function isKnownVersion(version: number): boolean {
  return (version >= 17 && version <= 28) || (version >= 130_000 && version < 130_100);
}

/** Reads the record at an offset; null for one of another kind, or without times. `base` is in nanoseconds. */
export function readRecord(view: DataView, at: number, base: bigint): ActivityRecord | null {
  const kind = view.getUint32(at, true);
  const layout = layouts[kind];
  if (layout === undefined) return null;
  const start = view.getBigUint64(at + timesOffset, true);
  const end = view.getBigUint64(at + timesOffset + 8, true);
  if (start === 0n || end === 0n) return null;
  const type = channelTypes[view.getUint32(at + layout.channel + 4, true)] ?? '';
  return {
    kind,
    context: view.getUint32(at + layout.context, true),
    stream: view.getUint32(at + layout.stream, true),
    correlation: view.getUint32(at + layout.correlation, true),
    start: Number(start - base),
    end: Number(end - base),
    bytes: layout.bytes === null ? 0 : Number(view.getBigUint64(at + layout.bytes, true)),
    channel: type === '' ? '' : `${type} ${view.getUint32(at + layout.channel, true)}`,
  };
}
