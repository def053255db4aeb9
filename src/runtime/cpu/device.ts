// The CPU as a device: WebAssembly memory, three engines in worker threads, streams and events.

import { availableParallelism, cpus } from 'node:os';
import { WarpstageError } from '../../diagnostics/error.ts';
import type { Kernel } from '../../kernel/kernel.ts';
import { type ElementType, elementBytes } from '../../kernel/types.ts';
import type { Span } from '../../timeline/span.ts';
import { Allocation, checkElement, checkLength, DeviceMemoryArray, PinnedMemoryArray } from '../arrays.ts';
import { boxBytes } from '../box.ts';
import type { Command, Work } from '../command.ts';
import type { CopyWork } from '../copies.ts';
import type {
  Device,
  DeviceArray,
  DeviceProperties,
  Event,
  LaunchConfiguration,
  MemoryStatistics,
  PinnedArray,
  Stream,
  StreamOptions,
} from '../device.ts';
import { CommandEvent } from '../event.ts';
import type { LaunchWork } from '../launch.ts';
import { CommandQueue, type DefaultStreamMode } from '../queue.ts';
import { CommandStream, type StreamHost } from '../stream.ts';
import { Board, createBoardMemory, type EngineName } from './board.ts';
import { CpuCarrier, deviceClosed, type Job, nameOf } from './carrier.ts';
import { clockOffset } from './clock.ts';
import { Engines } from './engines.ts';
import { encodeRecord, LaunchArea } from './launch-area.ts';
import { LinearMemory, maximumBytes } from './linear-memory.ts';
import { StagedCopy } from './staging.ts';
