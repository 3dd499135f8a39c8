/** openapi.json is that of the routes which the Worker serves today, and describes every one of them, or says why not. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { ApiDocument } from "./document.ts";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

// In a process of its own, because the Worker's sources are loaded without Cloudflare's modules.
const made = JSON.parse(
  execFileSync(process.execPath, [at("./main.ts"), "--print"], {
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  }),
) as { files: Record<string, string>; served: string[]; leftOut: Record<string, string> };
const document = JSON.parse(made.files["worker/features/console/public/openapi.json"] ?? "") as ApiDocument;
const described = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ":$1")}`),
);

test("the document is up to date, and the client has a type for each of its operations", () => {
  const { "client/routes.ts": types = "", ...kept } = made.files;
  for (const [path, text] of Object.entries(kept))
    expect(readFileSync(at(`../../${path}`), "utf8") === text, `${path}: run npm run api`).toBe(true);
  const typed = [...types.matchAll(/^ {2}"([A-Z]+ [^"]*)": \{/gm)].map(([, route = ""]) => route);
  expect(typed.map((route) => route.replace(/\{(\w+)\}/g, ":$1"))).toEqual(described);
});

test("every route of the router is described or left out with a reason, never both", () => {
  expect(made.served.length).toBeGreaterThan(80);
  expect([...new Set([...described, ...Object.keys(made.leftOut)])].sort()).toEqual(
    [...new Set(made.served)].sort(),
  );
  expect(described.filter((route) => route in made.leftOut)).toEqual([]);
  expect(Object.values(made.leftOut).filter((reason) => reason.length < 10)).toEqual([]);
});

test("every operation says what it does, needs and answers, and every reference has its schema", () => {
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  expect(operations.length).toBeGreaterThan(50);
  for (const { operationId, summary, description, responses } of operations) {
    expect(summary, operationId).toMatch(/^[A-Z][a-z]+ ./);
    expect(description, operationId).toMatch(/Needs (no token|the scope)/);
    expect(Object.keys(responses).length, operationId).toBeGreaterThan(1);
  }
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]*)"/g)].map(([, to = ""]) => to);
  const known = new Set(
    Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`),
  );
  expect(references.length).toBeGreaterThan(50);
  expect(references.filter((to) => !known.has(to))).toEqual([]);
});

test("what a route checks is what the document says", () => {
  const agents = document.paths["/v1/agents"]?.get?.parameters;
  expect(agents?.find(({ name }) => name === "limit")?.schema).toEqual({
    type: "integer",
    minimum: 1,
    maximum: 1_000,
    default: 500,
  });
  const body = document.paths["/v1/tokens"]?.post?.requestBody?.content["application/json"]?.schema;
  expect(body).toMatchObject({ required: ["name", "role", "scopes"], additionalProperties: false });
});

test("each event of a stream has a schema of its own, and an answer of two forms has both", () => {
  const { TurnEvent, TurnEventDelta } = document.components.schemas;
  expect(TurnEvent).toMatchObject({
    discriminator: { propertyName: "event", mapping: { delta: "#/components/schemas/TurnEventDelta" } },
  });
  expect(TurnEvent?.oneOf).toContainEqual({ $ref: "#/components/schemas/TurnEventDelta" });
  expect(TurnEventDelta).toMatchObject({ required: ["event", "data"] });
  const sent = document.paths["/v1/conversations/{id}/messages"]?.post?.responses[202];
  expect(sent?.content?.["application/json"]?.schema.anyOf).toEqual([
    { $ref: "#/components/schemas/TurnResult" },
    expect.objectContaining({ required: ["turn", "status"] }),
  ]);
});
