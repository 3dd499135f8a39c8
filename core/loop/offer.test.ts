import { expect, test } from "vitest";
import type { ToolDefinition } from "../tools/registry.ts";
import type { Call, Entry, Outcome } from "./history.ts";
import { MORE_TOOLS, ToolOffer, tokensOfTools } from "./offer.ts";

const PARAMETERS = { type: "object", properties: { at: { type: "string" } }, required: ["at"] };

function tool(name: string, description: string): ToolDefinition {
  return { type: "function", function: { name, description, parameters: PARAMETERS } };
}

/** Each has 100 tokens or more, so 40 of them do not fit. */
const FILLER = Array.from({ length: 40 }, (_, n) =>
  tool(`filler_${n}`, `Knits sock ${n}. ${"x".repeat(250)}`),
);
const DISK = tool("disk", "Read this device's disk usage: how full it is.");
const CAMERA = tool("snapshot", "Take a picture with this device's camera.");
const TOOLS = [...FILLER, DISK, CAMERA];

const names = (tools: readonly ToolDefinition[]) => tools.map((one) => one.function.name);
const call = (name: string, args: Record<string, unknown> = {}): Call => ({
  id: `id-${name}-${JSON.stringify(args)}`,
  modelCallId: name,
  name,
  args,
});
const reply = (...calls: Call[]): Entry => ({ role: "assistant", text: "", calls });
const unasked = () => expect.fail("no tool of the device runs");

test("L2: tools that fit whole are offered whole, in their order", () => {
  const few = [CAMERA, DISK];
  expect(new ToolOffer({ tools: few, question: "Knit a sock" }).tools([])).toEqual(few);
});

test("L2: of many tools those that fit the question are offered, within 2,000 tokens; a line names the others", () => {
  const offered = new ToolOffer({ tools: TOOLS, question: "Wie voll ist die Festplatte?" }).tools([]);
  expect(names(offered)).toEqual(["disk", MORE_TOOLS]);
  expect(tokensOfTools(offered)).toBeLessThanOrEqual(2_000);
  expect(offered.at(-1)?.function.description).toContain("filler_0, filler_1,");
  expect(offered.at(-1)?.function.description).toContain("snapshot");
  expect(offered.at(-1)?.function.description).not.toContain("disk");
});

test("L2: as many names as fit are named, and the rest is counted", () => {
  const many = Array.from({ length: 900 }, (_, n) => tool(`a_rather_long_name_${n}`, "Knits."));
  const offered = new ToolOffer({ tools: many, question: "Knit" }).tools([]);
  expect(tokensOfTools(offered)).toBeLessThanOrEqual(2_000);
  expect(offered.at(-1)?.function.description).toMatch(/a_rather_long_name_\d+ and \d+ more\./);
});

test("L2: what is offered only grows, at its end", async () => {
  const offer = new ToolOffer({ tools: TOOLS, question: "How full is the disk?" });
  const turn: Entry[] = [{ role: "user", text: "How full is the disk?" }];
  const first = offer.tools(turn);
  turn.push(reply(call("snapshot"), call("disk")));
  const second = offer.tools(turn);
  expect(second).toEqual([...first, CAMERA]);
  const more = call(MORE_TOOLS, { about: "filler_7, filler_3" });
  await offer.run(more, unasked);
  turn.push(reply(more), reply(call("no_such_tool")));
  expect(offer.tools(turn)).toEqual([...second, FILLER[7], FILLER[3]]);
});

test("L2: more_tools finds by names and by words of other languages, and says so where nothing fits", async () => {
  const offer = new ToolOffer({ tools: TOOLS, question: "How full is the disk?" });
  const ask = async (about: unknown) => (await offer.run(call(MORE_TOOLS, { about }), unasked)).text;
  expect(await ask("snapshot")).toBe(
    "You can call these from now on:\n- snapshot: Take a picture with this device's camera.",
  );
  expect(await ask("prendre une photo")).toContain("- snapshot:");
  expect(await ask("qqq")).toMatch(/^No tool of this device fits 'qqq'\. Its tools: filler_0, /);
  expect(await ask(7)).toMatch(/^No tool of this device fits ''/);
  const all = (await ask("sock")).split("\n").slice(1);
  expect(all.length).toBeGreaterThan(3);
  expect(all.length).toBeLessThan(15);
});

test("L2: a tool that was not offered runs; where its arguments do not fit, the error has its schema", async () => {
  const offer = new ToolOffer({ tools: TOOLS, question: "How full is the disk?" });
  offer.tools([]);
  const done: Outcome = { status: "success", text: "done", elapsedMs: 1 };
  const wrong: Outcome = { status: "error", errorType: "invalid_params", text: "Error: no", elapsedMs: 0 };
  expect(await offer.run(call("snapshot", { at: "x" }), async () => done)).toBe(done);
  const told = await offer.run(call("snapshot"), async () => wrong);
  expect(told).toMatchObject({
    text: "Error: no",
    advice: expect.stringContaining(JSON.stringify(PARAMETERS)),
  });
  // The request had the schema of this one.
  expect(await offer.run(call("disk"), async () => wrong)).toBe(wrong);
  offer.tools([reply(call("snapshot"))]);
  expect(await offer.run(call("snapshot"), async () => wrong)).toBe(wrong);
});

test("L2: what earlier turns used is offered again, and what the request tells to call", () => {
  const history: Entry[] = [{ role: "user", text: "a picture" }, reply(call("snapshot"), call("gone"))];
  const options = { tools: TOOLS, question: "And now the disk", history, always: ["filler_9"] };
  expect(names(new ToolOffer(options).tools([]))).toEqual(["disk", "filler_9", "snapshot", MORE_TOOLS]);
});

test("L2: however much earlier turns used, the question's tool is offered", () => {
  const history: Entry[] = [reply(...FILLER.map((one) => call(one.function.name)))];
  const offered = names(new ToolOffer({ tools: TOOLS, question: "And now the disk", history }).tools([]));
  expect(offered).toHaveLength(FILLER.length + 2);
  expect(offered).toContain("disk");
});

test("L2: a description in another language than the question's is found by its topic", () => {
  const tools = [...FILLER, tool("gewaechshaus", "Öffnet und schließt die Webseite mit dem Formular.")];
  const offered = new ToolOffer({ tools, question: "Remplis le formulaire du site" }).tools([]);
  expect(names(offered)).toContain("gewaechshaus");
});

test("L2: a long question counts at its beginning and its end", () => {
  const question = `How full is the disk? ${"Bla bla. ".repeat(2_000)} Take a picture.`;
  const offered = names(new ToolOffer({ tools: TOOLS, question }).tools([]));
  expect(offered).toEqual(expect.arrayContaining(["disk", "snapshot"]));
});
