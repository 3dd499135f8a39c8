import { describe, expect, test } from "vitest";
import { localExec } from "../../env/local-exec.ts";
import { callTool } from "../../testing/call.ts";
import { failing, programs, saying } from "../../testing/programs/folder.ts";
import { isHost, ping, pingFigures, pingMissing } from "./ping.ts";

const THERE = `PING nas.local (192.168.1.4) 56(84) bytes of data.
64 bytes from 192.168.1.4: icmp_seq=1 ttl=64 time=0.231 ms
64 bytes from 192.168.1.4: icmp_seq=2 ttl=64 time=0.078 ms

--- nas.local ping statistics ---
3 packets transmitted, 2 received, 33.3333% packet loss, time 2003ms
rtt min/avg/max/mdev = 0.078/0.154/0.231/0.076 ms`;

const AWAY = `PING 192.168.1.9 (192.168.1.9) 56(84) bytes of data.
From 192.168.1.2 icmp_seq=1 Destination Host Unreachable

--- 192.168.1.9 ping statistics ---
3 packets transmitted, 0 received, +3 errors, 100% packet loss, time 2031ms`;

const at = (ping: string) => ({ exec: programs({ ping }) });

describe("ping", () => {
  test("an answering host, and its times", async () => {
    const { text, result } = await callTool(ping(at(saying(THERE))), { host: "nas.local" });
    expect(text).toBe(
      "nas.local answers: 2 of 3 pings came back, round trip 0.154 ms on average (0.078 to 0.231 ms).",
    );
    expect(result.details).toEqual({
      host: "nas.local",
      sent: 3,
      received: 2,
      minMs: 0.078,
      avgMs: 0.154,
      maxMs: 0.231,
    });
  });

  test("silence is an answer, not a failure", async () => {
    const { text, code } = await callTool(ping(at(`${saying(AWAY)}exit 1\n`)), { host: "192.168.1.9" });
    expect(code).toBeUndefined();
    expect(text).toBe(
      "192.168.1.9 does not answer: none of 3 pings came back (Destination Host Unreachable). It may be off, or not answer pings.",
    );
  });

  test("the host and the count reach the program unchanged, after --", async () => {
    const { text } = await callTool(ping(at('echo "$*" >&2; exit 2')), { host: "a-b.local", count: 5 });
    expect(text).toContain("-n -c 5 -i 0.5 -W 2 -w 5 -- a-b.local");
  });

  test("ping's own errors in words", async () => {
    const cases = [
      ["ping: nowhere.invalid: Name or service not known", "not_found"],
      ["ping: nas: Temporary failure in name resolution", "unavailable"],
      [
        "ping: socktype: SOCK_RAW\nping: socket: Operation not permitted\nping: => missing cap_net_raw+p",
        "access_denied",
      ],
      ["ping: connect: Network is unreachable", "io"],
    ] as const;
    for (const [words, code] of cases) {
      expect((await callTool(ping(at(failing(words, 2))), { host: "nas" })).code, words).toBe(code);
    }
  });

  test("an invalid host never reaches the program", async () => {
    const silent = at("exit 0");
    for (const host of [
      "-f",
      "--flood",
      "a b",
      "http://nas",
      "nas:80",
      "$(id)",
      "a;b",
      "",
      "-",
      "a..b",
      "x".repeat(64),
    ]) {
      expect((await callTool(ping(silent), { host })).code, host).toBe("invalid_params");
    }
    for (const host of [
      "nas",
      "nas.local",
      "192.168.1.1",
      "::1",
      "fe80::1%wlan0",
      "my_host",
      "example.com.",
    ]) {
      expect(isHost(host), host).toBe(true);
    }
  });

  test("busybox's different output", () => {
    expect(
      pingFigures(
        "3 packets transmitted, 3 packets received, 0% packet loss\nround-trip min/avg/max = 0.1/0.2/0.3 ms",
      ),
    ).toEqual({ sent: 3, received: 3, minMs: 0.1, avgMs: 0.2, maxMs: 0.3 });
  });

  test("missing", async () => {
    expect(await pingMissing(programs({}), "linux")).toBe("no program 'ping': install iputils-ping");
    expect(await pingMissing(programs({ ping: "exit 0" }), "linux")).toBeUndefined();
    expect(await pingMissing(programs({ ping: "exit 0" }), "darwin")).toContain("made for linux");
  });
});

test("this machine answers itself (iputils-ping)", { tags: ["needs/iputils-ping"] }, async () => {
  const { text } = await callTool(ping({ exec: localExec("/") }), { host: "127.0.0.1", count: 1 });
  expect(text).toMatch(/^127\.0\.0\.1 answers: 1 of 1 pings came back, round trip [\d.]+ ms/);
});
