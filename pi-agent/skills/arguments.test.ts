import { expect, test } from "vitest";
import { ARGUMENT_MAX_BYTES, argumentProblem, argumentsOf } from "./arguments.ts";

test.each([
  ["read", { path: "a b", offset: 2, limit: 10 }, ["--path", "a b", "--offset", "2", "--limit", "10"]],
  ["read", { limit: 10, path: "a" }, ["--path", "a", "--limit", "10"]],
  ["bash", { command: "echo $HOME; ls" }, ["-c", "echo $HOME; ls"]],
  ["write", { path: "a", content: "x\ny" }, ["--path", "a", "x\ny"]],
  [
    "other",
    { text: "", n: -5, f: 0.25, yes: true, no: false, left: undefined },
    ["--text", "", "--n", "-5", "--f", "0.25", "--yes", "true", "--no", "false"],
  ],
])("%s %j", (name, input, args) => {
  expect(argumentsOf(name, input)).toEqual(args);
});

test("arguments that the kernel would refuse are named", () => {
  expect(argumentProblem(["a", "b\0c"])).toBe("an argument has a NUL character in it");
  expect(argumentProblem(["x".repeat(ARGUMENT_MAX_BYTES)])).toBeUndefined();
  expect(argumentProblem(["é".repeat(ARGUMENT_MAX_BYTES / 2 + 1)])).toMatch(
    /an argument has 13107\d bytes; at most 131071/,
  );
});
