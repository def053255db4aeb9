// Loads the user's module: TypeScript or JavaScript, on every Node that warpstage supports.
//
// Node imports the module itself where it can. Where it cannot strip types (Node 20), or will
// not (enums, extensionless imports, files in node_modules), jiti loads it. Either way the name
// `warpstage` in the module means this very package, whether or not it is installed beside the
// module: a job and the command that runs it belong to one version. What jiti makes of a module is
// kept only where this user alone can write, as it is run the next time.

import { existsSync, statSync } from 'node:fs';
import nodeModule from 'node:module';
import { extname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { WarpstageError } from '../diagnostics/error.ts';
import { cacheFolder } from '../files/cache-folders.ts';
import { moduleFailure } from './module-failure.ts';

/** A loaded module: its exports by name. */
export interface LoadedModule {
  /** As it was given on the command line. */
  readonly name: string;
  /** Absolute. */
  readonly path: string;
  readonly exports: Readonly<Record<string, unknown>>;
}

/** Loads the module at a path. Throws WS5002 if there is none or if it cannot be loaded. */
export async function loadModule(name: string): Promise<LoadedModule> {
  const path = resolve(name);
  checkExists(name, path);
  try {
    return { name, path, exports: await importModule(path) };
  } catch (error) {
    throw moduleFailure(name, path, error);
  }
}

function checkExists(name: string, path: string): void {
  if (existsSync(path) && statSync(path).isFile()) return;
  const issue = existsSync(path) ? `${name} is not a file` : `there is no module ${name}`;
  const withExtension = ['.ts', '.js', '.mjs'].find((extension) => existsSync(path + extension));
  throw new WarpstageError({
    code: 'WS5002',
    message: issue,
    hint:
      withExtension === undefined
        ? 'name the TypeScript or JavaScript file that exports the job, for example `warpstage run affine.ts in.npy out.npy`'
        : `did you mean ${name}${withExtension}?`,
  });
}

async function importModule(path: string): Promise<Readonly<Record<string, unknown>>> {
  if (!nodeCanImport(path)) return importWithJiti(path);
  const release = resolveToThisPackage();
  try {
    return (await import(pathToFileURL(path).href)) as Record<string, unknown>;
  } catch (error) {
    // Errors of linking: nothing of the module has run yet, so that it may be loaded again.
    if (!linkErrors.has((error as NodeJS.ErrnoException | null)?.code ?? '')) throw error;
    return await importWithJiti(path);
  } finally {
    release();
  }
}

const linkErrors = new Set([
  'ERR_MODULE_NOT_FOUND',
  'ERR_UNKNOWN_FILE_EXTENSION',
  'ERR_UNSUPPORTED_DIR_IMPORT',
  'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING',
  'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX',
]);

/** `process.features.typescript` and `module.registerHooks` are newer than the types of Node 20. */
interface NewerNode {
  readonly typescript?: 'strip' | 'transform' | false;
  readonly registerHooks?: (hooks: { resolve: ResolveHook }) => { deregister(): void };
}

type ResolveHook = (
  specifier: string,
  context: object,
  next: (specifier: string, context: object) => object,
) => object;

const { typescript } = process.features as NewerNode;
const { registerHooks } = nodeModule as NewerNode;

/** What users import, of this very package: where each name leads. */
const thisPackage: ReadonlyMap<string, string> = new Map(
  ['warpstage', 'warpstage/check', 'warpstage/host'].map((name) => [name, import.meta.resolve(name)]),
);

function nodeCanImport(path: string): boolean {
  return registerHooks !== undefined && (Boolean(typescript) || /^\.[cm]?js$/.test(extname(path)));
}

/** Makes `warpstage` mean this package in modules that Node imports, until it is released. */
function resolveToThisPackage(): () => void {
  const hooks = registerHooks?.({
    resolve: (specifier, context, next) => {
      const url = thisPackage.get(specifier);
      return url === undefined ? next(specifier, context) : { url, shortCircuit: true };
    },
  });
  return () => hooks?.deregister();
}

async function importWithJiti(path: string): Promise<Readonly<Record<string, unknown>>> {
  // By require: Node would read all of jiti to find out its exports before importing it.
  const { createJiti } = nodeModule.createRequire(import.meta.url)('jiti') as typeof import('jiti');
  const ours = await Promise.all(
    Array.from(thisPackage, async ([name, url]): Promise<[string, unknown]> => [name, await import(url)]),
  );
  // The source maps lead from a kernel back to the user's line.
  const jiti = createJiti(import.meta.url, {
    sourceMaps: true,
    fsCache: cacheFolder('modules') ?? false,
    interopDefault: false,
    virtualModules: Object.fromEntries(ours),
  });
  return jiti.import(path);
}
