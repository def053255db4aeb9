// NVRTC: CUDA C++ to machine code at run time.

import { WarpstageError } from '../../diagnostics/error.ts';
import { bind, callAside, loadBeside, type NativeFunction, openLibrary, type Prototype } from './library.ts';
import { toolkitFolders, wheelFolders } from './toolkit.ts';

const out = '_Out_ uint64_t *';

const prototypes = {
  nvrtcVersion: ['int', '_Out_ int *', '_Out_ int *'],
  nvrtcGetErrorString: ['const char *', 'int'],
  nvrtcCreateProgram: ['int', out, 'const char *', 'const char *', 'int', 'void *', 'void *'],
  nvrtcDestroyProgram: ['int', '_Inout_ uint64_t *'],
  nvrtcCompileProgram: ['int', 'uint64_t', 'int', 'const char **'],
  nvrtcGetProgramLogSize: ['int', 'uint64_t', '_Out_ size_t *'],
  nvrtcGetProgramLog: ['int', 'uint64_t', 'void *'],
  nvrtcGetCUBINSize: ['int', 'uint64_t', '_Out_ size_t *'],
  nvrtcGetCUBIN: ['int', 'uint64_t', 'void *'],
  nvrtcGetPTXSize: ['int', 'uint64_t', '_Out_ size_t *'],
  nvrtcGetPTX: ['int', 'uint64_t', 'void *'],
  nvrtcAddNameExpression: ['int', 'uint64_t', 'const char *'],
  nvrtcGetLoweredName: ['int', 'uint64_t', 'const char *', '_Out_ const char **'],
} as const satisfies Record<string, Prototype>;

/** What is to be compiled. */
export interface CodeRequest {
  readonly text: string;
  /** The file's name in messages. */
  readonly name: string;
  readonly options: readonly string[];
  /** A kernel as C++ spells it, `scale<float>`, whose name in the code is wanted. */
  readonly expression?: string;
}

export interface Nvrtc {
  /** What it was looked for by. */
  readonly asked: string;
  /** What it was opened by: a path, or a name alone. */
  readonly path: string;
  /** Major and minor version. */
  readonly version: readonly [number, number];
  /** Compiles to machine code (`sm_90`) or, for an architecture `compute_90`, to PTX. Throws with the compiler's log. */
  readonly compile: (text: string, name: string, options: readonly string[]) => Uint8Array;
  /** Compiles to PTX, and gives the name of the expression. */
  readonly compilePtx: (request: CodeRequest) => { readonly ptx: Uint8Array; readonly entry: string | null };
  /** Compiles to machine code, with the PTX that it was made of, and the name of the expression. */
  readonly compileBoth: (request: CodeRequest) => {
    readonly image: Uint8Array;
    readonly ptx: Uint8Array | null;
    readonly entry: string | null;
  };
  /** Compiles next to nothing on another thread: what NVRTC does once in a process is done then. */
  readonly warmUp: (architecture: number) => Promise<void>;
}

let opened: Nvrtc | undefined;

/** What decides which NVRTC is found. */
export function askedNvrtc(): string {
  const { WARPSTAGE_NVRTC, CUDA_PATH, CUDA_HOME, LD_LIBRARY_PATH, VIRTUAL_ENV } = process.env;
  // A list of JSON: a variable that is not set is not one that is empty, and none runs into the next.
  return JSON.stringify([WARPSTAGE_NVRTC, CUDA_PATH, CUDA_HOME, LD_LIBRARY_PATH, VIRTUAL_ENV]);
}

/** Opens NVRTC, once in a process; an error in one sentence says how to get it. */
export function openNvrtc(): Nvrtc {
  if (opened !== undefined) return opened;
  const asked = askedNvrtc();
  const own = process.env.WARPSTAGE_NVRTC;
  const versions = ['13', '12', '11.2'];
  const names =
    process.platform === 'win32'
      ? ['nvrtc64_130_0.dll', 'nvrtc64_120_0.dll']
      : [...versions.map((v) => `libnvrtc.so.${v}`), 'libnvrtc.so'];
  const folders = [...toolkitFolders(['lib64', 'bin']), ...wheelFolders(['cu13', 'cuda_nvrtc'])];
  const found = openLibrary(own === undefined ? names : [own], own === undefined ? folders : []);
  if (found.library === null) {
    throw new WarpstageError({
      code: 'WS4003',
      message:
        own === undefined
          ? 'NVRTC, the compiler of CUDA, was not found'
          : `NVRTC was not found at WARPSTAGE_NVRTC=${own}`,
      hint: 'install the CUDA toolkit or `pip install nvidia-cuda-nvrtc`, or set WARPSTAGE_NVRTC to the path of libnvrtc',
    });
  }
  // NVRTC opens its declarations by name, where the system looks for libraries: a wheel's folder is none of these places.
  loadBeside(found.path, process.platform === 'win32' ? 'nvrtc-builtins' : 'libnvrtc-builtins.so');
  const functions = bind(found.library, prototypes);
  const check = (result: number, doing: string) => {
    if (result === 0) return;
    throw new WarpstageError({
      code: 'WS4003',
      message: `NVRTC: ${doing} failed: ${functions.nvrtcGetErrorString(result)}`,
    });
  };
  const [major, minor] = [[0], [0]];
  check(functions.nvrtcVersion(major, minor), 'asking for the version');
  const version = [major[0]!, minor[0]!] as const;
  const bytes = (program: number, size: NativeFunction, get: NativeFunction) => {
    const length = [0];
    check(size(program, length), 'asking for a size');
    const data = new Uint8Array(Number(length[0]));
    check(get(program, data), 'reading the result');
    return data;
  };

  /** Compiles, and has `take` take what it wants of the result. */
  const compileTo = <T>(
    { text, name, options, expression }: CodeRequest,
    take: (program: number) => T,
  ): T => {
    const handle = [0];
    check(functions.nvrtcCreateProgram(handle, text, name, 0, null, null), 'creating a program');
    const program = handle[0]!;
    try {
      if (expression !== undefined) {
        check(functions.nvrtcAddNameExpression(program, expression), 'naming a kernel');
      }
      // Text without an expression is generated, and needs none of the runtime's declarations: a fifth of the front end's time.
      const all = version[0] >= 13 && expression === undefined ? [...options, '--minimal'] : options;
      if (functions.nvrtcCompileProgram(program, all.length, all) !== 0) {
        const log = Buffer.from(
          bytes(program, functions.nvrtcGetProgramLogSize, functions.nvrtcGetProgramLog),
        ).toString('utf8');
        const said = log.replace(/\0+$/, '').trim();
        if (said.includes('nvrtc-builtins')) throw withoutBuiltins(found.path, said);
        throw new WarpstageError({ code: 'WS1014', message: `NVRTC could not compile ${name}:\n${said}` });
      }
      return take(program);
    } finally {
      functions.nvrtcDestroyProgram(handle);
    }
  };
  const ptxOf = (program: number) => bytes(program, functions.nvrtcGetPTXSize, functions.nvrtcGetPTX);
  const cubinOf = (program: number) => bytes(program, functions.nvrtcGetCUBINSize, functions.nvrtcGetCUBIN);
  const compile = (text: string, name: string, options: readonly string[]) => {
    const wantsPtx = options.some((option) => option.includes('compute_'));
    return compileTo({ text, name, options }, wantsPtx ? ptxOf : cubinOf);
  };
  const entryOf = (program: number, expression: string | undefined) => {
    const lowered: (string | null)[] = [null];
    if (expression !== undefined) {
      check(functions.nvrtcGetLoweredName(program, expression, lowered), `finding ${expression}`);
    }
    return lowered[0] ?? null;
  };
  const compilePtx = (request: CodeRequest) =>
    compileTo(request, (program) => ({ ptx: ptxOf(program), entry: entryOf(program, request.expression) }));
  const compileBoth = (request: CodeRequest) =>
    compileTo(request, (program) => {
      const ptx = ptxOf(program);
      const entry = entryOf(program, request.expression);
      return { image: cubinOf(program), ptx: ptx.length > 0 ? ptx : null, entry };
    });

  const warmUp = async (architecture: number) => {
    const handle = [0];
    const text = 'extern "C" __global__ void warmUp() {}';
    if (functions.nvrtcCreateProgram(handle, text, 'warm-up.cu', 0, null, null) !== 0) return;
    const options = [`--gpu-architecture=sm_${architecture}`];
    await callAside(functions.nvrtcCompileProgram, handle[0]!, options.length, options);
    functions.nvrtcDestroyProgram(handle);
  };

  opened = { asked, path: found.path, version, compile, compilePtx, compileBoth, warmUp };
  return opened;
}

/** The error of an NVRTC whose own declarations are not there. */
function withoutBuiltins(path: string, said: string): WarpstageError {
  return new WarpstageError({
    code: 'WS4003',
    message: `NVRTC (${path}) cannot compile without its library nvrtc-builtins, which is not beside it: ${said.replace(/\s+/g, ' ')}`,
    hint: 'install the CUDA toolkit or `pip install nvidia-cuda-nvrtc` again, or set WARPSTAGE_NVRTC to the libnvrtc of a folder that has both',
  });
}
