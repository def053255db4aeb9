// What is a module's, whichever of its programs is being written: options, the module itself, and what its functions share.

import type { Program } from '../../compiler/ir.ts';
import type { FaultSite } from '../executable.ts';
import type { OptionalCpuPass, WritingPass } from '../legalise/cpu/passes.ts';
import type { FunctionReference } from './encoder/code.ts';
import { hasRelaxedSimd, ModuleWriter } from './encoder/module.ts';

/**
 * How many vectors one register of the processor holds, where it is not the engine that runs the module: code is made of it
 * that has all instructions, and registers as wide as those of the processor.
 */
export type Registers = 1 | 2 | 4;

export interface UnitOptions {
  /** Passes to leave out. */
  readonly without?: readonly OptionalCpuPass[];
  /** For code that is made of the module, and is not run by the engine. */
  readonly registers?: Registers | undefined;
  /** Of arrays' elements. What a launch has of its own lies below 4 GiB, where 32 bits are enough. */
  readonly addressType?: 'i32' | 'i64' | undefined;
}

export class Whole {
  /** Threads of a block. */
  readonly threads: number;
  readonly module: ModuleWriter;
  readonly sites: FaultSite[] = [];
  readonly ownArrays = new Map<number, number>();
  readonly ownFunctions = new Map<string, FunctionReference>();
  /** What passes did, for people, by pass. */
  readonly done = new Map<WritingPass, Set<string>>();
  scratchBytes = 0;
  readonly without: readonly OptionalCpuPass[];
  readonly relaxes: boolean;

  readonly registers: Registers;
  readonly forProcessor: boolean;
  readonly addressType: 'i32' | 'i64';

  constructor({ block: [x, y, z] }: Program, { without = [], registers, addressType = 'i32' }: UnitOptions) {
    this.threads = x * y * z;
    this.without = without;
    this.addressType = addressType;
    this.module = new ModuleWriter(addressType);
    this.registers = registers ?? 1;
    this.forProcessor = registers !== undefined;
    this.relaxes = !without.includes('relaxed') && (registers !== undefined || hasRelaxedSimd());
  }
}
