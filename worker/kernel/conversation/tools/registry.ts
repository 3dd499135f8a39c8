/** The gateway's own tools: few and fixed in number, so that a model's list stays short. */
import type { Tool } from "@edgecall/core/tools/contract.ts";
import { ToolRegistry } from "@edgecall/core/tools/registry.ts";
import { brave } from "@edgecall/core/web/brave.ts";
import { codesearch } from "@edgecall/core/web/codesearch.ts";
import { context7 } from "@edgecall/core/web/context7.ts";
import type { WebFetch } from "@edgecall/core/web/fetch-page.ts";
import { webfetch } from "@edgecall/core/web/webfetch.ts";
import { websearch } from "@edgecall/core/web/websearch.ts";
import { readCharacterNames } from "../../character-names.ts";
import type { Env } from "../../env.ts";
import type { GatewayToolSettings } from "../../settings/gateway-tools.ts";

export function gatewayTools(settings: GatewayToolSettings, env: Pick<Env, "WEB" | "ASSETS">): ToolRegistry {
  const fetch: WebFetch = (url, init) => globalThis.fetch(url, init);
  const fetchPage: WebFetch = async (url, init) => {
    const answer = env.WEB ? env.WEB.fetch(url, init) : fetch(url, init);
    return (await Promise.all([answer, readCharacterNames(env)]))[0];
  };
  const tools: Tool[] = [];
  if (settings.webfetch) tools.push(webfetch({ fetch: fetchPage }));
  if (settings.websearch) tools.push(websearch({ search: brave({ ...settings.websearch, fetch }) }));
  if (settings.codesearch) tools.push(codesearch({ search: context7({ ...settings.codesearch, fetch }) }));
  return new ToolRegistry(tools);
}
