/** Programs that people connected by sign-in: where each stands, and the button that disconnects it. */
import type { AnswerOf } from "@edgecall/client/client.ts";
import type { OauthGrantView, SessionView } from "@edgecall/client/routes.ts";
import { visible } from "@edgecall/core/tools/visible.ts";
import { useState } from "preact/hooks";
import { client } from "./api.ts";
import { useAttempt } from "./attempt.ts";
import { Check, Field, Form, Panel } from "./controls.tsx";
import { CopyButton } from "./copy-button.tsx";
import { Problem, Skeleton, useLoaded } from "./load.tsx";
import { Pre } from "./markdown-view.tsx";
import { Pager, useSlice } from "./pager.tsx";
import { Sure } from "./sure.tsx";
import { ago, endOf } from "./times.ts";

/** Programs on a page. */
const SHOWN = 25;

export function Programs({ session }: { session: SessionView }) {
  const { value, problem, reload } = useLoaded("GET /v1/oauth/grants");
  const { slice, paging } = useSlice(value?.grants ?? [], SHOWN);
  const { failed, attempt } = useAttempt(reload);
  const disconnect = (id: string) =>
    attempt(() => client.json("DELETE /v1/oauth/grants/{id}", { path: { id } }));
  return (
    <Panel id="programs" title="Connected programs">
      <p class="quiet">
        Programs that signed in, each for a person. They never approve anything. A program that stays at one
        of the first steps was stopped there.
      </p>
      <Problem text={problem ?? failed} />
      {!value && !problem && <Skeleton lines={2} />}
      {value?.grants.length === 0 && <p class="empty">No program is connected.</p>}
      <Pager paging={paging} what="programs" />
      {slice.map((grant) => (
        <div key={grant.id} class="row">
          <span>
            <strong>{visible(grant.client)}</strong> at {visible(grant.host)}, for {grant.person}; may{" "}
            {grant.scopes.join(", ")}
            {grant.trusted && ", reads nothing but your devices"}
            <small> {stateText(grant, Date.now())}</small>
          </span>
          {!["ended", "expired"].includes(grant.state) && (
            <Sure
              label="Disconnect"
              about={`${visible(grant.client)} of ${grant.person}`}
              note="Its next request is refused."
              onSure={() => void disconnect(grant.id)}
            />
          )}
        </div>
      ))}
      {session.scopes?.includes("admin") && <TypedClients />}
    </Panel>
  );
}

/** Says at which step a sign-in stopped. */
function stateText(grant: OauthGrantView, now: number): string {
  const { state, made_at, token_at, used_at, expires_at, ended_at, ended_by } = grant;
  switch (state) {
    case "consented":
      return `registered, consented ${ago(made_at, now)}; it never came for its token`;
    case "token_given":
      return `registered, consented, token given ${ago(token_at, now)}; no request since`;
    case "connected":
      return `used ${ago(used_at, now)}, ${endOf(expires_at, now)} without use`;
    case "expired":
      return "ended, since it was not used";
    case "ended":
      return `ended ${ago(ended_at, now)}: ${ended_by}`;
  }
}

/** Clients for programs that cannot register themselves, and want an id or a secret. */
function TypedClients() {
  const { value, problem, reload } = useLoaded("GET /v1/oauth/clients");
  const [name, setName] = useState("");
  const [redirects, setRedirects] = useState("");
  const [secret, setSecret] = useState(false);
  const [made, setMade] = useState<AnswerOf<"POST /v1/oauth/clients">>();
  const { failed, attempt } = useAttempt(reload);
  const make = () =>
    attempt(async () => {
      const redirect_uris = redirects.split(/\s+/).filter((one) => one !== "");
      const body = { name: name.trim(), redirect_uris, secret };
      setMade(await client.json("POST /v1/oauth/clients", { body }));
      setName("");
      setRedirects("");
    });
  const text =
    made && `Client id: ${made.client_id}${made.client_secret ? `\nSecret:    ${made.client_secret}` : ""}`;
  return (
    <details>
      <summary>A program that wants a client id</summary>
      <Problem text={problem ?? failed} />
      {value?.clients.map(({ id, name, confidential }) => (
        <div key={id} class="row">
          <span>
            <strong>{name}</strong> {confidential ? "with a secret" : "without a secret"}
            <small> {id}</small>
          </span>
          <Sure
            label="Remove"
            about={`the client ${name}`}
            note="Its programs get no new tokens."
            onSure={() => void attempt(() => client.json("DELETE /v1/oauth/clients/{id}", { path: { id } }))}
          />
        </div>
      ))}
      <Form class="list" aria-label="New client" onSend={make}>
        <div class="row">
          <Field
            label="Program"
            required
            maxLength={60}
            placeholder="Home Assistant"
            value={name}
            onValue={setName}
          />
          <Field
            label="Redirect address"
            required
            placeholder="https://my.home-assistant.io/redirect/oauth"
            value={redirects}
            onValue={setRedirects}
          />
        </div>
        <Check checked={secret} onCheck={setSecret}>
          <span>It also wants a secret (Home Assistant does)</span>
        </Check>
        <div class="row">
          <button type="submit">Enter the client</button>
        </div>
      </Form>
      <div role="status" class="list">
        {text && (
          <>
            <p>Copy it now: a secret is not shown again.</p>
            <Pre text={text} label="the new client" />
            <CopyButton text={text} />
          </>
        )}
      </div>
    </details>
  );
}
