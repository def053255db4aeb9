// The loader's hook: puts a definition of `Atomics` before the text of a module, which hides the global one.

import { delayedAtomics } from './delayed-atomics.mjs';

const built = /\/dist\/(?!cjs\/|types\/).*\.js$/;
const threadText = /\/dist\/runtime\/cpu\/worker\.text\.js$/;

/** `threadId` is what an expression gives. */
function definition(threadId) {
  const seed = 'Number(process.env.WARPSTAGE_DELAY_SEED ?? 1)';
  return `const Atomics = (${delayedAtomics})(globalThis.Atomics, ${seed} * 7919 + ${threadId});\n`;
}

export async function load(url, context, nextLoad) {
  const loaded = await nextLoad(url, context);
  if (!built.test(url) || loaded.format !== 'module') return loaded;
  const source = String(loaded.source);
  if (!source.includes('Atomics.')) return loaded;
  if (threadText.test(url)) {
    const before = JSON.stringify(definition("require('node:worker_threads').threadId"));
    return {
      ...loaded,
      source: `${source.replace('export const text = ', 'const plain = ')}
      export const text = ${before} + plain;`,
    };
  }
  const before = `import { threadId as delayedThread } from 'node:worker_threads';\n${definition('delayedThread')}`;
  return { ...loaded, source: before + source };
}
