import { type BlockHeader, type EvmSource, IndexContradicted } from "../port.ts";
import { isOtherGenesis } from "../source/final-proof.ts";

/** The store holds the index of another chain than the RPC endpoints serve. */
export class OtherChain extends Error {
  override readonly name = "OtherChain";
}

type HeaderSource = Pick<EvmSource, "chainId" | "headers">;

/** Hash of the chain's block 0. Throws OtherChain where the store has another genesis. */
export async function checkGenesis(source: HeaderSource, stored: string | undefined): Promise<string> {
  const { hash } = await headerAt(source, 0).catch((error: unknown) => {
    if (!(error instanceof IndexContradicted) || !error.contradictions.every(isOtherGenesis)) throw error;
    throw otherChain(source, { stored, served: error.contradictions.map(({ reason }) => reason).join("; ") });
  });
  if (stored === undefined || stored === hash) return hash;
  throw otherChain(source, { stored, served: `one with genesis ${hash}` });
}

function otherChain(
  { chainId }: HeaderSource,
  { stored, served }: { stored: string | undefined; served: string },
): OtherChain {
  return new OtherChain(
    `The store holds an index of chain ${chainId} with genesis ${stored}, the RPC serves ${served}. ` +
      "Point DATA_DIR or MONGODB_URL to another store, or the RPC setting to the right chain.",
  );
}

/** Throws where the chain does not have the block. */
export async function headerAt(source: HeaderSource, number: number): Promise<BlockHeader> {
  const [header] = await source.headers([number]);
  if (header === null || header === undefined)
    throw new Error(`Chain ${source.chainId} has no block ${number} yet.`);
  return header;
}
