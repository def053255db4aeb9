// The extension as VS Code starts it, without VS Code: its client is a stand-in that notes what it is given, and the
// server that is named there is started and asked what it can do.

const assert = require('node:assert/strict');
const { spawn } = require('node:child_process');
const { readFileSync } = require('node:fs');
const Module = require('node:module');
const { test } = require('node:test');

const manifest = require('../package.json');
const folder = `${__dirname}/../`;

/** Loads the extension with a stand-in for the client of VS Code, which there is only inside of it. */
function load() {
  const calls = [];
  class LanguageClient {
    constructor(...given) {
      calls.push(given);
    }
    start = async () => calls.push('start');
    stop = async () => calls.push('stop');
  }
  const { _load } = Module;
  const standIn = { LanguageClient, TransportKind: { stdio: 0 } };
  Module._load = (name, ...rest) => (name === 'vscode-languageclient/node' ? standIn : _load(name, ...rest));
  try {
    return { extension: require(`${folder}${manifest.main}`), calls };
  } finally {
    Module._load = _load;
  }
}

test('it starts a server that diagnoses, explains, completes and mends, and stops it', async () => {
  const { extension, calls } = load();
  await extension.activate();
  const [[id, , { run }, { documentSelector }], started] = calls;
  assert.equal(id, 'warpstage');
  assert.equal(started, 'start');
  assert.deepEqual(
    documentSelector.map(({ language }) => `onLanguage:${language}`),
    manifest.activationEvents,
  );
  const { capabilities } = await initialised(run.module);
  assert.equal(capabilities.textDocumentSync, 2);
  for (const can of ['hoverProvider', 'completionProvider', 'codeActionProvider'])
    assert.ok(capabilities[can]);
  await extension.deactivate();
  assert.equal(calls.at(-1), 'stop');
});

test('its problem matcher is that of the page on the checker', () => {
  const page = readFileSync(`${folder}../../docs/checker.md`, 'utf8');
  const block = /```json\n(\{[^`]*"problemMatcher"[^`]*)```/.exec(page)[1];
  const [matcher] = manifest.contributes.problemMatchers;
  assert.deepEqual(matcher.pattern, JSON.parse(block).tasks[0].problemMatcher.pattern);
});

/** What a server answers to `initialize`, over its standard input and output. */
function initialised(path) {
  const child = spawn(process.execPath, [path, '--stdio'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const request = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { processId: null, rootUri: null, capabilities: {} },
  };
  const body = JSON.stringify(request);
  child.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  return new Promise((resolve, reject) => {
    let text = '';
    child.on('error', reject);
    child.stdout.on('data', (part) => {
      text += part;
      const answer = /\r\n\r\n(\{"jsonrpc":"2.0","id":1,.*\})$/s.exec(text)?.[1];
      if (answer === undefined) return;
      child.kill();
      resolve(JSON.parse(answer).result);
    });
  });
}
