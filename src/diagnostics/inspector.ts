// Asks V8 where a function stands: in which script, and at which offset of the script's text.
//
// V8 knows this of every function ([[FunctionLocation]]), but tells it only through the
// inspector. A session is opened in this very thread, where its answers come at once, and closed
// again. The function reaches the session through a property of the global object, as protocol
// messages are text. Where there is no inspector (a browser, another runtime, a process without
// permission for it) the answer is undefined.

import type { Debugger, Runtime, Session } from 'node:inspector';
import { offsetAt } from './lines.ts';
import type { AnyFunction } from './source.ts';

/** A script as V8 runs it: after transpiling, bundling or whatever was done to the user's file. */
export interface Script {
  readonly url: string;
  /** Where its source map is, possibly a `data:` URL; empty if it names none. */
  readonly sourceMapUrl: string;
  readonly text: string;
  /** The position, counted from 0, that the first character has in positions of this script. */
  readonly startLine: number;
  readonly startColumn: number;
}

/** Where the text of a function begins. */
export interface FoundFunction {
  readonly script: Script;
  readonly offset: number;
}

const found = new WeakMap<AnyFunction, FoundFunction | null>();

/** Finds the script and offset of a function whose text is `text`. Never throws. */
export function findFunction(fn: AnyFunction, text: string): FoundFunction | undefined {
  let answer = found.get(fn);
  if (answer === undefined) {
    try {
      answer = askInspector(fn, text);
    } catch {
      answer = null;
    }
    found.set(fn, answer);
  }
  return answer ?? undefined;
}

function askInspector(fn: AnyFunction, text: string): FoundFunction | null {
  const inspector = globalThis.process?.getBuiltinModule?.('node:inspector');
  if (!inspector) return null;
  const session = new inspector.Session();
  session.connect();
  try {
    const scripts = new Map<string, Debugger.ScriptParsedEventDataType>();
    session.on('Debugger.scriptParsed', ({ params }) => scripts.set(params.scriptId, params));
    session.post('Debugger.enable');
    const location = functionLocation(session, fn);
    const script = location && scripts.get(location.scriptId);
    if (!script) return null;

    let scriptText = '';
    session.post('Debugger.getScriptSource', { scriptId: script.scriptId }, (error, answer) => {
      if (!error) scriptText = answer.scriptSource;
    });
    const line = location.lineNumber - script.startLine + 1;
    const column = (location.columnNumber ?? 0) - (line === 1 ? script.startColumn : 0) + 1;
    const inside = offsetAt(scriptText, { line, column });
    if (inside === undefined) return null;
    // V8 points at the parameters, or at the start of an arrow function: the text begins there or before.
    const offset = scriptText.lastIndexOf(text, inside);
    if (offset < 0 || offset + text.length <= inside) return null;
    const { url, sourceMapURL, startLine, startColumn } = script;
    const sourceMapUrl = sourceMapURL || mapBeforeMark(scriptText);
    return { script: { url, sourceMapUrl, text: scriptText, startLine, startColumn }, offset };
  } finally {
    session.disconnect();
  }
}

/**
 * The map that a script names at its end where V8 did not take it for one: jiti writes the mark of its cache
 * behind it, on the same line, so that a module has a map when it is first loaded and none from then on.
 */
function mapBeforeMark(text: string): string {
  const words = '\n//# sourceMappingURL=';
  const begin = text.lastIndexOf(words);
  if (begin < 0) return '';
  return /^(\S+) \/\*.*\*\/\s*(?:\}\);?)?\s*$/.exec(text.slice(begin + words.length))?.[1] ?? '';
}

function functionLocation(session: Session, fn: AnyFunction): Debugger.Location | undefined {
  const key = Symbol.for('warpstage.function to locate');
  Object.defineProperty(globalThis, key, { value: fn, configurable: true });
  try {
    for (const contextId of contextsOf(session)) {
      const expression = `globalThis[Symbol.for(${JSON.stringify(key.description)})]`;
      let objectId: string | undefined;
      session.post('Runtime.evaluate', { expression, contextId, silent: true }, (error, answer) => {
        if (!error && answer.result.type === 'function') objectId = answer.result.objectId;
      });
      if (objectId !== undefined) return locationOfObject(session, objectId);
    }
    return undefined;
  } finally {
    Reflect.deleteProperty(globalThis, key);
  }
}

/** The execution contexts of this thread: more than one where a test runner gives each file its own. */
function contextsOf(session: Session): number[] {
  const contexts: number[] = [];
  session.on('Runtime.executionContextCreated', ({ params }) => contexts.push(params.context.id));
  session.post('Runtime.enable');
  session.post('Runtime.disable');
  return contexts;
}

function locationOfObject(session: Session, objectId: string): Debugger.Location | undefined {
  let properties: Runtime.InternalPropertyDescriptor[] = [];
  session.post('Runtime.getProperties', { objectId, ownProperties: true }, (error, answer) => {
    if (!error) properties = answer.internalProperties ?? [];
  });
  session.post('Runtime.releaseObject', { objectId });
  const location = properties.find(({ name }) => name === '[[FunctionLocation]]');
  return location?.value?.value as Debugger.Location | undefined;
}
