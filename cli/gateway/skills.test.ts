import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { Gateway } from "./gateway.ts";
import { findModel } from "./links.ts";
import { findSkills } from "./skills.ts";

/** A gateway that answers each request so. @returns it, and the paths and bodies that were asked */
async function gatewayThat(status: number, answer: object) {
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    asked.push(`${request.method} ${request.url} ${body}`);
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { gateway: new Gateway({ url: `http://127.0.0.1:${port}`, token: "x".repeat(16) }), asked };
}

const skill = (name: string, enabled: boolean, ...problems: string[]) => ({ name, enabled, problems });

test("the skills of a device are named, and each part that it leaves out, with the reason", async () => {
  const skills = [
    skill("count-lines", true),
    skill("tank", true, "tank_watch: no program: looked for /x/dt-tank_watch"),
    skill("broken", false, "name: right would be letters"),
  ];
  const { gateway, asked } = await gatewayThat(200, { payload: { status: "success", skills } });
  expect(await findSkills(gateway, "eye")).toEqual([
    { link: "skill", is: "fine", says: "eye offers count-lines, tank" },
    expect.objectContaining({
      is: "wrong",
      says: "tank: tank_watch: no program: looked for /x/dt-tank_watch",
    }),
    expect.objectContaining({ is: "wrong", says: "broken: name: right would be letters" }),
  ]);
  expect(asked).toEqual(['POST /v1/agents/eye/commands {"command":"skill","payload":{"action":"list"}}']);
});

test.each([
  ["an agent of another kind", 200, { payload: { status: "error", error: "unknown command" } }],
  ["a token that may not", 403, { error: { code: "forbidden", message: "no" } }],
  ["no skills", 200, { payload: { skills: [] } }],
])("%s is no fault", async (_, status, answer) => {
  const { gateway } = await gatewayThat(status, answer);
  expect(await findSkills(gateway, "eye")).toEqual([]);
});

test("a home without a model is no fault: what is understood all the same is said", async () => {
  const error = { code: "no_model", message: "No model is configured" };
  const turn = { turn: "t", status: "failed", answer: "I do nothing when a sentence says “no”.", error };
  const { gateway } = await gatewayThat(200, turn);
  expect(await findModel(gateway)).toEqual({
    link: "model",
    is: "left",
    says: expect.stringMatching(/^none is set, so plain sentences alone are understood/),
  });
});
