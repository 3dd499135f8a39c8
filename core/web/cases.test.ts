/** The shared cases that need no network: addresses, HTML, search. The cases of web_fetch are in pi-agent/tools/web. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type Tool, textOf } from "../tools/contract.ts";
import { ToolRegistry } from "../tools/registry.ts";
import { runTool } from "../tools/runner.ts";
import { checkUrl, isAllowedAddress } from "./address.ts";
import { brave } from "./brave.ts";
import { htmlToMarkdown } from "./html-markdown.ts";
import { rangeWord } from "./search-range.ts";
import { websearch } from "./websearch.ts";

type Case = { id: string; tool: string; title: string; input: Record<string, string>; expect: Expected };
type Expected = Partial<{
  verdict: string;
  error: string;
  value: string;
  text: string;
  textIncludes: string[];
  textExcludes: string[];
  minLines: number;
  ok: boolean;
  keysTried: string[];
}>;

const cases = JSON.parse(
  readFileSync(new URL("../../test/cases/web.json", import.meta.url), "utf8"),
) as Case[];
const of = (tool: string) => cases.filter((one) => one.tool === tool);

test("every case is tested somewhere", () => {
  const here = ["ip_guard", "url_guard", "html_text", "search_range", "web_search"];
  expect(new Set(cases.map((one) => one.tool))).toEqual(new Set([...here, "web_fetch"]));
  expect(cases.length).toBe(51);
});

test.each(of("ip_guard"))("$id", ({ input, expect: { verdict } }) => {
  expect(isAllowedAddress(input.ip ?? "") ? "allowed" : "blocked").toBe(verdict);
});

test.each(of("url_guard"))("$id", ({ input, expect: { verdict, error } }) => {
  const checked = checkUrl(input.url ?? "");
  expect(checked.ok ? "allowed" : "blocked").toBe(verdict);
  expect(checked.ok ? undefined : checked.code).toBe(error);
});

test.each(of("html_text"))("$id", ({ input, expect: wanted }) => {
  const { text } = htmlToMarkdown(input.html ?? "", undefined, 10_000);
  if (wanted.text !== undefined) expect(text).toBe(wanted.text);
  for (const part of wanted.textIncludes ?? []) expect(text).toContain(part);
  for (const part of wanted.textExcludes ?? []) expect(text).not.toContain(part);
  expect(text.split("\n").length).toBeGreaterThanOrEqual(wanted.minLines ?? 0);
});

test.each(of("search_range"))("$id", ({ input, expect: { value } }) => {
  expect(rangeWord(input.provider as "brave", input.range as "d")).toBe(value);
});

describe("web_search", () => {
  test.each(of("web_search"))("$id", async ({ input, expect: wanted }) => {
    const {
      keys = ["k"],
      answers = {},
      ...args
    } = input as unknown as {
      keys?: string[];
      answers?: Record<string, number>;
    };
    const tried: string[] = [];
    const search = brave({
      keys,
      fetch: async (_, { headers }) => {
        const key = headers["x-subscription-token"] ?? "";
        tried.push(key);
        const results = [{ title: "T", url: "https://example.com/", description: "D" }];
        return Response.json({ web: { results } }, { status: answers[key] ?? 200 });
      },
    });
    const { fault } = await run(websearch({ search }), args);
    expect(fault?.code).toBe(wanted.error);
    if (wanted.ok) expect(fault).toBeUndefined();
    if (wanted.keysTried) expect(tried).toEqual(wanted.keysTried);
    if (wanted.error) expect(tried).toEqual([]);
  });
});

async function run(tool: Tool, args: Record<string, unknown>) {
  const caller = { principal: "test", role: "owner", channel: "test" };
  const { result } = await runTool(new ToolRegistry([tool]), { callId: "c", name: tool.name, args, caller });
  return { ...result, text: textOf(result) };
}
