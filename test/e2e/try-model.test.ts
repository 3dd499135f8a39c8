/**
 * `npm run try-model` as a program, with the stand-in. It must run to its end; the quality of a model is not tested.
 */
import { expect, test } from "vitest";
import { STAND_IN_MODEL, startStandIn } from "../../stand-in/server.ts";
import { Program } from "./program.ts";

test("it tries each flow, and reports the result of each", async () => {
  const model = await startStandIn();
  try {
    const env = { LLM_BASE_URL: model.baseUrl, LLM_MODEL: STAND_IN_MODEL };
    const program = new Program({ name: "try-model", script: "local/try-model/main.ts", env });
    const { code } = await program.gone;
    const printed = program.lines.join("\n");
    expect(printed).toMatch(/one reading.*'ok'/);
    // The stand-in matches words and remembers none, and the table has to show that.
    expect(printed).toMatch(/memory of a conversation.*'it did not remember'/);
    expect(printed).toContain("window: the server does not tell it");
    expect(code).toBe(1);
  } finally {
    await model.stop();
  }
});

test("without a model it says what to set", async () => {
  const program = new Program({ name: "try-model", script: "local/try-model/main.ts" });
  expect(await program.gone).toMatchObject({ code: 2 });
  expect(program.lines.join("\n")).toContain("LLM_BASE_URL");
});
