import type { Variables } from "@edgecall/core/protocol/gateway-variables.ts";
import { describe, expect, test } from "vitest";
import { gatewayTools } from "../conversation/tools/registry.ts";
import { keysOf, readGatewayTools } from "./gateway-tools.ts";

function read(variables: Variables) {
  const settings = readGatewayTools(variables);
  return settings.ok ? gatewayTools(settings.value, {}).list() : settings.error;
}

describe("GATEWAY_TOOLS", () => {
  test("names the tools; by default there are the session tools, and none of the web", () => {
    expect(read({})).toEqual([]);
    expect(read({ GATEWAY_TOOLS: "" })).toEqual([]);
    const hasSessions = (GATEWAY_TOOLS?: string) => {
      const settings = readGatewayTools(GATEWAY_TOOLS === undefined ? {} : { GATEWAY_TOOLS });
      return settings.ok && settings.value.sessions;
    };
    for (const on of [undefined, "", "sessions", "webfetch, sessions"]) expect(hasSessions(on)).toBe(true);
    for (const off of ["none", "webfetch"]) expect(hasSessions(off)).toBe(false);
    expect(read({ GATEWAY_TOOLS: "none" })).toEqual([]);
    expect(read({ GATEWAY_TOOLS: "webfetch" })).toEqual(["webfetch"]);
    expect(read({ GATEWAY_TOOLS: "websearch, webfetch codesearch", BRAVE_API_KEY: "key" })).toEqual([
      "codesearch",
      "webfetch",
      "websearch",
    ]);
  });

  test.each<[Variables, RegExp]>([
    [{ GATEWAY_TOOLS: "webfetch,bash" }, /^GATEWAY_TOOLS: .*got 'bash'/],
    [{ GATEWAY_TOOLS: "none,sessions" }, /^GATEWAY_TOOLS: .*got 'none'/],
    [{ GATEWAY_TOOLS: "websearch" }, /^BRAVE_API_KEY: not set/],
    [{ GATEWAY_TOOLS: "websearch", BRAVE_API_KEY: "s3cret\u00fc" }, /^BRAVE_API_KEY: holds/],
    [
      { GATEWAY_TOOLS: "websearch", BRAVE_API_KEY: "k", BRAVE_BASE_URL: "brave" },
      /^BRAVE_BASE_URL: expected/,
    ],
    [{ GATEWAY_TOOLS: "codesearch", CODESEARCH_API_KEY: "s3cret x" }, /^CODESEARCH_API_KEY: holds/],
    [{ GATEWAY_TOOLS: "codesearch", CODESEARCH_BASE_URL: "ftp://x" }, /^CODESEARCH_BASE_URL: expected/],
  ])("%j is refused by name, without the key", (variables, words) => {
    expect(read(variables)).toMatch(words);
    expect(read(variables)).not.toContain("s3cret");
  });

  test("several keys replace each other", () => {
    const settings = readGatewayTools({
      GATEWAY_TOOLS: "websearch,codesearch",
      BRAVE_API_KEY: "one, two",
      CODESEARCH_API_KEY: "three",
    });
    expect(settings.ok && keysOf(settings.value)).toEqual(["one", "two", "three"]);
  });
});
