import { expect, test } from "vitest";
import { playGateway } from "./testing/played-gateway.ts";

/** Runs `edgecall pair` against a gateway with this answer; each request for the code's state gets the next state. */
async function pair(status: number, body: unknown, options: string[] = [], states: unknown[] = []) {
  const { url, run, requests } = await playGateway(({ method }) =>
    method === "GET" ? { body: states.shift() } : { status, body },
  );
  return { ...(await run("pair", ...options)), url, requests };
}

test("only the command for the device is on stdout", async () => {
  const { code, out, err, url, requests } = await pair(201, {
    code: "ABCD-EFGH",
    expires_at: Date.now() + 600_000,
  });
  expect(requests).toMatchObject([
    { method: "POST", path: "/v1/device-codes", authorization: "Bearer a-token-of-the-test" },
  ]);
  expect({ code, out }).toEqual({ code: 0, out: `curl -fsS ${url}/install.sh | sudo sh -s -- ABCD-EFGH\n` });
  expect(err).toContain("within 10 minutes");
  expect(err).toContain("`edgecall start` prints the ssh command");
  const command = "curl -fsS https://edgecall.example.org/install.sh | sudo sh -s -- ABCD-EFGH";
  expect((await pair(201, { code: "ABCD-EFGH", command })).err).not.toContain("another machine");
});

test("--with-bridge makes a code for the home's bridge, and the command contains it", async () => {
  const { code, out, err, url, requests } = await pair(201, { code: "ABCD-EFGH" }, ["--with-bridge"]);
  expect(requests.map(({ body }) => body)).toEqual(['{"agent":"@bridge"}']);
  const command = `curl -fsS ${url}/install.sh | sudo sh -s -- ABCD-EFGH --with-bridge\n`;
  expect({ code, out }).toEqual({ code: 0, out: command });
  expect(err).toContain("becomes the home's bridge");
  expect(await pair(201, {}, ["--with-bridge", "--agent", "lamp"])).toMatchObject({
    code: 2,
    requests: [],
    err: expect.stringContaining("cannot be combined with --agent"),
  });
});

test("a gateway without this route is named as the reason", async () => {
  const refused = await pair(404, { error: { code: "not_found", message: "no such route" } });
  expect(refused).toMatchObject({
    code: 1,
    out: "",
    err: expect.stringContaining("cannot pair by code yet"),
  });
});

test("a code that would be a shell command is not shown", async () => {
  expect(await pair(201, { code: "x; rm -rf /" })).toMatchObject({ code: 1, out: "" });
});

test("--wait reports when the device is paired and online", async () => {
  const states = [
    { state: "used", agent: "kitchen", online: false },
    { state: "used", agent: "kitchen", online: true },
  ];
  const { code, err, requests } = await pair(200, { code: "home-ABCDEFGHJKLM" }, ["--wait"], states);
  expect(code).toBe(0);
  expect(err).toMatch(/kitchen has its keys; waiting until it is online…\nkitchen is online\n$/);
  expect(requests.at(-1)).toMatchObject({ method: "GET", path: "/v1/device-codes/home-ABCDEFGHJKLM" });
});

test("--wait ends when the code was not used", async () => {
  const waited = await pair(200, { code: "home-ABCDEFGHJKLM" }, ["--wait"], [{ state: "expired" }]);
  expect(waited).toMatchObject({ code: 1, err: expect.stringContaining("The code has expired") });
});
