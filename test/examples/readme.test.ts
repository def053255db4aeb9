// Whatever README.md shows runs, and does what it says beside it.

import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { npy, numbers, outcomeOf, start } from '../cli/support.ts';
import { compileFiles, root } from '../support/compile-project.ts';
import { atLength } from '../support/thorough.ts';

const readme = readFileSync(join(root, 'README.md'), 'utf8');
const blocks = Array.from(readme.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm), ([, language, text]) => ({
  language: language!,
  text: text!,
}));
/** The modules, by the name in their first line. */
const modules = new Map(
  blocks
    .filter(({ language }) => language === 'ts')
    .map(({ text }) => [/^\/\/ (\w+\.ts)\n/.exec(text)?.[1] ?? text, text] as const),
);
const commands = blocks
  .filter(({ language }) => language === 'sh')
  .flatMap(({ text }) => text.trim().split('\n'))
  .map((line) => line.replace(/\s+#.*/, ''));

const folder = mkdtempSync(join(tmpdir(), 'warpstage-readme-'));
afterAll(() => rmSync(folder, { recursive: true }));
mkdirSync(join(folder, 'node_modules'));
symlinkSync(root, join(folder, 'node_modules/warpstage'));
writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
writeFileSync(join(folder, 'in.npy'), npy(numbers(1000)));
writeFileSync(join(folder, 'bytes.raw'), Uint8Array.of(1, 2, 6));
for (const [name, text] of modules) writeFileSync(join(folder, name), text);

/** What a module prints. */
async function printed(name: string): Promise<string> {
  const tsx = join(root, 'node_modules/tsx/dist/cli.mjs');
  return (await promisify(execFile)(process.execPath, [tsx, name], { cwd: folder })).stdout;
}

describe('README.md', () => {
  test('is short, and shows what this test knows', () => {
    expect(readme.split('\n').length).toBeLessThanOrEqual(151);
    expect([...modules.keys()]).toEqual(['affine.ts', 'mean.ts', 'staging.ts', 'streams.ts']);
    expect(new Set(blocks.map(({ language }) => language))).toEqual(new Set(['ts', 'sh', '']));
  });

  test('links to what is there', () => {
    const links = Array.from(readme.matchAll(/\]\(([^)]+)\)/g), ([, link]) => link!.replace(/#.*/, ''));
    expect(links.length).toBeGreaterThan(10);
    expect(links.filter((link) => !existsSync(join(root, link)))).toEqual([]);
  });

  test.runIf(atLength)('all modules have the types of a strict project', () => {
    expect(compileFiles(modules).errors).toEqual([]);
  });

  test('affine.ts prints what stands below it', async () => {
    const output = blocks.find(({ language }) => language === '')!.text;
    expect(await printed('affine.ts')).toBe(output);
  });

  test('streams.ts waits for what it issued', async () => {
    expect(await printed('streams.ts')).toBe('42\n');
  });

  test.runIf(atLength)('its command lines succeed', async () => {
    const ours = commands.filter((line) => line.startsWith('npx warpstage '));
    expect(ours.length).toBe(5);
    for (const line of ours) {
      const { code, stderr } = await outcomeOf(start(line.split(' ').slice(2), { cwd: folder }));
      expect({ line, code, stderr: code === 0 ? '' : stderr }).toEqual({ line, code: 0, stderr: '' });
    }
    expect(existsSync(join(folder, 'timeline.html'))).toBe(true);
    expect(readFileSync(join(folder, 'findings.sarif'), 'utf8')).not.toMatch(/"level": "(error|warning)"/);
  });

  test('its other commands are scripts of the package', () => {
    const scripts = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts as object;
    expect(commands.filter((line) => line.startsWith('npm ci'))).toEqual([
      'npm ci && npm start',
      'npm ci && npm test',
    ]);
    expect(scripts).toMatchObject({ start: expect.any(String), test: expect.any(String) });
  });

  test('staging.ts without its wait is found out', async () => {
    const text = modules.get('staging.ts')!;
    writeFileSync(join(folder, 'forgotten.ts'), text.replace('      pipeline.consumerWait();\n', ''));
    const { code, stdout } = await outcomeOf(start(['check', 'forgotten.ts'], { cwd: folder }));
    expect(code).toBe(1);
    expect(stdout.toString()).toMatch(/WS7\d\d\d/);
    expect(stdout.toString()).toContain('memcpyAsync');
    expect(stdout.toString()).toContain('out[batch * block.size() + t]');
  });
});
