// How VitePress shows the pages: their order, a search that needs no server, light and dark.

import { defineConfig } from 'vitepress';
import { sections } from '../sections.mjs';

/** Headings are linked to as on GitHub, where the pages are read as well. */
const slugify = (heading) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');

const link = (path) => `/${path.replace(/(^|\/)index$/, '$1')}`;

export default defineConfig({
  title: 'warpstage',
  description: "CUDA's asynchronous pipelines and streams for TypeScript",
  srcDir: 'pages',
  outDir: 'dist',
  cleanUrls: true,
  // A site that is opened under any path.
  base: process.env.WARPSTAGE_SITE_BASE ?? '/',
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    sidebar: sections.map(({ title, pages }) => ({
      text: title,
      items: pages.map(({ path, title }) => ({ text: title, link: link(path) })),
    })),
  },
  // Kernel parameters such as `f32[]` and types such as `Span<T>` are no HTML and no Vue.
  markdown: {
    html: true,
    anchor: { slugify },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
});
