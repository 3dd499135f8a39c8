/** A rule that acts, from the model's call to the signed frame: who may ask, who allows, and what comes of it. */
import { reset } from "cloudflare:test";
import { afterEach, beforeEach, expect, test } from "vitest";
import { acting, allows, CARD, drafts, listed, sets, verified } from "../../../../test/acting-home.ts";
import { permissions } from "../../../../test/permission-home.ts";
import { setVariables } from "../../../../test/variables.ts";
import type { TestBridge } from "../../../../test/workerd.ts";

let bridge: TestBridge;

beforeEach(async () => {
  setVariables({ GATEWAY_TOOLS: "rules", TIMEZONE: "Europe/Berlin" });
  bridge = await acting();
});
afterEach(reset);

test("an owner asks, reads the card, and allows: the bridge gets the signed rule, and the list its permission", async () => {
  const asked = drafts(bridge);
  const { id, question, body } = await allows();
  expect(question).toMatchObject({
    text: CARD[0],
    approval: { card: { lines: CARD.slice(1), verb: "Allow" } },
  });
  expect(body.answer).toContain(`The rule “Door open, lamp on” (${id}) acts from now on.`);
  expect(asked).toMatchObject([{ rule: { id, version: 1 }, zone: "Europe/Berlin", language: "en" }]);
  const [frame] = sets(bridge);
  const rule = await verified(frame?.set[0] ?? "");
  expect(rule).toMatchObject({
    id,
    version: 1,
    home: "a",
    allowed: { by: "anna" },
    do: [{ agent: "lamp", parameters: { on: true } }],
  });
  expect(await verified((frame?.set[0] ?? "").replace('"on":true', '"on":false'))).toBeUndefined();
  expect(await permissions()).toMatchObject([
    { device: "lamp", who: { rule: id, version: 1 }, actions: { set: { on: { is: true } } }, by: "anna" },
  ]);
  expect(await listed()).toMatchObject({
    bridge: "online",
    automations: [
      { id, status: "active", card: CARD, reads: ["front-door"], changes: ["lamp"], allowed_by: "anna" },
    ],
  });
});
