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

/**
 * Scripts of files, by V8's number for them. To list the scripts for a session, V8 goes through all of a process
 * and their texts, which takes longer than all the rest; so for the kernels of a file it is done once. Scripts
 * without a file (of eval and the like) are as many as there are calls, and are not kept.
 */
const ofFiles = new Map<string, Script>();

function askInspector(fn: AnyFunction, text: string): FoundFunction | null {
  const inspector = globalThis.process?.getBuiltinModule?.('node:inspector');
  if (!inspector) return null;
  const session = new inspector.Session();
  session.connect();
  try {
    const location = functionLocation(session, fn);
    if (!location) return null;
    const script = ofFiles.get(location.scriptId) ?? scriptOf(session, location.scriptId);
    if (!script) return null;
    if (script.url !== '') ofFiles.set(location.scriptId, script);
    const line = location.lineNumber - script.startLine + 1;
    const column = (location.columnNumber ?? 0) - (line === 1 ? script.startColumn : 0) + 1;
    const inside = offsetAt(script.text, { line, column });
    if (inside === undefined) return null;
    // V8 points at the parameters, or at the start of an arrow function: the text begins there or before.
    const offset = script.text.lastIndexOf(text, inside);
    if (offset < 0 || offset + text.length <= inside) return null;
    return { script, offset };
  } finally {
    session.disconnect();
  }
}

function scriptOf(session: Session, scriptId: string): Script | null {
  let parsed: Debugger.ScriptParsedEventDataType | undefined;
  session.on('Debugger.scriptParsed', ({ params }) => {
    if (params.scriptId === scriptId) parsed = params;
  });
  session.post('Debugger.enable');
  if (parsed === undefined) return null;
  let text = '';
  session.post('Debugger.getScriptSource', { scriptId }, (error, answer) => {
    if (!error) text = answer.scriptSource;
  });
  const { url, sourceMapURL, startLine, startColumn } = parsed;
  return { url, sourceMapUrl: sourceMapURL || mapBeforeMark(text), text, startLine, startColumn };
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
