/** `npm run try-model` as a program, with a scripted model. It must run to its end; the quality of a model is not tested. */
import { hostname } from "node:os";
import { expect, test } from "vitest";
import { agentIdOf } from "../../local/settings.ts";
import { readRow } from "../../local/try-model/rows.ts";
import { startScriptedModel } from "../scripted-model.ts";
import { action, RESULTS } from "./edge-calls.ts";
import { Program } from "./program.ts";

const READING = "How full is the root disk?";

test("it tries each flow, and reports the result of each", async () => {
  const model = await startScriptedModel();
  model.written.set(READING, [action(agentIdOf(hostname()), "disk"), RESULTS]);
  try {
    const env = { LLM_BASE_URL: model.url, LLM_MODEL: "scripted" };
    const program = new Program({ name: "try-model", script: "local/try-model/main.ts", env });
    const { code } = await program.gone;
    const printed = program.lines.join("\n");
    expect(printed).toMatch(/one reading.*'ok'/);
    // The model was asked, though the sentence is understood without one.
    expect(model.requests.filter(({ question }) => question === READING)).toHaveLength(2);
    // The script remembers no word, and the table has to show that.
    expect(printed).toMatch(/memory of a conversation.*'it did not remember'/);
    expect(printed).toContain("window: the server does not tell it");
    expect(code).toBe(1);
    const row = readRow(program.lines.find((line) => line.startsWith('{"day":')) ?? "");
    expect(row.ok && row.value).toMatchObject({ model: "scripted", endpoint: "scripted", good: false });
  } finally {
    await model.close();
  }
});

test("without a model it says what to set", async () => {
  const program = new Program({ name: "try-model", script: "local/try-model/main.ts" });
  expect(await program.gone).toMatchObject({ code: 2 });
  expect(program.lines.join("\n")).toContain("LLM_BASE_URL");
});
