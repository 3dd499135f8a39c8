import { expect, test } from "vitest";
import { describeCopies } from "./uninstall.ts";

test("an uninstall names the copies that stay, with a command that deletes them", () => {
  expect(describeCopies([])).toBe("");
  const folders = ["/var/lib/edgecall-gateway-0.3.0-2026-11-28", "/srv/o'neil/state-newer"];
  expect(describeCopies(folders)).toBe(
    "Copies of an upgrade stay, with conversations and keys. To delete them too: sudo rm -r /var/lib/edgecall-gateway-0.3.0-2026-11-28 '/srv/o'\\''neil/state-newer'\n",
  );
});
