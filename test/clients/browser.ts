/**
 * Stands for the browser of a person who is signed in to the console: opens the address of a program's sign-in, presses Allow
 * and follows the redirect. Prints the address that it was sent to.
 *
 * usage: CONSOLE_COOKIE=… browser.ts ADDRESS
 */
import { SignIn } from "../oauth-sign-in.ts";
import { until } from "../wait.ts";

const address = new URL(process.argv[2] ?? "");
const cookie = process.env.CONSOLE_COOKIE ?? "";
const { origin } = address;
const signIn = new SignIn((path, init) => fetch(origin + path, init), origin);
const { form, html } = await signIn.open(address.pathname + address.search, cookie);
if (form === "") throw new Error(`no form: ${html}`);
const { location, text } = await signIn.press(form, cookie, { command: "yes", trusted: "yes" });
if (!location) throw new Error(`not sent on: ${text}`);
process.stdout.write(`${location.href}\n`);
// A program may begin to listen only after it has opened the browser; a person is never faster.
if (process.env.BROWSER_FOLLOWS !== "no") await until(() => fetch(location).catch(() => undefined));
