/** A person connects a program in a real browser: from another site to the gateway's pages, and disconnects it in the console. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pkce, SignIn } from "../oauth-sign-in.ts";
import { TOKENS } from "../tokens.ts";
import { addressInBrowser, axeFinds, openScreen, openWindow, signIn, startChromium } from "./chromium.ts";
import { useStack } from "./stack.ts";

const stack = useStack({}, async () => {});

describe("a browser", { tags: ["needs/chromium"] }, () => {
  let browser: Browser;
  let page: Page;
  /** The program's own site: a link to the gateway, and the address to which the sign-in returns. */
  let site: Server;
  let origin = "";
  let link = "";
  const { verifier, challenge } = pkce();
  let clientId = "";
  let redirect = "";

  beforeAll(async () => {
    site = createServer((request, response) => {
      response.setHeader("content-type", "text/html");
      response.end(
        request.url === "/" ? `<a href="${link.replaceAll("&", "&amp;")}">Connect</a>` : "<p>Connected</p>",
      );
    });
    await new Promise<void>((resolve) => site.listen(0, "localhost", resolve));
    // Another site than the gateway's 127.0.0.1, so its navigations bring no session.
    origin = `http://localhost:${(site.address() as AddressInfo).port}`;
    redirect = `${origin}/callback`;
    const client = new SignIn((path, init) => fetch(stack.gateway.url + path, init), stack.gateway.url);
    ({ client_id: clientId } = await client.register({
      client_name: "Foreign site",
      redirect_uris: [redirect],
    }));
    link = stack.gateway.url + client.authorizePath(clientId, challenge, { redirect_uri: redirect });
    browser = await startChromium();
    page = await openWindow(browser);
  });
  afterAll(async () => {
    await browser?.close();
    site?.close();
  });

  test("signed out, the person signs in on the way, and what Allow gives goes to the program", async () => {
    await page.goto(origin);
    await page.getByRole("link", { name: "Connect" }).click();
    await page.getByLabel("Your token").fill(TOKENS.owner);
    expect(await axeFinds(page)).toEqual([]);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("heading", { name: "Connect a program to your home?" }).waitFor();
    expect(await axeFinds(page)).toEqual([]);
    await page.getByLabel(/run actions by name/).check();
    await page.getByRole("button", { name: "Allow" }).click();
    await page.waitForURL(`${redirect}?*`);
    const query = new URL(page.url()).searchParams;
    expect(query.get("state")).toBe("the-state");
    const client = new SignIn((path, init) => fetch(stack.gateway.url + path, init), stack.gateway.url);
    const code = query.get("code") ?? "";
    const tokens = await client.redeem(clientId, code, verifier, { redirect_uri: redirect });
    expect(tokens).toMatchObject({ status: 200, scope: "ask command" });
  });

  test("signed in, a link of another site leads to the consent; Deny says so to the program", async () => {
    await page.goto(origin);
    await page.getByRole("link", { name: "Connect" }).click();
    await page.getByRole("button", { name: "Deny" }).click();
    await page.waitForURL(`${redirect}?error=access_denied*`);
  });

  test("the console shows at which step it is, and disconnects it", async () => {
    const other = await openWindow(browser);
    await signIn(other, stack.gateway.url, TOKENS.owner);
    await other.goto(`${stack.gateway.url}/#/setup/programs`);
    const row = other.locator(".row", { hasText: "Foreign site" });
    await row.getByText("token given", { exact: false }).waitFor();
    await row.getByRole("button", { name: /Disconnect Foreign site/ }).click();
    await row.getByRole("button", { name: "Yes, disconnect" }).click();
    await row.getByText("ended", { exact: false }).waitFor();
    await openScreen(other, "Connect a client");
    await other.getByRole("combobox", { name: "Client" }).selectOption("Claude Code");
    await other
      .getByText(`claude mcp add --transport http home ${addressInBrowser(stack.gateway.url)}/mcp`)
      .waitFor();
    await other.close();
  });
});
