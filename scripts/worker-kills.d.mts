export interface Storm {
  readonly kills: number;
  readonly pieces: number;
  readonly workers: number;
  readonly seed: number;
  /** Kills of the server. */
  readonly servers?: number;
  /** What a piece takes. */
  readonly steps: number;
  /** `'mix'`, or `'passes'`, a sequence. Default: the first. */
  readonly job?: string;
}

export function stormOfKills(storm: Storm): Promise<{
  readonly kills: number;
  readonly serverKills: number;
  readonly problems: readonly string[];
}>;
