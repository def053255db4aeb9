// A page of docs/ as what it shows: modules, by the name in their first line, and command lines with what they print.
//
// A block of `ts` is a module. A block of `sh` runs in a folder that has them, as a reader would do it; `fails` beside it
// says that its last line ends with an error. The block of `text` that follows is what its last line prints: `…`, alone
// or within a line, stands for anything. A block of `text` elsewhere is not looked at.

import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { runCommandLine } from '#warpstage/cli/command-line.js';
import { root } from '../support/compile-project.ts';

interface Block {
  readonly language: string;
  readonly mark: string;
  readonly text: string;
  /** Where it ends in the page, and whether nothing but empty lines was before it since the last one. */
  readonly follows: boolean;
}

/** A command block, and what it must print. */
export interface Commands {
  readonly lines: readonly string[];
  readonly fails: boolean;
  readonly output: string | undefined;
}

export class Page {
  readonly modules: ReadonlyMap<string, string>;
  readonly commands: readonly Commands[];
  /** Blocks of `ts` without a name: nobody can run them. */
  readonly nameless: readonly string[];
  readonly links: readonly string[];
  readonly words: number;

  constructor(path: string) {
    const text = readFileSync(path, 'utf8');
    const blocks = blocksOf(text);
    const named = blocks
      .filter(({ language }) => language === 'ts')
      .map(({ text }) => [/^\/\/ ([\w.-]+\.ts)\n/.exec(text)?.[1], text] as const);
    this.modules = new Map(named.flatMap(([name, text]) => (name === undefined ? [] : [[name, text]])));
    this.nameless = named.flatMap(([name, text]) => (name === undefined ? [text] : []));
    this.commands = blocks.flatMap(({ language, mark, text }, i) => {
      if (language !== 'sh') return [];
      const next = blocks[i + 1];
      const output = next?.language === 'text' && next.follows ? next.text : undefined;
      return [{ lines: text.trim().split('\n'), fails: mark === 'fails', output }];
    });
    this.links = Array.from(text.matchAll(/\]\(([^)\s]+)\)/g), ([, link]) => link!);
    this.words = text.replace(/^```[\s\S]*?^```$/gm, '').split(/\s+/).length;
  }
}

function blocksOf(text: string): Block[] {
  let end = 0;
  return Array.from(text.matchAll(/^```(\w*)(?: (\w+))?\n([\s\S]*?)^```$/gm), (found) => {
    const [whole, language, mark, inside] = found;
    const follows = text.slice(end, found.index).trim() === '';
    end = found.index + whole.length;
    return { language: language!, mark: mark ?? '', text: inside!, follows };
  });
}

/** A folder in which a page's modules lie, as in a project that has the package installed. */
export class Project {
  readonly folder = mkdtempSync(join(tmpdir(), 'warpstage-page-'));

  constructor(modules: ReadonlyMap<string, string>) {
    mkdirSync(join(this.folder, 'node_modules'));
    symlinkSync(root, join(this.folder, 'node_modules/warpstage'));
    writeFileSync(join(this.folder, 'package.json'), JSON.stringify({ type: 'module' }));
    for (const [name, text] of modules) writeFileSync(join(this.folder, name), text);
  }

  /**
   * Runs a command line; what it prints, and its exit code. The command of this package works in this process, unless a
   * shell is needed, and tsx in one instead of two.
   */
  async run(line: string): Promise<{ code: number; output: string }> {
    if (/^npx warpstage [^'"|&;<>$*]+$/.test(line)) return this.#runHere(line.split(/ +/).slice(2));
    const command = line
      .replace(/^npx tsx /, `${node} --import ${join(root, 'node_modules/tsx/dist/loader.mjs')} `)
      .replace(/^npx warpstage /, `${node} ${join(root, 'dist/cli/main.js')} `);
    const ran = promisify(execFile)('sh', ['-c', `${command} 2>&1`], {
      cwd: this.folder,
      env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined },
    });
    return ran.then(
      ({ stdout }) => ({ code: 0, output: stdout }),
      ({ code, stdout }: { code: number; stdout: string }) => ({ code, output: stdout }),
    );
  }

  async #runHere(argv: readonly string[]): Promise<{ code: number; output: string }> {
    const before = process.cwd();
    const both = new PassThrough();
    const output = text(both);
    process.chdir(this.folder);
    try {
      const code = await runCommandLine(argv, { input: new PassThrough(), output: both, errors: both });
      both.end();
      return { code, output: await output };
    } finally {
      process.chdir(before);
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true });
  }
}

const node = JSON.stringify(process.execPath);

/** What matches an output in which `…` stands for anything. */
export function patternOf(output: string): RegExp {
  const lines = output.trimEnd().split('\n');
  const parts = lines.map((line) => (line === '…' ? '[\\s\\S]*' : line.split('…').map(escaped).join('.*')));
  return new RegExp(`^\\s*${parts.join('\\n?')}\\s*$`);
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
