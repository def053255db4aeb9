// The documentation as a site: `npm run build` here, after `npm run build` in the package, writes it to dist/.
//
// Pages are those of docs/, as they are there; the reference is made of the docstrings of the published types and of
// the command line's own help. Everything is gathered in pages/, which VitePress makes a site of. Each page is there as
// Markdown as well, and llms.txt lists them.

import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { Application } from 'typedoc';
import { build } from 'vitepress';
import { sections } from './sections.mjs';

const here = import.meta.dirname;
const root = join(here, '../..');
const pages = join(here, 'pages');
const out = join(here, 'dist');

rmSync(pages, { recursive: true, force: true });
cpSync(join(root, 'docs'), pages, { recursive: true });
await apiReference();
commandReference();
const all = markdownFiles(pages);
for (const path of all) writeFileSync(path, withLinks(readFileSync(path, 'utf8'), path));
writeFileSync(join(pages, 'index.md'), beginning());

await build(here);
for (const path of all) {
  const copy = join(out, relative(pages, path));
  mkdirSync(dirname(copy), { recursive: true });
  cpSync(path, copy);
}
writeFileSync(join(out, 'llms.txt'), listOfPages());
console.log(`${all.length} pages in ${relative(process.cwd(), out) || '.'}`);

/** The host API and the kernel API, from the docstrings of the types that are published. */
async function apiReference() {
  const app = await Application.bootstrapWithPlugins({
    plugin: ['typedoc-plugin-markdown'],
    entryPoints: ['index', 'check', 'host'].map((name) => join(root, 'dist/types', `${name}.d.ts`)),
    name: 'API',
    tsconfig: join(here, 'typedoc.tsconfig.json'),
    outputs: [{ name: 'markdown', path: join(pages, 'reference/api') }],
    readme: 'none',
    disableSources: true,
    excludeInternal: true,
    logLevel: 'Error',
    router: 'member',
    entryFileName: 'index',
    parametersFormat: 'table',
    typeDeclarationFormat: 'table',
    expandObjects: false,
    hidePageHeader: true,
    hideBreadcrumbs: true,
    useCodeBlocks: true,
  });
  const project = await app.convert();
  if (project === undefined) throw new Error('the published types cannot be read: run `npm run build` first');
  await app.generateOutputs(project);
  renameIndex(join(pages, 'reference/api'));
}

/** The type `Index` has a page, and VitePress takes every page of that name, in any case, for that of a folder. */
function renameIndex(folder) {
  const types = join(folder, 'index/type-aliases');
  renameSync(join(types, 'Index.md'), join(types, 'Index-type.md'));
  for (const path of markdownFiles(folder)) {
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.replaceAll('Index.md)', 'Index-type.md)'));
  }
}

/** What the command line says of itself. */
function commandReference() {
  const main = join(root, 'dist/cli/main.js');
  const help = (...words) => execFileSync(process.execPath, [main, ...words, '--help'], { encoding: 'utf8' });
  const whole = help();
  const commands = Array.from(whole.matchAll(/^ {2}([a-z]+) {2,}/gm), ([, name]) => name).filter(
    (name) => name !== 'help',
  );
  const parts = commands.map((name) => `## warpstage ${name}\n\n\`\`\`text\n${help(name)}\`\`\`\n`);
  const text = `# Command line\n\n\`\`\`text\n${whole}\`\`\`\n\n${parts.join('\n')}`;
  writeFileSync(join(pages, 'reference/command-line.md'), text);
}

/** Links that lead out of docs/ become the names of what they lead to: the site has nothing there. */
function withLinks(text, path) {
  return text.replace(/(?<!!)\[([^\]]+)\]\(((?!https?:|#)[^)\s]+)\)/g, (whole, words, link) => {
    const target = relative(pages, join(dirname(path), link.replace(/#.*/, '')));
    return target.startsWith('..') ? words : whole;
  });
}

function beginning() {
  const lines = Array.from(sections, ({ title, pages }) => {
    const items = pages.map(({ path, title }) => `- [${title}](${path}.md)`);
    return `## ${title}\n\n${items.join('\n')}`;
  });
  return `# warpstage

CUDA's asynchronous pipelines and streams for TypeScript. A kernel is a plain TypeScript function. It runs on any CPU
through WebAssembly, and on NVIDIA GPUs.

${lines.join('\n\n')}
`;
}

function listOfPages() {
  const lines = sections.flatMap(({ title, pages }) => [
    `## ${title}`,
    '',
    ...pages.map(({ path, title }) => `- [${title}](${path}.md)`),
    '',
  ]);
  const summary =
    "> CUDA's asynchronous pipelines and streams for TypeScript: kernels are plain functions that run on CPUs through " +
    'WebAssembly and on NVIDIA GPUs; the checker finds races.';
  return ['# warpstage', '', summary, '', ...lines].join('\n');
}

function markdownFiles(folder) {
  return readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name));
}
