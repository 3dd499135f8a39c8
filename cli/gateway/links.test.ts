import { expect, test } from "vitest";
import { Gateway } from "./gateway.ts";
import { findAgents, findGroups } from "./links.ts";
import type { Agent } from "./shapes.ts";
import { playGateway } from "./testing/played-gateway.ts";

/** Returns the doctor's findings for an agent whose ping has this answer. */
async function saysOf(payload: object) {
  const { client } = await playGateway(() => ({
    body: { request_id: "1", agent: "pi", report_type: "result", payload },
  }));
  const agents = [{ id: "pi", online: true, foreign: true } as Agent];
  const home = { agents, finding: { link: "token", is: "fine", says: "" } } as const;
  const [found] = await findAgents(client, home, undefined);
  return found;
}

test("G1 an agent that refuses the gateway's key is a fault, although it answers", async () => {
  expect(await saysOf({ status: "pong" })).toMatchObject({ is: "fine" });
  const refused = await saysOf({
    status: "error",
    error:
      "This device obeys its own gateway alone, and refused a command: it is not signed. Nothing was run.",
  });
  expect(refused).toMatchObject({
    is: "wrong",
    says: expect.stringContaining("obeys its own gateway alone"),
    todo: expect.stringContaining("edgecall pair"),
  });
});

test("devices of the broker are not pinged: they are counted, and one that is named is told of", async () => {
  // Nothing listens there, so that a ping would be a fault.
  const gateway = new Gateway({ url: "http://127.0.0.1:9", token: "x".repeat(16) });
  const agents = [
    { id: "lamp", online: true, foreign: false, hosted: true, last_seen: null },
    { id: "plug", online: false, foreign: false, hosted: true, last_seen: null },
  ] as Agent[];
  const home = { agents, finding: { link: "token", is: "fine", says: "" } } as const;
  expect(await findAgents(gateway, home, undefined)).toMatchObject([
    { is: "fine", says: "1 of 2 devices of the broker are online" },
  ]);
  expect(await findAgents(gateway, home, "lamp")).toMatchObject([
    { is: "fine", says: "lamp is a device of the broker, and is online" },
  ]);
  expect(await findAgents(gateway, home, "plug")).toMatchObject([{ is: "wrong" }]);
});

test("a group with the id of an agent cannot be called, and it is said", () => {
  const agents = [{ id: "pi" }, { id: "lathe-1", group: "lathes" }, { id: "nas", group: "pi" }] as Agent[];
  expect(findGroups(agents)).toMatchObject([
    { is: "wrong", says: "'pi' is an agent and a group, so the group cannot be called" },
  ]);
});
