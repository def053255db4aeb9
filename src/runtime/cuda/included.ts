// Whether what a text in CUDA C++ is compiled to depends on files beside it.
//
// Which files, only the compiler knows: names may be macros, and a condition may ask whether a file is there.
// So anything that may be such a directive counts, also in a comment or a string: the text is then compiled
// once too often.

/** A line that goes on in the next one: by a backslash, or by the trigraph for it. */
const splice = /(?:\\|\?\?\/)[ \t]*\r?\n/g;

/** `#`, also as digraph and trigraph, with comments behind it; or a question for a file. */
const directive =
  /(?:#|%:|\?\?=)(?:\s|\/\*[\s\S]*?\*\/)*(?:include|include_next|import|embed)\b|__has_(?:include|embed)/;

/** Options that have files read as if they were part of the text. */
const option = /^--?(?:pre-include|include|use-pch|pch)(?:=|$)/;

/** Whether a text, with these options of the compiler, may include files. */
export function includesFiles(text: string, options: readonly string[]): boolean {
  return options.some((one) => option.test(one)) || directive.test(text.replace(splice, ''));
}
