// Where the modules lie that worker threads are started with.
//
// They are found beside the module that asks. Only where the package's own sources are run by a
// TypeScript loader, as in work on the package itself, the threads, which have no loader, run
// what was built of them.

/** URL of the built module at `path`, relative to the module `from`. */
export function builtModule(path: string, from: string): URL {
  const url = new URL(path, from);
  if (!from.endsWith('.ts')) return url;
  const at = url.href.lastIndexOf('/src/');
  return new URL(`${url.href.slice(0, at)}/dist/${url.href.slice(at + '/src/'.length)}`);
}
