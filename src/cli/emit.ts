// `warpstage emit`: the code that a kernel becomes.
//
// `ir` is the typed program as the compiler understood it; `wasm` the module as a device runs
// it; `wat` that module as text, which the wabt package writes where it is installed; `cuda` the CUDA
// C++ that a GPU's device compiles at run time; `ptx` what NVRTC makes of that, where it is installed.

import { type Command, Option } from 'commander';
import { asDefect } from '../compiler/defect.ts';
import type { Specialised } from '../compiler/specialise.ts';
import type { Kernel } from '../kernel/kernel.ts';
import { parseSchema } from '../kernel/parameters.ts';
import type { Extent3 } from '../kernel/types.ts';
import {
  type CpuPass,
  cpuPasses,
  type OptionalCpuPass,
  optionalCpuPasses,
} from '../targets/legalise/cpu/passes.ts';
import { type CommandContext, examplesText, newCommand } from './command.ts';
import { listNames, usageError } from './failure.ts';
import { findKernel } from './find-exports.ts';
import { loadModule } from './load-module.ts';
import { isTerminal, type Terminal } from './terminal.ts';
import { addSetting, parseBlock, type Settings } from './values.ts';
import { checkWritable, writeWhole } from './write-whole.ts';

interface EmitOptions {
  readonly target: 'wasm' | 'wat' | 'c' | 'ir' | 'cuda' | 'ptx';
  readonly architecture: number;
  readonly lines?: boolean;
  readonly checked?: boolean;
  readonly after?: 'lowering' | CpuPass;
  readonly without?: readonly OptionalCpuPass[];
  readonly explain?: boolean;
  readonly kernel?: string;
  readonly block: Extent3;
  readonly set?: Settings;
  readonly output?: string;
}

/** The command `emit`. */
export function emitCommand(context: CommandContext): Command {
  return newCommand('emit', context)
    .summary('show the code that a kernel becomes')
    .description('Compiles a kernel of a module for one block shape and shows what came of it.')
    .argument('<module>', 'the TypeScript or JavaScript file that exports the kernel')
    .addOption(
      new Option('-t, --target <target>', 'what to show; wat needs the package wabt, and ptx NVRTC')
        .choices(['wasm', 'wat', 'c', 'ir', 'cuda', 'ptx'])
        .default('cuda'),
    )
    .addOption(
      new Option('--architecture <number>', 'of the GPU, for --target cuda and ptx, --after and --explain')
        .argParser(parseArchitecture)
        .default(90),
    )
    .option('--lines', 'let the lines of CUDA C++ count in the source file, for compilers and debuggers')
    .option('--checked', 'with the tests of a checked GPU, for --target cuda and ptx')
    .addOption(
      new Option(
        '--after <pass>',
        'the IR as a GPU gets it (lowering), or after a pass for the CPU, for --target ir',
      ).choices(['lowering', ...cpuPasses]),
    )
    .addOption(
      new Option(
        '--without <pass...>',
        'leave out passes for the CPU, for --target wasm, wat and c, or --after one of them',
      ).choices([...optionalCpuPasses]),
    )
    .option('--explain', 'say instead how the kernel will run on each target, and why that way')
    .option('-k, --kernel <name>', 'which kernel, or the job it belongs to, where the module has several')
    .addOption(
      new Option('-b, --block <threads>', 'the shape of a block, for example 256 or 16x16')
        .argParser(parseBlock)
        .default([256, 1, 1], '256'),
    )
    .option('-s, --set <name=value>', 'set a constant of the kernel (repeatable)', addSetting)
    .option('-o, --output <file>', 'write to a file instead of standard output')
    .addHelpText(
      'after',
      examplesText([
        'warpstage emit affine.ts --target ir',
        'warpstage emit staging.ts --kernel withStagingUnified --set stagesCount=4 --target wat',
        'warpstage emit staging.ts --target wasm --block 16x16 -o staging.wasm',
        'warpstage emit staging.ts --target c -o staging.c',
        'warpstage emit staging.ts --target cuda --architecture 80',
        'warpstage emit staging.ts --target ptx --lines -o staging.ptx',
        'warpstage emit staging.ts --target ir --after lowering --architecture 80',
        'warpstage emit staging.ts --target ir --after block --without affine',
        'warpstage emit staging.ts --explain',
      ]),
    )
    .action((modulePath: string, options: EmitOptions) => emit(modulePath, options, context.terminal));
}

async function emit(modulePath: string, options: EmitOptions, { output }: Terminal): Promise<void> {
  if (options.output !== undefined) await checkWritable(options.output, '-o', { reads: [modulePath] });
  const kernel = findKernel(await loadModule(modulePath), options.kernel);
  const constants = constantsOf(kernel, options.set ?? {});
  const { specialise } = await import('../compiler/specialise.ts');
  const specialised = specialise(kernel, {
    block: options.block,
    cooperative: true,
    indexType: 'i32',
    constants,
    functions: {},
  });
  const code = await codeOf(specialised, options).catch((error: unknown) => {
    throw asDefect(error, { what: kernel.name, sources: specialised.sources });
  });
  if (options.output !== undefined) return writeWhole(options.output, code);
  if (typeof code !== 'string' && isTerminal(output)) {
    throw usageError(
      'a WebAssembly module is not for a terminal',
      'write it to a file with -o, or see it with --target wat',
    );
  }
  output.write(code);
}

/** The settings, if the kernel has constants of these names, and no other that lacks a value. */
function constantsOf(kernel: Kernel, settings: Settings): Settings {
  const constants = parseSchema(kernel.schema).filter((parameter) => parameter.kind === 'constant');
  const names = constants.map(({ name }) => name);
  for (const name of Object.keys(settings)) {
    if (names.includes(name)) continue;
    throw usageError(
      `the kernel ${kernel.name} has no constant \`${name}\``,
      names.length > 0 ? `its constants are ${listNames(names)}` : 'it has no constants; leave --set out',
    );
  }
  const missing = constants.find(({ name, ...one }) => one.default === undefined && !(name in settings));
  if (missing !== undefined) {
    throw usageError(
      `the constant \`${missing.name}\` of the kernel ${kernel.name} has no value`,
      `set it: --set ${missing.name}=${missing.type === 'bool' ? 'true' : '1'}`,
    );
  }
  return settings;
}

/** 75, 80, 90, …: the compute capability without its point. */
function parseArchitecture(text: string): number {
  if (/^\d{2,3}$/.test(text) && Number(text) >= 75) return Number(text);
  throw usageError(
    `the architecture must be a number from 75, and \`${text}\` was given`,
    'it is the compute capability without its point: 80 for an A100, 90 for an H200',
  );
}

async function codeOf(
  { program, sources }: Specialised,
  {
    target,
    architecture,
    lines = false,
    checked = false,
    after,
    without = [],
    explain: explains = false,
  }: EmitOptions,
): Promise<string | Uint8Array> {
  if (after !== undefined && (target !== 'ir' || explains))
    throw usageError('--after shows the IR', 'add --target ir, and leave --explain out');
  const ofCpu = ['wasm', 'wat', 'c'].includes(target) || (after !== undefined && after !== 'lowering');
  if (without.length > 0 && !ofCpu) {
    throw usageError(
      '--without leaves out passes for the CPU',
      'add --target wasm, or --target ir --after block',
    );
  }
  if (explains) {
    const { explain } = await import('./explain.ts');
    return explain({ program, sources } as Specialised, architecture);
  }
  if (target === 'cuda' || target === 'ptx') {
    const { cudaText, ptxOptions } = await import('../targets/cuda/compile.ts');
    const text = cudaText(program, architecture, lines ? sources : null, checked);
    if (target === 'cuda') return text;
    const { openNvrtc } = await import('../runtime/cuda/nvrtc.ts');
    const ptx = openNvrtc().compile(text, `${program.name}.cu`, ptxOptions(architecture, program, lines));
    return new TextDecoder().decode(ptx).replace(/\0+$/, '');
  }
  if (target === 'ir') {
    const { printProgram } = await import('../compiler/print.ts');
    if (after === undefined) return printProgram(program);
    if (after !== 'lowering') {
      const { programAfter } = await import('../targets/legalise/cpu/lower.ts');
      const passed = programAfter(program, after, without);
      if ('obstacle' in passed) {
        throw usageError(
          `this kernel does not get to the pass ${after}: ${passed.obstacle.reason}`,
          'its threads run as state machines; --after cohorts shows what those are made of',
        );
      }
      return printProgram(passed.program);
    }
    const { lowerForGpu } = await import('../targets/legalise/lower.ts');
    const { blockUniformPipelines } = await import('../targets/legalise/synchronisation.ts');
    const alignments = program.parameters.map(() => 16);
    const options = { architecture, alignments, blockUniform: blockUniformPipelines(program) };
    return printProgram(lowerForGpu(program, options).program);
  }
  const { moduleForProcessor, wasmBytes } = await import('../targets/wasm/compile.ts');
  if (target === 'c') {
    const { nativeText } = await import('../targets/native/module-text.ts');
    return nativeText(moduleForProcessor(program, 1, { without }).bytes).text;
  }
  const bytes = wasmBytes(program, { without });
  return target === 'wasm' ? bytes : disassemble(bytes);
}

/** The module as text. wabt is a matter of the user's taste, not a dependency: 5 MB that only this needs. */
async function disassemble(bytes: Uint8Array): Promise<string> {
  const { default: load } = await import('wabt').catch(() => {
    throw usageError(
      'the text form needs the wabt package, which is not installed',
      'install it: `npm install --save-dev wabt`',
    );
  });
  const wabt = await load();
  const module = wabt.readWasm(bytes, { readDebugNames: true, threads: true, relaxed_simd: true });
  try {
    module.applyNames();
    return module.toText({ foldExprs: true, inlineExport: false });
  } finally {
    module.destroy();
  }
}
