// How a CPU device does each kind of work: which engine, with which task, and what the main
// thread adds when it is complete.

import type { Executable } from '../../targets/executable.ts';
import { synchronisesGrid } from '../../targets/grid.ts';
import type { CopyWork, Direction } from '../copies.ts';
import type { LaunchWork } from '../launch.ts';
import { encodeRecord } from '../launch-record.ts';
import type { EngineName } from './command-table.ts';
import type { Assignment, EngineWork } from './dispatcher.ts';
import { encodePieceRange, type PieceRange } from './file-pieces.ts';
import type { LaunchArea } from './launch-area.ts';
import { StagedCopy, type StagingHost } from './staging.ts';
import type { EngineSet } from './surroundings.ts';

/** Each direction has its engine; what stays on one side goes where it is least in the way of the next kernel. */
const engineOf: Readonly<Record<Direction, EngineName>> = {
  'host to device': 'copy in',
  'device to device': 'copy in',
  'device to host': 'copy out',
  'host to host': 'copy out',
};

export interface Resources {
  readonly stagingHost: StagingHost;
  readonly area: LaunchArea;
  readonly engines: EngineSet;
  /** Whether and how the stages of a block's pipelines are to be recorded. */
  readonly stagesOf: (work: LaunchWork) => { readonly block: number; readonly executable: Executable } | null;
}

/** Makes the assignment of a piece of work. May throw WS4001; nothing is taken then. */
export function assign(work: EngineWork, resources: Resources): Assignment {
  switch (work.kind) {
    case 'copy':
      return copy(work, resources);
    case 'set': {
      const { address, bytes, byte } = work;
      return { engine: 'copy in', task: { kind: 'set', address, bytes, byte }, release: () => {} };
    }
    case 'launch':
      return work.files === undefined ? launch(work, resources) : launchOver(work.files, resources);
  }
}

function copy(work: CopyWork, { stagingHost }: Resources): Assignment {
  const staged = new StagedCopy(work, stagingHost);
  const { task, landing } = staged;
  const assignment = { engine: engineOf[work.direction], task, release: () => staged.release() };
  return landing === undefined ? assignment : { ...assignment, landing };
}

function launch(work: LaunchWork, { area, engines, stagesOf }: Resources): Assignment {
  const stages = stagesOf(work);
  const { area: allocation, ...places } = area.places(work, stages?.executable ?? null);
  allocation.retain();
  return {
    engine: 'compute',
    task: {
      kind: 'launch',
      executable: engines.announce(work.executable),
      record: encodeRecord(work.executable.program, { ...work, arenaStride: places.arenaStride }),
      blocks: work.grid[0] * work.grid[1] * work.grid[2],
      together: synchronisesGrid(work.executable.program),
      stages: stages && { block: stages.block, executable: engines.announce(stages.executable) },
      ...places,
    },
    release: () => allocation.release(),
  };
}

/** A launch over files: its pieces are dealt out as blocks are. */
function launchOver(range: PieceRange, { area, engines }: Resources): Assignment {
  const record = encodePieceRange(range);
  const { area: allocation, ...places } = area.take(record.length, range.pieces.arenaBytes);
  allocation.retain();
  return {
    engine: 'compute',
    task: {
      kind: 'launch',
      executable: engines.announce(range.pieces),
      record,
      blocks: range.count,
      together: false,
      stages: null,
      ...places,
    },
    release: () => allocation.release(),
  };
}
