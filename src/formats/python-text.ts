// Text as Python has it, for lines that hints say to write.

/** A string literal of Python. */
export function pythonText(text: string): string {
  return `'${text.replaceAll(/[\\']/g, '\\$&').replaceAll('\n', '\\n')}'`;
}
