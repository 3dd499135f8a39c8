/** The variables of `/mcp`; docs/using/mcp.md explains them. */
import { VARIABLES, type Variables } from "@edgecall/core/protocol/gateway-variables.ts";
import { readOnce } from "./read-once.ts";
import { checkNumber } from "./read-variable.ts";

export type McpSettings = {
  actionTools: number;
  trustedTokens: ReadonlySet<string>;
  origins: ReadonlySet<string>;
};

export const readMcpSettings = readOnce((env: Variables): McpSettings => {
  const wanted = checkNumber(env, "MCP_ACTION_TOOLS");
  return {
    // A wrong value gets the default, since it cannot make anything unsafe.
    actionTools: wanted.ok ? wanted.value : VARIABLES.MCP_ACTION_TOOLS.default,
    trustedTokens: list(env.MCP_TRUSTED_TOKENS),
    origins: list(env.MCP_ORIGINS),
  };
});

function list(text: string | undefined): ReadonlySet<string> {
  return new Set((text ?? "").split(",").flatMap((one) => one.trim() || []));
}
