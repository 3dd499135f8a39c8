/** Plain sentences on the command line: the demo home in three languages, while the model refuses. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TOKENS } from "../tokens.ts";
import { until } from "../wait.ts";
import { edgecall, edgecallOnTerminal } from "./command.ts";
import { HomeRules } from "./home-rules.ts";
import { SPOKEN, useSpokenHome } from "./spoken-home.ts";

const home = mkdtempSync(join(tmpdir(), "edgecall-home-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const { stack, house, refused, traces, settle } = useSpokenHome();
const rules = new HomeRules(stack);

const env = () => ({ EDGECALL_URL: stack.gateway.url, EDGECALL_TOKEN: TOKENS.owner, HOME: home });

describe.each(SPOKEN)("$language", (spoken) => {
  beforeAll(() => settle(spoken));

  test("a command is done when the device says so, and its answer names no model", async () => {
    const [says, answer] = spoken.command;
    const { code, out } = await edgecall(["ask", "--json", says], env());
    expect(code).toBe(0);
    const usage = { input_tokens: 0, output_tokens: 0 };
    expect(JSON.parse(out)).toMatchObject({ answer, status: "done", model: "edgecall", usage });
  });

  test("a question is answered from what the device reported", async () => {
    const [says, answer] = spoken.question;
    const { code, out, err } = await edgecall(["ask", says], env());
    expect({ code, out: out.trimEnd(), err }).toEqual({
      code: 0,
      out: expect.stringMatching(answer),
      err: "",
    });
  });

  test("many devices are asked about in one question, and each is told with what it said", async () => {
    const [says, [done, dead]] = spoken.plural;
    const command = edgecallOnTerminal(["ask", says], env());
    const [sentence, verb] = spoken.asks;
    await command.writes(`${verb}? [y/n]`);
    expect(stripVTControlCharacters(command.out)).toMatch(sentence);
    command.types("y\r");
    const { code, out } = await command.ended;
    expect(code).toBe(0);
    const lines = stripVTControlCharacters(out).split(/\r?\n/);
    expect(lines).toContain(done);
    expect(lines).toContainEqual(expect.stringContaining(dead));
    expect(lines.filter((line) => line.includes(`${verb}? [y/n]`))).toHaveLength(1);
  });

  test("a watch is made, and tells when it is so", async () => {
    const [says, made] = spoken.watch;
    const conversation = crypto.randomUUID();
    const { code, out } = await edgecall(["ask", "-c", conversation, says], env());
    expect(code).toBe(0);
    expect(out).toContain(made);
    house().happen("leak");
    expect(await rules.toldCount(conversation, 1)).toEqual([expect.stringMatching(spoken.fires)]);
  });

  test("what needs the model, which is down, is said with what works without it", async () => {
    const [says, parts] = spoken.general;
    const before = refused();
    const { code, out, err } = await edgecall(["ask", says], env());
    expect({ code, out }).toEqual({ code: 1, out: "" });
    for (const part of ["401", ...parts]) expect(err).toContain(part);
    expect(refused()).toBe(before + 1);
  });
});

test("the traces of turns say which of them no model answered", async () => {
  const answered = { status: "done", withoutModel: true };
  const failed = { status: "failed", withoutModel: undefined };
  const of = (one: object) => traces().filter((turn) => JSON.stringify(turn) === JSON.stringify(one)).length;
  await until(() => of(failed) === SPOKEN.length, { what: "the traces are there" });
  expect(of(answered)).toBe(4 * SPOKEN.length);
  expect(refused()).toBe(SPOKEN.length);
});

/** What no home has. */
const UNKNOWN = {
  en: "turn on the flumbox",
  de: "schalte die Flumbox ein",
  fr: "allume la flumbox",
  es: "enciende la flumbox",
  it: "accendi la flumbox",
  nl: "zet de flumbox aan",
  pl: "włącz flumbox",
  pt: "liga a flumbox",
  cs: "zapni flumbox",
  zh: "打开弗兰博",
};

test.each(Object.entries(UNKNOWN))(
  "each sentence that is named in %s beside what is not understood works",
  async (_, says) => {
    const { status, answer } = await stack.gateway.ask(says);
    expect(status).toBe("failed");
    const examples = (answer ?? "")
      .split("\n")
      .flatMap((line) => (line.startsWith("• ") ? line.slice(2) : []));
    expect(examples, answer ?? "").toHaveLength(3);
    for (const example of examples) {
      const { status, model, answer } = await stack.gateway.ask(example);
      expect({ status, model }, `${example}: ${answer}`).toEqual({ status: "done", model: "edgecall" });
    }
  },
);
