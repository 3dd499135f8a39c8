import { expect, test, vi } from "vitest";
import type { Env } from "./env.ts";

test("the file is read until it could be, and then no more", async () => {
  vi.resetModules();
  const { readSearchWords } = await import("./search-words.ts");
  const { synonyms } = await import("@edgecall/core/agents/synonyms.ts");
  const asked: string[] = [];
  let answer = () => new Response("busy", { status: 500 });
  const fetch = async (request: Request) => {
    asked.push(new URL(request.url).pathname);
    return answer();
  };
  // SAFETY: nothing else of it is used.
  const env = { ASSETS: { fetch } } as unknown as Env;
  await readSearchWords(env);
  expect(synonyms().get("lamp")).toBeUndefined();
  answer = () => Response.json({ classes: "", states: "", groups: "lamp licht", stop: "" });
  await readSearchWords(env);
  await readSearchWords(env);
  expect([...(synonyms().get("lamp") ?? [])]).toEqual(["licht"]);
  expect(asked).toEqual(["/search-words.json", "/search-words.json"]);
});
