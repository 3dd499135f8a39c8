import { expect, test } from "vitest";
import { ERROR_CODES, ERROR_TYPES, errorText, errorTypeOf, statusText } from "./errors.ts";

// Word for word those of the tool-loop design: models are tuned against them.
test("the texts of the tool-loop design", () => {
  expect(errorText.unknownTool("git_status", ["bash", "read", "write"])).toBe(
    "Error: Tool 'git_status' not found. Available tools: bash, read, write.\nPlease choose an available tool or explain to the user.",
  );
  expect(errorText.timeout("bash", 30_000, "Command: 'sleep 60'.")).toBe(
    "Error: Tool 'bash' timed out after 30s. Command: 'sleep 60'.\nTry again with a shorter timeout or explain to the user.",
  );
  expect(errorText.permissionDenied("bash", "shell")).toBe(
    "Error: Permission denied for tool 'bash' (requires: shell).\nThis agent does not have shell access. Explain to the user.",
  );
  const schema = { properties: { path: {}, offset: {}, limit: {} }, required: ["path"] };
  expect(errorText.invalidParams("read", "missing 'path'", schema)).toBe(
    "Error: Invalid parameters for 'read': missing 'path'.\nRequired: [path]. Optional: [offset, limit].",
  );
});

test("the texts where something is absent", () => {
  expect(errorText.unknownTool("x", [])).toContain("Available tools: none.");
  expect(errorText.timeout("gpio", 1_500)).toBe(
    "Error: Tool 'gpio' timed out after 1.5s.\nTry again with a shorter timeout or explain to the user.",
  );
  // A schema comes from a device: it may be anything.
  for (const schema of [{}, { required: "path", properties: null }, { properties: "x" }]) {
    expect(errorText.invalidParams("x", "bad", schema)).toContain("Required: []. Optional: [");
  }
});

test("offline and unknown outcomes never read like a success", () => {
  expect(errorText.offline("pi-1", "2 h ago")).toContain("last seen 2 h ago). Nothing was run.");
  expect(errorText.outcomeUnknown("'bash' on pi-1")).toContain("may or may not have run");
});

test("a cancelled or unapproved call: whether anything was run, and what to do", () => {
  expect(errorText.cancelled("bash", false)).toBe(
    "Error: Tool 'bash' was cancelled before it started. Nothing was run.\nDo not call it again unless the user asks.",
  );
  expect(errorText.cancelled("bash", true)).toContain("while it ran. A part of its work may be done.\n");
  expect(errorText.approvalDenied("bash")).toContain("did not approve tool 'bash'. Nothing was run.\n");
  expect(errorText.approvalExpired("bash", 900_000)).toContain("within 15 min. Nothing was run.\n");
});

test("what is neither failed nor done reads like neither", () => {
  const texts = [
    statusText.approvalNeeded("bash", "pi-1", "it runs a command"),
    statusText.queued("pi-1", "2 h ago", 86_400_000),
    statusText.jobAccepted("backup", "job-7"),
  ];
  for (const text of texts) {
    expect(text).not.toMatch(/^Error/);
    expect(text).toMatch(/Nothing was run yet|is not done yet/);
    expect(text.split("\n")).toHaveLength(2);
  }
  expect(texts[0]).toContain("'bash' on 'pi-1' needs your approval: it runs a command.");
  expect(texts[1]).toContain("(last seen 2 h ago). The call is queued");
  expect(texts[1]).toContain("after 24 h.");
  expect(texts[2]).toContain("(job-7)");
});

test.each([
  [30_000, "30 s"],
  [119_000, "119 s"],
  [120_000, "2 min"],
  [7_200_000, "2 h"],
  [604_800_000, "7 days"],
])("a time of %i ms is said as %s", (ms, words) => {
  expect(errorText.approvalExpired("x", ms)).toContain(`within ${words}.`);
});

test("each code travels under one of the seven error types", () => {
  expect(ERROR_TYPES).toEqual([
    "timeout",
    "not_found",
    "permission_denied",
    "invalid_params",
    "execution_failed",
    "offline",
    "outcome_unknown",
  ]);
  for (const type of Object.values(ERROR_CODES)) expect(ERROR_TYPES).toContain(type);
  expect(errorTypeOf("unknown_tool")).toBe("not_found");
  // The seed's not_found is about tools; a file that is not there is a failed execution.
  expect(errorTypeOf("not_found")).toBe("execution_failed");
});
