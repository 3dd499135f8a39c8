/** compose.yaml and the app of Home Assistant, checked without an engine. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { VERSION } from "@edgecall/core/protocol/names.ts";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { describe, expect, test } from "vitest";

const BRIDGE = fileURLToPath(new URL("../../bridge/", import.meta.url));
const read = (name: string) => readFileSync(`${BRIDGE}${name}`, "utf8");

/** Python's parser, which Home Assistant and docker-compose also use. */
function yaml(name: string): unknown {
  const script = "import json, sys, yaml; print(json.dumps(yaml.safe_load(sys.stdin)))";
  return JSON.parse(execFileSync("python3", ["-c", script], { input: read(name), encoding: "utf8" }));
}

const Compose = z.object({
  services: z.record(
    z.string(),
    z.looseObject({
      image: z.string(),
      build: z.optional(z.looseObject({ context: z.string(), dockerfile: z.string() })),
      read_only: z.boolean(),
      cap_drop: z.array(z.string()),
      security_opt: z.array(z.string()),
      user: z.optional(z.string()),
      environment: z.optional(z.record(z.string(), z.string())),
      volumes: z.array(z.string()),
    }),
  ),
});

describe("with docker-compose (apt-get install docker-compose)", {
  tags: ["needs/docker-compose", "needs/python3-yaml"],
}, () => {
  /** Another file in place of the developer's own bridge/.env. */
  const noEnv = join(mkdtempSync(join(tmpdir(), "compose-")), "env");
  writeFileSync(noEnv, "");
  const config = (env: Record<string, string>) =>
    spawnSync("docker-compose", ["-f", `${BRIDGE}compose.yaml`, "--env-file", noEnv, "config"], {
      encoding: "utf8",
      env: { PATH: process.env.PATH, ...env },
    });

  test("docker-compose accepts the file, and names the missing settings", () => {
    const full = config({ GATEWAY_URL: "https://gate.example", BRIDGE_TOKEN: "t" });
    expect(full.stderr).toBe("");
    expect(full.status).toBe(0);
    expect(full.stdout).toContain("GATEWAY_URL: https://gate.example");
    const empty = config({ GATEWAY_URL: "https://gate.example" });
    expect(empty.status).not.toBe(0);
    expect(empty.stderr).toContain("BRIDGE_TOKEN");
  });

  test("each service runs without privileges, and the files that it names exist", () => {
    const compose = checkJson(Compose, JSON.stringify(yaml("compose.yaml")));
    if (!compose.ok) throw new Error(compose.error);
    const { services } = compose.value;
    expect(Object.keys(services)).toEqual(["broker-files", "mosquitto", "bridge"]);
    for (const service of Object.values(services)) {
      expect(service).toMatchObject({
        read_only: true,
        cap_drop: ["ALL"],
        security_opt: ["no-new-privileges:true"],
      });
      for (const volume of service.volumes) expect(volume).toMatch(/^(broker:\/broker(:ro)?|state:\/state)$/);
    }
    const { build, image } = services["broker-files"] ?? {};
    expect(existsSync(`${BRIDGE}${build?.context}/${build?.dockerfile}`)).toBe(true);
    expect(image).toContain(`:-${VERSION}}`);
    // The same user writes and reads the volume.
    expect(read("Dockerfile")).toContain(`RUN_AS=${services.mosquitto?.user}\n`);
    const example = read("compose.env.example");
    for (const name of read("compose.yaml").matchAll(/\$\{(\w+):\?/g))
      expect(example).toContain(`${name[1]}=`);
  });
});

/** The fields of developers.home-assistant.io/docs/apps/configuration that we use, with their forms. */
const Option = z
  .string()
  .check(z.regex(/^(str|bool|int|float|email|url|password|port|match\(.*\)|list\(.+\))(\(\d*,\d*\))?\??$/));
const AppConfig = z.strictObject({
  name: z.string(),
  version: z.literal(VERSION),
  slug: z.string().check(z.regex(/^[-_.A-Za-z0-9]+$/)),
  description: z.string(),
  arch: z.array(z.enum(["aarch64", "amd64"])),
  tmpfs: z.boolean(),
  services: z.array(z.string().check(z.regex(/^(mqtt|mysql):(provide|want|need)$/))),
  ports: z.record(z.string().check(z.regex(/^\d+\/(tcp|udp)$/)), z.nullable(z.number())),
  ports_description: z.record(z.string(), z.string()),
  options: z.record(z.string(), z.null()),
  schema: z.record(z.string(), Option),
});

test("the app has Home Assistant's fields, and its page describes each option (apt-get install python3-yaml)", {
  tags: ["needs/python3-yaml"],
}, () => {
  const app = checkJson(AppConfig, JSON.stringify(yaml("home-assistant/config.yaml")));
  if (!app.ok) throw new Error(app.error);
  const { options, schema, ports, ports_description } = app.value;
  // Null: a person has to give it, and so it is no optional one.
  for (const name of Object.keys(options)) expect(schema[name]).not.toMatch(/\?$/);
  expect(Object.keys(ports_description)).toEqual(Object.keys(ports));
  const docs = read("home-assistant/DOCS.md");
  const source = read("ops/home-assistant.ts");
  for (const name of Object.keys(schema)) {
    expect(docs).toContain(`\`${name}\``);
    expect(source).toContain(`${name}: z.optional(`);
  }
  // Only root may read its options.
  expect(read("home-assistant/Dockerfile.end")).toContain("\nUSER 0:0\n");
  // 128 by 128, as the store shows it.
  const icon = readFileSync(`${BRIDGE}home-assistant/icon.png`);
  expect([icon.readUInt32BE(16), icon.readUInt32BE(20)]).toEqual([128, 128]);
});
