// A session with an editor: the server is started as an editor starts it, and spoken to over standard input and output.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import {
  createMessageConnection,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-languageserver/node';
import { TextDocument } from 'vscode-languageserver-textdocument';

const project = mkdtempSync(join(tmpdir(), 'warpstage-server-'));
const repository = fileURLToPath(new URL('../../../', import.meta.url));
const uriOf = (name, folder = project) => pathToFileURL(join(folder, name)).href;

let child;
let editor;
/** Diagnostics that came, by file, and who waits for more. */
const told = new Map();
const waiting = [];

/** The diagnostics of a version of a file, as soon as they come. */
const diagnosticsOf = (uri, version) =>
  new Promise((resolve) => {
    const look = () => {
      const last = told.get(uri);
      if (last?.version !== version) return false;
      resolve(last.diagnostics);
      return true;
    };
    if (!look()) waiting.push(look);
  });

before(async () => {
  mkdirSync(join(project, 'node_modules'));
  symlinkSync(repository, join(project, 'node_modules', 'warpstage'));
  child = spawn(process.execPath, [fileURLToPath(new URL('../main.js', import.meta.url)), '--stdio'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  editor = createMessageConnection(
    new StreamMessageReader(child.stdout),
    new StreamMessageWriter(child.stdin),
  );
  editor.onNotification('textDocument/publishDiagnostics', (params) => {
    told.set(params.uri, params);
    for (const look of waiting.splice(0)) if (!look()) waiting.push(look);
  });
  editor.listen();
  const { capabilities } = await editor.sendRequest('initialize', {
    processId: process.pid,
    rootUri: null,
    capabilities: {},
  });
  assert.equal(capabilities.textDocumentSync, 2);
  await editor.sendNotification('initialized', {});
});

after(async () => {
  await editor.sendRequest('shutdown');
  const ended = new Promise((resolve) => child.on('exit', resolve));
  await editor.sendNotification('exit');
  assert.equal(await ended, 0);
  rmSync(project, { recursive: true });
});

const begin = `import { kernel } from 'warpstage';
export const twice = kernel({ y: 'f32[]', x: 'readonly f32[]' }, ({ y, x }, cuda) => {
  const i = cuda.thisGrid().threadRank();
`;
const open = (uri, text) =>
  editor.sendNotification('textDocument/didOpen', {
    textDocument: { uri, languageId: 'typescript', version: 1, text },
  });

test('a mistake is underlined as it is written, and gone when it is mended', async () => {
  const uri = uriOf('a.ts');
  await open(uri, `${begin}  if (i < y.length) y[i] = 2 * x[i]!;\n});\n`);
  assert.deepEqual(await diagnosticsOf(uri, 1), []);
  const line = 3;
  const change = (version, from, to, text) =>
    editor.sendNotification('textDocument/didChange', {
      textDocument: { uri, version },
      contentChanges: [{ range: { start: { line, character: from }, end: { line, character: to } }, text }],
    });
  // y[i] = 2 * x[i]!  becomes  x[i] = 2 * x[i]!
  await change(2, 20, 21, 'x');
  const [diagnostic, ...others] = await diagnosticsOf(uri, 2);
  assert.deepEqual(others, []);
  assert.match(diagnostic.code, /^WS1\d+$/);
  assert.match(diagnostic.message, /readonly/);
  assert.equal(diagnostic.range.start.line, line);
  assert.equal(diagnostic.range.start.character, 20);
  await change(3, 20, 21, 'y');
  assert.deepEqual(await diagnosticsOf(uri, 3), []);
  await editor.sendNotification('textDocument/didClose', { textDocument: { uri } });
});

test('what a hint says is offered, and mends the file', async () => {
  const uri = uriOf('fix.ts');
  const text = `${begin}  const half = (i as number) / 2;\n  y[i] = half;\n  z[i] = 1;\n});\n`;
  await open(uri, text);
  const diagnostics = await diagnosticsOf(uri, 1);
  const actions = (line, character, only) =>
    editor.sendRequest('textDocument/codeAction', {
      textDocument: { uri },
      range: { start: { line, character }, end: { line, character } },
      context: { diagnostics: [], ...(only && { only }) },
    });
  assert.deepEqual(
    diagnostics.map(({ range }) => range.start.line),
    [5],
  );
  assert.deepEqual(await actions(5, 3), [], 'z is nothing that the text knows');
  const undone = text.replace('  z[i] = 1;\n', '');
  const change = (version, whole) =>
    editor.sendNotification('textDocument/didChange', {
      textDocument: { uri, version },
      contentChanges: [{ text: whole }],
    });
  await change(2, undone);
  await diagnosticsOf(uri, 2);
  const [truncating, asFloat, ...others] = await actions(3, 18);
  assert.deepEqual(others, []);
  assert.equal(truncating.title, 'Write Math.trunc((i) / 2)');
  assert.equal(asFloat.title, 'Write cuda.f32(i)');
  assert.equal(truncating.kind, 'quickfix');
  assert.equal(truncating.isPreferred, false);
  assert.match(truncating.diagnostics[0].code, /^WS1005$/);
  assert.deepEqual(await actions(4, 3), [], 'elsewhere');
  assert.deepEqual(await actions(3, 18, ['refactor']), []);
  assert.equal((await actions(3, 18, ['quickfix'])).length, 2);
  for (const [position, action] of [truncating, asFloat].entries()) {
    const mended = TextDocument.applyEdits(
      TextDocument.create(uri, 'typescript', 1, undone),
      action.edit.changes[uri],
    );
    const expected = ['= Math.trunc((i as number) / 2);', '= (cuda.f32(i as number)) / 2;'];
    assert.ok(mended.includes(expected[position]), mended);
    await change(3 + position, mended);
    assert.deepEqual(await diagnosticsOf(uri, 3 + position), []);
  }
});

test('what another open file exports counts as it is there', async () => {
  const [kernels, helper] = [uriOf('b.ts'), uriOf('helper.ts')];
  writeFileSync(join(project, 'helper.ts'), '');
  await open(
    helper,
    `import { deviceFunction } from 'warpstage';\nexport const half = deviceFunction({ v: 'f32' }, ({ v }) => v / 2);\n`,
  );
  const text = `import { half } from './helper.ts';\n${begin.replace("x: 'readonly f32[]'", "x: 'readonly f32[]', half").replace('{ y, x }', '{ y, x, half }')}  if (i < y.length) y[i] = half({ v: x[i]! });\n});\n`;
  await open(kernels, text);
  assert.deepEqual(await diagnosticsOf(kernels, 1), []);
});

test('a name tells what it stands for, and a member what it does', async () => {
  const uri = uriOf('c.ts');
  await open(uri, `${begin}  let sum = 0;\n  sum += x[i]!;\n  y[i] = sum;\n});\n`);
  const hover = async (line, character) =>
    (await editor.sendRequest('textDocument/hover', { textDocument: { uri }, position: { line, character } }))
      ?.contents.value;
  assert.match(await hover(4, 3), /sum: f32/);
  assert.match(await hover(4, 9), /x: readonly f32\[\]/);
  assert.match(await hover(2, 20), /thisGrid\(\): Grid[\s\S]*cooperative_groups::this_grid/);
  assert.equal(await hover(0, 2), undefined);
});

test('after a point, what is there is offered', async () => {
  const uri = uriOf('d.ts');
  await open(uri, `${begin}  const block = cuda.thisThreadBlock();\n  block.\n});\n`);
  const complete = (line, character, file = uri) =>
    editor.sendRequest('textDocument/completion', {
      textDocument: { uri: file },
      position: { line, character },
    });
  const items = await complete(4, 8);
  assert.ok(items.some(({ label, detail }) => label === 'sync' && detail === 'sync(): void'));
  const whole = uriOf('f.ts');
  await open(whole, `${begin}  cuda.;\n});\n`);
  const ofCuda = await complete(3, 7, whole);
  assert.ok(ofCuda.some(({ label }) => label === 'tiledPartition'));
  assert.deepEqual(await complete(0, 3), []);
});

test('a project without warpstage, and text that is none, have nothing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'warpstage-none-'));
  const uri = uriOf('e.ts', folder);
  await open(uri, 'const = ;');
  assert.deepEqual(await diagnosticsOf(uri, 1), []);
  const other = 'untitled:Untitled-1';
  await open(other, begin);
  assert.deepEqual(await diagnosticsOf(other, 1), []);
  rmSync(folder, { recursive: true });
});
