// The editor: TypeScript, with the kernel language's names, and with what was found at its lines.

import {
  autocompletion,
  type Completion,
  type CompletionContext,
  closeBrackets,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { javascript } from '@codemirror/lang-javascript';
import {
  bracketMatching,
  defaultHighlightStyle,
  indentOnInput,
  syntaxHighlighting,
} from '@codemirror/language';
import { lintGutter, setDiagnostics } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { intrinsics } from './intrinsics.text.js';
import type { Mark } from './protocol.ts';

/** Members of `cuda`, and of what its calls give, by their objects. */
function complete(context: CompletionContext) {
  const before = context.matchBefore(/\b\w+\.\w*$/);
  if (before === null) return null;
  const [object] = before.text.split('.');
  const own = intrinsics.filter(({ object: one }) => (object === 'cuda') === (one === 'cuda'));
  const options: Completion[] = own.map(({ name, operands }) => ({
    label: name,
    detail: operands,
    type: operands === '' ? 'property' : 'method',
  }));
  return { from: before.from + object!.length + 1, options, validFor: /^\w*$/ };
}

export class Editor {
  readonly #view: EditorView;

  constructor(parent: HTMLElement, text: string, changed: () => void) {
    this.#view = new EditorView({
      parent,
      state: EditorState.create({
        doc: text,
        extensions: [
          lineNumbers(),
          lintGutter(),
          history(),
          drawSelection(),
          indentOnInput(),
          bracketMatching(),
          closeBrackets(),
          highlightActiveLine(),
          autocompletion({ override: [complete] }),
          syntaxHighlighting(defaultHighlightStyle),
          javascript({ typescript: true }),
          keymap.of([...completionKeymap, ...historyKeymap, ...defaultKeymap, indentWithTab]),
          EditorView.contentAttributes.of({ 'aria-label': 'program', tabindex: '0' }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) changed();
          }),
        ],
      }),
    });
  }

  get text(): string {
    return this.#view.state.doc.toString();
  }

  set text(text: string) {
    this.#view.dispatch({ changes: { from: 0, to: this.#view.state.doc.length, insert: text } });
  }

  /** Shows what was found, in the place of what was shown. */
  mark(marks: readonly Mark[]): void {
    const { doc } = this.#view.state;
    const diagnostics = marks.map(({ line, severity, message }) => {
      const { from, to, text } = doc.line(Math.min(Math.max(1, line), doc.lines));
      return { from: from + (text.length - text.trimStart().length), to, severity, message };
    });
    this.#view.dispatch(setDiagnostics(this.#view.state, diagnostics));
  }
}
