// `Symbol.dispose` and `Symbol.asyncDispose` where a context lacks them.
//
// Node 20 and 22 add them to the main context alone: in another one, as vitest's vmThreads make it, classes
// could not name their methods. The entries of the package import this module before all others.

for (const name of ['dispose', 'asyncDispose'] as const) {
  if (Symbol[name] === undefined) Object.defineProperty(Symbol, name, { value: Symbol(`Symbol.${name}`) });
}
