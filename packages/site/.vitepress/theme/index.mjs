// VitePress's own look, with what it lacks for readers with low sight.

import theme from 'vitepress/theme';
import './contrast.css';

export { theme as default };
