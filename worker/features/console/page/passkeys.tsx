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
import { timeText } from "./texts/say.ts";
import { ago } from "./times.ts";
import { assertionOf, bytesOf, textOf, whyNoPasskeys } from "./web-authn.ts";

type List = AnswerOf<"GET /v1/passkeys">;
type Passkey = List["passkeys"][number];
type Registration = AnswerOf<"POST /v1/passkeys/registrations">;

export function Passkeys({ session }: { session: SessionView }) {
  const { value, problem, reload } = useLoaded("GET /v1/passkeys");
  const [shows, setShows] = useState("");
  const { failed, busy, attempt } = useAttempt(reload);
  const none = value?.problem ?? whyNoPasskeys();
  const own = value?.passkeys.filter(({ person }) => person === session.name) ?? [];
  const remove = (id: string) =>
    attempt(async () => {
      await client.json("DELETE /v1/passkeys/{id}", { path: { id }, body: shownBody(shows) });
      setShows("");
    });
  return (
    <Panel id="passkeys" title="Passkeys">
      <p class="quiet">
        {own.length > 0
          ? "Dangerous calls, calls of connected programs and whatever gives more rights wait for your fingerprint, your face or your device's PIN."
          : "Without a passkey a press in this browser is enough, and a program that drives your browser can press too. With one, dangerous calls, calls of connected programs and whatever gives more rights wait for your fingerprint, your face or your device's PIN."}
      </p>
      <Problem text={problem ?? failed} />
      {!value && !problem && <Skeleton lines={2} />}
      {value?.passkeys.map((passkey) => (
        <div key={passkey.id} class="row">
          <span>
            <strong>{visible(passkey.name)}</strong>
            {passkey.person !== session.name && ` of ${passkey.person}`}
            <small> {factsOf(passkey, value.host, Date.now())}</small>
          </span>
          <Sure
            label="Remove"
            about={`the passkey ${visible(passkey.name)}`}
            {...(passkey.counts_at <= Date.now() && {
              note: "It takes your token or a code below, or another passkey.",
            })}
            onSure={() => void remove(passkey.id)}
          />
        </div>
      ))}
      {value && (
        <Field
          label="Your token, or a code of `edgecall passkey`"
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
              reload();
            }}
          />
        )
      )}
      {value?.taps && value.passkeys.length > 0 && (
        <Taps taps={value.taps} busy={busy} isOwner={session.role === "owner"} attempt={attempt} />
      )}
      <details>
        <summary>If you lose it</summary>
        <p>
          Another passkey of yours removes it and adds a new one. Without one: type your token here, or run{" "}
          <code>edgecall passkey</code> on the machine where the gateway runs and type its code. Owners are
          told of each passkey that comes or goes.
        </p>
      </details>
    </Panel>
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
    is_synced ? "in your password manager" : "on one device only",
    ...(host === here ? [] : [`for ${host}`]),
    `made ${ago(created_at, now)}`,
    ...(counts_at > now ? [`counts from ${timeText(counts_at, now)} on`] : []),
    ...(counts_at <= now && harm_at > now ? [`for what may do harm from ${timeText(harm_at, now)} on`] : []),
    used_at === null ? "never used" : `used ${ago(used_at, now)}`,
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
    <Form class="list" aria-label="New passkey" onSend={add}>
      <div class="row">
        <Field label="Name" required maxLength={60} placeholder="My laptop" value={name} onValue={setName} />
        <button type="submit" disabled={busy}>
          Add a passkey
        </button>
      </div>
      <p class="quiet">Your device asks twice: it makes the passkey, and tries it.</p>
      {isFirst && (
        <p class="quiet">
          Without your token or a code it counts in an hour, or when an owner lets it count in their chat. All
          owners are told, and each can stop it.
        </p>
      )}
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
  if (!(credential instanceof PublicKeyCredential)) throw new Error("The browser made no passkey.");
  const { response } = credential;
  if (!(response instanceof AuthenticatorAttestationResponse) || !response.getPublicKey)
    throw new Error("This browser cannot make a passkey here; a newer one can.");
  const key = response.getPublicKey();
  // SAFETY: it is one of those that were asked for.
  const algorithm = response.getPublicKeyAlgorithm() as (typeof ALGORITHMS)[number];
  if (!key) throw new Error("The passkey has a kind of key that this browser cannot read.");
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
      <h3>Chats that confirm dangerous calls too</h3>
      {taps.map((tap) => (
        <div key={tap.account} class="row">
          <span>
            {visible(tap.account)}: {tap.trusted ? "a tap there is enough" : "a passkey is needed as well"}
          </span>
          {isOwner && (
            <Small disabled={busy} onClick={() => void set(tap)}>
              {tap.trusted ? "Take back" : "Let its taps count"}
            </Small>
          )}
        </div>
      ))}
    </>
  );
}
