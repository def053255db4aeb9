// The few colours that errors are shown in on a terminal.

/** How the parts of an error look; each function takes and gives a piece of one line. */
export interface Paint {
  readonly error: (text: string) => string;
  readonly place: (text: string) => string;
  readonly quiet: (text: string) => string;
  readonly hint: (text: string) => string;
}

const same = (text: string) => text;
const ansi = (on: number, off: number) => (text: string) => `\u001b[${on}m${text}\u001b[${off}m`;

/** No colours: what an error's message is made with. */
export const plain: Paint = { error: same, place: same, quiet: same, hint: same };

/** Red, cyan, dim and green, from the terminal's own sixteen colours. */
export const coloured: Paint = {
  error: ansi(31, 39),
  place: ansi(36, 39),
  quiet: ansi(2, 22),
  hint: ansi(32, 39),
};
