// Why a user's module could not be loaded, with the module's own line.
//
// The line comes from the error: a syntax error names it in its text, another error in its
// stack, where the first frame outside packages is the user's.

import { readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Location, WarpstageError } from '../diagnostics/error.ts';
import { linesOf } from '../diagnostics/lines.ts';

/** The error for a module that did not load. Errors of warpstage itself are passed on: they tell more. */
export function moduleFailure(name: string, path: string, error: unknown): WarpstageError {
  if (error instanceof WarpstageError) return error;
  const location = locate(error, path);
  return new WarpstageError(
    { code: 'WS5002', ...describe(name, error), ...(location === undefined ? {} : { location }) },
    { cause: error },
  );
}

function describe(name: string, error: unknown): { message: string; hint?: string } {
  if (!(error instanceof Error)) return { message: `${name} threw ${String(error)} while it was loaded` };
  const code = (error as NodeJS.ErrnoException).code ?? '';
  const [firstLine = ''] = error.message.split('\n');
  const text = firstLine.replace(/^ParseError: /, '').trim();
  if (/MODULE_NOT_FOUND$/.test(code)) {
    const missing = /'([^']+)'/.exec(text)?.[1];
    const importer = /imported from (\S+)/.exec(text)?.[1];
    const who = importer === undefined || importer.endsWith(basename(name)) ? name : importer;
    return {
      message: `${who} imports ${missing ?? 'a module'}, which was not found`,
      hint:
        missing?.startsWith('.') || missing?.startsWith('/')
          ? 'mend the path'
          : `install it: \`npm install ${missing}\``,
    };
  }
  if (code === 'ERR_UNKNOWN_FILE_EXTENSION') {
    return {
      message: `${name} is no TypeScript or JavaScript file`,
      hint: 'the module comes first, then the files: `warpstage run affine.ts x.npy y.npy`',
    };
  }
  if (isSyntaxError(error)) return { message: `${name} could not be parsed: ${text}` };
  return { message: `${name} threw while it was loaded: ${error.name}: ${text}` };
}

function isSyntaxError(error: Error): boolean {
  return error instanceof SyntaxError || error.message.startsWith('ParseError');
}

/** The user's line: the first place in the error's text or stack that is not of a package. */
function locate(error: unknown, path: string): Location | undefined {
  if (!(error instanceof Error)) return undefined;
  const text = `${error.message}\n${error.stack ?? ''}`;
  for (const [, url, line, column] of text.matchAll(
    /((?:file:\/\/)?(?:[A-Z]:)?[\\/][^\s():]+):(\d+)(?::(\d+))?/g,
  )) {
    const file = url!.startsWith('file://') ? fileURLToPath(url!) : url!;
    if (file !== path && (/node_modules/.test(file) || !file.startsWith(dirname(path)))) continue;
    try {
      const source = readFileSync(file, 'utf8');
      // Loaders write their own code before the first line, and count it.
      const inside = Number(column) <= (linesOf(source)[Number(line) - 1]?.length ?? 0);
      return { file, line: Number(line), column: inside ? Number(column) : 1, length: 1, text: source };
    } catch {
      // A place that is no file, for example a module that another tool made.
    }
  }
  return undefined;
}
