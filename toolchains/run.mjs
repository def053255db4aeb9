// Programs that use the packed package, built and run by the tools that people have.
//
// The tools of package.json are installed in a folder outside the repository: a new one, or that of
// WARPSTAGE_TOOLCHAINS, which is kept. The package, as it was built, is packed and installed in its folder work/, and
// each case (cases.mjs) is a project in a folder of its own in there, which finds both, with steps that build and run
// it; what the last step prints must contain what the case expects. A bundle is run in yet another folder, where no
// package is found.
//
// There is no lock file: npm's lists the binaries of all platforms, which registries of one platform lack.
//
// usage: node toolchains/run.mjs [part of a case's name ...]
//        node toolchains/run.mjs --install   installs the tools and no more, for which nothing has to be built
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { npm } from '../scripts/npm.mjs';

const kept = process.env.WARPSTAGE_TOOLCHAINS;
const here = kept ?? mkdtempSync(join(tmpdir(), 'warpstage-toolchains-'));
const work = join(here, 'work');
const wanted = process.argv.slice(2);
const away = mkdtempSync(join(tmpdir(), 'warpstage-bundle-'));
/** Milliseconds that a step may take. */
const limit = 180_000;

installTools();
if (wanted.includes('--install')) process.exit();
installPackage();
const { cases } = await import(pathToFileURL(join(here, 'cases.mjs')).href);
const results = [];
const waiting = cases.filter(({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)));
// Each waits for others' processes most of the time.
await Promise.all(Array.from({ length: Math.min(4, availableParallelism()) }, takeTurns));
rmSync(away, { recursive: true, force: true });
if (kept === undefined) rmSync(here, { recursive: true, force: true });
const failed = results.filter(({ problem }) => problem !== null);
console.log(`\n${results.length - failed.length} of ${results.length} toolchains work`);
process.exit(failed.length === 0 && results.length > 0 ? 0 : 1);

/** Attempts one case after the other, until none waits any more. */
async function takeTurns() {
  for (let each = waiting.shift(); each !== undefined; each = waiting.shift()) {
    const began = performance.now();
    const problem = await attempt(each);
    results.push({ name: each.name, problem });
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    console.log(`${problem === null ? 'works' : 'FAILS'}  ${each.name} (${seconds} s)`);
    if (problem !== null) console.log(problem.replace(/^/gm, '       '));
  }
}

function installTools() {
  mkdirSync(here, { recursive: true });
  for (const file of ['package.json', 'cases.mjs']) cpSync(join(import.meta.dirname, file), join(here, file));
  if (!existsSync(join(here, 'node_modules'))) npm(here, 'install', '--no-audit', '--no-fund', '--silent');
}

/** Packs what is built, and puts it where the projects find it: npm need not look through the tools for that. */
function installPackage() {
  for (const [name, folder] of [
    ['warpstage', '..'],
    ['create-warpstage', '../packages/create-warpstage'],
  ]) {
    const from = resolve(import.meta.dirname, folder);
    const printed = npm(here, 'pack', '--silent', '--ignore-scripts', '--pack-destination', here, from);
    renameSync(join(here, printed.trim().split('\n').at(-1)), join(here, `${name}.tgz`));
  }
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work);
  writeFileSync(join(work, 'package.json'), JSON.stringify({ private: true }));
  const tarballs = ['../warpstage.tgz', '../create-warpstage.tgz'];
  npm(work, 'install', '--no-package-lock', '--no-audit', '--no-fund', '--silent', ...tarballs);
}

/** What went wrong, or null. */
async function attempt({ name, files, steps, expected }) {
  const folder = join(work, name.replaceAll(/[^\w.]+/g, '-'));
  rmSync(folder, { recursive: true, force: true });
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), typeof text === 'string' ? text : JSON.stringify(text, null, 2));
  }
  let output = '';
  for (const step of steps) {
    const result = await carryOut(step, folder);
    if (result.error)
      return `${step.join?.(' ') ?? step}\n${result.error.message}\n${result.output.slice(-3000)}`;
    output += result.output;
  }
  if (expected.every((part) => output.includes(part))) return null;
  return `printed ${JSON.stringify(output.slice(-2000))}\nwhere ${JSON.stringify(expected)} was expected`;
}

/** A step is a command line, or a function of the project's folder and of one where no package is. */
async function carryOut(step, folder) {
  if (typeof step === 'function') {
    return Promise.resolve(step(folder, away)).then(
      () => ({ output: '' }),
      (error) => ({ error, output: '' }),
    );
  }
  const [command, ...args] = step;
  const cwd = args.includes('--away') ? away : folder;
  return new Promise((done) => {
    const env = { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined, NODE_OPTIONS: '' };
    execFile(
      resolveCommand(command),
      args.filter((arg) => arg !== '--away'),
      { cwd, env, timeout: limit, encoding: 'utf8', maxBuffer: 2 ** 26 },
      (error, out, err) => done({ error, output: out + err }),
    );
  });
}

/** A program of the tools or of the package, where there is one of the name. */
function resolveCommand(command) {
  if (command === 'node') return process.execPath;
  const file = join('node_modules', command.includes('/') ? command : `.bin/${command}`);
  return [here, work].map((folder) => join(folder, file)).find(existsSync) ?? command;
}
