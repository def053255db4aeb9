// What docs/errors.md says of a code: the page is part of the package.

import { readFileSync } from 'node:fs';
import { type Code, codes } from '../diagnostics/codes.ts';

/** A section of the page. */
export interface ErrorHelp {
  /** The catalogue's words, for example `a deadlock`. */
  readonly title: string;
  /** What it is, and how to mend it, without the examples. */
  readonly text: string;
  /** The whole section. */
  readonly markdown: string;
}

let sections: ReadonlyMap<string, string> | undefined;

/** The help for a code. */
export function helpOf(code: Code): ErrorHelp {
  sections ??= readSections();
  const markdown = sections.get(code) ?? '';
  const text = markdown
    .replaceAll(/^```[\s\S]*?^```\n?/gm, '')
    .replaceAll(/\n{2,}/g, '\n\n')
    .trim();
  return { title: codes[code], text: text || codes[code], markdown };
}

function readSections(): Map<string, string> {
  const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');
  const parts = page.split(/^##+ /m);
  return new Map(
    parts.flatMap((part) => {
      const [, code, body] = /^(WS\d{4}): .*\n([\s\S]*)$/.exec(part) ?? [];
      return code === undefined ? [] : [[code, body!.trim()] as const];
    }),
  );
}
