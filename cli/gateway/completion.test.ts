import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { COMMANDS } from "../commands.ts";
import { completionScript } from "./completion.ts";

/** Returns bash's own suggestions after these words. */
function offered(...words: string[]): string[] {
  const line = words.map((word) => `'${word}'`).join(" ");
  const script = `${completionScript("bash", COMMANDS)}
COMP_WORDS=(edgecall ${line}); COMP_CWORD=${words.length}; _edgecall; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { status, stdout, stderr } = spawnSync("bash", ["--norc", "-c", script], { encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return stdout.trim().split("\n");
}

test.each([
  [["sta"], ["start", "status"]],
  [["agent"], ["agents", "agent"]],
  [["agent", "un"], ["uninstall"]],
  [["agent", "doctor", "--c"], ["--config"]],
  [["bridge", "un"], ["uninstall"]],
  [["bridge", "doctor", "--j"], ["--json"]],
  [["metrics", "--t"], ["--tools"]],
  [["logs", "--agent", "pi", "--fo"], ["--follow"]],
  [["completion", "z"], ["zsh"]],
  [["agents", "pi", "x"], [""]],
])("bash offers for %j", (words, words_) => {
  expect(offered(...words)).toEqual(words_);
});

test.each([
  ["edgecall sta", ["start", "status"]],
  ["edgecall agent un", ["uninstall"]],
  ["edgecall bridge un", ["uninstall"]],
  ["edgecall bridge doctor --j", ["--json"]],
  ["edgecall logs --agent pi --fo", ["--follow"]],
  ["edgecall completion z", ["zsh"]],
])("fish offers for %s", { tags: ["needs/fish"] }, (line, words) => {
  const script = `${completionScript("fish", COMMANDS)}\ncomplete -C '${line}'`;
  const { stdout, stderr } = spawnSync("fish", ["--no-config", "-c", script], { encoding: "utf8" });
  expect(stderr).toBe("");
  expect(
    stdout
      .trim()
      .split("\n")
      .map((offer) => offer.split("\t")[0]),
  ).toEqual(words);
});

test.each([
  ["agent ''", "uninstall:remove"],
  ["bridge doctor --j", "--json:"],
  ["logs --agent pi --fo", "--follow:show"],
  ["sta", "status:show"],
])("zsh describes its suggestions for %s", { tags: ["needs/zsh"] }, (words, offer) => {
  // zsh's own completion needs a terminal, so the test looks at what our function passes to it.
  const script = `compdef() { }; _describe() { print -l -- "\${(@P)2}" }
${completionScript("zsh", COMMANDS)}
words=(edgecall ${words}); CURRENT=$#words; _edgecall`;
  const { stdout, stderr } = spawnSync("zsh", ["-f", "-c", script], { encoding: "utf8" });
  expect(stderr).toBe("");
  expect(stdout).toContain(offer);
});

test.each(["bash", "zsh", "fish"] as const)("%s: contains every command and option", (shell) => {
  const script = completionScript(shell, COMMANDS);
  for (const { name, options } of COMMANDS) {
    expect(script).toContain(name.split(" ").at(-1));
    for (const option of Object.keys(options)) expect(script).toContain(option);
  }
});
