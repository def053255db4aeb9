// The loader's hook: puts a definition of `Atomics` before the text of a module, which hides the global one. A module
// that holds the program of the device's threads as text gets one in that text, too.

import { delayedAtomics } from './delayed-atomics.mjs';

const built = /\/dist\/(?!cjs\/|types\/).*\.js$/;
const programText = /const text = (?=['"`]\\?"use strict)/;

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
  const ofThread = `"use strict";${definition("require('node:worker_threads').threadId")}`;
  const before = `import { threadId as delayedThread } from 'node:worker_threads';\n${definition('delayedThread')}`;
  const delayed = source.replace(programText, () => `const text = ${JSON.stringify(ofThread)} + `);
  return { ...loaded, source: before + delayed };
}
