// Files and folders that are being written and must not outlive the process if it ends before they are
// complete: by an exit, an uncaught error, or a signal.
//
// While there are any, the process listens to the signals that end it. If it is the only one
// that listens, it removes the files and lets the signal do its work; if the program listens as
// well, the program decides, and the files go when it exits.

import { rmSync } from 'node:fs';

const files = new Set<string>();
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Notes a file that is removed unless it is completed. */
export function addUnfinished(path: string): void {
  if (files.size === 0) {
    process.on('exit', removeAll);
    for (const signal of signals) process.on(signal, onSignal);
  }
  files.add(path);
}

/** The file is complete, or gone. */
export function dropUnfinished(path: string): void {
  if (!files.delete(path) || files.size > 0) return;
  process.off('exit', removeAll);
  for (const signal of signals) process.off(signal, onSignal);
}

function removeAll(): void {
  for (const path of files) {
    try {
      rmSync(path, { recursive: true, force: true });
    } catch {
      // The process is ending; there is nobody left to tell.
    }
  }
}

function onSignal(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return;
  removeAll();
  for (const path of [...files]) dropUnfinished(path);
  process.kill(process.pid, signal);
}
