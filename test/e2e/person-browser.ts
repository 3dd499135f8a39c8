/** A browser for programs that sign in: they start the program in BROWSER, or `xdg-open` on the path. */
import { chmodSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { SignIn } from "../oauth-sign-in.ts";
import { ROOT } from "./program.ts";

/**
 * @param gateway the address of the gateway @param token of the person who is signed in there
 * @param follows false: the program reads where the browser was sent to from its output
 * @returns variables for a program's environment, with a home of its own
 */
export async function personBrowser(
  gateway: string,
  token: string,
  follows = true,
): Promise<Record<string, string>> {
  const cookie = await new SignIn((path, init) => fetch(gateway + path, init), gateway).cookie(token);
  const folder = mkdtempSync(join(tmpdir(), "browser-"));
  const program = join(ROOT, "test/clients/browser.ts");
  const command = `'${process.execPath}' --disable-warning=ExperimentalWarning '${program}' "$@"`;
  // A program that waits for its browser to end would not listen meanwhile.
  const log = join(folder, "browser.log");
  const script = `#!/bin/sh\n${follows ? `${command} >>'${log}' 2>&1 &` : `exec ${command}`}\n`;
  for (const name of ["browser", "xdg-open"]) {
    writeFileSync(join(folder, name), script);
    chmodSync(join(folder, name), 0o755);
  }
  return {
    PATH: folder + delimiter + process.env.PATH,
    BROWSER: join(folder, "browser"),
    CONSOLE_COOKIE: cookie,
    BROWSER_FOLLOWS: follows ? "yes" : "no",
    HOME: folder,
    LANG: "C.UTF-8",
  };
}
