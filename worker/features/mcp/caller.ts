/** The client of an MCP request, as its route found it. */
import type { HomeTools } from "../../kernel/api/home-tools.ts";
import type { Env } from "../../kernel/env.ts";
import type { ApiToken } from "../../kernel/settings/tokens.ts";

export type McpCaller = {
  /** Tools that a home runs for programs, by the features that have them. */
  homeTools: readonly HomeTools[];
  env: Env;
  token: ApiToken;
  /** The address at which the client reaches this gateway. */
  origin: string;
  /** The `traceparent` of the request; absent: nothing is traced. */
  trace?: string;
  /** Keeps work alive after the response. */
  waitUntil(work: Promise<unknown>): void;
};
