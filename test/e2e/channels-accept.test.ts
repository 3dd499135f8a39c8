/** O6: an agent's changed description is accepted where its question is read: in each chat app, in the terminal and in the console. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PlayedAgent } from "../../bridge/testkit/agent.ts";
import { everybody, MEMBER, OWNER, type Person } from "../platforms/people.ts";
import { waitForMessage, waitForText } from "../platforms/waiting.ts";
import { script } from "../scripted-model.ts";
import { TOKENS } from "../tokens.ts";
import { until } from "../wait.ts";
import { askIn, axeFinds, openWindow, signIn, useChromium } from "./chromium.ts";
import { edgecallOnTerminal } from "./command.ts";
import { useStack } from "./stack.ts";

const vars: Record<string, string> = { ALLOW_UNSIGNED_AGENTS: "*" };
const stack = useStack({ vars });
const PEOPLE = await everybody((path, init) => fetch(`${stack.gateway.url}${path}`, init));
vars.CHANNELS = JSON.stringify(Object.values(PEOPLE).map(({ settings }) => settings));

const agents: Record<string, PlayedAgent> = {};

/** An agent of EvoClaw's shape, which answers each question. */
async function answering(id: string): Promise<void> {
  const agent = await PlayedAgent.foreign(id, stack.mqttUrl);
  agent.client.on("message", (_, payload) => {
    const { request_id, command } = JSON.parse(payload.toString("utf8")) as Record<string, string>;
    if (command !== "prompt") return;
    void agent.report("result", {
      status: "success",
      content: `${id}: 19 degrees`,
      agent_id: id,
      request_id,
    });
  });
  agents[id] = agent;
  await stack.gateway.online(id);
}

beforeAll(async () => {
  await answering("attic");
  await answering("cellar");
});
afterAll(async () => {
  await Promise.all(Object.values(agents).map((agent) => agent.stop()));
  await Promise.all(Object.values(PEOPLE).map(({ server }) => server.close()));
});

/** The attic says something else of itself. @returns its new line */
async function changesLine(where: string): Promise<string> {
  const capabilities = `Asks the cellar from ${where} on`;
  await agents.attic?.say("capabilities", { agent_id: "attic", capabilities }, true);
  const known = async () => {
    const agent = await stack.gateway.agent("attic");
    return agent?.capabilities === capabilities && agent.new_text?.was !== undefined;
  };
  await until(known, { within: 20_000, what: "the gateway has the new line" });
  return capabilities;
}
const question = (text: string) =>
  script(
    { calls: [{ arguments: { agent_id: "cellar", query: `How warm is it? ${text}` } }] },
    { text: `${text}: $results` },
  );

describe.each(Object.values(PEOPLE) as Person[])("$channel", (person) => {
  test("O6: the third button accepts a changed line: not a member's press, and it is not asked for again", async () => {
    const line = await changesLine(person.channel);
    const sent = await person.say(question(`first of ${person.channel}`), OWNER);
    const asked = await waitForMessage(sent, ({ buttons }) => buttons.length === 3, "the three buttons");
    expect(asked.text).toContain("attic");
    expect(asked.text).toContain(line);
    expect(asked.text).toContain("has changed, and nobody has accepted that");
    const accept = asked.buttons[2];
    // A program gets the answers themselves.
    expect(accept?.label).toMatch(person.channel === "generic" ? /^accept$/ : /Send, and accept/);
    const refused = await person.press(accept?.data ?? "", MEMBER);
    await until(() => refused.words !== undefined, { what: "words for the member" });
    expect(await stack.gateway.agent("attic")).toHaveProperty("new_text");

    await person.press(accept?.data ?? "", OWNER);
    await waitForText(sent, `first of ${person.channel}: cellar: 19 degrees`);
    await waitForText(sent, "Approved");
    expect(await stack.gateway.agent("attic")).not.toHaveProperty("new_text");
    const next = await person.say(question(`second of ${person.channel}`), OWNER);
    await waitForText(next, `second of ${person.channel}: cellar: 19 degrees`);
  });
});

test("O6: 'accept' is typed in the terminal", { tags: ["needs/linux"] }, async () => {
  const line = await changesLine("the terminal");
  const here = { EDGECALL_URL: stack.gateway.url, EDGECALL_TOKEN: TOKENS.owner };
  const command = edgecallOnTerminal(["ask", question("typed")], here);
  await command.writes("Send? [y/n/accept]");
  expect(command.out).toContain(`attic says of itself: ${line}`);
  expect(command.out).toContain("has changed, and nobody has accepted that");
  command.types("accept\r");
  const { out, code } = await command.ended;
  expect([code, out]).toEqual([0, expect.stringContaining("typed: cellar: 19 degrees")]);
  expect(await stack.gateway.agent("attic")).not.toHaveProperty("new_text");
});

describe("the console", { tags: ["needs/chromium"] }, () => {
  let browser: Browser;
  let page: Page;
  useChromium(async (started) => {
    browser = started;
    page = await openWindow(browser, { width: 390, height: 844 });
    await signIn(page, stack.gateway.url, TOKENS.owner);
  });

  test("O6: its button accepts a changed line, on a narrow window, in a second browser", async () => {
    const line = await changesLine("the console");
    const turn = await askIn(page, question("narrow"));
    const asked = turn.getByRole("group", { name: "Send this to cellar?" });
    await asked.getByText(line).waitFor();
    await asked.getByText("has changed, and nobody has accepted that").waitFor();
    const accept = asked.getByRole("button", { name: "Send, and accept its text" });
    const box = await accept.boundingBox();
    expect([box && box.x >= 0, box && box.x + box.width <= 390]).toEqual([true, true]);
    expect(await page.locator("html").evaluate((html) => html.scrollWidth)).toBeLessThanOrEqual(390);
    expect(await axeFinds(page)).toEqual([]);
    await accept.click();
    // A text of others is behind it, so the browser that asks is not enough.
    await turn.getByText(/press it in another browser where you are signed in/).waitFor();
    const elsewhere = await openWindow(browser, { width: 390, height: 844 });
    await signIn(elsewhere, stack.gateway.url, TOKENS.owner);
    await elsewhere.goto(page.url());
    await elsewhere.getByRole("button", { name: "Send, and accept its text" }).click();
    await turn.locator(".answer", { hasText: "narrow: cellar: 19 degrees" }).waitFor();
    expect(await stack.gateway.agent("attic")).not.toHaveProperty("new_text");
  });
});
