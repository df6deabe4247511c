export interface WalkRules {
  readonly minDepthUsd: number;
  readonly maxHops: number;
}

export const DEFAULT_RULES: WalkRules = { minDepthUsd: 10_000, maxHops: 4 };
