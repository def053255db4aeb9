// Amounts as people read them: bytes, rates, times and counts, in at most four figures.
//
// Bytes are counted in powers of 1024 and say so (KiB, MiB, GiB). Microseconds have their letter, µ, which is one
// column wide everywhere; files for programs hold plain numbers instead.

import { count as withThousands } from '../diagnostics/count.ts';

const byteUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** `1536` is `1.50 KiB`. */
export function formatBytes(bytes: number): string {
  let unit = 0;
  let amount = bytes;
  while (Math.abs(amount) >= 1023.5 && unit < byteUnits.length - 1) {
    amount /= 1024;
    unit++;
  }
  return unit === 0 ? `${Math.round(amount)} B` : `${threeFigures(amount)} ${byteUnits[unit]}`;
}

/** Bytes in so many milliseconds, as bytes a second; `-` where there is no time to divide by. */
export function formatRate(bytes: number, milliseconds: number): string {
  return milliseconds > 0 ? `${formatBytes((bytes / milliseconds) * 1000)}/s` : '-';
}

/** `0.42` is `420 µs`, `1234` is `1.23 s`, `75000` is `1 min 15 s`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 0.9995) return `${Math.round(milliseconds * 1000)} µs`;
  if (milliseconds < 999.5) return `${threeFigures(milliseconds)} ms`;
  if (milliseconds < 59_950) return `${threeFigures(milliseconds / 1000)} s`;
  const seconds = Math.round(milliseconds / 1000);
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${minutes} min ${seconds % 60} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** A share between 0 and 1: `0.934` is `93 %`. */
export function formatShare(share: number): string {
  return `${Math.round(share * 100)} %`;
}

/** `12345678` is `12,345,678`. */
export function formatCount(count: number): string {
  return withThousands(Math.round(count));
}

/** Three figures that matter, without an exponent: 1.23, 12.3, 123. */
function threeFigures(amount: number): string {
  const size = Math.abs(amount);
  return amount.toFixed(size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}
