/** Buttons of rules in a conversation of the API: what came of one stands in its place, wherever it was pressed. */
import { evictDurableObject, reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, test } from "vitest";
import { EventStream } from "../../../../test/event-stream.ts";
import { call, post } from "../../../../test/keyed-home.ts";
import { make, ruleHome } from "../../../../test/rule-clock.ts";
import { script } from "../../../../test/scripted-model.ts";
import { rowsOf } from "../../../../test/stopping.ts";
import { TOKENS } from "../../../../test/tokens.ts";
import { setVariables } from "../../../../test/variables.ts";
import { until } from "../../../../test/wait.ts";
import { agent, CPU, say, TestBridge } from "../../../../test/workerd.ts";
import type { PastTurn } from "../../../kernel/api/answers.ts";

afterEach(reset);
beforeEach(() => setVariables({ GATEWAY_TOOLS: "rules" }));

const turnsOf = async (id: string) =>
  ((await call(`/v1/conversations/${id}`)).body as unknown as { turns: PastTurn[] }).turns;
const shed = (online: boolean) => agent("shed", { online, tools: [CPU] });
const offline = { name: "Shed", agent_id: "shed", reading: "presence", is: "offline", for_minutes: 0 };

test("of a notice: who follows sees it at once, and whoever comes later", async () => {
  const bridge = await TestBridge.connect([shed(true)]);
  await say("pressed", script(make("watch", offline), { text: "ok" }));
  const other = await EventStream.follow("pressed");
  bridge.send({ t: "agents", agents: [shed(false)] });
  const notice = await until(() => other.of("done").at(-1), { what: "the notice" });
  const [{ buttons = [] } = {}] = notice.rules as NonNullable<PastTurn["rules"]>;
  const gotIt = buttons[0] ?? expect.unreachable();

  const { label: _, rule, ...body } = gotIt;
  const pressed = await post(`/v1/rules/${rule}/press`, body);
  expect(pressed.body).toEqual({ done: true, text: "✔ Answered by anna: Shed." });
  const again = await until(() => other.of("done").filter(({ turn }) => turn === notice.turn)[1]);
  const after = [{ buttons: [], pressed: "✔ Answered by anna: Shed." }];
  expect(again.rules).toEqual(after);
  // A second person's press comes too late, and is told so; the words of the first stay.
  const late = await post(`/v1/rules/${rule}/press`, body);
  expect(late.body).toEqual({ done: true, text: "anna has answered already." });
  await other.leave();
  await evictDurableObject(env.CONVERSATION.getByName("a/api/pressed"));
  expect((await turnsOf("pressed")).map(({ rules }) => rules?.[0]?.pressed)).toEqual([
    undefined,
    "✔ Answered by anna: Shed.",
  ]);
});

test("of a confirmation: it is undone, and a stop of a rule ends its buttons everywhere", async () => {
  const tea = make("remind", { text: "tea", in_minutes: 60 });
  await say("undone", script(tea, make("remind", { text: "cake", in_minutes: 60 }), { text: "ok" }));
  const [{ rules = [] } = {}] = await turnsOf("undone");
  expect(rules.map(({ buttons }) => buttons[0]?.label)).toEqual(["Undo", "Undo"]);
  await post(`/v1/rules/${rules[0]?.buttons[0]?.rule}/press`, { do: "stop", occurrence: 0 });
  const [{ rules: after = [] } = {}] = await turnsOf("undone");
  expect(after.map(({ pressed }) => pressed)).toEqual(["✔ Stopped by anna: tea.", undefined]);
  expect(after[1]?.buttons).toHaveLength(1);
  expect(await rowsOf(ruleHome(), "SELECT id FROM rule")).toHaveLength(1);
});

test("by somebody who may not changes nothing", async () => {
  await say("not-mine", script(make("remind", { text: "tea", in_minutes: 60 }), { text: "ok" }));
  const [{ rules = [] } = {}] = await turnsOf("not-mine");
  const body = JSON.stringify({ do: "stop", occurrence: 0 });
  const path = `/v1/rules/${rules[0]?.buttons[0]?.rule}/press`;
  const answer = await call(path, { method: "POST", body, token: TOKENS.member });
  expect(answer.body).toMatchObject({ done: false });
  expect((await turnsOf("not-mine"))[0]?.rules?.[0]?.pressed).toBeUndefined();
});
