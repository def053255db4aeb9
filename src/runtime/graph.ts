// A captured graph, as the user holds it.

import { WarpstageError } from '../diagnostics/error.ts';
import type { Device, Graph, LaunchInformation, Stream } from './device.ts';
import type { GraphWork } from './graph-work.ts';

/** Launches the graph in a stream that was found to be one of the device. */
type LaunchGraph = (stream: Stream, work: GraphWork) => LaunchInformation;

export class CapturedGraph implements Graph {
  readonly device: Device;
  readonly #work: GraphWork;
  readonly #launch: LaunchGraph;

  constructor(device: Device, work: GraphWork, launch: LaunchGraph) {
    this.device = device;
    this.#work = work;
    this.#launch = launch;
  }

  get operations(): number {
    return this.#work.nodes.length;
  }

  launch(stream: Stream): LaunchInformation {
    if (stream?.device !== this.device) {
      throw new WarpstageError({
        code: 'WS2005',
        message: 'launch of a graph: the stream belongs to another device',
        hint: 'launch it in a stream of the device that it was captured on',
      });
    }
    return this.#launch(stream, this.#work);
  }
}
