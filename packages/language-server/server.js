// The language server: what `warpstage check --static` prints, while a file is written.
//
// A file is checked some moments after the last change, with the text that the editor has, and those of other open
// files that it imports. What a kernel's names stand for is asked where the pointer is. Nothing of a file is run.

import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  CodeActionKind,
  CompletionItemKind,
  DiagnosticSeverity,
  MarkupKind,
  TextDocumentSyncKind,
  TextDocuments,
} from 'vscode-languageserver/node';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { compilerFor } from './compiler.js';
import { explained } from './reference.js';

/** Milliseconds without a change after which a file is checked. */
const pause = 150;

/** Serves a connection until it ends. */
export function serve(connection) {
  const documents = new TextDocuments(TextDocument);
  const due = new Map();

  connection.onInitialize(() => ({
    capabilities: {
      textDocumentSync: TextDocumentSyncKind.Incremental,
      hoverProvider: true,
      codeActionProvider: { codeActionKinds: [CodeActionKind.QuickFix] },
      completionProvider: { triggerCharacters: ['.'] },
    },
    serverInfo: { name: 'warpstage' },
  }));

  /** The text of a file: what the editor has, or what is on the disk. */
  const read = (path) => {
    const open = documents.all().find(({ uri }) => pathOf(uri) === path);
    if (open !== undefined) return open.getText();
    return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
  };

  const check = async (document) => {
    due.delete(document.uri);
    const path = pathOf(document.uri);
    const compiler = path === null ? null : await compilerFor(path);
    const issues = compiler === null ? [] : compiler.checkText([path], read).issues;
    // Meanwhile it may have been changed, and is due again, or closed.
    if (documents.get(document.uri)?.version !== document.version) return;
    await connection.sendDiagnostics({
      uri: document.uri,
      version: document.version,
      diagnostics: issues
        .filter(({ location }) => location?.file === path)
        .map((issue) => diagnosticOf(issue, document)),
    });
  };

  /** Checks a file when it has not changed for a moment. */
  const schedule = (document) => {
    clearTimeout(due.get(document.uri));
    due.set(
      document.uri,
      setTimeout(() => check(document).catch(report), pause),
    );
  };

  /** A defect of the server or the compiler costs one check, and is told. */
  const report = (error) => connection.console.error(String(error?.stack ?? error));

  // What a file says may be wrong for the kernels of others that are open.
  documents.onDidChangeContent(() => documents.all().forEach(schedule));
  documents.onDidClose(({ document }) => {
    clearTimeout(due.get(document.uri));
    due.delete(document.uri);
    return connection.sendDiagnostics({ uri: document.uri, diagnostics: [] });
  });

  connection.onHover(async ({ textDocument, position }) => {
    const document = documents.get(textDocument.uri);
    const found = document && (await nameAt(document, document.offsetAt(position), read));
    if (!found) return null;
    const { name, compiler } = found;
    const forms = name.receiver === null ? undefined : compiler.reference.get(name.receiver)?.get(name.name);
    if (name.receiver !== null && forms === undefined) return null;
    const value = forms === undefined ? `\`\`\`ts\n${name.name}: ${name.type}\n\`\`\`` : explained(forms);
    const range = { start: document.positionAt(name.start), end: document.positionAt(name.end) };
    return { contents: { kind: MarkupKind.Markdown, value }, range };
  });

  connection.onCodeAction(async ({ textDocument, range, context }) => {
    const document = documents.get(textDocument.uri);
    const path = document ? pathOf(document.uri) : null;
    const compiler = path === null ? null : await compilerFor(path);
    const isWanted = context.only?.every((kind) => !CodeActionKind.QuickFix.startsWith(kind)) !== true;
    if (compiler === null || !isWanted) return [];
    return compiler
      .checkText([path], read)
      .issues.filter(({ location, fixes }) => location?.file === path && fixes !== undefined)
      .map((issue) => ({ issue, diagnostic: diagnosticOf(issue, document) }))
      .filter(({ diagnostic }) => overlap(diagnostic.range, range))
      .flatMap(({ issue, diagnostic }) =>
        issue.fixes
          .filter(({ edits }) => edits.every(({ file }) => file === path))
          .map((fix) => actionOf(fix, issue.fixes.length === 1, diagnostic, document)),
      );
  });

  connection.onCompletion(async ({ textDocument, position }) => {
    const document = documents.get(textDocument.uri);
    const members = document && (await membersAt(document, document.offsetAt(position), read));
    return [...(members ?? [])].map(([name, forms]) => ({
      label: name,
      kind: forms[0].signature.includes('(') ? CompletionItemKind.Method : CompletionItemKind.Property,
      detail: forms[0].signature,
      documentation: { kind: MarkupKind.Markdown, value: explained(forms) },
    }));
  });

  documents.listen(connection);
  connection.listen();
}

function pathOf(uri) {
  return uri.startsWith('file:') ? fileURLToPath(uri) : null;
}

/** The name of a kernel at a place of a file, and the compiler that knows it. */
async function nameAt(document, offset, read) {
  const path = pathOf(document.uri);
  const compiler = path === null ? null : await compilerFor(path);
  const name = compiler
    ?.namesInKernels(path, read)
    .find(({ start, end }) => start <= offset && offset <= end);
  return name && { name, compiler };
}

/** What may follow the point before a place, by name. */
async function membersAt(document, offset, read) {
  const path = pathOf(document.uri);
  const compiler = path === null ? null : await compilerFor(path);
  if (compiler === null) return undefined;
  const text = document.getText();
  const begun = /\.(\w*)$/.exec(text.slice(Math.max(0, offset - 100), offset));
  if (begun === null) return undefined;
  // A name that no receiver has stands in the place of what is being written, so that the text can be parsed.
  const start = offset - begun[1].length;
  const completed = `${text.slice(0, start)}_${text.slice(offset)}`;
  const names = compiler.namesInKernels(path, (file) => (file === path ? completed : read(file)));
  return compiler.reference.get(names.find((name) => name.start === start)?.receiver);
}

function overlap(a, b) {
  const isBefore = (one, other) =>
    one.line < other.line || (one.line === other.line && one.character < other.character);
  return !isBefore(a.end, b.start) && !isBefore(b.end, a.start);
}

/** A way to mend a finding, for an editor to offer. */
function actionOf({ title, edits }, isOnly, diagnostic, document) {
  const changes = edits.map(({ from, to, replacement }) => ({
    range: { start: document.positionAt(from), end: document.positionAt(to) },
    newText: replacement,
  }));
  return {
    title: `${title[0].toUpperCase()}${title.slice(1)}`,
    kind: CodeActionKind.QuickFix,
    diagnostics: [diagnostic],
    isPreferred: isOnly,
    edit: { changes: { [document.uri]: changes } },
  };
}

/** An issue at its place. Lines and columns count from 1 there. */
function diagnosticOf({ code, message, hint, location, related = [] }, document) {
  const place = ({ line, column, length }) => ({
    start: { line: line - 1, character: column - 1 },
    end: { line: line - 1, character: column - 1 + length },
  });
  const here = related.filter(({ location: { file } }) => file === location.file);
  return {
    range: place(location),
    severity: DiagnosticSeverity.Error,
    code,
    source: 'warpstage',
    message: hint === undefined ? message : `${message}\n${hint}`,
    relatedInformation: here.map(({ label, location }) => ({
      location: { uri: document.uri, range: place(location) },
      message: label,
    })),
  };
}
