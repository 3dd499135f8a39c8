import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AGENT, BRIDGE, type Service } from "../services.ts";
import { linkCommand } from "./command-link.ts";

test("it points to an installed program, also after a power cut in between, and is removed with the last one", async () => {
  const folder = mkdtempSync(join(tmpdir(), "edgecall-command-"));
  const file = join(folder, "bin/edgecall");
  const services = [AGENT, BRIDGE].map((service: Service) => {
    const programs = join(folder, service.name);
    mkdirSync(join(programs, "current"), { recursive: true });
    writeFileSync(join(programs, "current/edgecall"), "");
    return { places: { ...service.places, programs } };
  });
  await linkCommand(file, services);
  expect(readlinkSync(file)).toBe(join(folder, "agent/current/edgecall"));
  rmSync(join(folder, "agent"), { recursive: true });
  symlinkSync("anywhere", `${file}.next`);
  await linkCommand(file, services);
  expect(readlinkSync(file)).toBe(join(folder, "bridge/current/edgecall"));
  await linkCommand(file, []);
  expect(existsSync(file)).toBe(false);
});
