// The memory that launches need beside their arrays: room for the launch record, and an arena for each
// thread of the pool.
//
// Kernels run one after the other on the compute engine, so that one area serves them all. When
// a launch needs a larger one, the old one is given back as soon as the launches that were
// issued with it are settled.

import { type Executable, launchRecordBytes } from '../../targets/executable.ts';
import { synchronisesGrid } from '../../targets/grid.ts';
import { alignment } from '../allocator.ts';
import type { Allocation } from '../arrays.ts';
import type { LaunchWork } from '../launch.ts';

function aligned(bytes: number): number {
  return Math.ceil(bytes / alignment) * alignment;
}

/** Where a launch's record and arenas lie. */
export interface LaunchPlaces {
  readonly area: Allocation;
  readonly recordAddress: number;
  readonly arena: number;
  readonly arenaStride: number;
}

export class LaunchArea {
  readonly #members: number;
  readonly #take: (bytes: number) => Allocation;
  #area: Allocation | null = null;

  constructor(members: number, take: (bytes: number) => Allocation) {
    this.#members = members;
    this.#take = take;
  }

  /** Places for a launch that is run by its executable, and by another one too, if it is given. */
  places({ executable, sharedBytes, grid }: LaunchWork, other: Executable | null): LaunchPlaces {
    const scratchBytes = Math.max(executable.scratchBytes, other?.scratchBytes ?? 0);
    // Blocks that wait for each other are all there at once.
    const arenas = synchronisesGrid(executable.program) ? grid[0] * grid[1] * grid[2] : this.#members;
    return this.take(launchRecordBytes(executable.program), sharedBytes + scratchBytes, arenas);
  }

  /** Places for a record and arenas of so many bytes: one for each thread, unless it is said how many. */
  take(recordBytes: number, arenaBytes: number, arenas = this.#members): LaunchPlaces {
    const record = aligned(recordBytes);
    const arenaStride = aligned(arenaBytes);
    const needed = record + arenaStride * arenas;
    if (this.#area === null || this.#area.bytes < needed) {
      const larger = this.#take(Math.max(needed, 2 * (this.#area?.bytes ?? 0)));
      this.#area?.free();
      this.#area = larger;
    }
    const recordAddress = this.#area.address;
    return { area: this.#area, recordAddress, arena: recordAddress + record, arenaStride };
  }
}
