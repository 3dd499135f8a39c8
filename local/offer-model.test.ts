import { existsSync, mkdtempSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@edgecall/client/client.ts";
import { afterEach, expect, test } from "vitest";
import { offerModel, personAt } from "./offer-model.ts";

const open: Server[] = [];
afterEach(() => {
  for (const server of open.splice(0)) server.close();
});

const OLLAMA = { server: "Ollama", base_url: "http://127.0.0.1:11434/v1", models: ["qwen3:8b", "llama3.2"] };
const NONE = { set_by: "none", base_url: null, model: null, found: [] as unknown[] };

/** A gateway that has this model. @param answers of the person, in order; absent: nobody is at the terminal */
async function offered(view: object, answers?: string[], dir = mkdtempSync(join(tmpdir(), "offer-"))) {
  const set: unknown[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk) => (text += chunk));
    request.on("end", () => {
      if (request.method === "PUT") set.push(JSON.parse(text));
      response.end(JSON.stringify({ ...NONE, ...view }));
    });
  });
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const said: string[] = [];
  const asked: string[] = [];
  const ask = async (question: string) => {
    asked.push(question);
    return answers?.shift() ?? "";
  };
  const place = { page: "http://localhost:8787/", dir };
  await offerModel(new Client({ url, token: "t" }), place, {
    say: (line) => said.push(line),
    ...(answers && { ask }),
  });
  return { set, said: said.join("\n"), asked, dir };
}

test.each(["", "y", "YES"])("one answer takes it: '%s'", async (answer) => {
  const { set, said, asked } = await offered({ found: [OLLAMA] }, [answer]);
  expect(asked).toEqual(["\nOllama runs here with qwen3:8b and 1 more. Use qwen3:8b here? [Y/n] "]);
  expect(set).toEqual([{ base_url: "http://127.0.0.1:11434/v1", model: "qwen3:8b" }]);
  expect(said).toContain("qwen3:8b answers from now on");
});

test("a no sets nothing, and is not asked again", async () => {
  const first = await offered({ found: [OLLAMA] }, ["n"]);
  expect(first.set).toEqual([]);
  expect(existsSync(join(first.dir, "model-declined"))).toBe(true);
  const second = await offered({ found: [OLLAMA] }, ["y"], first.dir);
  expect(second).toMatchObject({ set: [], asked: [] });
  expect(second.said).toContain("http://localhost:8787/#/setup/model");
});

test("a model that is set is never replaced, and nobody is asked", async () => {
  const found = [OLLAMA];
  const bySettings = await offered({ set_by: "variables", model: "gpt", found }, ["y"]);
  expect(bySettings).toMatchObject({ set: [], asked: [], said: "" });
  const inSetup = await offered({ set_by: "setup", model: "gpt", base_url: "https://a/v1", found }, ["y"]);
  expect(inSetup).toMatchObject({ set: [], asked: [] });
  expect(inSetup.said).toContain("model: gpt at https://a/v1");
});

test("where nobody is at the terminal, the offer is a line", async () => {
  const { set, said } = await offered({ found: [OLLAMA] });
  expect(set).toEqual([]);
  expect(said).toBe(
    "model: none yet. Ollama runs here with qwen3:8b and 1 more; take it by one tap: http://localhost:8787/#/setup/model",
  );
  expect((await offered({})).said).toContain("model: none, so plain sentences alone are understood");
  const piped = { stdin: { isTTY: false }, stdout: { isTTY: true } } as unknown as NodeJS.Process;
  expect(personAt(piped, new AbortController().signal)).toBeUndefined();
});
