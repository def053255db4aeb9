// Leaves out of sucrase what it does to other than TypeScript: Flow, JSX, CommonJS, older engines, and the check of its
// options. The page asks for nothing of it; whatever is reached all the same throws.
import { readFileSync } from 'node:fs';

const left = [
  'transformers/(CJSImport|Flow|JSX|JestHoist|NumericSeparator|OptionalCatchBinding)Transformer',
  'transformers/(OptionalChainingNullish|ReactDisplayName|ReactHotLoader)Transformer',
  'parser/plugins/flow',
  'CJSImportProcessor',
  'computeSourceMap',
].join('|');
const exported = /^export (default )?(?:class|function|const) (\w+)/gm;

/** A module with the same exports, each a function that throws. */
function withoutWork(path) {
  return Array.from(readFileSync(path, 'utf8').matchAll(exported), ([, isDefault, name]) => {
    const declared = `function ${name}() { throw new Error('sucrase: ${name} is left out'); }`;
    return `export ${isDefault ?? ''}${declared}`;
  }).join('\n');
}

export const leanSucrase = {
  name: 'lean sucrase',
  setup({ onLoad }) {
    onLoad({ filter: new RegExp(`/sucrase/dist/esm/(${left})\\.js$`) }, ({ path }) => ({
      contents: withoutWork(path),
      loader: 'js',
    }));
    onLoad({ filter: /\/sucrase\/dist\/esm\/Options\.js$/ }, () => ({
      contents: 'export function validateOptions() {}',
      loader: 'js',
    }));
  },
};
