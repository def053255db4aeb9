// The operations of a lowered program as CUDA C++: each is one call of the prelude or one instruction.
//
// What is to be synchronised, and how, was decided before (targets/legalise). In a checked kernel a wait
// is given the place that is reported where it never ends, and copies are tested.

import type { Call, Expression, Group, Program, View } from '../../compiler/ir.ts';
import type { CoreCall, OperationOf as Of, Waiting } from '../../compiler/ir-core.ts';
import type { Range } from '../../diagnostics/source.ts';
import { bytesOf } from '../../kernel/layout.ts';

import { elementOf } from '../analysis/elements.ts';
import { placesOfLanes } from '../legalise/sharing.ts';
import type { CallLowering, OwnCall, StatementWriter } from './statements.ts';
import { TileBarriers } from './tile-barriers.ts';
import { arrayName, elementType, identifier, valueTypes } from './types.ts';
import { namesAll, ofLanes } from './warps.ts';

type Place = { readonly mbarrier: number; readonly index: Expression; readonly instance?: Expression };

export class CoreWriter implements CallLowering {
  readonly #program: Program;
  readonly #blockSize: number;
  readonly tileBarriers: TileBarriers;

  /** Where threads of a `checked` kernel fail they end, and others must not wait for them in hardware. */
  constructor(program: Program, checked: boolean) {
    const [x, y, z] = program.block;
    this.#program = program;
    this.#blockSize = x * y * z;
    this.tileBarriers = new TileBarriers(program, this.#blockSize, checked);
  }

  #name(mbarrier: number): string {
    return `m_${identifier(this.#program.mbarriers![mbarrier]!.name, mbarrier)}`;
  }

  /** The mbarriers in shared memory, and the lowering's own arrays there. */
  declarations(out: StatementWriter): void {
    this.tileBarriers.declarations(out);
    for (const [id, { group, count, made }] of this.#program.mbarriers!.entries()) {
      const name = this.#name(id);
      const type = made === 'software' ? 'ws_counter' : 'ws_barrier';
      if (group.kind === 'lanes') {
        out.line(`__shared__ ${type} ${name}[${placesOfLanes(group, this.#blockSize) * count}];`);
        continue;
      }
      if (group.kind !== 'tile') {
        out.line(`__shared__ ${type} ${name}[${count}];`);
        continue;
      }
      const tiles = Math.ceil(this.#blockSize / group.size);
      out.line(`__shared__ ${type} ${name}_all[${tiles * count}];`);
      out.line(`${type}* const ${name} = ${name}_all + ws_thread_rank / ${group.size} * ${count};`);
    }
    for (const [id, { own, element, count }] of this.#program.sharedArrays.entries()) {
      if (own !== true || count.kind !== 'constant') continue;
      const name = arrayName(this.#program, { space: 'shared', id });
      out.line(`__shared__ ${elementType(this.#program, element)} ${name}[${count.value}];`);
      out.line(`const ${valueTypes[this.#program.indexType]} ${name}_length = ${count.value};`);
    }
  }

  write(call: Exclude<Call, OwnCall>, out: StatementWriter): void {
    if (call.intrinsic === 'core') this.#operation(call, out);
    else if (call.intrinsic === 'sync') this.#sync(call, out);
    else throw new TypeError(`${call.intrinsic} is no operation of a lowered program`);
  }

  #sync(call: Extract<Call, { intrinsic: 'sync' }>, out: StatementWriter): void {
    const { group, range, mask, apart = false } = call;
    const place = () => out.expressions.checks.wait({ range, verb: 'sync', group });
    if (mask !== undefined) out.line(syncOfLanes(mask, out.expressions.write(mask)));
    else if (group.kind === 'block') out.line(apart ? 'ws_sync_apart();' : '__syncthreads();');
    else if (group.kind === 'grid') out.line(`ws_sync_grid(${place().slice(2)});`);
    else if (group.kind === 'tile' && group.size === 32) out.line('__syncwarp();');
    else if (group.kind === 'tile' && group.size < 32) out.line(`ws_sync_lanes(${tileMask(group)});`);
    else if (group.kind === 'tile') out.line(this.tileBarriers.sync(group.size, place()));
  }

  #operation(call: CoreCall, out: StatementWriter): void {
    const { operation } = call;
    const write = (expression: Expression) => out.expressions.write(expression);
    const at = (place: Place) => this.#pointer(place, call.range, out);
    const result =
      call.result === null ? '' : `${identifier(this.#program.variables[call.result]!.name, call.result)} = `;
    switch (operation.kind) {
      case 'mbarrierInit':
        out.line(`ws_init(${at(operation)}, ${write(operation.expected)});`);
        return;
      case 'mbarrierInvalidate':
        out.line(`ws_invalidate(${at(operation)});`);
        return;
      case 'mbarrierArrive':
        out.line(`${result}${this.#arrival(operation, result !== '', at(operation), out)};`);
        return;
      case 'mbarrierExpect':
        out.line(`ws_expect(${at(operation)}, ${write(operation.bytes)});`);
        return;
      case 'mbarrierArriveAfterCopies':
        out.line(`ws_arrive_${operation.noIncrement ? 'by' : 'after'}_copies(${at(operation)});`);
        return;
      case 'mbarrierWait':
        out.line(`${result}${this.#wait(operation, at(operation), call.range, out)};`);
        return;
      case 'mbarrierComplete':
        out.line(`ws_complete(${at(operation)});`);
        return;
      case 'copyCheck': {
        const check = this.#check(operation, call.range, out);
        if (check !== null) out.line(check);
        return;
      }
      case 'copyChunks':
        out.line(this.#chunks(operation, out));
        return;
      case 'copyElements': {
        const { destination, source, count, group } = operation;
        const operands = `${this.#address(destination, out)}, ${this.#address(source, out)}, ${write(count)}`;
        out.line(`ws_copy(${operands}, ${this.#threads(group)});`);
        return;
      }
      case 'copyCommit':
        out.line('ws_commit();');
        return;
      case 'copyWait': {
        const { allBut, most } = operation;
        out.line(
          allBut.kind === 'constant'
            ? `ws_wait_group<${allBut.value}>();`
            : `ws_wait_groups<${most}>(${write(allBut)});`,
        );
        return;
      }
      case 'copyWaitAll':
        out.line('ws_finish_copies();');
        return;
      case 'bulkCopy': {
        const { destination, source } = operation;
        const operands = `${this.#address(destination, out)}, ${this.#address(source, out)}`;
        out.line(`ws_bulk_copy(${operands}, ${this.#bytes(operation, out)}, ${at(operation)});`);
        return;
      }
      case 'prefetch': {
        const { source, count } = operation;
        const inside = out.expressions.checks.holds(source, count, out.expressions);
        out.line(`${inside}ws_prefetch(${this.#address(source, out)}, ${this.#bytes(operation, out)});`);
        return;
      }
      case 'proxyFence':
        out.line(`ws_fence_async_${operation.space}();`);
        return;
      case 'fence':
        out.line(`${fences[operation.scope]}();`);
        return;
      case 'groupCount':
        out.line(`${result}${this.#count(operation, call.range, out)};`);
        return;
      case 'elect':
        out.line(`${result}ws_elect();`);
        return;
      case 'bulkStore':
      case 'bulkCommit':
      case 'bulkWait':
      case 'namedBarrier':
      case 'post':
      case 'waitUntil':
      case 'countsDiffer':
      case 'oneSided':
      case 'copyNow':
      case 'stuckAtStage':
      case 'stuckAtBarrier':
      case 'pipelineMisused':
      case 'barrierMisused':
        throw new TypeError(`no lowering for a GPU makes ${operation.kind}`);
      default:
        operation satisfies never;
    }
  }

  /** The address of an mbarrier. */
  #pointer({ mbarrier, index, instance }: Place, range: Range, out: StatementWriter): string {
    const { barrier, count } = this.#program.mbarriers![mbarrier]!;
    const name = this.#name(mbarrier);
    // Of lanes, those of each group lie behind those of the groups with a lower first lane.
    const first = instance === undefined ? null : `${out.expressions.write(instance)} * ${count}u`;
    if (barrier !== null && this.#program.barriers[barrier]!.count === null)
      return first === null ? name : `&${name}[${first}]`;
    const plain = out.expressions.index(index);
    const at = barrier === null ? plain : out.expressions.checks.barrier(plain, barrier, range);
    return `&${name}[${first === null ? at : `${first} + ${at}`}]`;
  }

  #arrival(
    { mbarrier, count, bytes, drop, order }: Of<'mbarrierArrive'>,
    wanted: boolean,
    pointer: string,
    out: StatementWriter,
  ): string {
    if (order === 'relaxed') throw new TypeError('no lowering makes a relaxed arrival');
    const { made, completes } = this.#program.mbarriers![mbarrier]!;
    const kind = made === 'software' ? `<${completes}>` : '';
    if (bytes !== null) return `ws_arrive_expecting(${pointer}, ${out.expressions.write(bytes)})`;
    if (drop) return `ws_arrive_and_drop${kind}(${pointer})`;
    if (!wanted && count === null && made === 'hardware') return `ws_arrive(${pointer})`;
    return `ws_arrive_token${kind}(${pointer}, ${count === null ? '1u' : out.expressions.write(count)})`;
  }

  #wait(operation: Of<'mbarrierWait'>, pointer: string, range: Range, out: StatementWriter): string {
    const { mbarrier, by, limit, until, converged, waiting } = operation;
    const operands = `${pointer}, ${out.expressions.write(operation.awaited)}`;
    const hardware = this.#program.mbarriers![mbarrier]!.made === 'hardware';
    if (limit === null) {
      const place = this.#place(waiting, range, out);
      if (by === 'token') return `ws_await(${operands}${place})`;
      return `${hardware ? (converged ? 'ws_wait_converged' : 'ws_wait') : 'ws_await_parity'}(${operands}${place})`;
    }
    const time = out.expressions.write(limit);
    if (waiting.barrier === undefined) return `ws_wait_${until ? 'until' : 'for'}(${operands}, ${time})`;
    const look = `ws_over${by === 'parity' ? '_parity' : ''}(${operands})`;
    const looksOnce = limit.kind === 'constant' && !until && !(Number(limit.value) > 0);
    return looksOnce ? look : `${until ? 'ws_until' : 'ws_within'}(${time}, [&] { return ${look}; })`;
  }

  #place(waiting: Waiting, range: Range, out: StatementWriter): string {
    return out.expressions.checks.wait({ range, ...waiting });
  }

  /** How many threads of the group have a true value. */
  #count({ group, value, waiting }: Of<'groupCount'>, range: Range, out: StatementWriter): string {
    const text = out.expressions.write(value);
    if (group.kind !== 'tile') return `__syncthreads_count(${text})`;
    if (group.size <= 32) {
      const ballot = ofLanes(
        group.size === 32,
        tileMask(group),
        (lanes) => `__ballot_sync(${lanes}, ${text})`,
      );
      return `__popc(${ballot} & ${tileMask(group)})`;
    }
    return this.tileBarriers.count(group.size, text, this.#place(waiting, range, out));
  }

  #chunks(operation: Of<'copyChunks'>, out: StatementWriter): string {
    const { destination, source, count, chunkBytes, group, zeroFill } = operation;
    const operands = `${this.#address(destination, out)}, ${this.#address(source, out)}`;
    const bytes = bytesOf(elementOf(this.#program, source.array));
    if (zeroFill !== null) {
      const zeros = `(unsigned)${out.expressions.write(zeroFill)} * ${bytes}u`;
      return `ws_copy_zero_filled<${chunkBytes}>(${operands}, ${zeros});`;
    }
    const all = `(unsigned long long)${out.expressions.write(count)} * ${bytes}u`;
    if (bytes > chunkBytes)
      return `ws_copy_async_elements<${chunkBytes}, ${bytes}>(${operands}, ${all}, ${this.#threads(group)});`;
    return `ws_copy_async<${chunkBytes}>(${operands}, ${all}, ${this.#threads(group)});`;
  }

  /** A statement that tests the operands of a copy; null where nothing is tested. */
  #check(
    { destination, source, count, zeroFill, promised: alignment, parts }: Of<'copyCheck'>,
    range: Range,
    out: StatementWriter,
  ): string | null {
    const { expressions } = out;
    return expressions.checks.copy(
      { destination, source, alignment, range },
      {
        to: expressions.index(destination.offset),
        from: expressions.index(source.offset),
        count: expressions.write(count),
        zeros: zeroFill === null ? null : expressions.write(zeroFill),
      },
      parts,
    );
  }

  #address({ array, offset }: View, out: StatementWriter): string {
    return `${arrayName(this.#program, array)} + ${out.expressions.index(offset)}`;
  }

  /** The bytes of a copy, as an unsigned. */
  #bytes(
    { source, count }: { readonly source: View; readonly count: Expression },
    out: StatementWriter,
  ): string {
    const bytes = bytesOf(elementOf(this.#program, source.array));
    return `(unsigned)${out.expressions.write(count)} * ${bytes}u`;
  }

  /** A thread's rank in a group, and the group's size. */
  #threads(group: Group): string {
    if (group.kind === 'tile') return `ws_thread_rank % ${group.size}, ${group.size}u`;
    return group.kind === 'thread' ? '0, 1u' : `ws_thread_rank, ${this.#blockSize}u`;
  }
}

const fences = {
  block: '__threadfence_block',
  device: '__threadfence',
  system: '__threadfence_system',
} as const;

function syncOfLanes(mask: Expression, lanes: string): string {
  return namesAll(mask) ? `__syncwarp(${lanes});` : `ws_sync_lanes(${lanes});`;
}

function tileMask({ size }: Extract<Group, { kind: 'tile' }>): string {
  return `ws_tile_mask<${size}>(ws_thread_rank)`;
}
