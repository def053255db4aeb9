// Whole processes that open a GPU, compile saxpy and check its result (bench/programs), beside the same by
// hand; and what a kernel costs that is compiled, or found in the cache on disk.
//
// NVRTC keeps a cache of its own, which a bench that compiles a text twice measures: so the texts differ.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from 'warpstage';
import { specialise } from '#warpstage/compiler/specialise.js';
import { CodeCache } from '#warpstage/runtime/cuda/code-cache.js';
import { CudaCompiler } from '#warpstage/runtime/cuda/compiler.js';
import { openDriver } from '#warpstage/runtime/cuda/driver.js';
import { compileCuda, nvrtcOptions } from '#warpstage/targets/cuda/compile.js';
import { withStagingUnified } from '../../examples/guide/staging-unified.ts';
import { median, type Row } from '../measure.ts';

/** A program of bench/programs. */
function programOf(name: string): string {
  const place = ['bench', join('..', 'bench')].find((one) => existsSync(join(one, 'programs', name)));
  if (place === undefined) throw new Error(`bench/programs/${name} is not here`);
  return join(place, 'programs', name);
}

/** Seconds from the start of a process to the checked result, and to its end. */
function run(program: string, environment: Readonly<Record<string, string>>) {
  const begin = performance.now();
  const env = { ...process.env, ...environment };
  const marks: Record<string, number> = JSON.parse(
    execFileSync(process.execPath, [programOf(program)], { encoding: 'utf8', env }),
  );
  return { checked: marks.check! / 1000, whole: (performance.now() - begin) / 1000 };
}

/** By turns: with an empty cache, with a warm one, by hand. */
export async function processes(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'warpstage-cold-'));
  const [kept, fresh] = [join(folder, 'kept'), join(folder, 'fresh')];
  // What NVRTC keeps by itself would be found by the later rounds.
  const alone = { CUDA_CACHE_DISABLE: '1' };
  const variants = {
    'empty cache': () => {
      rmSync(fresh, { recursive: true, force: true });
      return run('saxpy.mjs', { WARPSTAGE_CACHE: fresh, ...alone });
    },
    'warm cache': () => run('saxpy.mjs', { WARPSTAGE_CACHE: kept, ...alone }),
    'warm cache, one connection': () =>
      run('saxpy.mjs', { WARPSTAGE_CACHE: kept, CUDA_DEVICE_MAX_CONNECTIONS: '1', ...alone }),
    'koffi and NVRTC by hand': () => run('saxpy-koffi.mjs', alone),
  };
  type Name = keyof typeof variants;
  const names = Object.keys(variants) as Name[];
  const times = Object.fromEntries(names.map((name) => [name, [] as ReturnType<typeof run>[]]));
  try {
    // Files are in the page cache after the first round.
    for (let round = -1; round < 5; ++round) {
      for (const name of names) {
        const time = variants[name]();
        if (round >= 0) times[name]!.push(time);
      }
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  const against = names.at(-1)!;
  return (['checked', 'whole'] as const).flatMap((part) =>
    names.map((name): Row => {
      const seconds = times[name]!.map((time) => time[part]);
      return {
        suite: 'gpu',
        work: 'process',
        bytes: 0,
        variant: `${name}, ${part === 'checked' ? 'to the checked result' : 'to the end of the process'}`,
        against,
        ratio: median(seconds.map((one, round) => times[against]![round]![part] / one)),
        seconds: median(seconds),
      };
    }),
  );
}

/** A guide kernel from its TypeScript to a module that the driver has loaded. */
export async function compilation(): Promise<Row[]> {
  await using device = await open('cuda');
  const architecture = Number(device.properties.computeCapability.replace('.', ''));
  const driver = openDriver();
  const folder = mkdtempSync(join(tmpdir(), 'warpstage-code-'));
  const compiler = new CudaCompiler(architecture, new CodeCache([folder]));
  const loads: number[] = [];
  const inNvrtc: number[] = [];
  const once = (mark: string) => {
    const begin = performance.now();
    const specialised = specialise(withStagingUnified, {
      block: [256, 1, 1],
      indexType: 'i32',
      constants: {},
      functions: {},
    });
    const executable = compileCuda(specialised, [16, 16, 1], {
      architecture,
      compile: (text, name, options) => {
        const called = performance.now();
        const { image } = compiler.compile(`__device__ int ${mark};\n${text}`, name, options);
        inNvrtc.push((performance.now() - called) / 1000);
        return image;
      },
    });
    if (executable.target !== 'cuda') throw new Error('not for a GPU');
    const made = performance.now();
    const module = [0];
    driver.check(driver.cuModuleLoadData(module, executable.image), 'loading');
    loads.push((performance.now() - made) / 1000);
    const end = performance.now();
    driver.cuModuleUnload(module[0]);
    return (end - begin) / 1000;
  };
  /** What NVRTC takes for a kernel without a statement, which no generated text can be below. */
  const empty = (mark: string) => {
    const begin = performance.now();
    const text = `extern "C" __global__ void ${mark}() {}\n`;
    compiler.compile(text, 'empty.cu', nvrtcOptions(architecture, { fma: false }));
    return (performance.now() - begin) / 1000;
  };
  try {
    let count = 0;
    const times = (rounds: number, mark: () => string) =>
      Array.from({ length: rounds }, () => once(mark())).slice(rounds >> 1);
    // By turns, as the machine's speed changes from minute to minute.
    const emptied: number[] = [];
    const newText = () => {
      emptied.push(empty(`empty_${process.pid}_${count}`));
      return `bench_${process.pid}_${++count}`;
    };
    const compiled = median(times(30, newText));
    const nvrtc = median(inNvrtc.slice(inNvrtc.length >> 1));
    const cached = median(times(400, () => `bench_${process.pid}_1`));
    const row = (variant: string, seconds: number): Row => ({
      suite: 'gpu',
      work: 'compile',
      bytes: 0,
      variant,
      against: 'compiled by NVRTC',
      ratio: compiled / seconds,
      seconds,
    });
    return [
      row('a guide kernel, compiled by NVRTC', compiled),
      row('of which NVRTC', nvrtc),
      row('the same from the cache on disk', cached),
      row('of which the driver loads the module', median(loads)),
      row('an empty kernel, compiled by NVRTC', median(emptied.slice(emptied.length >> 1))),
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}
