export interface ProgramText {
  /** Its module under dist/, without `.text.js`. */
  readonly module: string;
  readonly text: string;
  /** Absolute paths of the modules that it contains. */
  readonly inputs: ReadonlySet<string>;
}

export function programTexts(
  replaced?: ReadonlyMap<string, string>,
  only?: readonly string[],
): Promise<readonly ProgramText[]>;
