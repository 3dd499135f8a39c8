/** The variables of `/mcp`; docs/using/mcp.md explains them. */
import type { Variables } from "@edgecall/core/protocol/gateway-variables.ts";
import { readOnce } from "./read-once.ts";

export type McpSettings = {
  actionTools: number;
  trustedTokens: ReadonlySet<string>;
  origins: ReadonlySet<string>;
};

/** A model still chooses well among so many, which are about 10 KB of a request. */
const ACTION_TOOLS = 40;
const ACTION_TOOLS_MAX = 256;

export const readMcpSettings = readOnce((env: Variables): McpSettings => {
  const wanted = Number(env.MCP_ACTION_TOOLS || ACTION_TOOLS);
  return {
    // A wrong value gets the default, since it cannot make anything unsafe.
    actionTools:
      Number.isInteger(wanted) && wanted >= 0 && wanted <= ACTION_TOOLS_MAX ? wanted : ACTION_TOOLS,
    trustedTokens: list(env.MCP_TRUSTED_TOKENS),
    origins: list(env.MCP_ORIGINS),
  };
});

function list(text: string | undefined): ReadonlySet<string> {
  return new Set((text ?? "").split(",").flatMap((one) => one.trim() || []));
}
