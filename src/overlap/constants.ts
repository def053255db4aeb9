// What is on the device from the first chunk to the last: constant arrays and accumulators.

import type { ElementType } from '../kernel/types.ts';
import type { Device, DeviceArray, Stream } from '../runtime/device.ts';
import { Accumulator } from './accumulate.ts';
import { arrayProblem } from './declaration.ts';
import { newArray } from './elements.ts';
import type { AnyDefinition, ArrayDeclaration, JobContext, TypedArray } from './job.ts';
import { problem } from './problem.ts';
import { collectingSink } from './sinks/memory.ts';
import type { Source } from './sources/source.ts';

/** Arrays on the device that live as long as a pass. */
export class ResidentArrays {
  readonly #device: Device;
  readonly #owned: DeviceArray[] = [];
  /** Carries out what happens before the first chunk and after the last. */
  readonly stream: Stream;

  constructor(device: Device) {
    this.#device = device;
    this.stream = device.createStream({ nonBlocking: true });
  }

  /**
   * Uploads the constant arrays of a job. `operands` are those that were read from inputs; the
   * others come from the declaration, and may depend on them.
   */
  async upload(
    { arrays = {} }: AnyDefinition,
    elements: ReadonlyMap<string, ElementType>,
    operands: ReadonlyMap<string, TypedArray>,
    known: Omit<JobContext, 'lengths'>,
  ): Promise<Record<string, DeviceArray>> {
    const uploaded: Record<string, DeviceArray> = {};
    const lengths = Object.fromEntries([...operands].map(([name, array]) => [name, array.length]));
    for (const [name, declaration] of Object.entries(arrays)) {
      const element = elements.get(name)!;
      const host = operands.get(name) ?? constantArray(name, element, declaration, { ...known, lengths });
      lengths[name] = host.length;
      const array = this.#device.alloc(element, Math.max(1, host.length));
      this.#owned.push(array);
      uploaded[name] = array.subarray(0, host.length);
      this.stream.memcpyAsync(uploaded[name], host);
    }
    await this.stream.synchronize();
    return uploaded;
  }

  /** Makes the accumulators of a job, for launches of so many blocks. */
  async accumulate(
    { accumulators = {} }: AnyDefinition,
    elements: ReadonlyMap<string, ElementType>,
    context: JobContext,
    blocks: number,
  ): Promise<Accumulator[]> {
    const made: Accumulator[] = [];
    for (const [name, declaration] of Object.entries(accumulators)) {
      const accumulator = new Accumulator(
        this.#device,
        name,
        elements.get(name)!,
        declaration,
        context,
        blocks,
      );
      this.#owned.push(accumulator.array);
      accumulator.initialise(this.stream);
      made.push(accumulator);
    }
    await this.stream.synchronize();
    return made;
  }

  async free(): Promise<void> {
    await this.stream.destroy().catch(() => {});
    for (const array of this.#owned) array.free();
  }
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
