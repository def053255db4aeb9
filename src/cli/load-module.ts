// Loads the user's module: TypeScript or JavaScript, on every Node that warpstage supports.
//
// Node imports the module itself where it can. Where it cannot strip types (Node 20), or will not (enums,
// extensionless imports, `paths` of the tsconfig.json, files in node_modules), jiti loads it. Either way the
// name `warpstage` in the module means this very package, whether or not it is installed beside the module: a
// job and the command that runs it belong to one version. What jiti makes of a module is kept only where this
// user alone can write, as it is run the next time.

import { existsSync, statSync } from 'node:fs';
import nodeModule from 'node:module';
import { dirname, extname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { WarpstageError } from '../diagnostics/error.ts';
import { cacheFolder } from '../files/cache-folders.ts';
import { inlineEnums, versionOfInlining } from './inline-enums.ts';
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
    if (!isLinkError(error)) throw error;
    return await importWithJiti(path).catch((reason: unknown) => {
      throw isMissing(error, reason) ? error : reason;
    });
  } finally {
    release();
  }
}

/** Whether the module was not linked: nothing of it has run yet, so that it may be loaded again. */
function isLinkError(error: unknown): boolean {
  return (
    missingExport(error) !== undefined || linkErrors.has((error as NodeJS.ErrnoException | null)?.code ?? '')
  );
}

/** The name that an import did not find: it may be a type, imported without `type`, which TypeScript leaves out. */
function missingExport(error: unknown): string | undefined {
  return error instanceof SyntaxError
    ? /does not provide an export named '([^']+)'/.exec(error.message)?.[1]
    : undefined;
}

/** Whether it was no type: jiti left it undefined, and the module failed when it used it. */
function isMissing(error: unknown, reason: unknown): boolean {
  const name = missingExport(error);
  return name !== undefined && reason instanceof TypeError && reason.message.includes(name);
}

const linkErrors = new Set([
  'ERR_INVALID_MODULE_SPECIFIER',
  'ERR_MODULE_NOT_FOUND',
  'ERR_PACKAGE_IMPORT_NOT_DEFINED',
  'ERR_PACKAGE_PATH_NOT_EXPORTED',
  'ERR_UNKNOWN_FILE_EXTENSION',
  'ERR_UNSUPPORTED_DIR_IMPORT',
  'ERR_UNSUPPORTED_ESM_URL_SCHEME',
  'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING',
  'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX',
]);

/** What `process.features` and `node:module` have is newer than the types of Node 20. */
interface NewerNode {
  readonly typescript?: 'strip' | 'transform' | false;
  readonly require_module?: boolean;
  readonly registerHooks?: (hooks: { resolve: ResolveHook }) => { deregister(): void };
}

type ResolveHook = (
  specifier: string,
  context: object,
  next: (specifier: string, context: object) => object,
) => object;

const { typescript, require_module: requiresModules } = process.features as NewerNode;
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
  const require = nodeModule.createRequire(import.meta.url);
  // By require: Node would read all of jiti to find out its exports before importing it.
  const { createJiti } = require('jiti') as typeof import('jiti');
  const ours = await loadThisPackage(require);
  const tsconfig = nearestTsconfig(path);
  const create = (tsconfigPaths: string | false) =>
    createJiti(import.meta.url, {
      // They lead from a kernel back to the user's line.
      sourceMaps: true,
      // It knows its files by their text alone, and not by what is made of it.
      fsCache: cacheFolder(`modules-${versionOfInlining()}`) ?? false,
      interopDefault: false,
      virtualModules: ours,
      tsconfigPaths,
      transformOptions: { babel: { presets: [inlineEnums] } },
    });
  let unread: unknown;
  let jiti: ReturnType<typeof create>;
  try {
    jiti = create(tsconfig ?? false);
  } catch (error) {
    // A module that uses none of its paths loads without it, for example where what it extends is not installed.
    unread = error;
    jiti = create(false);
  }
  try {
    return await jiti.import(path);
  } catch (error) {
    if (unread === undefined || (error as NodeJS.ErrnoException | null)?.code !== 'MODULE_NOT_FOUND')
      throw error;
    throw new WarpstageError({
      code: 'WS5002',
      message: `${tsconfig} could not be read, and an import may need its paths: ${(unread as Error).message}`,
      hint: 'run `npx tsc --showConfig` in its folder: it shows what is wrong with it',
    });
  }
}

/** The modules of this package by their names; each is loaded when it is asked for, where Node can `require()` it. */
async function loadThisPackage(require: NodeJS.Require): Promise<Record<string, unknown>> {
  const ours: Record<string, unknown> = {};
  for (const [name, url] of thisPackage) {
    if (requiresModules) {
      Object.defineProperty(ours, name, { enumerable: true, get: () => require(fileURLToPath(url)) });
    } else ours[name] = await import(url);
  }
  return ours;
}

/** The tsconfig.json that an editor takes for the module: the nearest above it. */
function nearestTsconfig(path: string): string | undefined {
  const folder = dirname(path);
  const here = join(folder, 'tsconfig.json');
  if (existsSync(here)) return here;
  return folder === path ? undefined : nearestTsconfig(folder);
}
