/** Lists, makes and revokes the home's tokens. For administrators. */
import type { RequestOf } from "@edgecall/client/client.ts";
import type { SessionView, TokenView } from "@edgecall/client/routes.ts";
import { madeFrom } from "@edgecall/core/protocol/token-makers.ts";
import { useRef, useState } from "preact/hooks";
import { client } from "./api.ts";
import { useAttempt } from "./attempt.ts";
import { Check, Field, Form, Panel, Select } from "./controls.tsx";
import { CopyButton } from "./copy-button.tsx";
import { Problem, Skeleton, useLoaded } from "./load.tsx";
import { Pre } from "./markdown-view.tsx";
import { Pager, useSlice } from "./pager.tsx";
import { ScopeBoxes } from "./scope-boxes.tsx";
import { Sure } from "./sure.tsx";
import { ago, endOf } from "./times.ts";

type NewToken = RequestOf<"POST /v1/tokens">["body"];
export type Role = NewToken["role"];
/** The one with the fewest rights first. */
export const ROLES: readonly Role[] = ["guest", "member", "owner"];
type Scope = NewToken["scopes"][number];
const SCOPES: Record<Scope, string> = {
  ask: "ask questions",
  command: "call actions of devices",
  approve: "approve what devices ask for",
  admin: "manage devices, people and tokens",
  metrics: "read figures",
};
const DAYS = [30, 90, 365];
/** Tokens on a page. */
const SHOWN = 25;

export function Tokens({ session }: { session: SessionView }) {
  const { value, problem, reload } = useLoaded("GET /v1/tokens");
  const { slice, paging } = useSlice(value?.tokens ?? [], SHOWN);
  const { failed, attempt } = useAttempt(reload);
  const { failed: notRotated, attempt: attemptRotation } = useAttempt();
  const [rotated, setRotated] = useState<string>();
  const revoke = (id: string, withMade: boolean) =>
    attempt(() =>
      client.json("DELETE /v1/tokens/{id}", { path: { id }, query: { made: withMade ? "yes" : undefined } }),
    );
  // The list is not loaded again: this page is signed out then.
  const rotate = () =>
    attemptRotation(async () => setRotated((await client.json("POST /v1/tokens/rotate")).token));
  return (
    <Panel id="tokens" title="Tokens">
      <p class="quiet">
        Make one for each program and each person, with no more rights than needed. A token is shown only
        once.
      </p>
      <Problem text={problem ?? failed ?? notRotated} />
      {!value && !problem && <Skeleton lines={3} />}
      <Pager paging={paging} what="tokens" />
      {rotated !== undefined && (
        <div role="status" class="list">
          <p>
            Your new token. Copy it now: it is not shown again. The old one is refused, so load this page
            again and sign in with the new one.
          </p>
          <Pre text={rotated} label="your new token" />
          <CopyButton text={rotated} />
        </div>
      )}
      {slice.map((token) => (
        <div key={token.id} class="row">
          <span>
            <strong>{token.name}</strong> {token.role}; may {token.scopes.join(", ")}
            <small> {factsOf(token, Date.now())}</small>
          </span>
          {token.source === "home" && (
            <Revoke
              token={token}
              made={madeFrom(token, value?.tokens ?? [])}
              onSure={(withMade) => void revoke(token.id, withMade)}
            />
          )}
          {token.replaceable && rotated === undefined && (
            <Sure
              label="Replace"
              about={`the token ${token.name}`}
              note="It takes a passkey of yours. Everybody who uses the token is signed out at once, you too. You get the new one here."
              onSure={() => void rotate()}
            />
          )}
        </div>
      ))}
      <NewToken session={session} onMade={reload} />
    </Panel>
  );
}

type RevokeProps = { token: TokenView; made: readonly TokenView[]; onSure: (withMade: boolean) => void };

/** Revokes a token. The tokens that it made stay valid unless they are revoked too. */
function Revoke({ token, made, onSure }: RevokeProps) {
  const [too, setToo] = useState(false);
  return (
    <Sure
      label="Revoke"
      about={`the token ${token.name}`}
      note="Everybody who uses it is signed out at once."
      onSure={() => onSure(too)}
    >
      {made.length > 0 && (
        <Check checked={too} onCheck={setToo}>
          <span>Revoke what it made too: {made.map(({ name }) => name).join(", ")}</span>
        </Check>
      )}
    </Sure>
  );
}

function factsOf({ source, made_by, created_at, last_used_at, expires_at }: TokenView, now: number): string {
  if (source === "secret") return "in the setting API_TOKENS";
  const facts = [
    `made${made_by ? ` by ${made_by}` : ""} ${ago(created_at, now)}`,
    `used ${ago(last_used_at, now)}`,
    expires_at === null ? "does not expire" : endOf(expires_at, now),
  ];
  return facts.join(", ");
}

function NewToken({ session, onMade }: { session: SessionView; onMade: () => void }) {
  const allowed = (Object.keys(SCOPES) as Scope[]).filter((scope) => session.scopes?.includes(scope));
  const [name, setName] = useState("");
  const [role, setRole] = useState<Role>("guest");
  const [scopes, setScopes] = useState<Scope[]>(["ask"]);
  const [days, setDays] = useState("90");
  const [made, setMade] = useState<{ name: string; token: string }>();
  const { failed, attempt } = useAttempt();
  const shown = useRef<HTMLDivElement>(null);

  const make = () =>
    attempt(async () => {
      // An older token could be mistaken for the new one.
      setMade(undefined);
      const body = { name: name.trim(), role, scopes, ...(days !== "" && { expires_in_days: Number(days) }) };
      const { token } = await client.json("POST /v1/tokens", { body });
      setMade({ name: body.name, token });
      setName("");
      onMade();
      shown.current?.scrollIntoView({ block: "nearest" });
    });

  return (
    <Form class="list" aria-label="New token" onSend={make}>
      <h3>New token</h3>
      <div class="row">
        <Field label="Name" required maxLength={64} value={name} onValue={setName} />
        <Select label="Role" value={role} onChoose={setRole}>
          {ROLES.slice(0, ROLES.indexOf(session.role ?? "guest") + 1).map((one) => (
            <option value={one}>{one}</option>
          ))}
        </Select>
        <Select label="Expires" value={days} onChoose={setDays}>
          {DAYS.map((count) => (
            <option value={count}>in {count} days</option>
          ))}
          <option value="">never</option>
        </Select>
      </div>
      <fieldset>
        <legend>It may</legend>
        <ScopeBoxes
          offered={allowed.map((scope) => ({ scope, name: scope, about: SCOPES[scope] }))}
          scopes={scopes}
          onChange={setScopes}
        />
      </fieldset>
      <div class="row">
        <button type="submit" disabled={scopes.length === 0}>
          Make the token
        </button>
      </div>
      <Problem text={failed} />
      <div ref={shown} role="status" class="list">
        {made && (
          <>
            <p>
              The token of <strong>{made.name}</strong>. Copy it now: it is not shown again.
            </p>
            <Pre text={made.token} label="the new token" />
            <CopyButton text={made.token} />
          </>
        )}
      </div>
    </Form>
  );
}
