// Types of elements as files have them: the kernel's element types and those that only exist in files.

import { type ElementType, elementBytes } from '../kernel/types.ts';

/** The element types of files, with their size in bytes. */
export const dtypeBytes = { ...elementBytes, bool: 1, i64: 8, u64: 8, f16: 2 } as const;

/** An element type of a file. `bool` is a byte of 0 or 1. */
export type Dtype = ElementType | 'bool' | 'i64' | 'u64' | 'f16';
