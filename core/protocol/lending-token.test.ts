import { describe, expect, test } from "vitest";
import { lendingPlace, lendingTokenBody, readLendingToken } from "./lending-token.ts";

const NOW = 1_795_000_000_000;
const CLAIMS = {
  grant: "0b5a2c1e-1111-4222-8333-444455556666",
  from: "borrower",
  for: "h/v1/peer/a/call",
} as const;
const SIGNATURE = "A".repeat(86);

test("a place has the host and port of a gateway; without one it is a place of this gateway", () => {
  expect(lendingPlace("https://gateway.example", "a", "call")).toBe("gateway.example/v1/peer/a/call");
  expect(lendingPlace("http://127.0.0.1:8787", "a", "call")).toBe("127.0.0.1:8787/v1/peer/a/call");
  expect(lendingPlace("", "a", "call")).toBe("/v1/peer/a/call");
});

test("a token is read with its own body, within five minutes", async () => {
  const token = `${await lendingTokenBody(CLAIMS, "{}", NOW)}.${SIGNATURE}`;
  expect((await readLendingToken(token, "{}", NOW))?.claims).toMatchObject(CLAIMS);
  expect(await readLendingToken(token, "{}", NOW + 299_000)).toBeDefined();
  // The other clock may be ahead by a minute.
  expect(await readLendingToken(token, "{}", NOW - 60_000)).toBeDefined();
});

describe("not read", () => {
  test.each([
    ["with another body", "{ }", NOW],
    ["when it is older", "{}", NOW + 300_000],
    ["when it comes from further ahead", "{}", NOW - 61_000],
  ])("%s", async (_, body, now) => {
    const token = `${await lendingTokenBody(CLAIMS, "{}", NOW)}.${SIGNATURE}`;
    expect(await readLendingToken(token, body, now)).toBeUndefined();
  });

  test.each([
    ["a grant that is no UUID", { ...CLAIMS, grant: "x" }],
    ["another claim", { ...CLAIMS, more: 1 }],
    ["no place", { ...CLAIMS, for: "" }],
  ])("with %s", async (_, claims) => {
    const token = `${await lendingTokenBody(claims, "{}", NOW)}.${SIGNATURE}`;
    expect(await readLendingToken(token, "{}", NOW)).toBeUndefined();
  });

  test.each(["", "x", "a.b", "."])("'%s'", async (token) => {
    expect(await readLendingToken(token, "{}", NOW)).toBeUndefined();
  });
});
