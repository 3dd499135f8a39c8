import { expect, test } from "vitest";
import { findModel } from "./links.ts";
import { findSkills } from "./skills.ts";
import { playGateway } from "./testing/played-gateway.ts";

const skill = (name: string, enabled: boolean, ...problems: string[]) => ({ name, enabled, problems });

test("the skills of a device are named, and each part that it leaves out, with the reason", async () => {
  const skills = [
    skill("count-lines", true),
    skill("tank", true, "tank_watch: no program: looked for /x/dt-tank_watch"),
    skill("broken", false, "name: right would be letters"),
  ];
  const { client, requests } = await playGateway(() => ({
    body: { payload: { status: "success", skills } },
  }));
  expect(await findSkills(client, "eye")).toEqual([
    { link: "skill", is: "fine", says: "eye offers count-lines, tank" },
    expect.objectContaining({
      is: "wrong",
      says: "tank: tank_watch: no program: looked for /x/dt-tank_watch",
    }),
    expect.objectContaining({ is: "wrong", says: "broken: name: right would be letters" }),
  ]);
  expect(requests).toMatchObject([
    {
      method: "POST",
      path: "/v1/agents/eye/commands",
      body: '{"command":"skill","payload":{"action":"list"}}',
    },
  ]);
});

test.each([
  ["an agent of another kind", 200, { payload: { status: "error", error: "unknown command" } }],
  ["a token that may not", 403, { error: { code: "forbidden", message: "no" } }],
  ["no skills", 200, { payload: { skills: [] } }],
])("%s is no fault", async (_, status, answer) => {
  const { client } = await playGateway(() => ({ status, body: answer }));
  expect(await findSkills(client, "eye")).toEqual([]);
});

test("a home without a model is no fault: what is understood all the same is said", async () => {
  const error = { code: "no_model", message: "No model is configured" };
  const turn = { turn: "t", status: "failed", answer: "I do nothing when a sentence says “no”.", error };
  const { client } = await playGateway(() => ({ body: turn }));
  expect(await findModel(client)).toEqual({
    link: "model",
    is: "left",
    says: expect.stringMatching(/^none is set, so plain sentences alone are understood/),
  });
});
