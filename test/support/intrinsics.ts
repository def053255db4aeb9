// The intrinsics, read from the interfaces that TypeScript users see (src/kernel/cuda*.ts).
//
// The interfaces say everything once: names, types, CUDA's name, whether threads wait for each other, and
// what it does. The forms that the compiler checks calls by, and docs/intrinsics.md, are made of them.

import { readdirSync, readFileSync } from 'node:fs';
import ts from 'typescript';

/** The interfaces of each receiver. */
export const receivers: Readonly<Record<string, readonly string[]>> = {
  cuda: ['CudaGroups', 'Cuda', 'CudaWarps', 'CudaAtomics', 'CudaVectors', 'CudaAsync', 'CudaBarriers'],
  grid: ['Grid'],
  block: ['ThreadBlock'],
  tile: ['Tile'],
  coalesced: ['CoalescedGroup'],
  subset: ['ThreadSubset'],
  thread: ['Thread'],
  array: ['KernelArray'],
  pipeline: ['Pipeline'],
  cg: ['CooperativeGroups'],
  barrier: ['Barrier'],
  barriers: ['BarrierArray'],
  Math: ['KernelMath'],
  Number: ['KernelNumber'],
  BigInt: ['KernelBigInt'],
  console: ['KernelConsole'],
};

export interface IntrinsicSource {
  readonly member: string;
  /** As declared, one for each way to call it. */
  readonly signatures: readonly string[];
  /** Arguments and their kinds, one for each way to call it; null for a property. */
  readonly forms: readonly (readonly (readonly [name: string, kind: string])[])[] | null;
  /** What it does; what it is in CUDA; both without the full stop at the end. */
  readonly doc: string;
  readonly cuda: string;
}

/** What an argument must be, by its type. */
const kinds: Readonly<Record<string, string>> = {
  number: 'number',
  'number | boolean': 'number',
  Index: 'index',
  Lanes: 'lanes',
  Constant: 'constant',
  TileSize: 'constant',
  Nanoseconds: 'nanoseconds',
  Divided: 'number or quotient',
  Scalar: 'number or bigint',
  Castable: 'number, bigint or quotient',
  ElementValues: 'number, bigint or quotient',
  'number | AlignedSize': 'count',
  Element: 'element type',
  BitType: 'element type',
  Shape: 'shape',
  AnyVector: 'vector',
  NoInfer: 'vector',
  Vector3: 'vector',
  VectorOrNumber: 'vector or number',
  KernelArray: 'array',
  ReadonlyKernelArray: 'readonly array',
  'ThreadBlock | Tile | CoalescedGroup | ThreadSubset | Thread': 'group or lanes',
  ThreadBlock: 'block',
  'ThreadBlock | Tile': 'block, tile or its lanes',
  'ThreadBlock | Tile | CoalescedGroup | ThreadSubset': 'block, tile or lanes',
  'Tile | CoalescedGroup': 'tile or lanes',
  CoalescedGroup: 'lanes of a warp',
  'Tile | CoalescedGroup | ThreadSubset': 'tile, lanes or subset',
  Tile: 'block or tile',
  Pipeline: 'pipeline',
  PipelineSharedState: 'pipeline state',
  RandomState: 'random state',
  PipelineScope: 'scope',
  PipelineRole: 'role',
  MemoryOrder: 'memory order',
  MemoryScope: 'memory scope',
  Combination: 'combination',
  Barrier: 'barrier',
  'Pipeline | Barrier': 'pipeline or barrier',
  ArrivalToken: 'token',
  '() => void': 'function',
  PipelinedBatches: 'object',
  unknown: 'anything',
};

const kernel = new URL('../../src/kernel/', import.meta.url);
const files = readdirSync(kernel)
  .filter((name) => /^(cuda.*|schema)\.ts$/.test(name))
  .map((name) =>
    ts.createSourceFile(name, readFileSync(new URL(name, kernel), 'utf8'), ts.ScriptTarget.Latest, true),
  );

const interfaces = new Map(
  files.flatMap(({ statements }) =>
    statements.filter(ts.isInterfaceDeclaration).map((each) => [each.name.text, each]),
  ),
);

/** The type aliases that arguments are declared with, and what they mean. */
export const argumentTypes: ReadonlyMap<string, string> = new Map(
  files.flatMap(({ statements }) =>
    statements
      .filter(ts.isTypeAliasDeclaration)
      .filter(({ name }) => name.text in kinds)
      .map((each) => [each.name.text, textOf(each)] as const),
  ),
);

/** The members of a receiver, in their order. */
export function intrinsicsOf(receiver: string): readonly IntrinsicSource[] {
  const members = receivers[receiver]!.flatMap((name) => [...interfaces.get(name)!.members]);
  const named = members
    .filter((each) => ts.isPropertySignature(each) || ts.isMethodSignature(each))
    .filter(({ name }) => ts.isIdentifier(name));
  const names = [...new Set(named.map((each) => each.name.getText()))];
  return names.map((member) =>
    intrinsicOf(
      member,
      named.filter((each) => each.name.getText() === member),
    ),
  );
}

function intrinsicOf(
  member: string,
  declarations: readonly (ts.PropertySignature | ts.MethodSignature)[],
): IntrinsicSource {
  const texts = declarations.map(textOf).filter((text) => text !== '');
  const parts = texts.map((text) => /^(.*?)\.? CUDA: (.*?)\.?$/s.exec(text));
  if (parts.length === 0 || parts.includes(null))
    throw new Error(`${member} does not say what it is in CUDA`);
  const methods = declarations.filter(ts.isMethodSignature);
  return {
    member,
    signatures: declarations.map(signatureOf),
    forms:
      methods.length === 0
        ? null
        : methods.map((each) => each.parameters.map((one) => argumentOf(one, each))),
    doc: [...new Set(parts.map((part) => part![1]!))].join('. '),
    cuda: [...new Set(parts.map((part) => part![2]!))].join('<br>'),
  };
}

/** The text of a declaration's comment, on one line. */
function textOf(node: ts.Node): string {
  const [comment] = ts.getJSDocCommentsAndTags(node);
  return (ts.getTextOfJSDocComment(comment?.comment) ?? '').replace(/\s+/g, ' ');
}

function signatureOf(declaration: ts.PropertySignature | ts.MethodSignature): string {
  return declaration
    .getText()
    .replace(/\s+/g, ' ')
    .replace(/^readonly |;$|const /g, '')
    .replace(/\( /, '(')
    .replace(/, \)/, ')');
}

function argumentOf(parameter: ts.ParameterDeclaration, method: ts.MethodSignature): [string, string] {
  const { name, type, questionToken, dotDotDotToken } = parameter;
  const text = type!.getText().replace(/<.*>$|\[E?\]$/, '');
  const generic = method.typeParameters?.find((each) => each.name.text === text)?.constraint?.getText();
  const kind = kinds[generic ?? text];
  if (kind === undefined) throw new Error(`no kind of argument for ${text} of ${method.name.getText()}`);
  return [name.getText(), `${kind}${questionToken ? '?' : ''}${dotDotDotToken ? '...' : ''}`];
}
