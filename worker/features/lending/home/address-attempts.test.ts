/** Addresses by which a stranger has this gateway connect into its own network. Judged by the requests that go out. */
import { reset } from "cloudflare:test";
import { exports } from "cloudflare:workers";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { FarHome } from "../../../../test/far-home.ts";
import { post } from "../../../../test/keyed-home.ts";
import { setVariables } from "../../../../test/variables.ts";
import { agent, CPU, TestBridge } from "../../../../test/workerd.ts";
import { invitationText, readInvitation } from "../contract.ts";

const worker = (exports as unknown as { default: Fetcher }).default;
let far: FarHome;
/** What went out: past the guard of a gateway at home (`WEB`), and through it. */
let direct: string[];
let guarded: string[];

beforeEach(async () => {
  far = await FarHome.make();
  direct = [];
  guarded = [];
  const real = globalThis.fetch;
  const sent = (log: string[]) => async (input: RequestInfo | URL) => {
    log.push(new Request(input).url);
    return Response.json({ error: "a listener in the home's network" }, { status: 500 });
  };
  globalThis.fetch = sent(direct) as typeof fetch;
  onTestFinished(() => {
    globalThis.fetch = real;
  });
  setVariables({ WEB: { fetch: sent(guarded) } });
});
afterEach(reset);

const borrow = async (url: string) => {
  const secret = "A".repeat(22);
  const invitation = invitationText({
    url,
    home: "far",
    grant: crypto.randomUUID(),
    key: far.keys.publicKey,
    secret,
  });
  return (await post("/v1/borrowing", { invitation, name: "work" })).status;
};

/** Each is tried as a lender's address and as a borrower's. */
const ADDRESSES = [
  // Numbers in other forms, which the parser makes plain
  ...[
    "https://127.1",
    "https://2130706433",
    "https://0x7f000001",
    "https://0177.0.0.1",
    "https://①②⑦.0.0.1",
    "https://127。0。0。1",
  ],
  ...[
    "https://127.0.0.1",
    "https://127.255.255.254:8443",
    "https://0.0.0.0",
    "https://0",
    "https://10.1.2.3",
    "https://192.168.178.1",
  ],
  ...[
    "https://169.254.169.254",
    "https://100.100.100.200",
    "https://198.18.0.1",
    "https://224.0.0.1",
    "https://255.255.255.255",
    "https://192.0.0.8",
  ],
  // IPv6 that is private, or has an IPv4 address within
  ...[
    "https://[::1]",
    "https://[::]",
    "https://[::ffff:7f00:1]",
    "https://[::ffff:192.168.1.1]",
    "https://[::7f00:1]",
    "https://[fe80::1]",
  ],
  ...[
    "https://[fec0::1]",
    "https://[fd00:ec2::254]",
    "https://[ff02::1]",
    "https://[64:ff9b::7f00:1]",
    "https://[64:ff9b:1::a00:1]",
  ],
  ...[
    "https://[2002:7f00:1::1]",
    "https://[2001:0:a00:1::1]",
    "https://[2001:db8::1]",
    "https://[2a00::5efe:a00:1]",
    "https://[::1%25lo]",
  ],
  // Names
  ...[
    "https://localhost",
    "https://LOCALHOST",
    "https://localhost.",
    "https://a.localhost",
    "https://router",
    "https://nas.local",
  ],
  ...[
    "https://fritz.box.lan",
    "https://gw.home.arpa",
    "https://x.internal",
    "https://db.corp",
    "https://printer.home",
    "https://x..example",
  ],
  // Other parts of an address
  ...[
    "http://far.example",
    "https://user@far.example",
    "https://:x@far.example",
    "https://far.example/",
    "https://far.example/x",
    "https://far.example?x",
  ],
  ...[
    "https://far.example#x",
    "HTTPS://FAR.EXAMPLE",
    "https:far.example",
    "https://far.example\\@127.0.0.1",
    "https://far.example:22",
  ],
  ...[
    "https://far.example:25",
    "https://far.example:6379/",
    "ftp://far.example",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "data:text/plain,x",
  ],
  ...[
    "wss://far.example",
    "//far.example",
    "far.example",
    " https://far.example",
    "https://far.example\n",
    "https://%31%32%37.0.0.1",
  ],
];

test("S27: none of them is reached as a lender's address", async () => {
  const through: string[] = [];
  for (const url of ADDRESSES) if ((await borrow(url)) !== 400) through.push(url);
  expect([through, direct, guarded]).toEqual([[], [], []]);
});

test("S27: none of them is stored as a borrower's address, whatever host the borrower says it asked", async () => {
  await TestBridge.connect([agent("lathe", { tools: [CPU] })]);
  const terms = {
    label: "next door",
    agents: ["lathe"],
    scopes: ["command"],
    reads_only: true,
    expires_in_days: 30,
  };
  const { body: lent } = await post("/v1/lending", terms);
  const text = String(lent.invitation);
  for (const url of ADDRESSES) expect((await far.take(text, { url })).status, url).toBe(400);
  // Only the gateway's own setting says that it is on its own machine alone.
  setVariables({ PUBLIC_URL: "https://gateway.example.org" });
  const invitation = readInvitation(text);
  for (const [asked, url] of [
    ["http://127.0.0.1:8787", "http://127.0.0.1:6379"],
    ["http://localhost:8787", "http://localhost:1883"],
    ["http://[::1]:8787", "https://[::1]:9443"],
  ] as const) {
    const path = `/v1/peer/a/take`;
    const taken = JSON.stringify({ secret: invitation?.secret, key: far.keys.publicKey, url, home: "far" });
    const place = `${new URL(asked).host}${path}`;
    const token = await far.token({ grant: invitation?.grant ?? "", from: "borrower", for: place }, taken);
    const answer = await worker.fetch(`${asked}${path}`, {
      method: "POST",
      body: taken,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    });
    expect(answer.status, url).toBe(400);
  }
});

test("S27: a lender's name that leads into this network is reached through the guard alone", async () => {
  expect(await borrow("https://rebinds.example")).toBe(502);
  expect([direct, guarded]).toEqual([[], ["https://rebinds.example/v1/peer/far/take"]]);
});
