import { describe, expect, test } from "vitest";
import { callTool } from "../../testing/call.ts";
import { failing, programs, saying } from "../../testing/programs/folder.ts";
import { tree } from "../../testing/tree.ts";
import { journal, journalLines, journalMissing } from "./journal.ts";

const entry = (MESSAGE: unknown, more: Record<string, unknown> = {}) =>
  JSON.stringify({
    __REALTIME_TIMESTAMP: "1795311326123456",
    SYSLOG_IDENTIFIER: "sshd",
    _PID: "611",
    PRIORITY: "6",
    MESSAGE,
    ...more,
  });

const at = (journalctl: string) => ({ exec: programs({ journalctl }) });

describe("journal", () => {
  test("one line for each entry", async () => {
    const text = [
      entry("Accepted publickey for pi"),
      entry("disk full", { PRIORITY: "3", _PID: undefined }),
    ].join("\n");
    const answer = await callTool(journal(at(saying(text))));
    expect(answer.text).toBe(
      "2026-11-22T01:35:26Z sshd[611]: Accepted publickey for pi\n2026-11-22T01:35:26Z sshd ERROR: disk full",
    );
    expect(answer.result.details).toEqual({ entries: 2 });
  });

  test("odd messages: bytes, several lines, colours, none, secrets", () => {
    expect(journalLines(entry([104, 105, 27, 91, 51, 49, 109, 33]))).toEqual([
      "2026-11-22T01:35:26Z sshd[611]: hi!",
    ]);
    expect(journalLines(entry("a\nb\u0007"))).toEqual(["2026-11-22T01:35:26Z sshd[611]: a ⏎ b"]);
    expect(journalLines(entry(null))).toEqual(["2026-11-22T01:35:26Z sshd[611]: (too large to show)"]);
    expect(journalLines(entry("connect mqtt://me:hunter2@broker"))[0]).toContain("mqtt://me:***@broker");
    expect(journalLines("not json\n\n")).toEqual([]);
    expect(journalLines(entry("x".repeat(2_000)))[0]).toMatch(/x\.\.\. \[truncated\]$/);
  });

  test("the arguments reach the program", async () => {
    const args = { unit: "ssh", lines: 7, since: "2 hours ago", priority: "err" };
    const { text } = await callTool(journal(at('echo "$*" >&2; exit 3')), args);
    expect(text).toContain("--lines=7 --unit=ssh --since=2 hours ago --priority=err");
  });

  test("an invalid unit or time never does", async () => {
    const silent = at("exit 0");
    const wrong = [
      { unit: "--file=/etc/shadow" },
      { unit: "a b" },
      { since: "-1" },
      { since: "$(id)" },
      { lines: 501 },
      { priority: "x" },
    ];
    for (const args of wrong) {
      expect((await callTool(journal(silent), args)).code, JSON.stringify(args)).toBe("invalid_params");
    }
  });

  test("a time that journalctl does not know", async () => {
    const refused = at(failing("Failed to parse timestamp: tomorrowish"));
    const { text, code } = await callTool(journal(refused), { since: "tomorrowish" });
    expect(code).toBe("invalid_params");
    expect(text).toContain('Use since="2 hours ago"');
  });

  test("no entries, and no entries that this user may see", async () => {
    expect((await callTool(journal(at("exit 0")), { unit: "sshh" })).text).toBe(
      "No entries of 'sshh' in the log. Call services to see whether there is such a unit.",
    );
    const denied = failing(
      "Hint: You are currently not seeing messages from other users and the system.\nNo journal files were opened due to insufficient permissions.",
    );
    const { text, code } = await callTool(journal(at(denied)));
    expect(code).toBe("access_denied");
    expect(text).toContain("add it to the group systemd-journal");
  });

  test("too many: the newest are kept, and the text says how to see fewer", async () => {
    const many = Array.from({ length: 500 }, (_, index) => entry(`${index} ${"x".repeat(300)}`)).join("\n");
    const { text } = await callTool(journal(at(saying(many))), { lines: 500 });
    expect(Buffer.byteLength(text)).toBeLessThan(50 * 1024);
    expect(text).toContain(" 499 xxx");
    expect(text).toMatch(
      /\[Showing entries \d+-500 of 500 \(50\.0KB limit\)\. Use unit, since or priority to see fewer\.\]$/,
    );
  });

  test("missing", async () => {
    const root = tree({ "/run/log/journal/0/system.journal": "" });
    const there = at("exit 0");
    expect(await journalMissing({ ...there, root }, "linux")).toBeUndefined();
    expect(await journalMissing({ ...there, root: tree({ "/etc/hostname": "" }) }, "linux")).toContain(
      "this system keeps no journal",
    );
    expect(await journalMissing({ exec: programs({}), root }, "linux")).toBe(
      "no program 'journalctl': no systemd here",
    );
    expect(await journalMissing({ ...there, root }, "darwin")).toContain("made for linux");
  });
});
