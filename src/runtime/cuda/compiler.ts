// From CUDA C++ to code that the driver loads: from the cache, by NVRTC, or, where there is no
// NVRTC, from PTX that another machine left in the cache.
//
// Loading NVRTC takes longer than reading the cache. So its version, which entries depend on, is
// remembered with the size and date of its file, and NVRTC is opened only for code that is new.
//
// The cache knows code by its text. A text that includes files is compiled each time, since those may have changed
// (included.ts); only PTX that was asked for by WARPSTAGE_PTX is kept of it, for machines without NVRTC.

import { readFileSync, realpathSync, statSync } from 'node:fs';
import { WarpstageError } from '../../diagnostics/error.ts';
import { CodeCache, type CodeKey } from './code-cache.ts';
import { includesFiles } from './included.ts';
import { askedNvrtc, type CodeRequest, type Nvrtc, openNvrtc } from './nvrtc.ts';

/** NVRTC as it was found last. */
interface Known {
  /** What could lead to another one. */
  readonly asked: string;
  readonly path: string;
  readonly size: number;
  readonly date: number;
  readonly version: string;
}

const knownName = 'nvrtc.json';

const isTarget = (option: string) => option.startsWith('--gpu-architecture=');

function keyOf(text: string, options: readonly string[], expression = ''): CodeKey {
  // The first target is the entry's kind. A user may have given another behind it.
  const target = options.findIndex(isTarget);
  return { text, options: [...options.filter((_, position) => position !== target), expression] };
}

/**
 * The architectures whose PTX is to be kept beside this machine's own code: those that WARPSTAGE_PTX lists.
 *
 * @throws WarpstageError WS4007 for a list that cannot be read
 */
export function portableArchitectures(): readonly number[] {
  const { WARPSTAGE_PTX: list = '' } = process.env;
  if (list.trim() === '') return [];
  return list.split(',').map((one) => {
    const number = Number(one);
    if (Number.isInteger(number) && number >= 75 && number < 1000) return number;
    throw new WarpstageError({
      code: 'WS4007',
      message: `WARPSTAGE_PTX must list architectures from 75, such as 75,80, and is ${list}`,
      hint: 'an architecture is the compute capability without its point: 80 for an A100, 90 for an H200',
    });
  });
}

export class CudaCompiler {
  readonly #architecture: number;
  readonly #cache: CodeCache;
  /** The version that was found last, and what led to it. */
  #version: { readonly asked: string; readonly version: string } | null = null;

  constructor(architecture: number, cache: CodeCache = new CodeCache()) {
    this.#architecture = architecture;
    this.#cache = cache;
  }

  /**
   * Code for the driver.
   *
   * @throws WarpstageError WS1014 for text that NVRTC refuses, WS4003 without NVRTC
   */
  compile(text: string, name: string, options: readonly string[], expression?: string): CompiledCode {
    const target = options.find(isTarget)?.replace(/.*_/, '') ?? String(this.#architecture);
    const key = keyOf(text, options, expression);
    const kind = `${target}.cubin`;
    const known = this.#knownVersion();
    const isWhole = !includesFiles(text, options);
    const kept = known === null || !isWhole ? null : this.#cache.find(key, kind, known);
    if (kept !== null) return unpack(kept);
    let nvrtc: Nvrtc;
    try {
      nvrtc = openNvrtc();
    } catch (missing) {
      const own = isWhole ? this.#cache.find(key, kind, null) : null;
      const code = own ?? this.#cache.findPortable(key, this.#architecture);
      if (code !== null) return unpack(code);
      throw missing;
    }
    const version = nvrtc.version.join('.');
    this.#remember(nvrtc, version);
    const again = known === version || !isWhole ? null : this.#cache.find(key, kind, version);
    if (again !== null) return unpack(again);
    const request: CodeRequest = { text, name, options, ...(expression === undefined ? {} : { expression }) };
    const { image, ptx, entry } = nvrtc.compileBoth(request);
    const lowered = entry ?? '';
    if (!isWhole) return { image, entry: lowered };
    this.#cache.keep(key, kind, version, pack(lowered, image));
    if (ptx !== null) this.#cache.keep(key, `${target}.ptx`, version, pack(lowered, ptx));
    return { image, entry: lowered };
  }

  /**
   * Keeps PTX of a text in the cache, for machines without NVRTC; options name an architecture `compute_80`.
   *
   * @throws WarpstageError as `compile` does
   */
  keepPortable(text: string, name: string, options: readonly string[], expression?: string): void {
    const target = options.find(isTarget)!.replace(/.*_/, '');
    const key = keyOf(text, options, expression);
    if (!includesFiles(text, options) && this.#cache.find(key, `${target}.ptx`, null) !== null) return;
    const nvrtc = openNvrtc();
    const request: CodeRequest = { text, name, options, ...(expression === undefined ? {} : { expression }) };
    const { ptx, entry } = nvrtc.compilePtx(request);
    this.#cache.keep(key, `${target}.ptx`, nvrtc.version.join('.'), pack(entry ?? '', ptx));
  }

  #knownVersion(): string | null {
    const now = askedNvrtc();
    if (this.#version?.asked === now) return this.#version.version;
    const version = knownVersion(this.#cache);
    if (version !== null) this.#version = { asked: now, version };
    return version;
  }

  #remember(nvrtc: Nvrtc, version: string): void {
    const path = pathOf(nvrtc.path);
    if (path === null) return;
    const { size, mtimeMs } = statSync(path);
    const known: Known = { asked: nvrtc.asked, path, size, date: mtimeMs, version };
    const text = JSON.stringify(known);
    if (this.#cache.read(knownName)?.toString('utf8') !== text) this.#cache.write(knownName, text);
  }
}

/** The version of NVRTC, if it is known without opening it. */
function knownVersion(cache: CodeCache): string | null {
  const text = cache.read(knownName);
  if (text === null) return null;
  try {
    const known = JSON.parse(text.toString('utf8')) as Known;
    const { size, mtimeMs } = statSync(known.path);
    return known.asked === askedNvrtc() && known.size === size && known.date === mtimeMs
      ? known.version
      : null;
  } catch {
    return null;
  }
}

/** Whether NVRTC was found and used before, so that it need not be opened for code that is in the cache. */
export function isCompilerKnown(): boolean {
  return knownVersion(new CodeCache()) !== null;
}

/** Throws WS4003 if kernels cannot be compiled here. */
export function checkCompiler(): void {
  if (!isCompilerKnown()) openNvrtc();
}

/** Code for the driver, and the entry's name in it where it was asked for. */
export interface CompiledCode {
  readonly image: Uint8Array;
  readonly entry: string;
}

/** The file of a library that was opened by a path or by its name alone; null where the system does not say. */
function pathOf(opened: string): string | null {
  try {
    if (/[\\/]/.test(opened)) return realpathSync(opened);
    const map = readFileSync('/proc/self/maps', 'utf8').split('\n');
    const line = map.find((entry) => /\/libnvrtc\.so[^/]*$/.test(entry));
    return line === undefined ? null : line.slice(line.indexOf('/'));
  } catch {
    return null;
  }
}

function pack(entry: string, image: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`${entry}\n`), image]);
}

function unpack(code: Uint8Array): CompiledCode {
  const end = code.indexOf(10);
  if (end < 0) throw new WarpstageError({ code: 'WS1014', message: 'code of the cache without a head' });
  return { entry: Buffer.from(code.subarray(0, end)).toString('utf8'), image: code.slice(end + 1) };
}
