// What the stages of a run did: their time, bytes and spans.
//
// Reading and writing are timed here; the devices tell of their copies and kernels through their
// recorders, also of what is not this run's and does not count. No stage of one device does two things at once, so its busy time is the sum of its
// spans. Several devices copy and compute side by side: then such a stage is as busy as the device
// that is busiest with it. Telling takes time from a GPU's copies: where nobody asks for the spans, and how chunks are
// cut is settled, a GPU tells of a sample.

import type { Device } from '../runtime/device.ts';
import type { Span } from '../timeline/span.ts';
import { bindsFrom } from './bound.ts';
import { DeviceStages } from './device-stages.ts';
import { listen } from './listeners.ts';
import { type DeviceReport, type JobReport, type StageName, stageNames } from './options.ts';
import type { Participant } from './participants.ts';

const deviceStages: readonly StageName[] = ['copy in', 'compute', 'copy out'];
/** Of so many operations of an engine one is reported, where a sample is enough. */
const sampleEvery = 8;

/** A device that is listened to. */
interface Listened {
  readonly stages: DeviceStages;
  readonly device: Device;
  /** Whether nobody misses what is not reported. */
  readonly maySample: boolean;
  readonly stop: () => void;
}

/** Collects what the stages of a run do. */
export class Meter implements Disposable {
  readonly spans: Span[] = [];
  readonly #host = new DeviceStages();
  readonly #devices: readonly Listened[];
  readonly #trace: boolean;
  readonly #began = performance.now();
  #isSampling = false;
  #ended = 0;

  /** Listens to the devices until disposed; a listener before it goes on hearing them. */
  constructor(participants: readonly Participant[], trace: boolean) {
    this.#trace = trace;
    this.#devices = participants.map(({ name, device, streams }, position) => {
      const { recorder: before, recording } = device;
      const stages = new DeviceStages(device.properties.kind === 'model');
      const reported =
        participants.length === 1 ? (span: Span) => span : nameIn(name, position, participants.length);
      const stop = listen(device, (span) => {
        if (!streams.has(span.stream)) return;
        stages.tell(span);
        if (this.#trace) this.spans.push(reported(span));
      });
      const isByEvents = device.properties.kind === 'cuda' && recording.times !== 'cupti';
      return { stages, device, maySample: isByEvents && before === null && !trace, stop };
    });
  }

  /** Times work of a stage on the host. `bytes` is asked when it is done. */
  async time<T>(stage: 'read' | 'write', work: () => Promise<T>, bytes: (result: T) => number): Promise<T> {
    const started = performance.now();
    const result = await work();
    const ended = performance.now();
    const span = { name: stage, engine: stage, stream: 'host', queued: started, started, ended };
    const reported = { ...span, bytes: bytes(result) };
    this.#host.tell(reported);
    if (this.#trace) this.spans.push(reported);
    return result;
  }

  /** A stage has worked so long on so many bytes, in so many parts. */
  tell(stage: StageName, milliseconds: number, bytes: number, operations: number): void {
    this.#host.add(stage, milliseconds, bytes, operations);
  }

  /** Whether a sample of the chunks' operations is enough from now on. */
  sample(isEnough: boolean): void {
    if (isEnough === this.#isSampling) return;
    this.#isSampling = isEnough;
    for (const { device, stages, maySample } of this.#devices) {
      if (!maySample) continue;
      device.recording = { ...device.recording, every: isEnough ? sampleEvery : 1 };
      if (isEnough) stages.sample();
    }
  }

  /** A device, by its position, was given an operation of a chunk. */
  give(position: number, stage: StageName, bytes = 0): void {
    this.#devices[position]!.stages.give(stage, bytes);
  }

  /** All chunks of a pass are through. */
  settle(): void {
    this.sample(false);
    for (const { stages } of this.#devices) stages.settle();
  }

  /** Milliseconds since the run began. */
  get elapsed(): number {
    return performance.now() - this.#began;
  }

  /** The work is done: the wall time ends, and spans that devices report later still count. */
  stop(): void {
    this.#ended = performance.now();
    this[Symbol.dispose]();
  }

  /** The stages and their bound. */
  summary(): Pick<JobReport, 'wall' | 'stages' | 'bound'> {
    const wall = this.#ended - this.#began;
    const stages = stageNames.map((name) => {
      const parts = this.#all.map((one) => one.report(name));
      return {
        name,
        busy: Math.max(...parts.map(({ busy }) => busy)),
        bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
        operations: parts.reduce((sum, { operations }) => sum + operations, 0),
        virtual: parts.some(({ virtual, operations }) => virtual && operations > 0),
      };
    });
    const slowest = stages.reduce((a, b) => (b.busy > a.busy ? b : a));
    const nearness = Math.min(1, slowest.busy / wall);
    const binds = nearness >= bindsFrom && !stages.some(({ virtual }) => virtual);
    return { wall, stages, bound: binds ? { stage: slowest.name, nearness } : null };
  }

  /** Milliseconds that each stage has worked so far, on the device that has it, as far as that is reported. */
  busy(): Readonly<Record<StageName, number>> {
    const times = stageNames.map((name) => [name, Math.max(...this.#all.map((one) => one.busy(name)))]);
    return Object.fromEntries(times) as Record<StageName, number>;
  }

  /** What each device did, in the order in which they were given. */
  stagesOfDevices(): readonly DeviceReport['stages'][] {
    return this.#devices.map(({ stages }) => deviceStages.map((name) => stages.report(name)));
  }

  [Symbol.dispose](): void {
    this.sample(false);
    for (const { stop } of this.#devices) stop();
  }

  get #all(): readonly DeviceStages[] {
    return [this.#host, ...this.#devices.map(({ stages }) => stages)];
  }
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
