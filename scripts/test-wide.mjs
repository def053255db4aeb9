// npm run test:wide: the tests of kernels and of the runtime once more, with addresses of 64 bits, as devices of more than
// 4 GiB have them (test/support/addresses.ts). Engines have such memories from Node 24 on: where this one has none, that
// version is installed in a folder that goes again, unless WARPSTAGE_WIDE_NODE names one. --few leaves
// out what is slow, --list prints the files, and other arguments go to vitest.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { npm } from './npm.mjs';

/** Where kernels are compiled and run, or devices used. */
const folders = [
  'barriers',
  'conformance',
  'core',
  'differential',
  'examples',
  'interpreter',
  'kernel',
  'native',
];
folders.push('runtime', 'warps', 'wasm');
/** Each writer of code, and what reaches memory in a device. */
const few = /^test\/(wasm|runtime\/(beyond|copies|device-memory|every-device|kernels|shaped))/;

const files = readdirSync('test', { recursive: true })
  .filter((name) => name.endsWith('.test.ts') && folders.includes(name.split('/')[0]))
  .map((name) => `test/${name}`)
  .filter((name) => !process.argv.includes('--few') || few.test(name));
const args = process.argv.slice(2).filter((argument) => argument !== '--few');
if (args[0] === '--list') {
  console.log(files.join('\n'));
  process.exit();
}

let folder = null;

/** A Node whose engine has memories with addresses of 64 bits. */
function wideNode() {
  const { WARPSTAGE_WIDE_NODE: given } = process.env;
  if (given) return given;
  if (Number(process.versions.node.split('.')[0]) >= 24) return process.execPath;
  folder = mkdtempSync(join(tmpdir(), 'warpstage-node-'));
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  const name = `node-${process.platform}-${process.arch}`;
  npm(folder, 'install', '--no-audit', '--no-fund', '--silent', `${name}@24`);
  return join(folder, 'node_modules', name, 'bin/node');
}

try {
  const named = args.some((arg) => arg.endsWith('.test.ts'));
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', ...(named ? [] : files), ...args];
  const { status } = spawnSync(wideNode(), vitest, {
    stdio: 'inherit',
    env: { ...process.env, WARPSTAGE_TEST_ADDRESSES: '64' },
  });
  process.exitCode = status ?? 1;
} finally {
  if (folder !== null) rmSync(folder, { recursive: true, force: true });
}
