/** The pages of the site, in their order. */
export const sections: readonly {
  readonly title: string;
  readonly pages: readonly { readonly path: string; readonly title: string }[];
}[];
