import { expect, test } from "vitest";
import { systemdVersion } from "./root-only.ts";
import { AGENT } from "./services.ts";

/** systemd's commands alone, as in a container, are not enough: installing is refused before it changes anything. */
test("a machine without a running systemd is refused with a text", {
  tags: ["needs/no-systemd"],
}, async () => {
  await expect(systemdVersion(AGENT)).rejects.toThrow("no systemd runs here; run it by hand");
});
