/** What the kernel language has, by the objects that have it; a property has no operands. Made by the build. */
export const intrinsics: readonly {
  readonly object: string;
  readonly name: string;
  readonly operands: string;
}[];
