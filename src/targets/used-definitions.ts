// Leaves away from a prelude what a kernel does not use: the text is shorter to read, and to compile.
//
// A prelude is a list of definitions that begin in the first column, with their comments before them, and of
// directives. A definition has a name of this package's own (ws_), and stays if the kernel names it, or another
// definition that stays, or a macro; functions of one name stay together. Macros stay always. A conditional
// stays where anything in it does.

interface Definition {
  readonly kind: 'definition';
  readonly name: string;
  readonly uses: ReadonlySet<string>;
  readonly text: string;
}

/** A macro, or a pragma. */
interface Directive {
  readonly kind: 'directive';
  readonly text: string;
}

/** From `#if` to `#endif`. */
interface Conditional {
  readonly kind: 'conditional';
  readonly branches: { readonly directive: string; readonly items: Item[] }[];
}

type Item = Definition | Directive | Conditional;

interface Parsed {
  readonly items: readonly Item[];
  readonly definitions: ReadonlyMap<string, readonly Definition[]>;
  /** The names that macros use. */
  readonly always: ReadonlySet<string>;
}

/** Kernels share the few preludes that there are. */
const parsedBefore = new Map<string, Parsed>();

function parsedOnce(prelude: string): Parsed {
  const before = parsedBefore.get(prelude);
  if (before !== undefined) return before;
  const parsed = parse(prelude);
  parsedBefore.set(prelude, parsed);
  return parsed;
}

/** The lines of preludes, one after the other, that a kernel needs. */
export function usedDefinitions(preludes: readonly string[], kernel: string): string {
  const all = preludes.map(parsedOnce);
  const used = new Set<string>();
  const pending = [namesIn(kernel), ...all.map(({ always }) => always)];
  for (let names = pending.pop(); names !== undefined; names = pending.pop()) {
    for (const name of names) {
      if (used.has(name)) continue;
      used.add(name);
      for (const { definitions } of all) {
        for (const { uses } of definitions.get(name) ?? []) pending.push(uses);
      }
    }
  }
  return all.map(({ items }) => textOf(items, used)).join('');
}

function textOf(items: readonly Item[], used: ReadonlySet<string>): string {
  let text = '';
  for (const item of items) {
    if (item.kind === 'directive') text += item.text;
    else if (item.kind === 'definition') text += used.has(item.name) ? item.text : '';
    else text += textOfConditional(item, used);
  }
  return text;
}

function textOfConditional({ branches }: Conditional, used: ReadonlySet<string>): string {
  const texts = branches.map(({ items }) => textOf(items, used));
  if (texts.every((text) => text === '')) return '';
  const kept = branches.map(({ directive }, i) => (i > 0 && texts[i] === '' ? '' : directive + texts[i]));
  return `${kept.join('')}#endif\n`;
}

function namesIn(text: string): ReadonlySet<string> {
  return new Set(text.match(/\bws_\w+/g));
}

function parse(prelude: string): Parsed {
  const whole: Item[] = [];
  const definitions = new Map<string, Definition[]>();
  const always = new Set<string>();
  const open: Conditional[] = [];
  let items = whole;
  let [text, code, depth] = ['', '', 0];
  const branch = (directive: string) => {
    items = [];
    open.at(-1)!.branches.push({ directive, items });
  };
  for (const line of prelude.split(/(?<=\n)/)) {
    text += line;
    if (depth === 0 && line.startsWith('#')) {
      if (line.startsWith('#endif')) {
        open.pop();
        items = open.at(-1)?.branches.at(-1)?.items ?? whole;
      } else if (line.startsWith('#el')) {
        branch(text);
      } else if (line.startsWith('#if')) {
        const conditional: Conditional = { kind: 'conditional', branches: [] };
        items.push(conditional);
        open.push(conditional);
        branch(text);
      } else {
        items.push({ kind: 'directive', text });
        for (const name of namesIn(line)) always.add(name);
      }
      text = '';
      continue;
    }
    const rest = line.replace(/\/\/.*/, '').trimEnd();
    depth += count(rest, /[({]/g) - count(rest, /[)}]/g);
    code += `${rest}\n`;
    if (depth > 0 || !/[;}]$/.test(rest)) continue;
    const definition: Definition = { kind: 'definition', name: nameOf(code), uses: namesIn(code), text };
    items.push(definition);
    definitions.set(definition.name, [...(definitions.get(definition.name) ?? []), definition]);
    [text, code] = ['', ''];
  }
  return { items: whole, definitions, always };
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

/** What a definition defines: a type, a function, or a variable. */
function nameOf(code: string): string {
  const name =
    /\bstruct (?:__align__\(\w+\) )?(ws_\w+) ?\{/.exec(code) ??
    /\b(ws_\w+)\(/.exec(code) ??
    /\b(ws_\w+);/.exec(code);
  if (name === null) throw new TypeError(`a prelude defines something without a name of its own: ${code}`);
  return name[1]!;
}
