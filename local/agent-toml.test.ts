import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "smol-toml";
import { beforeEach, describe, expect, test } from "vitest";
import { AgentTomlError, writeAgentToml } from "./agent-toml.ts";

const AGENT = { agentId: "this-machine", stateDir: "/tmp/state" };
let file: string;
beforeEach(() => {
  file = join(mkdtempSync(join(tmpdir(), "edgecall-toml-")), "agent.toml");
});
const write = (url: string, more: { username?: string; password?: string } = {}) =>
  writeAgentToml(file, AGENT, { url, ...more });
const text = () => readFileSync(file, "utf8");

describe("N8: npm start keeps what a person wrote in agent.toml", () => {
  test("N8: the file is written once, and then only the broker's address follows", async () => {
    await write("mqtt://127.0.0.1:1001");
    expect(parse(text())).toMatchObject({ agent_id: "this-machine", mqtt: { url: "mqtt://127.0.0.1:1001" } });
    const own = text()
      .replace('agent_type = "monitor"', '# a Pi Zero\nagent_type = "sensor" # mine')
      .replace(/url = (.*)/, "# the broker\nurl = $1   # do not touch\nkeepalive_s = 20")
      .concat('\n[policy] # what may be done\nwrite = "allow"\n"gpio_write" = "deny"\n');
    writeFileSync(file, own);
    await write("mqtt://127.0.0.1:1002");
    expect(text()).toBe(own.replace("1001", "1002"));
    await write("mqtt://127.0.0.1:1002");
    expect(text()).toBe(own.replace("1001", "1002"));
  });

  test("N8: a login is added and changed, and one that a person wrote stays without one of the start's", async () => {
    await write("mqtt://a:1");
    await write("mqtt://a:1", { username: "edge", password: 'a"b#c' });
    expect(parse(text()).mqtt).toEqual({ url: "mqtt://a:1", username: "edge", password: 'a"b#c' });
    await write("mqtt://b:1", { username: "edge", password: "new" });
    await write("mqtt://b:1");
    expect(parse(text()).mqtt).toEqual({ url: "mqtt://b:1", username: "edge", password: "new" });
  });

  test.each([
    ["without [mqtt]", 'agent_id = "x"\n[policy]\nwrite = "allow"\n'],
    ["with an empty [mqtt]", 'agent_id = "x"\n[mqtt]\n[policy]\nwrite = "allow"\n'],
    [
      "with a table of the same key",
      '[mqtt]\nurl = \'mqtt://old\'\n[other]\nurl = "stays"\n[policy]\nwrite = "allow"',
    ],
  ])("N8: %s", async (_, before) => {
    writeFileSync(file, before);
    await write("mqtt://new:1");
    const after = parse(text());
    expect(after.mqtt).toMatchObject({ url: "mqtt://new:1" });
    expect(after).toMatchObject({ ...parse(before), mqtt: { url: "mqtt://new:1" } });
  });

  test("N8: what earlier versions wrote loses the words that it is written each time", async () => {
    writeFileSync(
      file,
      '# Written by npm start each time; start a pi-agent of your own for another one.\nagent_id = "x"\n',
    );
    await write("mqtt://new:1");
    expect(text()).not.toContain("each time");
    expect(parse(text())).toMatchObject({ agent_id: "x", mqtt: { url: "mqtt://new:1" } });
  });

  test.each([
    ["broken TOML", 'agent_id = "x\n[policy]\n', /agent\.toml: is no TOML .*Correct it, or move it away/s],
    ["an inline table", 'mqtt = { url = "mqtt://old" }\n', /write it as a table with url = "mqtt:\/\/new:1"/],
    ["dotted keys", 'mqtt.url = "mqtt://old"\n', /write it as a table/],
  ])("N8: %s is refused with words, and left as it is", async (_, before, words) => {
    writeFileSync(file, before);
    await expect(write("mqtt://new:1")).rejects.toThrow(AgentTomlError);
    await expect(write("mqtt://new:1")).rejects.toThrow(words);
    expect(text()).toBe(before);
  });
});
