// A program as one CUDA C++ kernel that NVRTC or nvcc compiles by itself, without any header.
//
// Parameters of the entry, in this order: for each array its pointer and length, for each scalar
// its value; then for each shared array whose place is not known here its offset in bytes in
// dynamic shared memory and its length; then, if it tells the host something, its channel and the
// number of the launch, a u32. Lengths are of the program's index type, offsets u32.

import type { Program } from '../../compiler/ir.ts';
import type { Range } from '../../diagnostics/source.ts';
import { bytesOf } from '../../kernel/layout.ts';

import { anyStatement } from '../analysis/walk.ts';
import type { FaultSite } from '../executable.ts';
import { synchronisesGrid } from '../grid.ts';
import type { Lowering } from '../legalise/decisions.ts';
import { lowerForGpu } from '../legalise/lower.ts';
import type { LoweringOptions } from '../legalise/lowering.ts';
import { sharedAlignments } from '../shared-alignment.ts';
import { usedDefinitions } from '../used-definitions.ts';
import { Checks } from './checks.ts';
import { CoreWriter } from './core.ts';
import { entryName } from './entry-name.ts';
import { prelude } from './prelude.ts';
import { asyncPrelude } from './prelude-async.ts';
import { barrierPrelude } from './prelude-barrier.ts';
import {
  channelPrelude,
  checkPrelude,
  printPrelude,
  rankPrelude,
  uncheckedPrelude,
} from './prelude-checks.ts';
import { gridPrelude } from './prelude-grid.ts';
import { StatementWriter } from './statements.ts';
import { meetingPrelude } from './tile-barriers.ts';
import { arrayName, elementDefinitions, elementType, identifier, valueTypes } from './types.ts';
import { warpPreludeOf } from './warps.ts';

export interface CudaOptions extends LoweringOptions {
  /** A `#line` directive for a place of the program, or null where none is wanted. */
  readonly lineDirective: (range: Range) => string | null;
  /** Whether accesses, copies and divisions are tested, and the first that fails is reported. Default: no. */
  readonly checked?: boolean;
}

/** Where a shared array lies in dynamic shared memory; null where only the launch knows. */
export type SharedPlace = { readonly offset: number; readonly length: number } | null;

export interface CudaSource {
  readonly text: string;
  /** The entry's name. */
  readonly entry: string;
  readonly lowerings: readonly Lowering[];
  readonly shared: readonly SharedPlace[];
  /** Places that the kernel tells the host of, by a channel that it takes; null for one that tells nothing. */
  readonly sites: readonly FaultSite[] | null;
}

/** Shared arrays begin at multiples of so many bytes at least: what the bulk copy engine likes best. */
export const sharedAlignment = 128;

/** The places of a program's shared arrays, as far as their counts are constants; those of its lowered form count. */
function sharedPlaces(program: Program, { sharedArrays }: Program): readonly SharedPlace[] {
  const alignments = sharedAlignments(program, sharedAlignment);
  let end: number | null = 0;
  return program.sharedArrays.map(({ element }, id): SharedPlace => {
    const { count } = sharedArrays[id]!;
    if (end === null || count.kind !== 'constant') {
      end = null;
      return null;
    }
    const offset = Math.ceil(end / alignments[id]!) * alignments[id]!;
    end = offset + Number(count.value) * bytesOf(element);
    return { offset, length: Number(count.value) };
  });
}

/** Writes the kernel. */
export function generateCuda(original: Program, options: CudaOptions): CudaSource {
  const { program, lowerings } = lowerForGpu(original, options);
  const checks = new Checks(program, options.checked ?? false);
  const core = new CoreWriter(program, checks.stops);
  const out = new StatementWriter(program, core, checks, options.lineDirective);
  const index = valueTypes[program.indexType];
  const shared = sharedPlaces(original, program);

  const parameters = program.parameters.flatMap((parameter, id) => {
    if (parameter.kind === 'scalar')
      return [`${valueTypes[parameter.type]} ${identifier(parameter.name, id)}`];
    const name = arrayName(program, { space: 'global', id });
    const constant = parameter.readonly ? 'const ' : '';
    return [`${constant}${elementType(program, parameter.element)}* ${name}`, `${index} ${name}_length`];
  });
  for (const [id, place] of shared.entries()) {
    const name = arrayName(program, { space: 'shared', id });
    if (place === null) parameters.push(`unsigned ${name}_offset`, `${index} ${name}_length`);
  }

  const prints = printsLines(program);
  const tells = checks.stops || prints;
  if (tells) parameters.push('ws_channel* ws_host', 'unsigned ws_launch');

  const [x, y, z] = program.block;
  if (checks.stops) {
    out.line('if (ws_begins_late(ws_host, ws_launch)) return;');
    out.line('unsigned ws_turns = 0;');
    out.line('ws_host_of_block = ws_host;');
    out.line('ws_launch_of_block = ws_launch;');
  }
  out.line(
    `const unsigned ws_thread_rank = ${y * z === 1 ? 'threadIdx.x' : `(threadIdx.z * ${y} + threadIdx.y) * ${x} + threadIdx.x`};`,
  );
  if (original.sharedArrays.length > 0) {
    const alignment = Math.max(...sharedAlignments(original, sharedAlignment));
    out.line(`extern __shared__ __align__(${alignment}) unsigned char ws_shared_memory[];`);
  }
  for (const [id, place] of shared.entries()) {
    const name = arrayName(program, { space: 'shared', id });
    const type = elementType(program, program.sharedArrays[id]!.element);
    out.line(`${type}* const ${name} = (${type}*)(ws_shared_memory + ${place?.offset ?? `${name}_offset`});`);
    if (place !== null) out.line(`const ${index} ${name}_length = ${place.length};`);
  }
  out.declarations();
  core.declarations(out);
  out.statements(program.body);

  const entry = entryName(program.name);
  const bounds = [x * y * z, ...(original.minBlocks === undefined ? [] : [original.minBlocks])].join(', ');
  const kernel = [
    `extern "C" __global__ void __launch_bounds__(${bounds}) ${entry}(${parameters.join(', ')}) {`,
    ...out.lines,
    '}',
    '',
  ].join('\n');
  const preludes = [
    prelude,
    ...(checks.stops
      ? [
          `typedef ${index} ws_index;\ntypedef unsigned ${index} ws_count;\n`,
          rankPrelude(program.threadOrder),
          checkPrelude,
        ]
      : [prints ? channelPrelude : '', uncheckedPrelude]),
    prints || checks.stops ? printPrelude : '',
    program.pipelines.length + program.barriers.length > 0 ? asyncPrelude : '',
    program.barriers.length > 0 ? barrierPrelude : '',
    core.tileBarriers.meetInMemory ? meetingPrelude : '',
    warpPreludeOf(program),
    synchronisesGrid(program) ? gridPrelude : '',
  ];
  const text = `${usedDefinitions(preludes, kernel)}${elementDefinitions(program)}\n${kernel}`;
  return { text, entry, lowerings, shared, sites: tells ? checks.sites : null };
}

function printsLines(program: Program): boolean {
  return anyStatement(program.body, (each) => each.kind === 'call' && each.intrinsic === 'print');
}
