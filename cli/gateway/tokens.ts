/** `edgecall tokens` manages the tokens of people and programs. */
import type { RequestOf } from "@edgecall/client/client.ts";
import { z } from "@edgecall/core/protocol/parse.ts";
import { madeFrom } from "@edgecall/core/protocol/token-makers.ts";
import { type CommandCall, EXIT, UsageError } from "../command.ts";
import { keepConnection, readConnection } from "./connection.ts";
import { Gateway } from "./gateway.ts";
import { table } from "./table.ts";
import { ago } from "./times.ts";

const Token = z.looseObject({
  id: z.string(),
  name: z.string(),
  role: z.string(),
  scopes: z.array(z.string()),
  expires_at: z.nullable(z.number()),
  last_used_at: z.nullable(z.number()),
  made_by: z.nullable(z.string()),
  source: z.string(),
});
type Token = z.infer<typeof Token>;
const Tokens = z.looseObject({ tokens: z.array(Token) });
const Revoked = z.looseObject({ revoked: z.array(Token) });
const Rotated = z.looseObject({ token: z.string() });
const Made = z.looseObject({ token: z.string(), record: Token });

const DAY_MS = 86_400_000;

export async function listTokens({ positionals, flag, env, io }: CommandCall): Promise<number> {
  if (positionals.length > 0) throw new UsageError("takes nothing");
  const { tokens } = await new Gateway(readConnection(env)).json(Tokens, "GET /v1/tokens");
  if (flag("json")) io.out(`${JSON.stringify(tokens)}\n`);
  else io.out(tokenTable(tokens, io.width));
  return EXIT.ok;
}

function tokenTable(tokens: readonly Token[], width: number | undefined): string {
  const columns = [
    { title: "NAME", gives: true },
    { title: "ROLE" },
    { title: "SCOPES", gives: true },
    { title: "EXPIRES" },
    { title: "LAST USED" },
    { title: "MADE BY", gives: true },
    { title: "ID" },
  ];
  const now = Date.now();
  const rows = tokens.map(({ id, name, role, scopes, expires_at, last_used_at, made_by, source }) => [
    ...[name, role, scopes.join(" "), expiry(expires_at, now)],
    ...(source === "secret" ? ["-", "API_TOKENS"] : [ago(last_used_at, now), made_by ?? ""]),
    id,
  ]);
  return table(columns, rows, width);
}

function expiry(at: number | null, now: number): string {
  if (at === null) return "never";
  return at <= now ? "expired" : `in ${Math.ceil((at - now) / DAY_MS)} d`;
}

/** Only the token goes to stdout, so that a program can read it. */
export async function addToken({ positionals, text, flag, env, io }: CommandCall): Promise<number> {
  const [name, ...more] = positionals;
  if (name === undefined || more.length > 0) throw new UsageError("takes one name");
  const days = text("expires");
  if (days !== undefined && !/^[1-9]\d{0,3}d$/.test(days))
    throw new UsageError(`--expires: "${days}" is no number of days; use 30d`);
  type NewToken = RequestOf<"POST /v1/tokens">["body"];
  // The gateway checks role and scopes, and names those that it knows.
  const body: NewToken = {
    name,
    role: (text("role") ?? "member") as NewToken["role"],
    scopes: (text("scopes") ?? "ask").split(/[\s,]+/).filter((scope) => scope !== "") as NewToken["scopes"],
    ...(days !== undefined && { expires_in_days: Number(days.slice(0, -1)) }),
  };
  const made = await new Gateway(readConnection(env)).json(Made, "POST /v1/tokens", { body });
  if (flag("json")) {
    io.out(`${JSON.stringify(made)}\n`);
    return EXIT.ok;
  }
  const { role, scopes, expires_at } = made.record;
  io.err(
    `The token of '${name}' (${role}; ${scopes.join(", ")}; expires ${expiry(expires_at, Date.now())}). It is shown this once:\n\n`,
  );
  io.out(`${made.token}\n`);
  return EXIT.ok;
}

/** Only the token goes to stdout. It replaces the one that `edgecall login` stored. */
export async function rotateToken({ positionals, flag, env, io }: CommandCall): Promise<number> {
  if (positionals.length > 0) throw new UsageError("takes nothing");
  const connection = readConnection(env);
  const rotated = await new Gateway(connection).json(Rotated, "POST /v1/tokens/rotate");
  const kept = env.EDGECALL_TOKEN
    ? undefined
    : (connection.keptIn ?? keepConnection(env, { ...connection, token: rotated.token }));
  if (flag("json")) io.out(`${JSON.stringify(rotated)}\n`);
  else {
    io.err(
      `The owner's new token; the old one is refused, and who signed in with it is signed out. ${kept ? `It is kept in ${kept}. ` : ""}It is shown this once:\n\n`,
    );
    io.out(`${rotated.token}\n`);
  }
  if (!kept) io.err("set EDGECALL_TOKEN to it, which still is the old one\n");
  return EXIT.ok;
}

export async function revokeToken({ positionals, flag, env, io }: CommandCall): Promise<number> {
  const [wanted, ...more] = positionals;
  if (wanted === undefined || more.length > 0) throw new UsageError("takes one token's id or name");
  const gateway = new Gateway(readConnection(env));
  const { tokens } = await gateway.json(Tokens, "GET /v1/tokens");
  const found = tokens.filter(({ id }) => id === wanted);
  const named = found.length > 0 ? found : tokens.filter(({ name }) => name === wanted);
  const [token, ...others] = named;
  if (!token) {
    io.err(`there is no token '${wanted}'; \`edgecall tokens list\` shows those that there are\n`);
    return EXIT.failed;
  }
  if (others.length > 0) {
    io.err(
      `${named.length} tokens have the name '${wanted}': revoke one by its id, of \`edgecall tokens list\`\n`,
    );
    return EXIT.failed;
  }
  const path = { id: token.id };
  let revoked = [token];
  // One request for all: the token that makes it may be among them.
  if (flag("made"))
    ({ revoked } = await gateway.json(Revoked, "DELETE /v1/tokens/{id}", { path, query: { made: "yes" } }));
  else await gateway.text("DELETE /v1/tokens/{id}", { path });
  for (const { name } of revoked) io.err(`'${name}' is revoked: it opens nothing from now on\n`);
  const left = madeFrom(token, tokens).filter((one) => !revoked.some(({ id }) => id === one.id));
  if (left.length > 0) {
    const names = left.map(({ id, name }) => `'${name}' (${id})`).join(", ");
    io.err(`it made ${names}, which still count; \`edgecall tokens revoke ID\` revokes one of them\n`);
  }
  return EXIT.ok;
}
