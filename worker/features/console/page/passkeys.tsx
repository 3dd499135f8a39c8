/** The person's passkeys: add one, remove one, and what to do when it is lost. */
import type { AnswerOf } from "@edgecall/client/client.ts";
import type { SessionView } from "@edgecall/client/routes.ts";
import { visible } from "@edgecall/core/tools/visible.ts";
import { useState } from "preact/hooks";
import { client } from "./api.ts";
import { useAttempt } from "./attempt.ts";
import { Field, Form, Panel, Small } from "./controls.tsx";
import { Problem, Skeleton, useLoaded } from "./load.tsx";
import { Sure } from "./sure.tsx";
import { agoText, say, timeText } from "./texts/say.ts";
import { assertionOf, bytesOf, textOf, whyNoPasskeys } from "./web-authn.ts";

type List = AnswerOf<"GET /v1/passkeys">;
type Passkey = List["passkeys"][number];
type Registration = AnswerOf<"POST /v1/passkeys/registrations">;

export function Passkeys({ session }: { session: SessionView }) {
  const { value, problem, reload } = useLoaded("GET /v1/passkeys");
  const [shows, setShows] = useState("");
  const { failed, busy, attempt } = useAttempt(reload);
  const none = whyNoPasskeys() ?? value?.problem;
  const own = value?.passkeys.filter(({ person }) => person === session.name) ?? [];
  const remove = (id: string) =>
    attempt(async () => {
      await client.json("DELETE /v1/passkeys/{id}", { path: { id }, body: shownBody(shows) });
      setShows("");
    });
  const has = say("passkeyHas");
  return (
    <Panel id="passkeys" title={say("passkeys")}>
      <p class="quiet">
        {own.length > 0 ? has : `${say("passkeyNone")} ${say("passkeyWith", { text: has })}`}
      </p>
      <Problem text={problem ?? failed} />
      {!value && !problem && <Skeleton lines={2} />}
      {value?.passkeys.map((passkey) => (
        <div key={passkey.id} class="row">
          <span>
            <strong>{visible(passkey.name)}</strong>
            {passkey.person !== session.name && ` ${say("passkeyOf", { name: passkey.person })}`}
            <small> {factsOf(passkey, value.host, Date.now())}</small>
          </span>
          {passkey.person === session.name && <Rename passkey={passkey} onRenamed={reload} />}
          <Sure
            label={say("remove")}
            about={say("passkeyAbout", { name: visible(passkey.name) })}
            buttons={{ sure: say("removeSure"), cancel: say("cancel") }}
            {...(passkey.counts_at <= Date.now() && { note: say("passkeyTakes") })}
            onSure={() => void remove(passkey.id)}
          />
        </div>
      ))}
      {value && (
        <Field
          label={say("passkeyShow")}
          type="password"
          autocomplete="one-time-code"
          value={shows}
          onValue={setShows}
        />
      )}
      {none !== undefined ? (
        <p class="notice">{none}</p>
      ) : (
        value && (
          <Add
            shows={shows}
            isFirst={own.length === 0}
            onAdded={() => {
              setShows("");
              void reload();
            }}
          />
        )
      )}
      {value?.taps && value.passkeys.length > 0 && (
        <Taps taps={value.taps} busy={busy} isOwner={session.role === "owner"} attempt={attempt} />
      )}
      <details>
        <summary>{say("ifLost")}</summary>
        <p>{say("lostText")}</p>
      </details>
    </Panel>
  );
}

function Rename({ passkey: { id, name }, onRenamed }: { passkey: Passkey; onRenamed: () => void }) {
  const [text, setText] = useState<string>();
  const { failed, busy, attempt } = useAttempt();
  if (text === undefined)
    return (
      <button
        type="button"
        class="small"
        aria-label={say("renameOf", { name: visible(name) })}
        onClick={() => setText(name)}
      >
        {say("rename")}
      </button>
    );
  const rename = () =>
    attempt(async () => {
      await client.json("PATCH /v1/passkeys/{id}", { path: { id }, body: { name: text.trim() } });
      setText(undefined);
      onRenamed();
    });
  return (
    <Form class="row" aria-label={say("renameOf", { name: visible(name) })} onSend={rename}>
      <Field label={say("newName")} required maxLength={60} value={text} onValue={setText} />
      <button type="submit" class="small" disabled={busy}>
        {say("save")}
      </button>
      <Small onClick={() => setText(undefined)}>{say("cancel")}</Small>
      <Problem text={failed} />
    </Form>
  );
}

/** A code is short; a token is not. */
function shownBody(shows: string): { token?: string; code?: string } | undefined {
  const text = shows.trim();
  if (text === "") return undefined;
  return /^[A-Za-z0-9]{10}$/.test(text) ? { code: text } : { token: text };
}

function factsOf(passkey: Passkey, here: string | null, now: number): string {
  const { is_synced, host, used_at, created_at, counts_at, harm_at } = passkey;
  const facts = [
    say(is_synced ? "passkeySynced" : "passkeySingle"),
    ...(host === here ? [] : [say("passkeyFor", { host })]),
    say("passkeyMade", { ago: agoText(created_at, now) }),
    ...(counts_at > now ? [say("passkeyCounts", { time: timeText(counts_at, now) })] : []),
    ...(counts_at <= now && harm_at > now ? [say("passkeyRisky", { time: timeText(harm_at, now) })] : []),
    used_at === null ? say("passkeyUnused") : say("passkeyUsed", { ago: agoText(used_at, now) }),
  ];
  return facts.join(", ");
}

type AddProps = { shows: string; isFirst: boolean; onAdded: () => void };

function Add({ shows, isFirst, onAdded }: AddProps) {
  const [name, setName] = useState("");
  const { failed, busy, attempt } = useAttempt();
  const add = () =>
    attempt(async () => {
      const body = shownBody(shows) ?? (isFirst ? { wait: true as const } : undefined);
      const registration = await client.json("POST /v1/passkeys/registrations", body ? { body } : {});
      await client.json("POST /v1/passkeys", { body: await make(registration, name.trim()) });
      setName("");
      onAdded();
    });
  return (
    <Form class="list" aria-label={say("newPasskey")} onSend={add}>
      <div class="row">
        <Field
          label={say("name")}
          required
          maxLength={60}
          placeholder={say("myLaptop")}
          value={name}
          onValue={setName}
        />
        <button type="submit" disabled={busy}>
          {say("addPasskey")}
        </button>
      </div>
      <p class="quiet">{say("asksTwice")}</p>
      {isFirst && <p class="quiet">{say("firstWaits")}</p>}
      <Problem text={failed} />
    </Form>
  );
}

/** Makes a passkey, and tries it: the assertion shows that the public key is its own. */
async function make(registration: Registration, name: string) {
  const { challenge, rp_id, user, exclude, nonce } = registration;
  const credential = await navigator.credentials.create({
    publicKey: {
      challenge: bytesOf(challenge),
      rp: { id: rp_id, name: "edgecall" },
      user: { id: bytesOf(user.id), name: user.name, displayName: user.name },
      pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: "public-key", alg })),
      excludeCredentials: exclude.map((id) => ({ type: "public-key", id: bytesOf(id) })),
      authenticatorSelection: { residentKey: "preferred", userVerification: "required" },
      attestation: "none",
    },
  });
  if (!(credential instanceof PublicKeyCredential)) throw new Error(say("noneMade"));
  const { response } = credential;
  if (!(response instanceof AuthenticatorAttestationResponse) || !response.getPublicKey)
    throw new Error(say("browserTooOld"));
  const key = response.getPublicKey();
  // SAFETY: it is one of those that were asked for.
  const algorithm = response.getPublicKeyAlgorithm() as (typeof ALGORITHMS)[number];
  if (!key) throw new Error(say("browserTooOld"));
  const tried = await navigator.credentials.get({
    publicKey: {
      challenge: bytesOf(challenge),
      rpId: rp_id,
      allowCredentials: [{ type: "public-key", id: credential.rawId }],
      userVerification: "required",
    },
  });
  return {
    nonce,
    name,
    id: credential.id,
    algorithm,
    public_key: textOf(key),
    client_data: textOf(response.clientDataJSON),
    authenticator_data: textOf(response.getAuthenticatorData()),
    assertion: assertionOf(tried),
  };
}

/** ES256, EdDSA and RS256. */
const ALGORITHMS = [-7, -8, -257] as const;

type TapsProps = {
  taps: NonNullable<List["taps"]>;
  busy: boolean;
  isOwner: boolean;
  attempt: (act: () => Promise<unknown>) => Promise<void>;
};

/** Chats whose tap confirms dangerous calls too. */
function Taps({ taps, busy, isOwner, attempt }: TapsProps) {
  if (taps.length === 0) return null;
  const set = ({ account, trusted }: TapsProps["taps"][number]) =>
    attempt(() =>
      client.json(trusted ? "DELETE /v1/passkeys/taps/{account}" : "PUT /v1/passkeys/taps/{account}", {
        path: { account },
      }),
    );
  return (
    <>
      <h3>{say("tapsTitle")}</h3>
      {taps.map((tap) => (
        <div key={tap.account} class="row">
          <span>
            {say("named", {
              name: visible(tap.account),
              text: say(tap.trusted ? "tapEnough" : "tapNeedsPasskey"),
            })}
          </span>
          {isOwner && (
            <Small disabled={busy} onClick={() => void set(tap)}>
              {say(tap.trusted ? "takeBack" : "letTapsCount")}
            </Small>
          )}
        </div>
      ))}
    </>
  );
}
