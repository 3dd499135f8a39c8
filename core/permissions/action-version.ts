/** The version of a paired agent's action: a permission ends when what the action says of itself becomes something else. */
import { canonicalHash } from "../protocol/approval.ts";
import type { ActionAdvert } from "../protocol/mqtt.ts";

/** @returns SHA-256 in hex. Home computes it from the advert as it came, and the agent from its own. */
export async function actionVersion(advert: ActionAdvert): Promise<string> {
  const { name, description, parameters, effect } = advert;
  return await canonicalHash({
    domain: "edgecall action v1",
    name,
    description,
    parameters,
    effect: effect ?? null,
  });
}
