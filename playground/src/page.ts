// The page: the editor, the buttons, and what came of the last one.

import { decode, encode } from './address.ts';
import { Client } from './client.ts';
import { Editor } from './editor.ts';
import { examples } from './examples.ts';
import { pictureOf } from './plot.ts';
import type { Action, Answer } from './protocol.ts';
import { puzzles } from './puzzles/all.ts';
import { edited, type Puzzle } from './puzzles/puzzle.ts';

const byId = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;
const element = <K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Partial<HTMLElementTagNameMap[K]>,
): HTMLElementTagNameMap[K] => Object.assign(document.createElement(tag), properties);

/** Milliseconds without a change, after which the program is compiled. */
const pause = 600;

const client = new Client();
const chosen = byId<HTMLSelectElement>('examples');
const output = byId('output');
const groups = [
  ['Examples', 'example', examples],
  ['Course', 'puzzle', puzzles],
] as const;
for (const [label, kind, programs] of groups) {
  const group = element('optgroup', { label });
  for (const { name, title } of programs) group.append(new Option(title, `${kind}=${name}`));
  chosen.append(group);
}
/** The puzzle that the editor shows, if it is one. */
let puzzle: Puzzle | undefined;

const editor = new Editor(byId('editor'), examples[0]!.source, changed);
let compiling: ReturnType<typeof setTimeout> | undefined;

function changed(): void {
  clearTimeout(compiling);
  compiling = setTimeout(async () => {
    const source = editor.text;
    const { marks } = await client.ask('lint', source);
    if (editor.text === source) editor.mark(marks);
  }, pause);
}

async function act(action: Action): Promise<void> {
  clearTimeout(compiling);
  output.replaceChildren(element('p', { textContent: 'Working …' }));
  output.dataset.state = 'working';
  const answer = await client.ask(action, editor.text, action === 'judge' ? puzzle?.name : undefined);
  editor.mark(answer.marks);
  show(answer);
}

function show({ isGood, summary, text, plots = [], page, listings = [] }: Omit<Answer, 'id'>): void {
  const sign = isGood ? '✓' : '✗';
  const parts: HTMLElement[] = [element('p', { className: 'summary', textContent: `${sign} ${summary}` })];
  if (text !== '') parts.push(listing('What was said', text));
  parts.push(...plots.map(pictureOf));
  for (const { title, text: code } of listings) {
    parts.push(element('h2', { textContent: title }), listing(title, code));
  }
  if (page !== undefined) parts.push(element('iframe', { title: 'timeline', srcdoc: page }));
  output.replaceChildren(...parts);
  output.dataset.state = isGood ? 'good' : 'bad';
}

/** A text that may be longer than its place: one can scroll it by keys. */
function listing(label: string, text: string): HTMLElement {
  const pre = element('pre', { textContent: text, tabIndex: 0 });
  pre.setAttribute('role', 'region');
  pre.setAttribute('aria-label', label);
  return pre;
}

/** Shows the program that the address names. */
async function readAddress(): Promise<void> {
  const [kind, value = ''] = location.hash.slice(1).split('=');
  const named = <T extends { readonly name: string }>(one: string, programs: readonly T[]) =>
    kind === one ? programs.find(({ name }) => name === value) : undefined;
  const example = named('example', examples);
  puzzle = named('puzzle', puzzles);
  byId('task').hidden = puzzle === undefined;
  if (puzzle !== undefined) {
    byId('task-title').textContent = puzzle.title;
    byId('task-text').textContent = puzzle.task;
    byId('hint-text').textContent = puzzle.hint;
    byId('hint-text').hidden = true;
  }
  const text =
    kind === 'code'
      ? await decode(value)
      : (example?.source ?? (puzzle && edited(puzzle.solution, puzzle.gaps)));
  if (example !== undefined || puzzle !== undefined) chosen.value = `${kind}=${value}`;
  if (text !== null && text !== undefined) editor.text = text;
}

for (const action of ['run', 'check', 'stages', 'schedule', 'emitted', 'judge'] as const)
  byId(action).addEventListener('click', () => void act(action));
byId('stop').addEventListener('click', () => client.stop());
byId('share').addEventListener('click', async () => {
  location.hash = `code=${await encode(editor.text)}`;
  show({ isGood: true, summary: 'The address of this page holds the program now.', text: '', marks: [] });
});
byId('hint').addEventListener('click', () => {
  byId('hint-text').hidden = false;
});
byId('solution').addEventListener('click', () => {
  if (puzzle !== undefined) editor.text = puzzle.solution;
});
chosen.addEventListener('change', () => {
  location.hash = chosen.value;
});
addEventListener('hashchange', () => void readAddress());
await readAddress();
document.body.dataset.ready = 'true';
if ('serviceWorker' in navigator)
  void navigator.serviceWorker.register('./service-worker.js').catch(() => {});
