// What there is to call in a kernel, from the page of intrinsics that the package carries.
//
// The page has a table for each kind of thing: its first column is a declaration, the second its counterpart in CUDA,
// the third what it does. Of what the page does not have, an editor says nothing.

/** The beginnings of the page's headings, and what the compiler calls that. */
const receivers = [
  ['The second parameter', 'cuda'],
  ['A grid:', 'grid'],
  ['A block:', 'block'],
  ['A tile:', 'tile'],
  ['Any threads of a warp', 'coalesced'],
  ['A thread:', 'thread'],
  ['An array of barriers', 'barriers'],
  ['An array', 'array'],
  ['A pipeline:', 'pipeline'],
  ['Copies, reductions', 'cg'],
  ['A barrier:', 'barrier'],
  ['Math', 'Math'],
];

/** Members by receiver and name: `{ signature, cuda, text }`, of which a member with several forms has several. */
export function readReference(page) {
  const reference = new Map();
  let members = null;
  for (const line of page.split('\n')) {
    const heading = /^## (.*)/.exec(line)?.[1];
    if (heading !== undefined) {
      const receiver = receivers.find(([begin]) => heading.startsWith(begin))?.[1];
      members = receiver === undefined ? null : new Map();
      if (receiver !== undefined) reference.set(receiver, members);
      continue;
    }
    if (members === null || !line.startsWith('| `')) continue;
    const [, declaration, cuda, text] = line
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim().replaceAll('\\|', '|'));
    const signature = declaration.replace(/^`|`$/g, '');
    const name = /^\w+/.exec(signature)?.[0];
    if (name === undefined) continue;
    members.set(name, [...(members.get(name) ?? []), { signature, cuda, text }]);
  }
  return reference;
}

/** What a reader is told of a member, as Markdown. */
export function explained(forms) {
  const code = forms.map(({ signature }) => signature).join('\n');
  const about = forms.map(({ cuda, text }) => [text, cuda && `CUDA: ${cuda}`].filter(Boolean).join('\n\n'));
  return `\`\`\`ts\n${code}\n\`\`\`\n\n${[...new Set(about)].join('\n\n')}`;
}
