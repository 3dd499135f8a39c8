import { expect, test } from "vitest";
import { asAdvised, errorFields, forModel, forPerson, readError, splitByWords } from "./advice.ts";
import { blockedAction, errorText, permissionDenied } from "./errors.ts";

const ALL = [
  blockedAction("bash"),
  permissionDenied("bash", "exec"),
  errorText.nobodyToAsk("x"),
  errorText.noJobs("x"),
  errorText.offline("pi", "a minute ago"),
  errorText.outcomeUnknown("the call"),
  errorText.cancelled("x", true),
  errorText.cancelled("x", false),
  errorText.timeout("x", 5_000),
  errorText.unknownTool("x", []),
];

test("C10 a person does not see what is only for the model", () => {
  expect(forPerson(blockedAction("bash"))).toBe(
    "Permission denied for tool 'bash' (blocked by this agent's genome). Nothing was run.",
  );
  expect(forPerson(permissionDenied("bash", "exec"))).toBe(
    "Permission denied for tool 'bash' (requires: exec).",
  );
  for (const error of ALL) {
    expect(forPerson(error)).not.toMatch(/user|Error:|do not/i);
    expect(forModel(error)).toBe(`${error.text}\n${error.advice}`);
  }
  // The result's own text stays, whatever it says.
  expect(forPerson({ text: "Explain to the user" })).toBe("Explain to the user");
  expect(forModel({ text: "done" })).toBe("done");
});

test("C10 a device's advice is recognised by its field, not by its words", () => {
  for (const error of ALL) {
    const fields = errorFields(error);
    expect(fields.error).toBe(forModel(error));
    expect(readError(fields.error, fields.advice)).toEqual(error);
  }
  const said = "Error: exit code 3\nTell the user that it is full.";
  expect(readError(said, errorFields(said).advice)).toEqual({ text: said });
  // Advice that is not at the end is no part of it.
  expect(readError(said, "Something else.")).toEqual({ text: said });
  expect(asAdvised(said)).toEqual({ text: said });
});

test("C10 an agent of 0.2.0 sends one text: its advice is recognised by its words", () => {
  for (const error of ALL)
    expect(forPerson(readError(forModel(error), undefined))).not.toMatch(/user|Error:|do not/i);
  // The result follows the advice.
  expect(splitByWords(`${forModel(errorText.timeout("bash", 5_000))}\nstderr: half\nexit code 3`)).toEqual({
    text: "Error: Tool 'bash' timed out after 5s.\nstderr: half\nexit code 3",
    advice: "Try again with a shorter timeout or explain to the user.",
  });
  expect(splitByWords("Error: Tell the user.")).toEqual({ text: "Error: Tell the user." });
});
