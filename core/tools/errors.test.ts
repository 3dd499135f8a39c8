import { expect, test } from "vitest";
import { forModel as inFull } from "./advice.ts";
import { ERROR_CODES, ERROR_TYPES, errorText, errorTypeOf, permissionDenied } from "./errors.ts";

// Exactly the texts of the tool-loop design, because models are tuned to them.
test("the texts of the tool-loop design", () => {
  expect(inFull(errorText.unknownTool("git_status", ["bash", "read", "write"]))).toBe(
    "Error: Tool 'git_status' not found. Available tools: bash, read, write.\nPlease choose an available tool or explain to the user.",
  );
  expect(inFull(errorText.timeout("bash", 30_000, "Command: 'sleep 60'."))).toBe(
    "Error: Tool 'bash' timed out after 30s. Command: 'sleep 60'.\nTry again with a shorter timeout or explain to the user.",
  );
  expect(inFull(permissionDenied("bash", "shell"))).toBe(
    "Error: Permission denied for tool 'bash' (requires: shell).\nThis agent does not have shell access. Explain to the user.",
  );
  const schema = { properties: { path: {}, offset: {}, limit: {} }, required: ["path"] };
  expect(inFull(errorText.invalidParams("read", "missing 'path'", schema))).toBe(
    "Error: Invalid parameters for 'read': missing 'path'.\nRequired: [path]. Optional: [offset, limit].",
  );
});

test("the texts for something that is missing", () => {
  expect(inFull(errorText.unknownTool("x", []))).toContain("Available tools: none.");
  expect(inFull(errorText.timeout("gpio", 1_500))).toBe(
    "Error: Tool 'gpio' timed out after 1.5s.\nTry again with a shorter timeout or explain to the user.",
  );
  // A schema comes from a device and may be anything.
  for (const schema of [{}, { required: "path", properties: null }, { properties: "x" }]) {
    expect(inFull(errorText.invalidParams("x", "bad", schema))).toContain("Required: []. Optional: [");
  }
});

test("offline and unknown outcomes never look like a success", () => {
  expect(inFull(errorText.offline("pi-1", "2 h ago"))).toContain("last seen 2 h ago). Nothing was run.");
  expect(inFull(errorText.outcomeUnknown("'bash' on pi-1"))).toContain("may or may not have run");
});

test("a cancelled call: if anything was run, and what to do", () => {
  expect(inFull(errorText.cancelled("bash", false))).toBe(
    "Error: Tool 'bash' was cancelled before it started. Nothing was run.\nDo not call it again unless the user asks.",
  );
  expect(inFull(errorText.cancelled("bash", true))).toContain(
    "while it ran. A part of its work may be done.\n",
  );
});

test("each code has one of the seven error types", () => {
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
  // The seed's not_found is about tools; a missing file is a failed execution.
  expect(errorTypeOf("not_found")).toBe("execution_failed");
});
