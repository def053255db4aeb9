// All mutations, room by room.

import { mutations as addresses } from './addresses.ts';
import { mutations as analysis } from './analysis.ts';
import { mutations as archives } from './archives.ts';
import { mutations as bursts } from './bursts.ts';
import { mutations as checking } from './checking.ts';
import { mutations as cohorts } from './cohorts.ts';
import { mutations as compiler } from './compiler.ts';
import { mutations as entering } from './entering.ts';
import { mutations as fillLoops } from './fill-loops.ts';
import { mutations as firstLaunch } from './first-launch.ts';
import { mutations as formats } from './formats.ts';
import { mutations as generators } from './generators.ts';
import { mutations as gpuStreams } from './gpu-streams.ts';
import { mutations as host } from './host.ts';
import { mutations as inPlace } from './in-place.ts';
import { mutations as issuing } from './issuing.ts';
import { mutations as journal } from './journal.ts';
import { mutations as keptTwice } from './kept-twice.ts';
import { mutations as laneGroups } from './lane-groups.ts';
import { mutations as lanes } from './lanes.ts';
import { mutations as leftCopies } from './left-copies.ts';
import { mutations as legalise } from './legalise.ts';
import { mutations as meetings } from './meetings.ts';
import { mutations as memory } from './memory.ts';
import type { Mutation } from './mutation.ts';
import { mutations as native } from './native.ts';
import { mutations as outside } from './outside.ts';
import { mutations as overlap } from './overlap.ts';
import { mutations as paces } from './paces.ts';
import { mutations as pieces } from './pieces.ts';
import { mutations as pipelines } from './pipelines.ts';
import { mutations as proofs } from './proofs.ts';
import { mutations as queue } from './queue.ts';
import { mutations as reductions } from './reductions.ts';
import { mutations as roles } from './roles.ts';
import { mutations as runtime } from './runtime.ts';
import { mutations as runtimeCpu } from './runtime-cpu.ts';
import { mutations as s3 } from './s3.ts';
import { mutations as shapes } from './shapes.ts';
import { mutations as shuffles } from './shuffles.ts';
import { mutations as stencils } from './stencils.ts';
import { mutations as strides } from './strides.ts';
import { mutations as tableFiles } from './table-files.ts';
import { mutations as tables } from './tables.ts';
import { mutations as targets } from './targets.ts';
import { mutations as turns } from './turns.ts';
import { mutations as urls } from './urls.ts';

export const mutations: readonly Mutation[] = [
  ...issuing,
  ...gpuStreams,
  ...host,
  ...addresses,
  ...paces,
  ...formats,
  ...tables,
  ...tableFiles,
  ...compiler,
  ...generators,
  ...pipelines,
  ...legalise,
  ...fillLoops,
  ...keptTwice,
  ...leftCopies,
  ...bursts,
  ...cohorts,
  ...roles,
  ...meetings,
  ...memory,
  ...laneGroups,
  ...shuffles,
  ...analysis,
  ...inPlace,
  ...proofs,
  ...checking,
  ...lanes,
  ...shapes,
  ...strides,
  ...entering,
  ...targets,
  ...turns,
  ...native,
  ...runtimeCpu,
  ...firstLaunch,
  ...runtime,
  ...journal,
  ...overlap,
  ...pieces,
  ...archives,
  ...stencils,
  ...reductions,
  ...queue,
  ...urls,
  ...s3,
  ...outside,
];
