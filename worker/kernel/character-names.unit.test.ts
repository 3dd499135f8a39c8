import { textOf } from "@edgecall/core/tools/contract.ts";
import { runTool } from "@edgecall/core/tools/runner.ts";
import { expect, test, vi } from "vitest";
import { gatewayTools } from "./conversation/tools/registry.ts";
import type { Env } from "./env.ts";
import { readGatewayTools } from "./settings/gateway-tools.ts";

/** Files of which each request has the next answer, and the paths that were asked for. */
function assets(...answers: Response[]): { asked: string[]; ASSETS: NonNullable<Env["ASSETS"]> } {
  const asked: string[] = [];
  const fetch = async (request: Request) => {
    asked.push(new URL(request.url).pathname);
    return answers.shift() ?? new Response("not found", { status: 404 });
  };
  return { asked, ASSETS: { fetch } };
}

test("the file is read until it could be, and then no more; until then names stay as they are written", async () => {
  vi.resetModules();
  const { readCharacterNames } = await import("./character-names.ts");
  const names = await import("@edgecall/core/web/character-names.ts");
  const { asked, ASSETS } = assets(new Response("busy", { status: 500 }), Response.json([1, 2, 3]));
  await readCharacterNames({});
  await readCharacterNames({ ASSETS });
  expect([...names.htmlDecodeTree]).toEqual([0]);
  await readCharacterNames({ ASSETS });
  await readCharacterNames({ ASSETS });
  expect([...names.htmlDecodeTree]).toEqual([1, 2, 3]);
  expect(asked).toEqual(["/character-names.json", "/character-names.json"]);
});

test("webfetch asks for the file beside the page, and does without it", async () => {
  const { asked, ASSETS } = assets();
  const page = async () => new Response("<p>tea", { headers: { "content-type": "text/html" } });
  const settings = readGatewayTools({ GATEWAY_TOOLS: "webfetch" });
  if (!settings.ok) throw new Error(settings.error);
  const { result } = await runTool(gatewayTools(settings.value, { ASSETS, WEB: { fetch: page } }), {
    callId: "c",
    name: "webfetch",
    args: { url: "https://a.example/" },
    caller: { principal: "test", role: "owner", channel: "test" },
  });
  expect(textOf(result)).toContain("tea");
  expect(asked).toEqual(["/character-names.json"]);
});
