import {
  concat,
  encodeDeployData,
  getContractAddress,
  type Hex,
  maxUint136,
  zeroAddress,
  zeroHash,
} from "viem";
import {
  eulerBrokenVault,
  eulerConnector,
  eulerEarnFactory,
  eulerOracle,
  eulerPerspective,
  eulerRateModel,
  eulerVault,
  eulerVaultFactory,
} from "../contracts/euler/artifacts.ts";
import type { Address, Transaction } from "../node/transactions.ts";
import { CREATION_GAS } from "../pools.ts";
import { encodeAmountCap } from "./amount-cap.ts";
import { RATES } from "./market.ts";
import { type EulerDeployment, type EulerEarn, type EulerVault, PERSPECTIVES, vaultNamed } from "./plan.ts";
import { onEarn, onEarnFactory, onOracle, onPerspective, onVault, onVaultFactory } from "./transactions.ts";

const YEAR = 31_556_952;

/** The contracts, which must be the owner's first transactions. */
export function eulerContracts({ owner: from, connector, implementation }: EulerDeployment): Transaction[] {
  const perSecond = (year: number) => BigInt(Math.round((year / YEAR) * 1e18)) * 10n ** 9n;
  const models = Object.values(RATES).map(({ base, kink, full, kinkAt }) => {
    const args = [
      perSecond(base),
      perSecond(kink),
      perSecond(full),
      BigInt(kinkAt * 100) * 10n ** 16n,
    ] as const;
    return encodeDeployData({ ...eulerRateModel, args });
  });
  return [
    eulerConnector.bytecode,
    encodeDeployData({ ...eulerVault, args: [connector] }),
    eulerBrokenVault.bytecode,
    encodeDeployData({ ...eulerVaultFactory, args: [implementation] }),
    eulerOracle.bytecode,
    ...models,
    eulerEarnFactory.bytecode,
    // Nobody may check a governed vault, or one of EulerEarn, but Euler.
    ...PERSPECTIVES.map((name) =>
      encodeDeployData({ ...eulerPerspective, args: [name === "ungoverned" || name === "escrow"] }),
    ),
  ].map((data) => ({ from, gas: CREATION_GAS, data }));
}

/** All vaults with what their governor and owners decide. */
export function eulerVaults(
  deployment: EulerDeployment,
  { plantFaults }: { readonly plantFaults: boolean },
): Transaction[] {
  const { owner, factory, implementation } = deployment;
  const broken = getContractAddress({ from: owner, nonce: 2n });
  const use = (kind: Address) =>
    onVaultFactory(owner, factory, { functionName: "setImplementation", args: [kind] });
  const create = (metadata: Hex) =>
    onVaultFactory(owner, factory, { functionName: "createProxy", args: [zeroAddress, true, metadata] });
  return [
    ...deployment.vaults.map(({ asset, unit }) =>
      create(
        concat([asset.address, unit === undefined ? zeroAddress : deployment.oracle, unit ?? zeroAddress]),
      ),
    ),
    ...(plantFaults
      ? [use(broken), create(concat([zeroAddress, zeroAddress, zeroAddress])), use(implementation)]
      : []),
    ...oraclePrices(deployment),
    ...deployment.vaults.flatMap((vault) => vaultSettings(deployment, vault)),
    ...deployment.earnVaults.flatMap((vault) => earnSettings(deployment, vault)),
    ...listings(deployment),
  ];
}

/** Every vault in the perspective that it belongs to. */
function listings({ owner, perspectives, vaults, earnVaults }: EulerDeployment): Transaction[] {
  const list = (perspective: Address, vault: Address) =>
    onPerspective(owner, perspective, { functionName: "perspectiveVerify", args: [vault, true] });
  return [
    ...vaults.map(({ address, unit }) =>
      list(unit === undefined ? perspectives.escrow : perspectives.governed, address),
    ),
    ...earnVaults.map(({ address }) => list(perspectives.eulerEarn, address)),
  ];
}

/** Every vault's asset and collaterals in its unit of account, but for the asset of unpriced ones. */
function oraclePrices({ owner, oracle, vaults, tokens }: EulerDeployment): Transaction[] {
  const set = new Map<string, Transaction>();
  for (const { asset, unit, spec } of vaults) {
    if (unit === undefined || spec.unit === undefined || spec.unpriced) continue;
    const one = spec.unit === "USD" ? { usd: 1, decimals: 18 } : tokens[spec.unit];
    for (const base of [asset, ...spec.collaterals.map((each) => vaultNamed(vaults, each.vault).asset)]) {
      if (base.address === unit) continue;
      const price =
        (BigInt(Math.round((base.usd / one.usd) * 1e9)) * 10n ** BigInt(9 + one.decimals)) /
        10n ** BigInt(base.decimals);
      const args = [base.address, unit, price] as const;
      set.set(`${base.address} ${unit}`, onOracle(owner, oracle, { functionName: "setPrice", args }));
    }
  }
  const resolved = vaults.map(({ address }) =>
    onOracle(owner, oracle, { functionName: "setResolved", args: [address, true] }),
  );
  return [...set.values(), ...resolved];
}

function vaultSettings({ owner, rateModels, vaults }: EulerDeployment, vault: EulerVault): Transaction[] {
  const { address, asset, spec } = vault;
  const set = (call: Parameters<typeof onVault>[2]) => onVault(owner, address, call);
  const raw = (cap: number | undefined) =>
    encodeAmountCap(cap === undefined ? undefined : BigInt(cap * 100) * 10n ** BigInt(asset.decimals - 2));
  const settings = spec.collaterals.map(({ vault: collateral, borrowLtv, liquidationLtv }) => {
    const { address: collateralVault } = vaultNamed(vaults, collateral);
    return set({ functionName: "setLTV", args: [collateralVault, borrowLtv, liquidationLtv, 0] });
  });
  if (spec.rates)
    settings.push(set({ functionName: "setInterestRateModel", args: [rateModels[spec.rates]] }));
  if (spec.interestFee !== undefined)
    settings.push(set({ functionName: "setInterestFee", args: [spec.interestFee] }));
  if (spec.supplyCap !== undefined || spec.borrowCap !== undefined)
    settings.push(set({ functionName: "setCaps", args: [raw(spec.supplyCap), raw(spec.borrowCap)] }));
  return settings;
}

function earnSettings(
  deployment: EulerDeployment,
  { address, asset, curator, spec }: EulerEarn,
): Transaction[] {
  const { owner, supplier, earnFactory, vaults } = deployment;
  const set = (call: Parameters<typeof onEarn>[2]) => onEarn(owner, address, call);
  const args = [owner, 0n, asset.address, spec.name, spec.symbol, zeroHash] as const;
  const caps = spec.strategies.flatMap(({ vault, cap }) => {
    const id = vaultNamed(vaults, vault).address;
    const most = cap === undefined ? maxUint136 : BigInt(cap) * 10n ** BigInt(asset.decimals);
    return [
      set({ functionName: "submitCap", args: [id, most] }),
      set({ functionName: "acceptCap", args: [id] }),
    ];
  });
  const queue = spec.strategies.map(({ vault }) => vaultNamed(vaults, vault).address);
  return [
    onEarnFactory(owner, earnFactory, { functionName: "createEulerEarn", args }),
    ...caps,
    set({ functionName: "setSupplyQueue", args: [queue] }),
    set({ functionName: "setFeeRecipient", args: [supplier] }),
    set({ functionName: "setFee", args: [BigInt(spec.feePercent) * 10n ** 16n] }),
    ...(curator === owner ? [] : [set({ functionName: "setCurator", args: [curator] })]),
  ];
}
