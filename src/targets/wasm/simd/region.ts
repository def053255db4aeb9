// A region's threads, a group of vectors at a time.
//
// Whether a region is written for lanes, how large its groups are, and what surrounds a group's
// statements: the checks for a whole row in front of it, and the way back to scalar code where
// they fail. Threads that do not fill a group are left to that code too.

import type { Expression, Region as RegionOfBlock } from '../../../compiler/ir.ts';
import { bytesOf } from '../../../kernel/layout.ts';

import { analyseLiveness, bit } from '../../analysis/liveness.ts';
import type { Code, Label, Local } from '../encoder/code.ts';
import type { Hoisting } from '../hoisting.ts';
import type { ElementLocation, ThreadContext } from '../thread-context.ts';
import type { Unit } from '../unit.ts';
import type { Variables } from '../variables.ts';
import { writeAhead } from './ahead.ts';
import { BlockChecks } from './block-checks.ts';
import { Checkpoints } from './checkpoints.ts';
import { VectorConstants } from './constants.ts';
import { Entrance } from './entering.ts';
import { mostVectors } from './flight.ts';
import type { Access } from './group.ts';
import { type RowOfGroups, rowsOfJam, writeJam } from './jam.ts';
import type { Lanes } from './lanes.ts';
import { LaneWriter } from './statements.ts';
import { vectorsForStreams } from './streams.ts';

type Region = Omit<RegionOfBlock, 'range'>;

/** How a region is run in lanes. */
export interface LanePlan {
  /** Vectors of a group. */
  readonly vectors: number;
  readonly checkpoints: Checkpoints;
  readonly lanes: Lanes;
}

/** Null if the region is better, or only, run thread by thread. */
export function planLanes(lanes: Lanes, region: Region): LanePlan | null {
  const plan = planOf(lanes, region);
  if (plan !== null) return plan;
  const oneByOne = lanes.withoutStrides();
  return oneByOne && planOf(oneByOne, region);
}

function planOf(lanes: Lanes, region: Region): LanePlan | null {
  if (!lanes.canRun(region.body)) return null;
  const row = lanes.program.block[0];
  const most = Math.max(mostVectors(lanes, region), 1);
  const { registers } = lanes.unit;
  const usual =
    [32, 16].find((count) => row % (4 * count) === 0 && count <= registers * Math.min(most, 8)) ??
    [8, 4, 2, 1].find((count) => 4 * count <= row && count <= registers * most);
  const vectors = vectorsForStreams(lanes, region.body, row) ?? usual;
  if (vectors === undefined) return null;
  const checkpoints = new Checkpoints(lanes, region.body);
  return checkpoints.complete ? { vectors, checkpoints, lanes } : null;
}

export interface LaneRegionParts {
  readonly unit: Unit;
  readonly code: Code;
  readonly plan: LanePlan;
  readonly region: Region;
  readonly variables: Variables;
  readonly hoisting: Hoisting;
  readonly uniform: ThreadContext;
  /** Rank of the thread that is next; at the beginning the first of a row. */
  readonly rank: Local;
  /** The rank at which the threads end that take part, where that is not the row's: they are the first of the only row. */
  readonly end: Local | null;
  /** The rank at which the row ends; where its groups take the next row too, that of the next. */
  readonly rowEnd: Local;
  /** Where a row ends. */
  readonly rowDone: Label;
  readonly threadContext: (rank: Local) => ThreadContext;
  /** Gives uniform variables the values that a thread starts with. */
  readonly writeEntry: () => void;
}

/** Writes the loop over a row's groups; `prologue` writes what must stand in front of the region. */
export function writeLaneRow(parts: LaneRegionParts): { readonly writePrologue: () => void } {
  const { unit, code, plan, region, variables, hoisting, uniform, rank } = parts;
  const { lanes } = plan;
  const constants = new VectorConstants(uniform, hoisting);
  const { body } = region;
  const isFixed = (expression: Expression) => hoisting.isFixed(expression);
  const ofBlock = new BlockChecks(uniform, body, plan.checkpoints, isFixed);
  const { writer } = rowOf(parts, constants, ofBlock, plan.checkpoints, rank);
  const row = unit.program.block[0];
  const threads = 4 * plan.vectors;
  const uniformLoads = region.loads.filter((id) => !lanes.varies(id));
  const enter = () => {
    parts.writeEntry();
    for (const id of uniformLoads) variables.writeReload(id, rank);
  };

  const together = parts.end === null ? rowsOfJam(lanes, region, plan.vectors) : 1;
  const writeRow = () =>
    code.withTemporary('i32', (end) => {
      code.block((slow: Label) => {
        if (parts.end === null) {
          if (plan.checkpoints.asksOrFindsAt(body)) enter();
          writer.writeChecks(body, row, slow);
          code
            .get(rank)
            .i32(row - (row % threads))
            .op('i32.add')
            .set(end);
        } else {
          code.get(parts.end).i32(-threads).op('i32.and').tee(end).op('i32.eqz').brIf(slow);
          if (plan.checkpoints.asksOrFindsAt(body)) enter();
        }
        writer.writeAddresses(body);
        code.loop((next) => {
          enter();
          // A row's checks ask for what only some of its threads access.
          if (parts.end !== null) writer.writeChecks(body, threads, slow);
          writeAhead(uniform, body, plan.checkpoints.addressesAt(body), threads);
          for (const id of region.loads) if (lanes.varies(id)) writer.writeReload(id);
          writer.writeList(body);
          for (const id of region.stores) writeStore(parts, writer, id, threads);
          writer.advanceAddresses(body);
          code.get(rank).i32(threads).op('i32.add').tee(rank).get(end).op('i32.lt_u').brIf(next);
        });
        // A row that is done jumps past the code of single threads: the engine then keeps no values for it.
        if (parts.end === null && row % threads === 0) code.br(parts.rowDone);
      });
    });
  if (together === 1) writeRow();
  else {
    code.block((done) => {
      code.block((alone) => {
        const rows = Array.from({ length: together }, (_, at) =>
          rowOf(parts, constants, ofBlock, new Checkpoints(lanes, body), at === 0 ? rank : code.local('i32')),
        );
        writeJam(rows, region, alone);
        code
          .get(parts.rowEnd)
          .i32(row * (together - 1))
          .op('i32.add')
          .set(parts.rowEnd)
          .br(done);
      });
      writeRow();
    });
  }
  const writePrologue = () => {
    constants.write();
    ofBlock.write(uniform);
  };
  return { writePrologue };
}

/** What writes the groups of a row whose next thread's rank a local holds. */
function rowOf(
  { unit, code, plan, region, variables, threadContext }: LaneRegionParts,
  constants: VectorConstants,
  ofBlock: BlockChecks,
  checkpoints: Checkpoints,
  rank: Local,
): RowOfGroups {
  const { lanes } = plan;
  const locals = new Map<string, Local>();
  const variable = (id: number, vector: number): Local => {
    const key = `${id} ${vector}`;
    const known = locals.get(key);
    if (known !== undefined) return known;
    const local = code.local('v128', `${unit.program.variables[id]!.name}.${vector}`);
    locals.set(key, local);
    return local;
  };
  const locate = (access: Access): ElementLocation | null => {
    const location = checkpoints.locate(access);
    if (location === null) return null;
    const { address, distance } = location;
    return { address: address.local!, offset: distance * bytesOf(unit.elementOf(address.array)) };
  };
  const single = threadContext(rank);
  const group = {
    unit,
    code,
    lanes,
    constants,
    first: { ...single, frame: { ...single.frame, located: locate } },
    rank,
    vectors: plan.vectors,
    variable,
    locate,
    openDimensions: (access: Access) => checkpoints.openDimensions(access),
  };
  const entrance = new Entrance(group, checkpoints, ofBlock);
  const writer = new LaneWriter({
    group,
    entrance,
    checkpoints,
    variables,
    rank,
    threadContext,
    liveness: analyseLiveness(
      region.body,
      region.stores.reduce((set, id) => set | bit(id), 0n),
    ),
  });
  return { group, writer, rank };
}

/** Leaves a variable's values for other regions; one that is the same in the row, for each thread. */
function writeStore(
  { plan: { lanes }, variables, rank, code }: LaneRegionParts,
  writer: LaneWriter,
  id: number,
  threads: number,
): void {
  if (lanes.varies(id)) {
    writer.writeSpill(id);
    return;
  }
  code.withTemporaries((take) => {
    const each = take('i32');
    const end = take('i32');
    code.get(rank).tee(each).i32(threads).op('i32.add').set(end);
    code.loop((next) => {
      variables.writeSpill(id, each);
      code.get(each).i32(1).op('i32.add').tee(each).get(end).op('i32.lt_u').brIf(next);
    });
  });
}
