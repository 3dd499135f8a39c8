/** A call's payload as people and the record see it: without the secrets that an action's schema names. */

import { isObject } from "@edgecall/core/protocol/is-object.ts";
import { shownParameters } from "@edgecall/core/tools/secret-parameters.ts";
import { rosterOf } from "../agents/home-roster.ts";
import type { HomeContext } from "../context.ts";

export function shownPayload(
  home: HomeContext,
  { agent, command, payload }: { agent: string; command: string; payload: Record<string, unknown> },
): Record<string, unknown> {
  const { tool, parameters } = payload;
  if (command !== "tool" || !isObject(parameters)) return payload;
  const advert = rosterOf(home)
    .target(agent, Date.now())
    ?.adverts.find(({ name }) => name === tool);
  return advert ? { ...payload, parameters: shownParameters(parameters, advert.parameters) } : payload;
}
