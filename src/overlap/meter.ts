// What the stages of a run did: their time, bytes and spans.
//
// Reading and writing are timed here; the devices tell of their copies and kernels through their
// recorders. No stage of one device does two things at once, so its busy time is the sum of its
// spans. Several devices copy and compute side by side: then such a stage is as busy as the device
// that is busiest with it.

import type { Span } from '../timeline/span.ts';
import type { Participant } from './devices.ts';
import {
  type DeviceReport,
  type JobReport,
  type StageName,
  type StageReport,
  stageNames,
} from './options.ts';

type Stages = ReadonlyMap<StageName, { name: StageName; busy: number; bytes: number; operations: number }>;

const deviceStages: readonly StageName[] = ['copy in', 'compute', 'copy out'];

/** Collects what the stages of a run do. */
export class Meter implements Disposable {
  readonly spans: Span[] = [];
  readonly #host = newStages();
  readonly #devices: readonly { readonly stages: Stages; readonly stop: () => void }[];
  readonly #trace: boolean;
  readonly #began = performance.now();
  #ended = 0;

  /** Listens to the devices until disposed; whoever listened before goes on hearing them. */
  constructor(participants: readonly Participant[], trace: boolean) {
    this.#trace = trace;
    this.#devices = participants.map(({ name, device }, position) => {
      const before = device.recorder;
      const stages = newStages();
      const told =
        participants.length === 1 ? (span: Span) => span : nameIn(name, position, participants.length);
      device.recorder = (span) => {
        before?.(span);
        this.#add(stages, span, told);
      };
      let listens = true;
      const stop = () => {
        if (listens) device.recorder = before;
        listens = false;
      };
      return { stages, stop };
    });
  }

  /** Times work of a stage on the host. `bytes` is asked when it is done. */
  async time<T>(stage: 'read' | 'write', work: () => Promise<T>, bytes: (result: T) => number): Promise<T> {
    const started = performance.now();
    const result = await work();
    const ended = performance.now();
    const span = { name: stage, engine: stage, stream: 'host', queued: started, started, ended };
    this.#add(this.#host, { ...span, bytes: bytes(result) }, (same) => same);
    return result;
  }

  /** Milliseconds since the run began. */
  get elapsed(): number {
    return performance.now() - this.#began;
  }

  /** The work is done: the wall time ends, and what the devices have still to tell of it is told. */
  stop(): void {
    this.#ended = performance.now();
    for (const { stop } of this.#devices) stop();
  }

  /** The stages and their bound. */
  summary(): Pick<JobReport, 'wall' | 'stages' | 'bound'> {
    const wall = this.#ended - this.#began;
    const all = [this.#host, ...this.#devices.map(({ stages }) => stages)];
    const stages: readonly StageReport[] = stageNames.map((name) => {
      const parts = all.map((one) => one.get(name)!);
      return {
        name,
        busy: Math.max(...parts.map(({ busy }) => busy)),
        bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
        operations: parts.reduce((sum, { operations }) => sum + operations, 0),
      };
    });
    const slowest = stages.reduce((a, b) => (b.busy > a.busy ? b : a));
    const bound =
      slowest.busy === 0 ? null : { stage: slowest.name, nearness: Math.min(1, slowest.busy / wall) };
    return { wall, stages, bound };
  }

  /** Milliseconds that each stage has worked so far, on the device that has it. */
  busy(): Readonly<Record<StageName, number>> {
    const times = stageNames.map((name) => {
      const parts = [this.#host, ...this.#devices.map(({ stages }) => stages)];
      return [name, Math.max(...parts.map((stages) => stages.get(name)!.busy))];
    });
    return Object.fromEntries(times) as Record<StageName, number>;
  }

  /** What each device did, in the order in which they were given. */
  stagesOfDevices(): readonly DeviceReport['stages'][] {
    return this.#devices.map(({ stages }) => deviceStages.map((name) => ({ ...stages.get(name)! })));
  }

  [Symbol.dispose](): void {
    for (const { stop } of this.#devices) stop();
  }

  #add(stages: Stages, span: Span, told: (span: Span) => Span): void {
    const stage = stages.get(span.engine as StageName);
    if (stage !== undefined) {
      stage.busy += span.ended - span.started;
      stage.bytes += span.bytes ?? 0;
      stage.operations++;
    }
    if (this.#trace) this.spans.push(told(span));
  }
}

function newStages(): Stages {
  return new Map(stageNames.map((name) => [name, { name, busy: 0, bytes: 0, operations: 0 }]));
}

/** Spans of one of several devices: engine and stream under its name, and numbers that no other device gives. */
function nameIn(device: string, position: number, devices: number): (span: Span) => Span {
  const own = (id: number) => id * devices + position;
  return ({ id, after, ...span }) => ({
    ...span,
    engine: `${device} ${span.engine}`,
    stream: `${device} ${span.stream}`,
    ...(id === undefined ? {} : { id: own(id) }),
    ...(after === undefined ? {} : { after: after.map(own) }),
  });
}
