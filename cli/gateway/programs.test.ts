import { expect, test } from "vitest";
import { findPrograms } from "./programs.ts";
import { playGateway } from "./testing/played-gateway.ts";

const NOW = 1_800_000_000_000;
const hour = 3_600_000;
const grant = {
  client: "Claude",
  person: "anna",
  made_at: NOW - hour,
  token_at: null,
  ended_at: null,
  ended_by: null,
};

/** @param answers by path; a text that is no JSON is a page. At other paths the gateway answers with an error. */
async function findingsOf(answers: (url: string) => Record<string, object | string>) {
  const { client } = await playGateway(({ path }, url) => {
    const body = answers(url)[path];
    return body === undefined ? { status: 404, body: { error: { message: "no" } } } : { body };
  });
  return await findPrograms(client, NOW);
}

const metadata = "/.well-known/oauth-protected-resource/mcp";
const withGrants = (...grants: object[]) =>
  findingsOf((url) => ({ [metadata]: { resource: `${url}/mcp` }, "/v1/oauth/grants": { grants } }));

test("the step at which a program stopped is named", async () => {
  const found = await withGrants(
    { ...grant, state: "consented" },
    { ...grant, client: "ChatGPT", state: "token_given", token_at: NOW - hour },
    { ...grant, state: "connected", token_at: NOW - hour },
    // This one is signing in at this moment.
    { ...grant, state: "consented", made_at: NOW - 1_000 },
  );
  expect(found).toMatchObject([
    { is: "fine", says: expect.stringContaining("1 connected") },
    {
      is: "left",
      says: expect.stringMatching(/^Claude of anna: registered, consented .*, and never came for its token$/),
    },
    {
      is: "left",
      says: expect.stringMatching(
        /^ChatGPT of anna: registered, consented, token given .*, no request since$/,
      ),
      todo: expect.stringContaining("Cloudflare Access"),
    },
  ]);
});

test("a page in front of the documents, and another address than the typed one, are faults", async () => {
  const page = await findingsOf(() => ({ [metadata]: "<html>Sign in with Access</html>" }));
  expect(page).toMatchObject([{ is: "wrong", todo: expect.stringContaining("/.well-known/") }]);
  const other = await findingsOf(() => ({ [metadata]: { resource: "https://other.example/mcp" } }));
  expect(other).toMatchObject([{ is: "wrong", todo: expect.stringContaining("PUBLIC_URL") }]);
});

test("a page in front of an address that a program requests later is named", async () => {
  for (const path of [
    "/.well-known/oauth-authorization-server",
    "/oauth/register/none",
    "/oauth/token",
    "/oauth/revoke",
    "/mcp",
  ]) {
    const found = await findingsOf((url) => ({
      [metadata]: { resource: `${url}/mcp` },
      "/v1/oauth/grants": { grants: [] },
      [path]: "<html>Checking your browser</html>",
    }));
    expect(found).toMatchObject([{ is: "wrong", says: expect.stringMatching(new RegExp(`at ${path}$`)) }]);
  }
});

test("an older gateway has no sign-in, which is no fault", async () => {
  expect(await findingsOf(() => ({}))).toEqual([]);
});
