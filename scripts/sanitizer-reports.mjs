// What compute-sanitizer says, by kernel.
//
// A report is a line `========= Error: …` (or `Warning:`, `Invalid …`, `Barrier error …`, `Uninitialized …`)
// and the lines below it that are set in further; somewhere in them stands the kernel's name.

const border = /^=========( +)(.*)$/;

/** The reports on each kernel of such a name: the first line of each, without numbers, once. */
export function reportsIn(text, names = /\b(?:misuse|mended)_\d+/g) {
  const reports = [];
  for (const line of text.split('\n')) {
    const [, indent, words] = border.exec(line) ?? [];
    if (words === undefined || words === '') continue;
    if (indent.length === 1) reports.push({ head: words, all: words });
    else if (reports.length > 0) reports.at(-1).all += `\n${words}`;
  }
  const reported = new Map();
  for (const { head, all } of reports) {
    if (/^(COMPUTE-SANITIZER|Internal|Target application)|SUMMARY|^Program hit/.test(head)) continue;
    for (const name of new Set(all.match(names) ?? [])) {
      const list = reported.get(name) ?? [];
      const short = withoutNumbers(head, names);
      if (!list.includes(short)) list.push(short);
      reported.set(name, list);
    }
  }
  return reported;
}

function withoutNumbers(words, names) {
  return words
    .replace(new RegExp(` at (?:0x[0-9a-f]+ in )?(?:${names.source})\\S*(?: in \\S+)?`, 'g'), '')
    .replace(/\[\d+ hazards?\]/, '')
    .replace(/0x[0-9a-f]+|\(\d+,\d+,\d+\)/g, '…')
    .trim();
}
