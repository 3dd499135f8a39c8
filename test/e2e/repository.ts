/** A git repository like the example of the tool-loop design: three commits of one file. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

const COMMITS = [
  { message: "Initial commit", day: "2025-02-13", text: "package main\n" },
  { message: "Add feature", day: "2025-02-14", text: "package main\n\nfunc main() {}\n" },
  { message: "Fix bug", day: "2025-02-15", text: "package main\n\nfunc fix() {}\nfunc main() {}\n" },
] as const;

/** The newest is first. */
export type Commit = { hash: string; message: string; day: string };

/** @param folder becomes the repository; the personal git settings of this user do not apply */
export function makeRepository(folder: string): Commit[] {
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=Bowen", "-c", "user.email=bowen@example.com", ...args], {
      cwd: folder,
      encoding: "utf8",
      env: { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: "1" },
    });
  git("init", "--quiet", "--initial-branch=main");
  const commits = COMMITS.map(({ message, day, text }) => {
    writeFileSync(join(folder, "main.go"), text);
    git("add", "main.go");
    git("commit", "--quiet", `--message=${message}`, `--date=${day}T12:00:00Z`);
    return { hash: git("rev-parse", "HEAD").trim(), message, day };
  });
  return commits.reverse();
}

/** Returns what git_log shows for the commits. */
export function logOf(commits: readonly Commit[]): string {
  return commits
    .map(({ hash, message, day }, at) =>
      [
        `commit ${hash}${at === 0 ? " (HEAD -> main)" : ""}`,
        "Author: Bowen <bowen@example.com>",
        `Date:   ${day} 12:00:00 +0000`,
        `\n    ${message}\n`,
      ].join("\n"),
    )
    .join("\n");
}
