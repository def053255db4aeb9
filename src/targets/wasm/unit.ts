// What one compilation shares: the program, the module under construction (whole.ts), the places that can
// fault, and the layout of the scratch memory behind a block's shared arrays.

import type {
  ArrayReference,
  Call,
  Expression,
  MathFunction,
  Program,
  Statement,
} from '../../compiler/ir.ts';
import type { OfRankGroup, RankGroup } from '../../compiler/ir-cohorts.ts';
import type { Waiting } from '../../compiler/ir-core.ts';
import type { Range } from '../../diagnostics/source.ts';
import { bytesOf } from '../../kernel/layout.ts';
import type { Element } from '../../kernel/types.ts';
import { constantOf, lengthAs } from '../analysis/elements.ts';
import { type FactOf, factsOf } from '../analysis/facts.ts';
import { isKnownInside } from '../analysis/known-bounds.ts';
import { unknown } from '../analysis/values.ts';
import type { FaultSite } from '../executable.ts';
import { borrowingsIn } from '../legalise/cpu/borrowing.ts';
import type { OptionalCpuPass, WritingPass } from '../legalise/cpu/passes.ts';
import { formOf } from '../printed-line.ts';
import { addressBytes, type Borrowed } from './borrowed.ts';
import type { CopyCall } from './copies.ts';
import { addCopyFunction } from './copy-function.ts';
import type { Code, FunctionReference, WasmType } from './encoder/code.ts';
import type { ModuleWriter } from './encoder/module.ts';
import { type HostSignatures, hostSignatures, mathImportName } from './host-functions.ts';
import { addStoreFunction, addTruncateFunction } from './lane-functions.ts';
import { wasmType } from './types.ts';
import { type Registers, type UnitOptions, Whole } from './whole.ts';

export class Unit {
  readonly program: Program;
  /** Which of a block's threads run this program, if not all. To the program they are the block. */
  readonly rankGroup: RankGroup | null;
  readonly #whole: Whole;
  readonly #siteNumbers = new Map<string, number>();
  readonly #localArrays = new Map<number, number>();
  /** The shared arrays that are read where they are copied from. */
  readonly borrowed: ReadonlyMap<number, Borrowed>;
  #factOf: FactOf | null = null;

  /** The unit of a program whose code is all in its body, so that what is known of the body holds in it. */
  static ofBody(program: Program, options: UnitOptions = {}): Unit {
    const unit = new Unit(program, options, null, new Whole(program, options), true);
    if (unit.does('bounds')) unit.#factOf = factsOf(program).at(null);
    return unit;
  }

  constructor(
    program: Program,
    options: UnitOptions = {},
    rankGroup: RankGroup | null = null,
    whole = new Whole(program, options),
    inRegions = false,
  ) {
    this.program = program;
    this.rankGroup = rankGroup;
    this.#whole = whole;
    const borrowings = inRegions && this.does('borrow') ? borrowingsIn(program) : [];
    this.borrowed = new Map(
      Array.from(borrowings, ([id, each]) => [
        id,
        { ...each, place: this.reserveScratch(addressBytes(this) * each.slots) },
      ]),
    );
  }

  /** The unit of what a rank group does, in the same module. */
  ofRankGroup(rankGroup: RankGroup, program: Program): Unit {
    return new Unit(program, {}, rankGroup, this.#whole);
  }

  /** The unit of a program of several parts. */
  static ofWhole(program: Program, options: UnitOptions): Unit {
    return new Unit(program, options, null, new Whole(program, options));
  }

  /** Marks in code for a processor where what is written for one vector of a group ends, and for the next begins. */
  mark(code: Code): void {
    if (this.#whole.forProcessor) code.op('nop');
  }

  /** Whether code for a processor is made of the module. */
  get forProcessor(): boolean {
    return this.#whole.forProcessor;
  }

  /** How many vectors a register holds. */
  get registers(): Registers {
    return this.#whole.registers;
  }

  /** The type of an element's address. */
  get addressType(): 'i32' | 'i64' {
    return this.#whole.addressType;
  }

  /** Makes an address in a launch's own memory, which has 32 bits, one of an element. */
  writeArenaAddress(code: Code): void {
    if (this.addressType === 'i64') code.op('i64.extend_i32_u');
  }

  /** Makes an index or a length of the program's index type what is added to addresses. */
  writeAsAddress(code: Code): void {
    const { indexType } = this.program;
    if (indexType === this.addressType) return;
    // An index that was not tested yet may be negative: it is, of where its lane would be.
    code.op(indexType === 'i64' ? 'i32.wrap_i64' : 'i64.extend_i32_s');
  }

  /** Whether instructions of relaxed SIMD may be used. */
  get relaxes(): boolean {
    return this.#whole.relaxes;
  }

  /** Whether a pass is not to be left out. */
  does(pass: OptionalCpuPass): boolean {
    return !this.#whole.without.includes(pass);
  }

  /** Notes what a pass did, for people who ask. */
  tell(pass: WritingPass, what: string): void {
    const { done } = this.#whole;
    done.set(pass, (done.get(pass) ?? new Set()).add(what));
  }

  /** What passes did, a line for each. */
  get done(): readonly string[] {
    return [...this.#whole.done].map(([pass, what]) => `${pass}: ${[...what].join('; ')}`);
  }

  /** Threads of a block, of all rank groups together. */
  get threadsOfBlock(): number {
    return this.#whole.threads;
  }

  /** Makes a rank on the stack, as the program counts them, the thread's rank in the block. */
  writeRankInBlock(code: Code): void {
    if (this.rankGroup === null) return;
    const { first, stride } = this.rankGroup;
    if (stride !== 1) code.i32(stride).op('i32.mul');
    if (first !== 0) code.i32(first).op('i32.add');
  }

  get module(): ModuleWriter {
    return this.#whole.module;
  }

  get sites(): readonly FaultSite[] {
    return this.#whole.sites;
  }

  get blockSize(): number {
    const [x, y, z] = this.program.block;
    return x * y * z;
  }

  get scratchBytes(): number {
    return this.#whole.scratchBytes;
  }

  /** Offset of new scratch memory of a block, aligned to 16 bytes. */
  reserveScratch(bytes: number): number {
    const offset = this.#whole.scratchBytes;
    this.#whole.scratchBytes += Math.ceil(bytes / 16) * 16;
    return offset;
  }

  /**
   * Offset of a local array's scratch memory. Element i of thread t lies at i * blockSize + t, so that
   * threads beside each other find their elements beside each other.
   */
  localArray(id: number): number {
    const known = this.#localArrays.get(id);
    if (known !== undefined) return known;
    const { element, count } = this.program.localArrays[id]!;
    const offset = this.reserveScratch(count * this.blockSize * bytesOf(element));
    this.#localArrays.set(id, offset);
    return offset;
  }

  /** Whether an array of the block lies in the scratch memory, and not with those of the launch. */
  isOwnArray(id: number): boolean {
    const { exchanges = false, own = false } = this.program.sharedArrays[id]!;
    return exchanges || own;
  }

  /** Whether threads count in the words of an array. */
  isCounts({ space, id }: ArrayReference): boolean {
    return space === 'shared' && this.program.sharedArrays[id]!.counts === true;
  }

  /** Offset of the scratch memory of such an array. */
  ownArray(id: number): number {
    const known = this.#whole.ownArrays.get(id);
    if (known !== undefined) return known;
    const { element, count } = this.program.sharedArrays[id]!;
    const offset = this.reserveScratch(Number(constantOf(count)) * bytesOf(element));
    this.#whole.ownArrays.set(id, offset);
    return offset;
  }

  /** The number that a fault at this place reports. */
  site(
    range: Range,
    access?: Pick<FaultSite, 'access' | 'dimension'> & { readonly array: ArrayReference },
  ): number {
    const array = access && this.arrayName(access.array);
    const first = ofRankGroup(range)?.first ?? '';
    const key = `${range.source}:${range.start}:${range.end}:${first}:${access?.access ?? ''}:${array ?? ''}:${access?.dimension ?? ''}`;
    const known = this.#siteNumbers.get(key);
    if (known !== undefined) return known;
    const kind = access?.access;
    const exchanges =
      access?.array.space === 'shared' && this.program.sharedArrays[access.array.id]!.exchanges;
    const number = this.#addSite({
      range,
      ...(array === undefined ? {} : { array }),
      ...(exchanges ? { exchanges } : {}),
      ...(kind === undefined ? {} : { access: kind }),
      ...(access?.dimension === undefined ? {} : { dimension: access.dimension }),
    });
    this.#siteNumbers.set(key, number);
    return number;
  }

  /** The number of a copy's place. */
  copySite({ range, destination, source, alignment }: CopyCall): number {
    const copy = { destination: destination.array, source: source.array, alignment };
    return this.#addSite({ range, access: 'copy', copy });
  }

  /** The number of a printed line's place. */
  printSite(call: Extract<Call, { intrinsic: 'print' | 'assert' }>): number {
    return this.#addSite({ range: call.range, ...formOf(call) });
  }

  /** The number of a place where something is done with a pipeline. */
  pipelineSite(range: Range, pipeline: number, verb: string): number {
    return this.#addSite({ range, pipeline, verb });
  }

  /** The number of a place where something is done with barriers. */
  barrierSite(range: Range, barrier: number): number {
    return this.#addSite({ range, barrier });
  }

  /** The number of a place where threads wait. */
  waitSite(range: Range, { verb, pipeline, barrier, group, operator, byMask = false }: Waiting): number {
    return this.#addSite({
      range,
      ...(pipeline === undefined ? {} : { pipeline, verb }),
      ...(barrier === undefined ? {} : { barrier }),
      ...(group === undefined ? {} : { group }),
      ...(operator || byMask ? { meeting: operator ?? 'sync', byMask } : {}),
    });
  }

  /** The number of a place where threads let others go on. */
  sleepSite(range: Range): number {
    return this.#addSite({ range, sleeps: true });
  }

  #addSite(site: FaultSite): number {
    const { source, start, end } = site.range;
    const rankGroup = this.rankGroup ?? ofRankGroup(site.range);
    const added = { ...site, range: { source, start, end }, ...(rankGroup === null ? {} : { rankGroup }) };
    return this.#whole.sites.push(added) - 1;
  }

  /** The module's own function that copies bytes. */
  copyFunction(): FunctionReference {
    return this.ownFunction('copy', () => addCopyFunction(this));
  }

  /** The module's own function that converts floats to integers where that is not one instruction. */
  truncateFunction(): FunctionReference {
    return this.ownFunction('truncate', () => addTruncateFunction(this));
  }

  /** The module's own function that stores some lanes of a vector, as numbers of a width so many bytes apart. */
  storeFunction(element: Element, apart: number): FunctionReference {
    const bytes = bytesOf(element);
    return this.ownFunction(`store ${bytes} ${apart}`, () => addStoreFunction(this, bytes, apart));
  }

  /** A function of the module that is added when it is first asked for. */
  ownFunction(name: string, add: () => FunctionReference): FunctionReference {
    const { ownFunctions } = this.#whole;
    const reference = ownFunctions.get(name) ?? add();
    ownFunctions.set(name, reference);
    return reference;
  }

  host<M extends keyof HostSignatures>(module: M, name: keyof HostSignatures[M] & string): FunctionReference {
    const table = hostSignatures[module] as Record<
      string,
      readonly [readonly WasmType[], readonly WasmType[]]
    >;
    const [parameters, results] = table[name]!;
    return this.module.import(module, name, parameters, results);
  }

  math(name: MathFunction, operands: number): FunctionReference {
    const parameters = Array.from({ length: operands }, () => 'f64' as const);
    return this.module.import('math', mathImportName(name, operands), parameters, ['f64']);
  }

  arrayName({ space, id }: ArrayReference): string {
    if (space === 'global') return this.program.parameters[id]!.name;
    return (space === 'shared' ? this.program.sharedArrays : this.program.localArrays)[id]!.name;
  }

  elementOf({ space, id, as }: ArrayReference): Element {
    if (as !== undefined) return as;
    if (space === 'shared') return this.program.sharedArrays[id]!.element;
    if (space === 'local') return this.program.localArrays[id]!.element;
    const parameter = this.program.parameters[id]!;
    if (parameter.kind !== 'array') throw new Error(`${parameter.name} is not an array`);
    return parameter.element;
  }

  /** The length of an array, where it is known now. */
  knownLength(array: ArrayReference): number | null {
    const { space, id } = array;
    if (space === 'local') return this.program.localArrays[id]!.count;
    const count = space === 'shared' ? constantOf(this.program.sharedArrays[id]!.count) : null;
    return count === null ? null : lengthAs(this.program, array, count);
  }

  /** Whether an index is one of the array's, whichever thread computes it and when. */
  isInside(array: ArrayReference, index: Expression): boolean {
    const length = this.knownLength(array);
    if (length === null || this.#factOf === null) return false;
    const { least, most } = this.#factOf(index);
    return least >= 0 && most < length;
  }

  /** What is known of a limit: an array's length, or an extent. */
  knownLimit(limit: Expression): number | null {
    return limit.kind === 'length' ? this.knownLength(limit.array) : constantOf(limit);
  }

  /** Whether an index lies below its limit, whichever thread computes it and when. */
  isBelow({ index, limit }: { readonly index: Expression; readonly limit: Expression }): boolean {
    if (limit.kind === 'length') return this.isInside(limit.array, index);
    return this.#factOf !== null && isKnownInside(this.#factOf, index, limit);
  }

  /** What holds of the expressions of a statement. */
  factsAt(statement: Statement): FactOf {
    return this.#factOf === null ? ({ type }) => unknown(type) : factsOf(this.program).at(statement);
  }

  wasmTypeOfVariable(id: number): Exclude<WasmType, 'v128'> {
    return wasmType(this.program.variables[id]!.type);
  }
}

/** The rank group that a place says it is of (legalise/cpu/zip.ts). */
function ofRankGroup(range: Range | OfRankGroup): RankGroup | null {
  return 'rankGroup' in range ? range.rankGroup : null;
}
