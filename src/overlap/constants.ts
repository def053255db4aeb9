// What is on a device from the first chunk to the last: constant arrays and accumulators.

import { problem } from '../diagnostics/problem.ts';
import type { Source } from '../formats/source.ts';
import { newArray } from '../formats/typed-arrays.ts';
import type { ElementType } from '../kernel/types.ts';
import type { Device, DeviceArray, Stream } from '../runtime/device.ts';
import type { Accumulator } from './accumulate.ts';
import { arrayProblem } from './fields.ts';
import type { AnyDefinition, ArrayDeclaration, JobContext, TypedArray } from './job.ts';
import type { Participant } from './participants.ts';
import { collectingSink } from './sinks/memory.ts';

/** Arrays on a device that live as long as a pass. */
export class ResidentArrays {
  readonly #participant: Participant;
  readonly #owned: DeviceArray[] = [];
  /** Carries out what happens before the first chunk and after the last. */
  readonly stream: Stream;

  constructor(participant: Participant) {
    this.#participant = participant;
    this.stream = participant.streams.create();
  }

  get device(): Device {
    return this.#participant.device;
  }

  /** Uploads the constant arrays of a job, and makes its accumulators. */
  async place(
    elements: ReadonlyMap<string, ElementType>,
    constants: ReadonlyMap<string, TypedArray>,
    accumulators: readonly Accumulator[],
    first: boolean,
  ): Promise<Place> {
    const { device } = this.#participant;
    const arrays: Record<string, DeviceArray> = {};
    for (const [parameter, host] of constants) {
      const array = device.alloc(elements.get(parameter)!, Math.max(1, host.length));
      this.#owned.push(array);
      arrays[parameter] = array.subarray(0, host.length);
      this.stream.memcpyAsync(arrays[parameter], host);
    }
    const accumulated: Record<string, DeviceArray> = {};
    for (const accumulator of accumulators) {
      const array = accumulator.allocate(device);
      this.#owned.push(array);
      accumulator.begin(array, this.stream, first);
      accumulated[accumulator.name] = array;
    }
    await this.stream.synchronize();
    return { ...this.#participant, stream: this.stream, arrays, accumulated };
  }

  async free(): Promise<void> {
    await this.stream.destroy().catch(() => {});
    for (const array of this.#owned) array.free();
  }
}

/** A device of a run, with what stays on it from the first chunk to the last. */
export interface Place extends Participant {
  /** Carries out what happens before the first chunk and after the last. */
  readonly stream: Stream;
  /** Constant arrays. */
  readonly arrays: Readonly<Record<string, DeviceArray>>;
  /** Memory of the accumulators. */
  readonly accumulated: Readonly<Record<string, DeviceArray>>;
}

/**
 * The data of all constant arrays. `operands` are those that were read from inputs; the others come
 * from the declaration, and may depend on them.
 */
export function constantArrays(
  { arrays = {} }: AnyDefinition,
  elements: ReadonlyMap<string, ElementType>,
  operands: ReadonlyMap<string, TypedArray>,
  known: Omit<JobContext, 'lengths'>,
): Map<string, TypedArray> {
  const hosts = new Map<string, TypedArray>();
  const lengths = Object.fromEntries([...operands].map(([name, array]) => [name, array.length]));
  for (const [name, declaration] of Object.entries(arrays)) {
    const context = { ...known, lengths };
    const host = operands.get(name) ?? constantArray(name, elements.get(name)!, declaration, context);
    lengths[name] = host.length;
    hosts.set(name, host);
  }
  return hosts;
}

/** The data of a constant array that does not come from an input. */
export function constantArray(
  name: string,
  element: ElementType,
  declaration: ArrayDeclaration,
  context: JobContext,
): TypedArray {
  const array = typeof declaration === 'function' ? declaration(context) : declaration;
  const wrong = arrayProblem(array, { kind: 'array', name, element, readonly: true });
  if (wrong !== null) throw problem('WS5007', `arrays.${name} of the job ${wrong}`);
  return array as TypedArray;
}

/** All elements of a source. */
export async function readWhole(source: Source, element: ElementType): Promise<TypedArray> {
  const all = collectingSink(source.name, element, source.length);
  const piece = newArray(element, Math.max(1, Math.min(source.length ?? Infinity, 2 ** 18)));
  for (;;) {
    const read = await source.read(piece);
    if (read > 0) await all.write(piece.subarray(0, read));
    if (read < piece.length) return all.result();
  }
}
