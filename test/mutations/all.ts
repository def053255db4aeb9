// All mutations, room by room.

import { mutations as formats } from './formats.ts';
import { mutations as host } from './host.ts';
import type { Mutation } from './mutation.ts';
import { mutations as runtimeCpu } from './runtime-cpu.ts';

export const mutations: readonly Mutation[] = [...host, ...formats, ...runtimeCpu];
