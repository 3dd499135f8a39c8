import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VERSION } from "@edgecall/core/protocol/names.ts";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { ROOT } from "@edgecall/node/places.ts";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { writeRepository } from "./home-assistant.ts";

/** The fields of developers.home-assistant.io/docs/apps/configuration that we use, with their forms. */
const Option = z
  .string()
  .check(z.regex(/^(str|bool|int|float|email|url|password|port|match\(.*\)|list\(.+\))(\(\d*,\d*\))?\??$/));
const AppConfig = z.strictObject({
  name: z.string(),
  version: z.literal(VERSION),
  slug: z.string().check(z.regex(/^[-_.A-Za-z0-9]+$/)),
  description: z.string(),
  image: z.optional(z.string().check(z.regex(/^[a-z0-9./-]+$/))),
  arch: z.array(z.enum(["aarch64", "amd64"])),
  breaking_versions: z.array(z.string().check(z.regex(/^\d+\.\d+\.0$/))),
  tmpfs: z.boolean(),
  homeassistant_api: z.literal(true),
  discovery: z.array(z.literal("mcp")),
  services: z.array(z.string().check(z.regex(/^(mqtt|mysql):(provide|want|need)$/))),
  ports: z.record(z.string().check(z.regex(/^\d+\/(tcp|udp)$/)), z.nullable(z.number())),
  ports_description: z.record(z.string(), z.string()),
  options: z.record(z.string(), z.null()),
  schema: z.record(z.string(), Option),
});
const Repository = z.strictObject({
  name: z.string(),
  url: z.string().check(z.regex(/^https:/)),
  maintainer: z.string(),
});
const Named = z.strictObject({ name: z.string(), description: z.optional(z.string()) });
const Translations = z.strictObject({
  configuration: z.record(z.string(), Named),
  network: z.record(z.string(), z.string()),
});

function readYaml<T>(schema: z.ZodMiniType<T>, file: string): T {
  const read = checkJson(schema, JSON.stringify(parse(readFileSync(file, "utf8"))));
  if (!read.ok) throw new Error(`${file}: ${read.error}`);
  return read.value;
}

/** With a registry, so that nothing has to be built. */
async function written(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "edgecall-apps-"));
  await writeRepository(folder, { registry: "ghcr.io/Anna", repository: "anna/edgecall-apps" });
  return folder;
}

test("the repository has the layout that Home Assistant searches, and its image comes from the registry", async () => {
  const folder = await written();
  expect(readdirSync(folder).sort()).toEqual(["edgecall_bridge", "repository.yaml"]);
  expect(readYaml(Repository, join(folder, "repository.yaml")).url).toBe(
    "https://github.com/anna/edgecall-apps",
  );
  const app = join(folder, "edgecall_bridge");
  expect(readdirSync(app).sort()).toEqual(
    [
      "CHANGELOG.md",
      "DOCS.md",
      "README.md",
      "apparmor.txt",
      "config.yaml",
      "icon.png",
      "translations",
    ].sort(),
  );
  const config = readYaml(AppConfig, join(app, "config.yaml"));
  expect(config).toMatchObject({ image: "ghcr.io/anna/edgecall-bridge-app", slug: "edgecall_bridge" });
  expect(readFileSync(join(app, "apparmor.txt"), "utf8")).toContain(`\nprofile ${config.slug} flags=(`);
  const changelog = readFileSync(join(app, "CHANGELOG.md"), "utf8");
  expect(changelog).toMatch(/^# Changelog\n\n## \d+\.\d+\.\d+/);
  expect(changelog).not.toMatch(/\]\(|^## 0\.3\.0/m);
});

test("each option has its words, its page and a place in the program", async () => {
  const app = join(await written(), "edgecall_bridge");
  const { options, schema, ports, ports_description } = readYaml(AppConfig, join(app, "config.yaml"));
  const { configuration, network } = readYaml(Translations, join(app, "translations/en.yaml"));
  // Null: a person has to give it, and so it is no optional one.
  for (const name of Object.keys(options)) expect(schema[name]).not.toMatch(/\?$/);
  expect(Object.keys(configuration)).toEqual(Object.keys(schema));
  for (const names of [ports_description, network]) expect(Object.keys(names)).toEqual(Object.keys(ports));
  const docs = readFileSync(join(app, "DOCS.md"), "utf8");
  const source = readFileSync(join(ROOT, "bridge/ops/home-assistant.ts"), "utf8");
  for (const name of Object.keys(schema)) {
    expect(docs).toContain(`\`${name}\``);
    expect(source).toContain(`${name}: z.optional(`);
  }
  // Only root may read its options.
  expect(readFileSync(join(ROOT, "bridge/home-assistant/Dockerfile.end"), "utf8")).toContain("\nUSER 0:0\n");
  // 128 by 128, as the store shows it.
  const icon = readFileSync(join(app, "icon.png"));
  expect([icon.readUInt32BE(16), icon.readUInt32BE(20)]).toEqual([128, 128]);
});
