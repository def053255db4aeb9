// What a checked kernel tells the host when it stops: numbers, which become a Fault here.

import type { ArrayReference, Program } from '../../compiler/ir.ts';
import { bytesOf } from '../../kernel/layout.ts';
import type { Extent3 } from '../../kernel/types.ts';
import { elementOf, lengthAs } from '../analysis/elements.ts';
import { assertionFault } from '../assertions.ts';
import { noSuchBarrier } from '../barrier-misuse.ts';
import { type CopyOperand, copyFault } from '../copy-operands.ts';
import type { Executable, Fault, FaultSite } from '../executable.ts';
import { placeIn } from '../place-in.ts';
import { reportedLine } from './reported-line.ts';

/** What a kernel tells of a fault. */
export interface ReportedFault {
  readonly site: FaultSite;
  /** Rank of the thread in its block. */
  readonly rank: number;
  readonly block: Extent3;
  /**
   * Of an access its index and the length; of a copy its offsets, its count and how many are set to zero; of a wait
   * its milliseconds.
   */
  readonly values: readonly [number, number, number, number];
  /** The same as they were written, of an assertion the bits of its message's values. */
  readonly bits: readonly bigint[];
}

/** Where arrays of a launch lie. */
export interface ArrayPlaces {
  /** Address and length of a parameter's array. */
  global(parameter: number): { readonly address: number; readonly length: number };
  /** Length of a shared array. */
  sharedLength(id: number): number;
}

/** The places that a kernel may tell of; undefined for one that tells nothing. */
export function sitesOf(executable: Executable): readonly FaultSite[] | undefined {
  return executable.target === 'cuda' ? executable.sites : undefined;
}

/** The fault that a kernel reported. */
export function faultOf(
  program: Program,
  { site, rank, block, values, bits }: ReportedFault,
  places: ArrayPlaces,
): Fault {
  const { range, copy, barrier, array, access, verb, dimension } = site;
  const thread = placeIn(program.block, rank);
  const place = { range, thread, block };
  if (site.texts !== undefined) return { ...assertionFault(reportedLine(site, bits)), ...place };
  const [first, second, count, zeroFill] = values;
  if (copy !== undefined) {
    const fault = copyFault(
      {
        destination: operandOf(program, copy.destination, first, places),
        source: operandOf(program, copy.source, second, places),
        count,
        zeroFill,
        elementBytes: bytesOf(elementOf(program, copy.source)),
        alignment: copy.alignment,
      },
      place,
    );
    if (fault === null) throw new Error('a kernel stopped at a copy that is right');
    return fault;
  }
  if (verb !== undefined) {
    const seconds = Math.round(first / 100) / 10;
    const what = `${waitingIn(program, site)}, for ${seconds} s already`;
    return { kind: 'deadlock', block, waiting: [{ range, what, threads: [rank] }] };
  }
  if (barrier !== undefined) {
    const misuse = noSuchBarrier(program.barriers[barrier]!.name, first, second);
    return { kind: 'misuse', code: 'WS3009', ...misuse, ...place };
  }
  if (array === undefined) return { kind: 'division-by-zero', ...place };
  return {
    kind: 'out-of-range',
    array,
    access: access!,
    index: first,
    count: 1,
    length: second,
    ...(dimension === undefined ? {} : { dimension }),
    ...place,
  };
}

/** The verb and what it is about. */
function waitingIn({ pipelines, barriers }: Program, { verb, pipeline, barrier, group }: FaultSite): string {
  if (pipeline !== undefined) return `${verb} of \`${pipelines[pipeline]!.name}\``;
  if (barrier !== undefined) return `${verb} of \`${barriers[barrier]!.name}\``;
  return `${verb} of the ${group!.kind}`;
}

/** Arrays of different memories never overlap; shared ones begin at multiples of what any copy may promise. */
function operandOf(
  program: Program,
  reference: ArrayReference,
  offset: number,
  places: ArrayPlaces,
): CopyOperand {
  const { parameters, sharedArrays, localArrays } = program;
  const { space, id } = reference;
  if (space === 'local') {
    const { name, count } = localArrays[id]!;
    return { array: name, offset, length: count, memory: `local ${id}`, address: 0 };
  }
  if (space === 'shared') {
    const array = sharedArrays[id]!.name;
    return {
      array,
      offset,
      length: lengthAs(program, reference, places.sharedLength(id)),
      memory: `shared ${id}`,
      address: 0,
    };
  }
  const { address, length } = places.global(id);
  return {
    array: parameters[id]!.name,
    offset,
    length: lengthAs(program, reference, length),
    memory: 'global',
    address,
  };
}
