// Packs the package as it is built, installs the tarball in an empty folder and runs the smallest job with it
// on the given major version of Node: what a newcomer's first minute needs, on another Node. So does a kernel of a
// module that Node cannot load by itself. A tarball that has grown too large fails.
//
// usage: node scripts/smoke-tarball.mjs 24
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { npm } from './npm.mjs';

/** Bytes that the tarball may have. */
const largest = 1_730_000;
const major = process.argv[2] ?? '24';
const root = resolve(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'warpstage-smoke-'));
/** How each process is run: one that does not end fails. */
const how = { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], timeout: 120_000 };

try {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  const tarball = npm(folder, 'pack', '--silent', '--ignore-scripts', '--pack-destination', folder, root)
    .trim()
    .split('\n')
    .at(-1);
  const { size } = statSync(join(folder, tarball));
  if (size > largest)
    throw new Error(`the tarball has ${size} bytes, more than ${largest}: see what \`npm pack\` lists`);
  npm(
    folder,
    'install',
    '--no-audit',
    '--no-fund',
    '--silent',
    `./${tarball}`,
    `node-${process.platform}-${process.arch}@${major}`,
  );
  const node = join(folder, `node_modules/node-${process.platform}-${process.arch}/bin/node`);

  writeFileSync(join(folder, 'double.ts'), readFileSync(join(root, 'examples/affine.ts'), 'utf8'));
  writeFileSync(join(folder, 'in.f32'), new Uint8Array(new Float32Array([1, 2, 3, 4]).buffer));
  const cli = join(folder, 'node_modules/warpstage/dist/cli/main.js');
  const args = [
    'run',
    'double.ts',
    'in.f32',
    'out.f32',
    '--dtype',
    'f32',
    '--set',
    'a=2',
    '--set',
    'b=1',
    '--json',
  ];
  execFileSync(node, [cli, ...args], how);

  // What Node does not load by itself: the enum of a module, and the paths of a tsconfig.json.
  const paths = { '@lib/*': ['./lib/*'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: { paths } }));
  mkdirSync(join(folder, 'lib'));
  writeFileSync(join(folder, 'lib/names.ts'), "export enum Name { Fill = 'filled' }\n");
  writeFileSync(
    join(folder, 'fill.ts'),
    `import { kernel } from 'warpstage';
import { Name } from '@lib/names';
enum Value { Written = 4321 }
export const fill = kernel({ y: 'i32[]' }, ({ y }) => { y[0] = Value.Written; }, { name: Name.Fill });
`,
  );
  const cuda = execFileSync(node, [cli, 'emit', 'fill.ts'], how);
  if (!cuda.includes(' filled(') || !cuda.includes('4321;'))
    throw new Error(`the kernel of an enum was emitted as\n${cuda}`);

  const out = new Float32Array(new Uint8Array(readFileSync(join(folder, 'out.f32'))).buffer);
  const version = execFileSync(node, ['--version'], how).trim();
  if (out.join() !== '3,5,7,9')
    throw new Error(`on Node ${version} the job wrote ${out.join()} where 3,5,7,9 was expected`);
  console.log(`the tarball of ${size} bytes runs on Node ${version}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
