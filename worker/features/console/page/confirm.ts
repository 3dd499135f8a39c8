/**
 * A person confirms by a passkey what needs more than a press. The sheet stays as it is meanwhile: a modal dialog lies over it, so nothing
 * under the finger can be replaced.
 */
import type { AnswerOf, SentRequest } from "@edgecall/client/client.ts";
import { visible } from "@edgecall/core/tools/visible.ts";
import { client } from "./api.ts";
import { say } from "./texts/say.ts";
import { assertionOf, bytesOf, textOf, whyNoPasskeys } from "./web-authn.ts";

const QUESTION = /^\/v1\/questions\/([0-9a-f-]{36})$/;

/** @returns the header with which the request is sent again @throws Error when it was not confirmed */
export async function confirm(request: SentRequest): Promise<Record<string, string>> {
  const problem = whyNoPasskeys();
  if (problem !== undefined) throw new Error(problem);
  // SAFETY: the gateway checks the method.
  const body = request as { method: "POST"; path: string; body: string };
  const challenge = await client.json("POST /v1/passkeys/challenges", { body });
  const id = request.method === "POST" ? QUESTION.exec(request.path)?.[1] : undefined;
  const assertion = await askFor(challenge, id);
  const proof = JSON.stringify({ nonce: challenge.nonce, assertion });
  return { "x-edgecall-proof": textOf(new TextEncoder().encode(proof)) };
}

type Challenge = AnswerOf<"POST /v1/passkeys/challenges">;

/** @param question its id, if an answer to one is confirmed */
async function askFor(challenge: Challenge, question: string | undefined) {
  const control = new AbortController();
  const dialog = document.createElement("dialog");
  dialog.className = "confirm";
  const says = document.createElement("p");
  says.textContent = visible(challenge.about);
  const head = document.createElement("h2");
  head.textContent = say("confirmTitle");
  const row = document.createElement("div");
  row.className = "row";
  let elsewhere = false;
  const button = (label: string, press: () => void) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = label;
    made.addEventListener("click", press);
    row.append(made);
  };
  if (question !== undefined)
    button(say("askMyPhone"), () => {
      elsewhere = true;
      control.abort();
    });
  button(say("cancel"), () => control.abort());
  dialog.addEventListener("cancel", () => control.abort());
  dialog.append(head, says, row);
  document.body.append(dialog);
  dialog.showModal();
  try {
    const credential = await navigator.credentials.get({
      signal: control.signal,
      publicKey: {
        challenge: bytesOf(challenge.challenge),
        rpId: challenge.rp_id,
        allowCredentials: challenge.allow.map((id) => ({ type: "public-key", id: bytesOf(id) })),
        userVerification: "required",
        timeout: Math.max(1, challenge.until - Date.now()),
      },
    });
    return assertionOf(credential);
  } catch (error) {
    if (elsewhere && question !== undefined) throw new Error(await askElsewhere(question));
    const why = error instanceof Error && error.name !== "NotAllowedError" && error.name !== "AbortError";
    throw new Error(why ? say("passkeyRefusedWhy", { why: error.message }) : say("passkeyRefused"));
  } finally {
    dialog.close();
    dialog.remove();
  }
}

/** @returns words for the person */
async function askElsewhere(id: string): Promise<string> {
  const { asked } = await client.json("POST /v1/questions/{id}/elsewhere", { path: { id } });
  const where = asked.length > 0 ? `${say("askedAlso", { names: visible(asked.join(", ")) })} ` : "";
  return where + say("answerThere");
}
