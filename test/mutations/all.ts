// All mutations, room by room.

import { mutations as host } from './host.ts';
import type { Mutation } from './mutation.ts';

export const mutations: readonly Mutation[] = [...host];
