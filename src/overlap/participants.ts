// The devices that take part in a run, each by a name of its own: reports and timelines tell them apart by it.
//
// Those that were given stay open; those that are named are opened for the run, all of them or none.

import { problem } from '../diagnostics/problem.ts';
import type { Device } from '../runtime/device.ts';
import type { RunOptions } from './options.ts';
import { OwnStreams } from './own-streams.ts';

/** A device that takes part in a run. */
export interface Participant {
  /** Its own among those of the run: `cuda:1`; of two processors `cpu (1)` and `cpu (2)`. */
  readonly name: string;
  readonly device: Device;
  readonly streams: OwnStreams;
}

/** The devices of a run, which close together. */
export class OpenDevices implements AsyncDisposable {
  readonly participants: readonly Participant[];
  readonly #opened: readonly Device[];

  private constructor(participants: readonly Participant[], opened: readonly Device[]) {
    this.participants = participants;
    this.#opened = opened;
  }

  /** Opens the devices of a list that are names; all of them, or none. */
  static async of(
    list: readonly (Device | string)[],
    open: (name: string) => Promise<Device>,
  ): Promise<OpenDevices> {
    // At the same time: drivers make the contexts of several GPUs on threads of their own.
    const settled = await Promise.allSettled(list.map((one) => (typeof one === 'object' ? one : open(one))));
    const devices = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const opened = devices.filter((device) => !list.includes(device));
    try {
      const failed = settled.find((one) => one.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
      const names = devices.map(nameOf);
      return new OpenDevices(
        devices.map((device, position) => ({
          name: ownName(names, position),
          device,
          streams: new OwnStreams(device),
        })),
        opened,
      );
    } catch (error) {
      for (const device of opened) await device.close();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = await Promise.allSettled(this.#opened.map((device) => device.close()));
    for (const one of closed) if (one.status === 'rejected') throw one.reason;
  }
}

/** The devices one by one, by name or as they are. A name may stand for several, as `named` says. */
export async function listDevices(
  wanted: RunOptions['device'] = 'cpu',
  named: (name: string) => Promise<readonly string[]> = async (name) => [name],
): Promise<readonly (Device | string)[]> {
  const given: readonly (Device | string)[] = Array.isArray(wanted) ? wanted : [wanted as Device | string];
  const list: (Device | string)[] = [];
  for (const one of given) {
    if (typeof one !== 'string') list.push(one);
    else for (const name of one.split(',')) list.push(...(await named(name.trim())));
  }
  if (list.length === 0) {
    throw problem('WS4003', 'the list of devices is empty', "name at least one, for example 'cpu'");
  }
  const twice = list.find((one, position) => typeof one === 'object' && list.indexOf(one) !== position);
  if (twice !== undefined) {
    const { name } = (twice as Device).properties;
    throw problem('WS4003', `the same device is given twice: ${name}`, 'give each device once');
  }
  return list;
}

/** The name that `open` takes, without the model's. */
function nameOf({ properties: { kind, ordinal } }: Device): string {
  return ordinal === undefined ? kind : `${kind}:${ordinal}`;
}

/** A name that no other device has: `cuda:1` as it is, `cpu (2)` where there are two. */
function ownName(names: readonly string[], position: number): string {
  const name = names[position]!;
  if (names.indexOf(name) === names.lastIndexOf(name)) return name;
  const number = names.slice(0, position + 1).filter((other) => other === name).length;
  return `${name} (${number})`;
}

/** The devices in words: `NVIDIA H200`, or `2 x NVIDIA H200`, or one after the other. */
export function namesOfDevices(participants: readonly Participant[]): string {
  const counts = new Map<string, number>();
  for (const { device } of participants) {
    const { name } = device.properties;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([name, count]) => (count === 1 ? name : `${count} x ${name}`)).join(', ');
}
