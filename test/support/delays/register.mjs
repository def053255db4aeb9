// node --import …/register.mjs: every module of dist/ that uses Atomics gets delayed ones instead.
//
// A worker thread that is given the process's flags does so too. The device's own threads are started from a
// text, which is changed where it is loaded. Nothing of this is in the package: it costs nothing there.

import { register } from 'node:module';

register('./hooks.mjs', import.meta.url);
