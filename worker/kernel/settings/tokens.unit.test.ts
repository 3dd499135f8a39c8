import { expect, test } from "vitest";
import type { Env } from "../env.ts";
import { apiTokenRecords } from "./tokens.ts";

function read(name: string) {
  const record = { hash: "0".repeat(64), name, home: "a", role: "guest", scopes: ["ask"] };
  return apiTokenRecords({ API_TOKENS: JSON.stringify([record]) } as Env).map((token) => token.name);
}

test("no token has the name of a device or of another home", () => {
  expect(read("anna")).toEqual(["anna"]);
  expect(read("telegram:7")).toEqual(["telegram:7"]);
  for (const name of ["agent:pi", "home:work"]) expect(() => read(name)).toThrow(/expected another name/);
});
