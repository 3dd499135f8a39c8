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
const GATEWAY = "../local/home-gateway/compose.yaml";
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
  const config = (env: Record<string, string>, file = "compose.yaml") =>
    spawnSync("docker-compose", ["-f", `${BRIDGE}${file}`, "--env-file", noEnv, "config"], {
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

  test("the gateway's file needs no setting, answers this machine alone, and runs without privileges", () => {
    const { status, stdout, stderr } = config({}, GATEWAY);
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("127.0.0.1:8787:8787");
    const compose = checkJson(Compose, JSON.stringify(yaml(GATEWAY)));
    if (!compose.ok) throw new Error(compose.error);
    const { gateway } = compose.value.services;
    expect(gateway).toMatchObject({
      image: `\${EDGECALL_IMAGES:-}edgecall-gateway:\${EDGECALL_VERSION:-${VERSION}}`,
      ...{ read_only: true, cap_drop: ["ALL"], security_opt: ["no-new-privileges:true"] },
      volumes: ["state:/state"],
    });
    const { context = "", dockerfile = "" } = gateway?.build ?? {};
    expect(existsSync(join(BRIDGE, GATEWAY, "..", context, dockerfile))).toBe(true);
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
