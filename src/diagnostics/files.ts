// Files of the user, as far as this process may read them. Only called where Node's modules are there.

/** The path of a script or source; undefined for what is no file, such as `evalmachine.<anonymous>`. */
export function pathOf(url: string): string | undefined {
  const { fileURLToPath } = globalThis.process.getBuiltinModule('node:url');
  const { isAbsolute } = globalThis.process.getBuiltinModule('node:path');
  if (url.startsWith('file:')) return fileURLToPath(url);
  return isAbsolute(url) ? url : undefined;
}

/** The URL of a path; a URL stays as it is. */
export function hrefOf(url: string): string {
  const { pathToFileURL } = globalThis.process.getBuiltinModule('node:url');
  const path = pathOf(url);
  return path === undefined ? url : pathToFileURL(path).href;
}

/** The text of a file; undefined if it cannot be read. */
export function readText(path: string): string | undefined {
  const { readFileSync } = globalThis.process.getBuiltinModule('node:fs');
  try {
    return readFileSync(path, 'utf8').replace(/^\ufeff/, '');
  } catch {
    return undefined;
  }
}
